//! Who executes the operations of a process, or of a part of it that wants its own.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use blockpool::PerFork;

use crate::backend::{Backend, InvalidBackend};
use crate::builder::Builder;
use crate::capabilities::{Capabilities, RingUnavailable};
use crate::dir::{DIR_FLAGS, Dir};
use crate::gate::Gate;
use crate::inline::InlineRoute;
use crate::many::StatMany;
use crate::metrics::{Counters, Gauges, Metrics};
use crate::op::Open;
use crate::pool::Pool;
use crate::read_dir::ReadDir;
use crate::ring::{Config, RingSlot};
use crate::statx::Stat;
use crate::trace;

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
/// fork belongs to the parent's threads, and should be neither used nor dropped there.
///
/// A mount whose server does not answer (a network's, FUSE's) stalls those who ask for it and nobody
/// else: what leads there gets a share of the threads and waits for its own kind beyond that.
#[derive(Clone, Debug)]
pub struct Driver {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) backend: Backend,
    /// `RINGFS_BACKEND` names no back end: every operation says so.
    misconfigured: Option<InvalidBackend>,
    pub(crate) ring_config: Config,
    pub(crate) ring: RingSlot,
    pub(crate) pool: Arc<Pool>,
    pub(crate) inline: InlineRoute,
    pub(crate) counters: Arc<Counters>,
    pub(crate) gate: Gate,
    /// Set when the driver has been shut down.
    pub(crate) closed: AtomicBool,
}

impl Driver {
    pub(crate) fn new(builder: &Builder) -> Self {
        let counters = Arc::new(Counters::default());
        let sandboxed = builder.backend == Backend::Threads;
        Self {
            shared: Arc::new(Shared {
                backend: builder.backend,
                misconfigured: None,
                ring_config: builder.ring,
                ring: RingSlot::default(),
                pool: Arc::new(Pool::new(Arc::clone(&counters))),
                inline: InlineRoute::new(sandboxed, builder.inline_on_overlay),
                counters,
                gate: Gate::default(),
                closed: AtomicBool::new(false),
            }),
        }
    }

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
    /// [`Backend::Threads`] or [`Backend::ThisThread`] this starts the ring, to see what it can do.
    pub async fn capabilities(&self) -> Capabilities {
        let ring = match self.ring_unwanted() {
            Some(reason) => Err(reason),
            None => self.ring_features().await.map_err(RingUnavailable::Refused),
        };
        Capabilities::new(self.shared.backend, self.shared.inline.try_paths(), ring)
    }

    /// What has been done so far, by operation and route. It looks into the mount table for the names
    /// of file systems, which takes as long as a few hundred answers from memory.
    pub fn metrics(&self) -> Metrics {
        let ring = self.shared.ring.get();
        self.shared.counters.snapshot(
            Gauges {
                pool_threads: self.shared.pool.threads(),
                ring_workers: ring.map_or(0, |ring| ring.workers()),
            },
            self.shared.backend != Backend::Threads,
        )
    }

    /// Ends the driver's work: what is asked from now on fails with `BrokenPipe`, and what has been
    /// asked gets up to `limit` to complete. The calling thread waits for it, so in async code this
    /// is for the end of the program, or for a thread that may block.
    ///
    /// What does not complete in time, since it is stuck in the kernel on a dead mount, is left to
    /// itself: its memory, descriptors and threads are kept until the kernel lets go of them, and
    /// nothing waits for it. It concerns all handles of this driver.
    ///
    /// # Errors
    ///
    /// `TimedOut` if something was left.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # futures::executor::block_on(async {
    /// let driver = ringfs::Driver::builder().build();
    /// driver.statx("/proc/version").await?;
    /// driver.shutdown_timeout(Duration::from_secs(1))?;
    /// assert!(driver.statx("/").await.is_err());
    /// # Ok::<(), std::io::Error>(()) }).unwrap();
    /// ```
    pub fn shutdown_timeout(&self, limit: Duration) -> io::Result<()> {
        self.shared.closed.store(true, Ordering::SeqCst);
        let left = self.flights().wait_until_landed(limit);
        self.shared.ring.close();
        trace::shut_down(left);
        if left == 0 {
            return Ok(());
        }
        let message = format!("{left} operations have not completed");
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }

    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }

    pub(crate) fn upgrade(shared: &Weak<Shared>) -> Option<Self> {
        shared.upgrade().map(|shared| Self { shared })
    }

    /// What every operation checks first.
    pub(crate) fn check(&self) -> io::Result<()> {
        if let Some(error) = &self.shared.misconfigured {
            return Err(error.clone().into());
        }
        if self.shared.closed.load(Ordering::Relaxed) {
            let message = "the driver has been shut down";
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, message));
        }
        Ok(())
    }
}
