//! Who executes the operations of a process, or of a part of it that wants its own.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use blockpool::PerFork;
use fscall::{Form, OFlags, Prepared};

use crate::backend::{Backend, InvalidBackend};
use crate::capabilities::{Capabilities, OperationKind, RingUnavailable, Route};
use crate::dir::{DIR_FLAGS, Dir};
use crate::inline::{Inline, InlineRoute};
use crate::many::StatMany;
use crate::metadata::Metadata;
use crate::metrics::{Counters, Gauges, Metrics};
use crate::op::{Close, Job, Open, Operation, Pending, pack};
use crate::pool::Pool;
use crate::read_dir::ReadDir;
use crate::ring::{Config, Features, Ring, SetupError};
use crate::statx::Stat;

/// Executes operations: inline, on worker threads, or through io_uring.
///
/// Most programs never name it: the functions of this crate use [`Driver::global`]. Nothing is
/// started before it is needed, neither thread nor ring; a forked child gets a fresh global
/// driver. Handles are cheap to clone. A driver whose last handle is gone finishes what is in
/// flight and ends.
///
/// A ring that the system does not grant (seccomp, `io_uring_disabled`, limits) is no error: the
/// refusal is remembered, worker threads take over, and [`capabilities`](Self::capabilities) tells
/// why. What the kernel derives from the calling thread (`setfsuid`, `unshare`, Landlock,
/// `/proc/thread-self`) is that of the thread that executes, not of the one that asks. In a child
/// made by `fork` without `exec` only the global driver works: what was opened or made before the
/// fork belongs to the parent's threads.
#[derive(Clone, Debug)]
pub struct Driver {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    backend: Backend,
    /// `RINGFS_BACKEND` names no back end: every operation says so.
    misconfigured: Option<InvalidBackend>,
    ring_config: Config,
    ring: OnceLock<Result<Ring, SetupError>>,
    pool: Arc<Pool>,
    inline: InlineRoute,
    counters: Arc<Counters>,
}

/// Settings of a [`Driver`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    backend: Backend,
    ring_entries: u32,
    ring_workers: usize,
    inline_on_overlay: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            backend: Backend::Auto,
            ring_entries: 256,
            ring_workers: 256,
            inline_on_overlay: true,
        }
    }
}

impl Builder {
    /// Which back ends may be used; [`Backend::Auto`] unless said otherwise (the global driver
    /// reads `RINGFS_BACKEND`).
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Entries of the ring's submission queue, rounded up to a power of two by the kernel; 256.
    /// Any number of operations may be waiting, whatever the size.
    pub fn ring_entries(mut self, entries: u32) -> Self {
        self.ring_entries = entries.clamp(1, 4096);
        self
    }

    /// The most operations that the kernel may execute at the same time (io-wq workers), within
    /// the process's budget; 256.
    ///
    /// Linux 5.15; before it the kernel's own limit applies.
    pub fn ring_workers(mut self, workers: usize) -> Self {
        self.ring_workers = workers;
        self
    }

    /// Whether files on overlayfs may be answered inline; they may unless said otherwise. Over a
    /// network or FUSE layer such an answer can be as stale as `AT_STATX_DONT_SYNC` allows.
    pub fn inline_on_overlay(mut self, inline: bool) -> Self {
        self.inline_on_overlay = inline;
        self
    }

    /// Makes the driver. It starts nothing yet, so it can't fail.
    pub fn build(self) -> Driver {
        let counters = Arc::new(Counters::default());
        let pool = Arc::new(Pool::new(Arc::clone(&counters)));
        Driver {
            shared: Arc::new(Shared {
                backend: self.backend,
                misconfigured: None,
                ring_config: Config {
                    entries: self.ring_entries,
                    workers: self.ring_workers,
                },
                ring: OnceLock::new(),
                pool,
                inline: InlineRoute::new(self.backend == Backend::Threads, self.inline_on_overlay),
                counters,
            }),
        }
    }
}

impl Driver {
    /// The process's driver, with the back end that `RINGFS_BACKEND` names. If it names none,
    /// every operation fails with an error that says so.
    pub fn global() -> &'static Self {
        static GLOBAL: PerFork<Driver> = PerFork::new(|| match Backend::from_env() {
            Ok(backend) => Driver::builder().backend(backend).build(),
            Err(error) => {
                let mut driver = Driver::builder().build();
                if let Some(shared) = Arc::get_mut(&mut driver.shared) {
                    shared.misconfigured = Some(error);
                }
                driver
            }
        });
        GLOBAL.get()
    }

    /// Settings for a driver of one's own.
    ///
    /// ```
    /// use ringfs::{Backend, Driver};
    ///
    /// # futures::executor::block_on(async {
    /// let driver = Driver::builder().backend(Backend::Threads).build();
    /// assert!(driver.statx("/").await?.file_type().unwrap().is_dir());
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The back end that was asked for.
    pub fn backend(&self) -> Backend {
        self.shared.backend
    }

    /// As [`ringfs::statx`](crate::statx()), on this driver.
    pub fn statx<'a, P: AsRef<Path> + ?Sized>(&'a self, path: &'a P) -> Stat<'a> {
        Stat::of_path(self, path.as_ref())
    }

    /// As [`ringfs::statx_paths`](crate::statx_paths()), on this driver.
    pub fn statx_paths<P: AsRef<Path>>(&self, paths: impl IntoIterator<Item = P>) -> StatMany {
        StatMany::new(self.clone(), None, paths)
    }

    /// As [`Dir::open`], on this driver.
    ///
    /// # Errors
    ///
    /// As [`Dir::open`].
    pub async fn open_dir(&self, path: impl AsRef<Path>) -> io::Result<Dir> {
        let path = fscall::to_c_path(path.as_ref().as_os_str().as_bytes())?;
        let fd = self.submit(Open::new(None, path, DIR_FLAGS))?.await?;
        Ok(Dir::new(self.clone(), fd))
    }

    /// A directory that was opened elsewhere, for calls on this driver.
    pub fn dir_from_fd(&self, fd: OwnedFd) -> Dir {
        Dir::new(self.clone(), fd)
    }

    /// As [`ringfs::read_dir`](crate::read_dir()), on this driver.
    ///
    /// # Errors
    ///
    /// As [`ringfs::read_dir`](crate::read_dir()).
    pub async fn read_dir(&self, path: impl AsRef<Path>) -> io::Result<ReadDir> {
        ReadDir::open(self, path.as_ref()).await
    }

    /// Which route each operation takes on this kernel, and why. Unless the back end is
    /// [`Backend::Threads`] this starts the ring, to see what it can do.
    pub async fn capabilities(&self) -> Capabilities {
        let ring = if self.shared.backend == Backend::Threads {
            Err(RingUnavailable::NotWanted)
        } else {
            self.ring_features().await.map_err(RingUnavailable::Refused)
        };
        Capabilities::new(self.shared.backend, self.shared.inline.try_paths(), ring)
    }

    /// What has been done so far, by operation and route.
    pub fn metrics(&self) -> Metrics {
        let ring = self.shared.ring.get().and_then(|ring| ring.as_ref().ok());
        let features = ring
            .and_then(Ring::setup)
            .and_then(|setup| setup.as_ref().ok());
        self.shared.counters.snapshot(Gauges {
            on_workers: self.shared.pool.in_flight(),
            on_ring: ring.map_or(0, Ring::in_flight),
            pool_threads: self.shared.pool.threads(),
            ring_workers: features.map_or(0, |features| features.workers),
        })
    }

    /// Answers at once if that is certain not to sleep.
    pub(crate) fn try_inline(
        &self,
        dir: BorrowedFd<'_>,
        path: Option<&CStr>,
        prepared: &Prepared,
        answer: &mut fscall::Statx,
    ) -> Option<io::Result<()>> {
        let shared = &*self.shared;
        let result = match shared.inline.statx(dir, path, prepared, answer) {
            Inline::Answered => Ok(()),
            Inline::Removed(fd) => {
                // Nobody waits for it.
                drop(self.submit(Close::new(fd)));
                Ok(())
            }
            Inline::Failed(error) => Err(error),
            Inline::Miss => {
                shared.counters.count_miss();
                return None;
            }
        };
        let operation = match prepared.form() {
            Form::Fd => OperationKind::StatxFd,
            Form::Path => OperationKind::StatxPath,
        };
        shared.counters.count(operation, Route::Inline);
        Some(result)
    }

    /// Opens a file beneath a directory at once if that is not known to sleep.
    pub(crate) fn try_open_beneath(
        &self,
        dir: BorrowedFd<'_>,
        path: &CStr,
        flags: OFlags,
    ) -> Option<io::Result<(OwnedFd, fscall::Statx)>> {
        let shared = &*self.shared;
        let opened = shared.inline.open_beneath(dir, path, flags, Metadata::MASK);
        if let Some(file) = opened.left {
            // Nobody waits for it.
            drop(self.submit(Close::new(file)));
        }
        match &opened.answer {
            Some(_) => shared
                .counters
                .count(OperationKind::OpenBeneath, Route::Inline),
            None => shared.counters.count_miss(),
        }
        opened.answer
    }

    /// Whether operations may be answered inline unless the caller insists on another route.
    pub(crate) fn is_inline(&self) -> bool {
        self.shared.backend != Backend::Ring
    }

    /// Hands an operation to the back end that suits it.
    pub(crate) fn submit<O: Operation>(&self, op: O) -> io::Result<Pending<O::Output>> {
        self.check()?;
        let wants_ring = match self.shared.backend {
            Backend::Threads => false,
            Backend::Ring => true,
            Backend::Auto => self.is_pool_busy(),
        };
        let has_ring = wants_ring && op.kind().has_ring_operation();
        let (job, pending) = pack(op);
        self.send(job, has_ring);
        Ok(pending)
    }

    /// Whether the ring takes what comes. With fewer in flight than 32 for each core a worker
    /// answers sooner if nothing sleeps, and if all do there is a thread for each. A quarter of the
    /// budget is the most, so that some is left for the ring.
    fn is_pool_busy(&self) -> bool {
        let in_flight = self.shared.pool.in_flight();
        // Whoever has a call or two at a time need not know what there is.
        in_flight > 2
            && in_flight
                >= (32 * fscall::limits::usable_cores()).min(blockpool::budget().limit() / 4)
    }

    /// Hands an operation to a worker, whatever else there is.
    pub(crate) fn submit_to_worker<O: Operation>(&self, op: O) -> io::Result<Pending<O::Output>> {
        self.check()?;
        let (job, pending) = pack(op);
        self.send(job, false);
        Ok(pending)
    }

    /// Hands an operation to the ring, or tells why there is none.
    pub(crate) async fn submit_to_ring<O: Operation>(&self, op: O) -> io::Result<O::Output> {
        self.check()?;
        if self.shared.backend == Backend::Threads {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                RingUnavailable::NotWanted.to_string(),
            ));
        }
        let features = self.ring_features().await?;
        if !features.supports(op.kind()) {
            let message = format!("this kernel's ring has no operation for {}", op.kind());
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let (job, pending) = pack(op);
        let ring = self.ring().as_ref().map_err(SetupError::clone)?;
        if let Err(job) = ring.submit(job) {
            job.complete(Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the ring has broken down",
            )));
        }
        pending.await
    }

    /// What every operation checks first.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.shared
            .misconfigured
            .clone()
            .map_or(Ok(()), |error| Err(error.into()))
    }

    fn send(&self, job: Box<dyn Job>, to_ring: bool) {
        if !to_ring {
            return self.shared.pool.submit(job);
        }
        let rest = match self.ring() {
            Ok(ring) => ring.submit(job).err(),
            Err(_) => Some(job),
        };
        if let Some(job) = rest {
            self.shared.pool.take_over(job);
        }
    }

    /// Hands a job to a worker.
    pub(crate) fn send_to_worker(&self, job: Box<dyn Job>) {
        self.send(job, false);
    }

    /// Hands jobs to the ring, all at once.
    pub(crate) fn send_all_to_ring(&self, jobs: impl Iterator<Item = Box<dyn Job>>) {
        let jobs: Vec<_> = jobs.collect();
        let rest = match self.ring() {
            Ok(ring) => ring.submit_all(jobs).err(),
            Err(_) => Some(jobs),
        };
        for job in rest.into_iter().flatten() {
            self.shared.pool.take_over(job);
        }
    }

    /// Whether so many stats that sleep are for the ring: more than there are threads at hand.
    pub(crate) fn suits_ring(&self, stats: usize) -> bool {
        let has_statx = |setup: &Result<Features, SetupError>| {
            setup.as_ref().is_ok_and(|features| features.statx)
        };
        // It may still be on its way; what it turns out to lack comes back to the pool.
        let may_be_there = |ring: &Ring| ring.setup().is_none_or(has_statx);
        match self.shared.backend {
            Backend::Threads => false,
            Backend::Ring => true,
            Backend::Auto => {
                stats > 2 * fscall::limits::usable_cores()
                    && self.ring().as_ref().is_ok_and(may_be_there)
            }
        }
    }

    /// Counts calls that a job has made itself.
    pub(crate) fn count(&self, operation: OperationKind, route: Route, calls: usize) {
        self.shared.counters.add(operation, route, calls);
    }

    /// Whether this file is on a file system where a call can sleep although all is in memory.
    pub(crate) fn is_remote(&self, fd: BorrowedFd<'_>) -> bool {
        self.shared.inline.is_remote(fd)
    }

    fn ring(&self) -> &Result<Ring, SetupError> {
        let shared = &*self.shared;
        shared.ring.get_or_init(|| {
            Ring::start(
                shared.ring_config,
                Arc::clone(&shared.pool),
                Arc::clone(&shared.counters),
            )
        })
    }

    async fn ring_features(&self) -> Result<Features, SetupError> {
        let ring = self.ring().as_ref().map_err(SetupError::clone)?;
        if ring.setup().is_none() {
            // Whether it answers or is dropped, the set-up is over then.
            let _ = ring.wait_for_setup().await;
        }
        ring.setup().cloned().unwrap_or_else(|| {
            Err(SetupError::new(
                "io_uring_setup",
                &io::ErrorKind::BrokenPipe.into(),
            ))
        })
    }
}
