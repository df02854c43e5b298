//! A thread at a walk, and what it does before it sleeps.

use blockpool::Member;

/// What is to be done before a thread waits for something: what has been found must not wait with it.
pub(crate) trait Flush {
    fn flush(&self);
}

/// A thread's place among those of a walk.
pub(crate) struct Worker<'a> {
    member: &'a Member<'a>,
    walk: &'a dyn Flush,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(member: &'a Member<'a>, walk: &'a dyn Flush) -> Self {
        Self { member, walk }
    }

    /// Makes a call that can sleep: what has been found goes to whoever waits for it, and the thread's
    /// place to another.
    pub(crate) fn may_sleep<T>(&self, call: impl FnOnce() -> T) -> T {
        self.walk.flush();
        self.member.may_sleep(call)
    }

    /// The same if it may sleep at all.
    pub(crate) fn asleep_if<T>(&self, may_sleep: bool, call: impl FnOnce() -> T) -> T {
        if may_sleep {
            self.may_sleep(call)
        } else {
            call()
        }
    }

    /// Whether another thread could be of use.
    pub(crate) fn has_room(&self) -> bool {
        self.member.has_room()
    }

    /// Says that there is more work.
    pub(crate) fn call_in(&self) {
        self.member.call_in();
    }
}
