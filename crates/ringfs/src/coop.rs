//! Fairness: a loop of calls that are ready at once must not starve the executor's other tasks.

use std::cell::Cell;
use std::task::{Context, Poll};

/// After this many answers without a pause a future yields once: at about 2 µs each, 100 µs.
const BURST: u32 = 48;

thread_local! {
    static ANSWERED: Cell<u32> = const { Cell::new(0) };
}

/// Takes part in tokio's cooperative budget on its threads (`tokio::task::coop`); elsewhere the
/// task yields after every [`BURST`] answers. Called before an answer is given inline.
pub(crate) fn poll_proceed(cx: &mut Context<'_>) -> Poll<()> {
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
