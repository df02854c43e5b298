//! Who asks a server that does not answer must not take everybody's threads.
//!
//! The process's budget of threads that wait, and the ring's kernel workers, are for all. So of what
//! there is a sixteenth is kept from operations that lead to mounts whose file systems ask somebody
//! (a network's, FUSE's), half of it for threads and half for the ring, and each such mount may have
//! fifteen sixteenths of what the others leave; more of its operations wait here, in their order,
//! until one is through. Thousands of calls to a dead mount thus stall nobody but each other.
//!
//! Where an operation leads is read off its path, without asking anybody: a symbolic link to such a
//! mount is not seen. That costs fairness, never an answer.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Wake, Waker};

use blockpool::lock;

use crate::capabilities::OperationKind;
use crate::driver::{Driver, Shared};
use crate::flights::Stage;
use crate::op::{Answer, Job, Place, Request};
use crate::ring::Jobs;
use crate::trace;

/// How many of those who wait a leaving operation lets in: one for its place, and some for room that
/// others have left. One thread must not feed all.
const AT_A_TIME: usize = 4;

/// The servers that one driver's operations lead to.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    inside: Mutex<Inside>,
    on_workers: AtomicUsize,
}

#[derive(Debug, Default)]
struct Inside {
    servers: HashMap<u64, Server>,
    room: Room,
    /// For how many more questions that is good enough.
    good_for: u32,
}

/// So many times the room is taken to be what it was: finding out takes locks that others want.
const GOOD_FOR: u32 = 16;

#[derive(Default)]
struct Server {
    on_workers: usize,
    on_ring: usize,
    waiting: VecDeque<Box<dyn Job>>,
    /// A thread is letting in those who wait.
    letting_in: bool,
    /// How many futures of those who wait were dropped since that was looked into.
    abandoned: usize,
    waker: Option<Waker>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("on_workers", &self.on_workers)
            .field("on_ring", &self.on_ring)
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

impl Server {
    fn inside(&self) -> usize {
        self.on_workers + self.on_ring
    }

    /// Is woken when the future of one that waits is dropped.
    fn waker(&mut self, driver: &Driver, id: u64) -> Waker {
        let dropped = || Dropped(driver.downgrade(), id);
        self.waker
            .get_or_insert_with(|| Waker::from(Arc::new(dropped())))
            .clone()
    }
}

struct Dropped(Weak<Shared>, u64);

impl Wake for Dropped {
    fn wake(self: Arc<Self>) {
        if let Some(driver) = Driver::upgrade(&self.0) {
            Gate::forget_abandoned(&driver, self.1);
        }
    }
}

/// How many operations could be waiting for answers at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    /// By workers and the ring together: they share the process's budget.
    pub(crate) all: usize,
    pub(crate) ring: usize,
}

/// What one server may have of `room` while other servers hold `taken` of it.
fn share(room: usize, taken: usize) -> usize {
    let reserve = 2 * room.div_ceil(32);
    let left = room.saturating_sub(reserve + taken);
    left - left / 16
}

impl Inside {
    fn server(&mut self, id: u64) -> &mut Server {
        self.servers.entry(id).or_default()
    }

    fn room(&mut self, look: impl FnOnce() -> Room) -> Room {
        if self.good_for == 0 {
            self.room = look();
            self.good_for = GOOD_FOR;
        }
        self.good_for -= 1;
        self.room
    }
}

impl Gate {
    /// How many of the operations with workers are of such servers.
    pub(crate) fn on_workers(&self) -> usize {
        self.on_workers.load(Ordering::Relaxed)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        lock(&self.inside)
    }

    /// Lets operations that lead to one server through to the back ends of `driver`, or keeps them
    /// until there is room.
    pub(crate) fn admit(driver: &Driver, id: u64, jobs: impl Jobs, wants: Stage) {
        let gate = driver.gate();
        let mut on_ring = Vec::new();
        let mut by_workers = Vec::new();
        let mut is_first = false;
        let mut inside = gate.inside();
        for mut job in jobs {
            let none_waits = inside.server(id).waiting.is_empty();
            let chosen = none_waits.then(|| gate.choose(&mut inside, id, driver, &*job, wants));
            match chosen.flatten() {
                Some(Stage::Ring) => on_ring.push(Gated::wrap(driver, id, Stage::Ring, job)),
                Some(stage) => by_workers.push(Gated::wrap(driver, id, stage, job)),
                None => {
                    driver.flights().begin(Stage::Waiting);
                    let server = inside.server(id);
                    let waker = server.waker(driver, id);
                    job.watch(&mut Context::from_waker(&waker));
                    is_first |= server.waiting.is_empty();
                    server.waiting.push_back(job);
                }
            }
        }
        drop(inside);
        if is_first {
            trace::held_back(id);
        }
        driver.send_to_ring(on_ring);
        for job in by_workers {
            driver.send_to(Stage::Worker, job);
        }
    }

    /// Lets go of those whose futures are gone, once they are half of all that wait: so each costs
    /// little, and none stays when all are gone.
    fn forget_abandoned(driver: &Driver, id: u64) {
        let mut inside = driver.gate().inside();
        let Some(server) = inside.servers.get_mut(&id) else {
            return;
        };
        server.abandoned += 1;
        if server.abandoned * 2 < server.waiting.len() {
            return;
        }
        server.abandoned = 0;
        let all = std::mem::take(&mut server.waiting);
        let (gone, waiting): (Vec<_>, _) = all.into_iter().partition(|job| job.is_abandoned());
        server.waiting = VecDeque::from(waiting);
        drop(inside);
        // Without the lock: what they hold may be the last of its kind.
        for job in gone {
            drop(job);
            driver.flights().end(Stage::Waiting);
        }
    }

    /// A place for the operation where it wants to go, or else on the other back end. It is counted
    /// as taken.
    fn choose(
        &self,
        inside: &mut Inside,
        id: u64,
        driver: &Driver,
        job: &dyn Job,
        wants: Stage,
    ) -> Option<Stage> {
        let (mut all, mut ring) = (0, 0);
        for (other, server) in &inside.servers {
            if *other != id {
                all += server.inside();
                ring += server.on_ring;
            }
        }
        // One of each at least, however little there is: when it is through, the next is let in.
        let is_alone = inside.server(id).inside() == 0;
        let room = if is_alone {
            Room::default()
        } else {
            inside.room(|| driver.room(self.on_workers()))
        };
        let server = inside.server(id);
        if !is_alone && server.inside() >= share(room.all, all) {
            return None;
        }
        let ring_has_room = is_alone || server.on_ring < share(room.ring, ring);
        let on_ring = || ring_has_room && driver.ring_may_take(job);
        let stage = match wants {
            Stage::Ring if on_ring() => Stage::Ring,
            _ if driver.pool_may_take(job) => Stage::Worker,
            _ if on_ring() => Stage::Ring,
            _ => return None,
        };
        if stage == Stage::Ring {
            server.on_ring += 1;
        } else {
            server.on_workers += 1;
            self.on_workers.fetch_add(1, Ordering::Relaxed);
        }
        Some(stage)
    }

    /// An operation is through: lets in others, as far as there is room now.
    fn leave(driver: &Driver, id: u64, left: Stage) {
        let gate = driver.gate();
        let mut inside = gate.inside();
        let server = inside.server(id);
        if left == Stage::Ring {
            server.on_ring -= 1;
        } else {
            server.on_workers -= 1;
            gate.on_workers.fetch_sub(1, Ordering::Relaxed);
        }
        // Sending may make an operation fail on the spot, and so lead here again.
        if std::mem::replace(&mut server.letting_in, true) {
            return;
        }
        drop(inside);
        let mut sent = 0;
        while let Some((job, stage)) = gate.next(driver, id, left, sent >= AT_A_TIME) {
            if let Some(stage) = stage {
                driver.send_to(stage, Gated::wrap(driver, id, stage, job));
                sent += 1;
            } else {
                drop(job);
            }
            driver.flights().end(Stage::Waiting);
        }
    }

    /// The first that waits, with its place, where the other has left if possible; or without, if
    /// nobody waits for it any more. If there is none, or no place for it, or enough have been let in
    /// and one inside will go on with the next, the thread's letting in is over: at the same moment,
    /// so that whoever leaves from now on goes on with it.
    fn next(
        &self,
        driver: &Driver,
        id: u64,
        left: Stage,
        are_enough: bool,
    ) -> Option<(Box<dyn Job>, Option<Stage>)> {
        let mut inside = self.inside();
        let server = inside.server(id);
        let goes_on = !are_enough || server.inside() == 0;
        let next = goes_on.then(|| server.waiting.pop_front()).flatten();
        let Some(job) = next else {
            server.letting_in = false;
            if server.inside() + server.waiting.len() == 0 {
                inside.servers.remove(&id);
            }
            return None;
        };
        if job.is_abandoned() {
            return Some((job, None));
        }
        let stage = self.choose(&mut inside, id, driver, job.as_ref(), left);
        if stage.is_none() {
            let server = inside.server(id);
            server.waiting.push_front(job);
            server.letting_in = false;
            return None;
        }
        Some((job, stage))
    }
}

/// An operation that was let in; others follow when it is through.
struct Gated {
    job: Box<dyn Job>,
    /// Gone once it has been given up.
    pass: Option<Pass>,
}

struct Pass {
    driver: Driver,
    id: u64,
    stage: Stage,
}

impl Drop for Pass {
    fn drop(&mut self) {
        Gate::leave(&self.driver, self.id, self.stage);
    }
}

impl Gated {
    fn wrap(driver: &Driver, id: u64, stage: Stage, job: Box<dyn Job>) -> Box<dyn Job> {
        let driver = driver.clone();
        let pass = Pass { driver, id, stage };
        Box::new(Self {
            job,
            pass: Some(pass),
        })
    }
}

impl Job for Gated {
    fn kind(&self) -> OperationKind {
        self.job.kind()
    }

    fn calls(&self) -> usize {
        self.job.calls()
    }

    fn is_for_ring(&self) -> bool {
        self.job.is_for_ring()
    }

    fn place(&self) -> Option<Place<'_>> {
        self.job.place()
    }

    fn request(&mut self) -> Option<Request<'_>> {
        self.job.request()
    }

    fn is_abandoned(&self) -> bool {
        self.job.is_abandoned()
    }

    fn watch(&mut self, cx: &mut Context<'_>) {
        self.job.watch(cx);
    }

    fn run(&mut self) {
        self.job.run();
    }

    fn land(self: Box<Self>) {
        let Self { job, pass } = *self;
        job.land();
        drop(pass);
    }

    fn complete(self: Box<Self>, answer: io::Result<Answer>) {
        let Self { job, pass } = *self;
        job.complete(answer);
        drop(pass);
    }

    fn disown(&mut self) {
        self.job.disown();
        self.pass = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_left_however_many_servers_there_are() {
        assert_eq!(share(512, 0), 450);
        assert_eq!(share(512, 450), 29);
        for room in 0..600 {
            let mut taken = 0;
            for _ in 0..50 {
                taken += share(room, taken);
            }
            assert!(
                taken <= room.saturating_sub(2 * room.div_ceil(32)),
                "{taken} of {room}"
            );
        }
    }
}
