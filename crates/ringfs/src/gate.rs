//! Who asks a server that does not answer must not take everybody's threads.
//!
//! The process's budget of threads that wait, and the ring's kernel workers, are for all. So the
//! operations that lead to one mount whose file system asks somebody (a network's, FUSE's) get at
//! most seven eighths of what the others leave; more of them wait here, in their order, until one of
//! theirs is through. A thousand calls to a dead mount thus stall nobody but each other.
//!
//! Where an operation leads is read off its path, without asking anybody: a symbolic link to such a
//! mount is not seen. That costs fairness, never an answer.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Wake, Waker};

use fscall::mounts::Mounts;

use crate::capabilities::OperationKind;
use crate::driver::{Driver, Shared};
use crate::flights::Stage;
use crate::op::{Answer, Job, Place, Request};
use crate::trace;

/// The servers that one driver's operations lead to.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    servers: Mutex<HashMap<u64, Server>>,
    on_workers: AtomicUsize,
}

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

impl Server {
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

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("on_workers", &self.on_workers)
            .field("on_ring", &self.on_ring)
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

/// How many operations could be waiting for answers at a time, if there were but one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) workers: usize,
    pub(crate) ring: usize,
}

/// What one server may have of `room` while others hold `taken` of it.
fn share(room: usize, taken: usize) -> usize {
    let left = room.saturating_sub(taken);
    left - left.div_ceil(8)
}

impl Gate {
    /// How many of the operations with workers are of such servers.
    pub(crate) fn on_workers(&self) -> usize {
        self.on_workers.load(Ordering::Relaxed)
    }

    fn servers(&self) -> MutexGuard<'_, HashMap<u64, Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets an operation through to a back end of `driver`, or keeps it until there is room.
    pub(crate) fn admit(driver: &Driver, id: u64, job: Box<dyn Job>, wants: Stage) {
        let gate = driver.gate();
        let mut servers = gate.servers();
        let server = servers.entry(id).or_default();
        if server.waiting.is_empty()
            && let Some(stage) = gate.choose(&mut servers, id, driver, job.as_ref(), Some(wants))
        {
            drop(servers);
            return driver.send_to(stage, Gated::wrap(driver, id, stage, job));
        }
        driver.flights().begin(Stage::Waiting, 1);
        let mut job = job;
        if let Some(server) = servers.get_mut(&id) {
            let waker = server.waker(driver, id);
            job.watch(&mut Context::from_waker(&waker));
            server.waiting.push_back(job);
            trace::held_back(id, server.waiting.len());
        }
    }

    /// Lets go of those whose futures are gone, once they are half of all that wait: so each costs
    /// little, and none stays when all are gone.
    fn forget_abandoned(driver: &Driver, id: u64) {
        let mut servers = driver.gate().servers();
        let Some(server) = servers.get_mut(&id) else {
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
        drop(servers);
        // Without the lock: what they hold may be the last of its kind.
        let count = gone.len();
        drop(gone);
        driver.flights().end(Stage::Waiting, count);
    }

    /// A place for the operation where it wants to go, or else on the other back end. It is counted
    /// as taken.
    fn choose(
        &self,
        servers: &mut HashMap<u64, Server>,
        id: u64,
        driver: &Driver,
        job: &dyn Job,
        wants: Option<Stage>,
    ) -> Option<Stage> {
        let room = driver.room();
        let taken = servers.iter().filter(|(other, _)| **other != id);
        let (workers, ring) = taken.fold((0, 0), |(workers, ring), (_, server)| {
            (workers + server.on_workers, ring + server.on_ring)
        });
        let server = servers.get_mut(&id)?;
        // One at least, however little there is.
        let alone = server.on_workers + server.on_ring == 0;
        let on_ring =
            || (alone || server.on_ring < share(room.ring, ring)) && driver.ring_may_take(job);
        let by_worker = || {
            (alone || server.on_workers < share(room.workers, workers)) && driver.pool_may_take(job)
        };
        let stage = match wants {
            Some(Stage::Ring) if on_ring() => Stage::Ring,
            _ if by_worker() => Stage::Worker,
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

    /// An operation is through: lets in as many as there is room for now.
    fn leave(driver: &Driver, id: u64, stage: Stage) {
        let gate = driver.gate();
        let mut servers = gate.servers();
        let Some(server) = servers.get_mut(&id) else {
            return;
        };
        if stage == Stage::Ring {
            server.on_ring -= 1;
        } else {
            server.on_workers -= 1;
            gate.on_workers.fetch_sub(1, Ordering::Relaxed);
        }
        // Sending may make an operation fail on the spot, and so lead here again.
        if std::mem::replace(&mut server.letting_in, true) {
            return;
        }
        loop {
            let Some(job) = servers
                .get_mut(&id)
                .and_then(|server| server.waiting.pop_front())
            else {
                break;
            };
            if job.is_abandoned() {
                drop(servers);
                drop(job);
                driver.flights().end(Stage::Waiting, 1);
                servers = gate.servers();
                continue;
            }
            let Some(stage) = gate.choose(&mut servers, id, driver, job.as_ref(), None) else {
                if let Some(server) = servers.get_mut(&id) {
                    server.waiting.push_front(job);
                }
                break;
            };
            drop(servers);
            driver.send_to(stage, Gated::wrap(driver, id, stage, job));
            driver.flights().end(Stage::Waiting, 1);
            servers = gate.servers();
        }
        if let Some(server) = servers.get_mut(&id) {
            server.letting_in = false;
            if server.on_workers + server.on_ring + server.waiting.len() == 0 {
                servers.remove(&id);
            }
        }
    }
}

/// An operation that was let in; others follow when it is through.
struct Gated {
    job: Box<dyn Job>,
    pass: Pass,
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
        Box::new(Self { job, pass })
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

    fn run(self: Box<Self>) {
        let Self { job, pass } = *self;
        job.run();
        drop(pass);
    }

    fn complete(self: Box<Self>, answer: io::Result<Answer>) {
        let Self { job, pass } = *self;
        job.complete(answer);
        drop(pass);
    }

    fn disown(&mut self) {
        self.job.disown();
    }
}

/// Finds out which server operations lead to. What was learnt of a directory is used for the next
/// operation as well, so one is for operations that are asked together.
pub(crate) struct Guide<'a> {
    mounts: &'a Mounts,
    base: Option<(RawFd, PathBuf)>,
}

impl<'a> Guide<'a> {
    /// `None` if there is no server that anything could lead to.
    pub(crate) fn new(mounts: &'a Mounts) -> Option<Self> {
        let base = None;
        mounts.has_servers().then_some(Self { mounts, base })
    }

    /// The id of the mount.
    pub(crate) fn server_of(&mut self, place: Place<'_>) -> Option<u64> {
        let path = Path::new(std::ffi::OsStr::from_bytes(place.path));
        let absolute = if path.is_absolute() {
            lexical(path)
        } else {
            lexical(&self.base(place.dir)?.join(path))
        };
        self.mounts.server_at(absolute.as_os_str().as_bytes())
    }

    /// The path of a directory, as the kernel knows it: neither call asks a file system.
    fn base(&mut self, dir: BorrowedFd<'_>) -> Option<&Path> {
        let fd = dir.as_raw_fd();
        if self.base.as_ref().is_none_or(|(known, _)| *known != fd) {
            let path = if fd == fscall::CWD.as_raw_fd() {
                std::env::current_dir()
            } else {
                std::fs::read_link(format!("/proc/self/fd/{fd}"))
            };
            self.base = Some((fd, path.ok()?));
        }
        self.base.as_ref().map(|(_, path)| path.as_path())
    }
}

/// An absolute path without `.` and `..`, as if no component were a symbolic link.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_is_left() {
        assert_eq!(share(512, 0), 448);
        assert_eq!(share(64, 0), 56);
        assert_eq!(share(512, 448), 56);
        assert_eq!((share(1, 0), share(0, 0), share(3, 5)), (0, 0, 0));
    }

    #[test]
    fn paths_as_they_are_written() {
        for (path, plain) in [
            ("/a/./b//c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/", "/"),
            ("/..", "/"),
        ] {
            assert_eq!(lexical(Path::new(path)), Path::new(plain));
        }
    }
}
