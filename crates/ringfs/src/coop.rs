//! Fairness: a loop of calls that are ready at once must not starve the executor's other tasks.
//!
//! For those who build futures and streams of their own on this crate's, and have answers in stock.

use std::cell::Cell;
use std::task::{Context, Poll};

/// After this many answers without a pause a future yields once: at about 2 µs each, 100 µs.
const BURST: u32 = 48;

thread_local! {
    static ANSWERED: Cell<u32> = const { Cell::new(0) };
    /// The thread is inside [`exempt`].
    static EXEMPT: Cell<bool> = const { Cell::new(false) };
}

/// Polls something that does not belong to the task that this thread may be polling: it takes nothing of
/// that one's budget, and is not held up when that is used up.
///
/// ```
/// use std::task::{Context, Poll, Waker};
///
/// let mut cx = Context::from_waker(Waker::noop());
/// let all_ready = || (0..1000).all(|_| ringfs::coop::poll_proceed(&mut cx).is_ready());
/// assert!(ringfs::coop::exempt(all_ready));
/// ```
pub fn exempt<T>(poll: impl FnOnce() -> T) -> T {
    struct Until(bool);
    impl Drop for Until {
        fn drop(&mut self) {
            EXEMPT.set(self.0);
        }
    }
    let _until = Until(EXEMPT.replace(true));
    poll()
}

/// Takes part in tokio's cooperative budget on its threads (`tokio::task::coop`); elsewhere the
/// task yields once after every 48 answers, and is woken again at once. To be called before an answer
/// is given that was not waited for; when it is ready, one has to be given.
///
/// ```
/// use std::task::Poll;
///
/// # futures::executor::block_on(async {
/// // A hundred answers, with a pause for others in between.
/// let mut left = 100;
/// std::future::poll_fn(|cx| {
///     while left > 0 {
///         std::task::ready!(ringfs::coop::poll_proceed(cx));
///         left -= 1;
///     }
///     Poll::Ready(())
/// })
/// .await;
/// # });
/// ```
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
    if EXEMPT.get() {
        return Poll::Ready(());
    }
    #[cfg(feature = "tokio")]
    match tokio::task::coop::poll_proceed(cx) {
        Poll::Ready(progress) => progress.made_progress(),
        Poll::Pending => return Poll::Pending,
    }
    let answered = ANSWERED.get() + 1;
    if answered < BURST {
        ANSWERED.set(answered);
        return Poll::Ready(());
    }
    ANSWERED.set(0);
    #[cfg(feature = "tokio")]
    if tokio::runtime::Handle::try_current().is_ok() {
        return Poll::Ready(());
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}
