//! The way of an answer to its future.

use std::task::Context;

use futures_channel::oneshot;

/// Tells a future its answer, once, unless it has been dropped.
pub(crate) struct Done<T>(Option<oneshot::Sender<T>>);

impl<T> Done<T> {
    /// What the future waits for, and how it is told.
    pub(crate) fn channel() -> (Self, oneshot::Receiver<T>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Some(sender)), receiver)
    }

    /// Nobody waits for the answer: the future is gone, or was told.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.0.as_ref().is_none_or(oneshot::Sender::is_canceled)
    }

    /// Has the task of `cx` woken when the future is dropped. It remembers one task only. Whether
    /// the future is gone already is found out by who looks.
    pub(crate) fn watch(&mut self, cx: &mut Context<'_>) {
        if let Some(sender) = &mut self.0 {
            let _ = sender.poll_canceled(cx);
        }
    }

    /// Takes out the way to the future, which another then has.
    pub(crate) fn take(&mut self) -> Self {
        Self(self.0.take())
    }

    /// Wakes the future with the answer. A dropped one gives it back, and it is dropped here.
    pub(crate) fn tell(mut self, answer: T) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(answer);
        }
    }
}
