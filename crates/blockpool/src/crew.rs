//! Work that several threads do together, and how many of them are at it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::sync::{AtomicUsize, Mutex, catch_unwind, lock, usable_cores};
use crate::threads::{NoThread, recruit};

/// Something that several threads can do together.
pub trait Work: Send + Sync + 'static {
    /// Does what there is to do and returns when nothing is left, or when the member
    /// [is surplus](Member::is_surplus) at a point where others can go on. A panic ends this call
    /// and nothing else; work that wants to pass it on catches it itself.
    fn run(&self, member: &Member<'_>);

    /// How many further threads would find something to do now. Asked whenever a place becomes
    /// free, so it should cost no more than a lock.
    fn waiting(&self) -> usize;
}

/// The threads at one piece of [`Work`].
///
/// Dropping the last handle does not stop them: they leave when [`Work::run`] returns.
#[derive(Clone)]
pub struct Crew {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    work: Arc<dyn Work>,
    limit: usize,
    counts: Mutex<Counts>,
    /// `counts.awake + counts.arriving`, to find without the lock that the crew is complete.
    present: AtomicUsize,
    /// Members inside [`Member::before_next`].
    searching: AtomicUsize,
}

#[derive(Default)]
struct Counts {
    /// Members that are computing, or are in calls that cannot sleep.
    awake: usize,
    /// Members inside [`Member::may_sleep`].
    asleep: usize,
    /// Threads that were sent for and have not come yet.
    arriving: usize,
}

/// Whether one more may compute beside `others`. The first always may, which is why a process
/// that needs no second thread never asks how many cores there are.
fn has_place(others: usize) -> bool {
    others == 0 || others < usable_cores()
}

impl Counts {
    /// One more thread is worth sending for, since there is work for so many. Growth behind sleeping
    /// members is gradual (a quarter more at a time): calls that were announced to sleep and did not
    /// are over before a spare has even woken up, so a warm burst starts next to none.
    fn wants(&self, limit: usize, jobs: usize) -> bool {
        has_place(self.awake + self.arriving)
            && self.total() < limit
            && self.arriving < jobs
            && self.arriving <= self.asleep / 4
    }

    fn total(&self) -> usize {
        self.awake + self.arriving + self.asleep
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = lock(&self.inner.counts);
        f.debug_struct("Crew")
            .field("limit", &self.inner.limit)
            .field("awake", &counts.awake)
            .field("asleep", &counts.asleep)
            .finish_non_exhaustive()
    }
}

impl Crew {
    /// A crew without members. As many may compute at the same time as there are usable cores,
    /// and `limit` may be there in all, those that sleep included.
    pub fn new(limit: usize, work: Arc<dyn Work>) -> Self {
        let inner = Inner {
            work,
            limit: limit.max(1),
            counts: Mutex::new(Counts::default()),
            present: AtomicUsize::new(0),
            searching: AtomicUsize::new(0),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Says that there is work: sends for a thread unless enough are at it.
    ///
    /// If all that the budget allows are at other work, the next that becomes free comes.
    ///
    /// # Errors
    ///
    /// The system refused a thread, and nobody will come to the work later: the crew has no member
    /// and the pool no thread.
    pub fn call_in(&self) -> Result<(), NoThread> {
        self.inner.call_in()
    }

    /// Lets the calling thread take part until [`Work::run`] returns. It needs no permit.
    pub fn join(&self) {
        self.inner.change(|counts| counts.arriving += 1);
        self.inner.serve();
    }

    /// Whether one more thread could [`join`](Self::join) within cores and limit.
    pub fn has_room(&self) -> bool {
        let counts = lock(&self.inner.counts);
        has_place(counts.awake + counts.arriving) && counts.total() < self.inner.limit
    }

    /// How many members are inside [`Member::may_sleep`].
    pub fn asleep(&self) -> usize {
        lock(&self.inner.counts).asleep
    }

    /// How many threads are at the work, asleep or not, or on their way.
    pub fn members(&self) -> usize {
        lock(&self.inner.counts).total()
    }
}

impl Inner {
    fn call_in(self: &Arc<Self>) -> Result<(), NoThread> {
        // A member that searches looks at the work after it has said that it no longer does.
        let jobs = match self.searching.load(Ordering::SeqCst) {
            0 => usize::MAX,
            searching => self.work.waiting().saturating_sub(searching),
        };
        self.call_in_for(jobs)
    }

    fn call_in_for(self: &Arc<Self>, jobs: usize) -> Result<(), NoThread> {
        if jobs == 0 || !has_place(self.present.load(Ordering::SeqCst)) || !self.send_for_one(jobs)
        {
            return Ok(());
        }
        recruit(self)
    }

    /// The thread that was sent for does not come. Answers whether nobody else is there.
    pub(crate) fn is_alone_without_it(&self) -> bool {
        self.change(|counts| {
            counts.arriving -= 1;
            counts.total() == 0
        })
    }

    /// Whether the crew has work for one more thread; if so the thread is on its way.
    pub(crate) fn expects(&self) -> bool {
        self.work.waiting() > 0 && self.send_for_one(usize::MAX)
    }

    /// Counts one more as arriving if one is wanted for so many jobs.
    fn send_for_one(&self, jobs: usize) -> bool {
        self.change(|counts| {
            let wants = counts.wants(self.limit, jobs);
            counts.arriving += usize::from(wants);
            wants
        })
    }

    /// What a thread that was sent for does: before it begins it sees to the next, so a crew
    /// grows for as long as there is work.
    pub(crate) fn serve_recruited(self: &Arc<Self>) {
        self.arrive();
        self.call_in_next(1);
        self.stay();
    }

    /// What a thread does that comes by itself.
    fn serve(self: &Arc<Self>) {
        self.arrive();
        self.stay();
    }

    fn arrive(&self) {
        self.change(|counts| {
            counts.arriving -= 1;
            counts.awake += 1;
        });
    }

    /// A thread's time in the crew, from its arrival until there is nothing left for it.
    ///
    /// Whoever adds work does so before it looks at the counts, and a leaving member looks at the
    /// work after it has changed them, so either of the two sees the other.
    fn stay(self: &Arc<Self>) {
        loop {
            let member = Member {
                crew: self,
                not_sync: PhantomData,
            };
            catch_unwind(|| self.work.run(&member));
            self.change(|counts| counts.awake -= 1);
            let stays = self.work.waiting() > 0
                && self.change(|counts| {
                    let room = has_place(counts.awake);
                    counts.awake += usize::from(room);
                    room
                });
            if !stays {
                return;
            }
        }
    }

    /// Sends for the next thread if there is work for it, beside `own` jobs that the caller takes.
    /// That none can be had is no error: the caller is a member and will come to the work itself.
    fn call_in_next(self: &Arc<Self>, own: usize) {
        let others = own + self.searching.load(Ordering::SeqCst);
        let _ = self.call_in_for(self.work.waiting().saturating_sub(others));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> T {
        let mut counts = lock(&self.counts);
        let result = change(&mut counts);
        self.present
            .store(counts.awake + counts.arriving, Ordering::SeqCst);
        result
    }
}

/// A thread's place in a crew, as [`Work::run`] gets it.
pub struct Member<'a> {
    crew: &'a Arc<Inner>,
    /// A place belongs to one thread.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").finish_non_exhaustive()
    }
}

impl Member<'_> {
    /// Makes a call that can sleep in the kernel. Before it, the member's place is given to
    /// another thread if there is work for one.
    pub fn may_sleep<T>(&self, call: impl FnOnce() -> T) -> T {
        struct Awake<'a>(&'a Inner);
        impl Drop for Awake<'_> {
            fn drop(&mut self) {
                self.0.change(|counts| {
                    counts.asleep -= 1;
                    counts.awake += 1;
                });
            }
        }
        self.crew.change(|counts| {
            counts.awake -= 1;
            counts.asleep += 1;
        });
        let _awake = Awake(self.crew);
        self.crew.call_in_next(0);
        call()
    }

    /// Makes a call after which this member looks for work at once, as one that tells somebody of a
    /// result. If that adds some, nobody else is sent for: this member takes it.
    pub fn before_next<T>(&self, call: impl FnOnce() -> T) -> T {
        struct Searching<'a>(&'a AtomicUsize);
        impl Drop for Searching<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        self.crew.searching.fetch_add(1, Ordering::SeqCst);
        let _searching = Searching(&self.crew.searching);
        call()
    }

    /// Whether more members are computing than there are cores, as happens when one comes back
    /// from a call that slept. The one that notices should leave at the next good point.
    pub fn is_surplus(&self) -> bool {
        let others = self.crew.present.load(Ordering::Relaxed).saturating_sub(1);
        !has_place(others)
    }

    /// Whether one more could compute beside those that do: a look at one counter, to spare a look
    /// for work that nobody else would come to.
    pub fn has_room(&self) -> bool {
        has_place(self.crew.present.load(Ordering::SeqCst))
    }

    /// Says that this member has added work; see [`Crew::call_in`]. It can't fail, since the
    /// member itself will come to the work.
    pub fn call_in(&self) {
        let _ = self.crew.call_in();
    }
}
