//! File systems whose server is in this process: one can be slow and stop
//! answering, the other ([`hostile`]) says what it should not.
//!
//! The slow one works by timers: however many requests there are at a time, each is answered when
//! its delay has passed, and no thread waits for that. [`remote`] has it in another process.

pub mod hostile;
pub mod process;
mod queue;
pub mod remote;
mod server;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fuser::{BackgroundSession, Config, INodeNo, SessionACL};
use tempfile::TempDir;

use self::server::{FIRST, Files, Server};
use crate::skip::needs_root;
use crate::{Skip, mount};

/// A mounted file system: a directory of files `f0`, `f1` and so on; the size of each is its number.
#[derive(Debug)]
pub struct Fuse {
    // In this order they are dropped: unmounted first, removed then.
    session: Option<BackgroundSession>,
    point: PathBuf,
    server: Arc<Server>,
    timer: Option<JoinHandle<()>>,
    _directory: TempDir,
}

/// How many threads receive requests. None of them waits for an answer's time.
const THREADS: usize = 4;

impl Fuse {
    /// Mounts so many files.
    ///
    /// # Errors
    /// No root, or no FUSE.
    pub fn new(files: u64) -> Result<Self, Skip> {
        let name = "mount fuse";
        needs_root(name)?;
        let skip = |error: io::Error| Skip::missing(name, error.to_string());
        let directory = tempfile::Builder::new()
            .prefix("fuse-")
            .tempdir()
            .map_err(skip)?;
        let point = directory.path().join("mnt");
        fs::create_dir(&point).map_err(skip)?;
        let server = Arc::new(Server::new(files));
        let mut config = Config::default();
        config.n_threads = Some(THREADS);
        // Tests become other users.
        config.acl = SessionACL::All;
        let session = fuser::spawn_mount(Files(Arc::clone(&server)), &point, &config);
        let mut fuse = Self {
            session: Some(session.map_err(skip)?),
            point,
            server: Arc::clone(&server),
            timer: None,
            _directory: directory,
        };
        let timer = thread::Builder::new().name("fuse-timer".to_owned());
        let timer = timer.spawn(move || server.queue.run()).map_err(skip)?;
        fuse.timer = Some(timer);
        Ok(fuse)
    }

    /// The root of the file system.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// The path of a file.
    pub fn file(&self, number: u64) -> PathBuf {
        self.point.join(format!("f{number}"))
    }

    /// How long every answer takes.
    pub fn set_delay(&self, delay: Duration) {
        self.server.delay.store(micros(delay), Ordering::Relaxed);
    }

    /// How much longer than that it takes at most, at random.
    pub fn set_jitter(&self, jitter: Duration) {
        self.server.jitter.store(micros(jitter), Ordering::Relaxed);
    }

    /// How many requests are answered at the same time, at least one. All others queue, and their
    /// delay begins when it is their turn. `usize::MAX`, as at the beginning, is no limit.
    pub fn set_width(&self, width: usize) {
        self.server.queue.set_width(width.max(1));
    }

    /// From now on nothing is answered.
    pub fn hang(&self) {
        self.server.hang();
    }

    /// Answers everything that was asked meanwhile, and works again.
    pub fn release(&self) {
        self.server.release();
    }

    /// How much the kernel has asked so far.
    pub fn requests(&self) -> usize {
        self.server.requests.load(Ordering::Relaxed)
    }

    /// Whether the kernel looks up several names of a directory at the same time
    /// (`FUSE_PARALLEL_DIROPS`). Otherwise one waits for the other, whatever the server does.
    pub fn parallel_lookups(&self) -> bool {
        self.server.parallel_lookups.load(Ordering::Relaxed)
    }

    /// The kernel no longer believes the attributes of a file that it knows, but still its name.
    ///
    /// # Panics
    /// The kernel refuses.
    pub fn expire(&self, number: u64) {
        if let Some(session) = &self.session {
            let result = session
                .notifier()
                .inval_inode(INodeNo(number + FIRST), -1, 0);
            result.expect("attributes that the kernel knows");
        }
    }

    /// The kernel no longer knows any file: the next stat of each is one request, a lookup.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn forget_names(&self) -> io::Result<()> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let notifier = session.notifier();
        for number in 0..self.server.files {
            let name = format!("f{number}");
            match notifier.inval_entry(INodeNo(1), OsStr::new(&name)) {
                Ok(()) => {}
                // It does not know that one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Drop for Fuse {
    fn drop(&mut self) {
        // Whoever still waits is freed, or could never be killed; even if the server is stuck.
        mount::abort(&self.point);
        self.server.release();
        self.server.queue.close();
        drop(self.session.take());
        if let Some(timer) = self.timer.take() {
            let _ = timer.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::time::Instant;

    use super::*;
    use crate::or_skip;

    #[test]
    fn files_are_there_and_the_mount_goes() {
        let fuse = or_skip!(Fuse::new(300));
        let point = fuse.path().to_owned();
        assert_eq!(fs::read_dir(&point).unwrap().count(), 300);
        assert_eq!(fs::metadata(fuse.file(7)).unwrap().len(), 7);
        assert!(fs::metadata(point.join("f300")).is_err());
        drop(fuse);
        assert!(!point.exists());
    }

    #[test]
    fn it_is_slow_and_hangs_and_works_again() {
        let fuse = or_skip!(Fuse::new(10));
        fuse.set_delay(Duration::from_millis(20));
        let start = Instant::now();
        fs::metadata(fuse.file(1)).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(20));
        fuse.set_delay(Duration::ZERO);
        fuse.hang();
        let (sender, receiver) = mpsc::channel();
        let path = fuse.file(2);
        thread::spawn(move || sender.send(fs::metadata(path).map(|file| file.len()).ok()));
        let waits = receiver.recv_timeout(Duration::from_millis(100));
        assert_eq!(waits, Err(RecvTimeoutError::Timeout));
        assert!(fuse.requests() > 0);
        fuse.release();
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(Some(2)));
    }

    #[test]
    fn it_answers_few_at_a_time() {
        const DELAY: Duration = Duration::from_millis(10);
        let fuse = or_skip!(Fuse::new(20));
        fuse.set_delay(DELAY);
        fuse.set_jitter(DELAY);
        fuse.set_width(2);
        let start = Instant::now();
        thread::scope(|scope| {
            for number in 0..20 {
                let path = fuse.file(number);
                scope.spawn(move || assert_eq!(fs::metadata(path).unwrap().len(), number));
            }
        });
        assert!(start.elapsed() >= DELAY * 10, "{:?}", start.elapsed());
    }

    #[test]
    fn dropping_it_frees_who_still_waits() {
        let fuse = or_skip!(Fuse::new(10));
        fuse.hang();
        let path = fuse.file(2);
        let waits = thread::spawn(move || fs::metadata(path).is_ok());
        while fuse.requests() == 0 {
            thread::yield_now();
        }
        drop(fuse);
        assert!(!waits.join().unwrap());
    }

    #[test]
    fn thousands_of_answers_overlap() {
        const DELAY: Duration = Duration::from_millis(100);
        const AT_A_TIME: u64 = 256;
        let fuse = or_skip!(Fuse::new(2_000));
        assert!(fuse.parallel_lookups());
        fuse.set_delay(DELAY);
        let start = Instant::now();
        thread::scope(|scope| {
            for thread in 0..AT_A_TIME {
                let paths = (thread..2_000).step_by(256).map(|number| fuse.file(number));
                scope.spawn(move || paths.for_each(|path| assert!(path.is_file())));
            }
        });
        assert_eq!(fuse.requests(), 2_000);
        // Eight after another in each thread; three times that is for a busy machine.
        let took = start.elapsed();
        assert!(took >= DELAY * 7 && took < DELAY * 24, "{took:?}");
    }

    #[test]
    fn a_short_delay_is_kept() {
        const DELAY: Duration = Duration::from_micros(100);
        let fuse = or_skip!(Fuse::new(200));
        fuse.set_delay(DELAY);
        let took = (0..200).map(|number| {
            let start = Instant::now();
            fs::metadata(fuse.file(number)).unwrap();
            start.elapsed()
        });
        let shortest = took.min().unwrap();
        assert!(shortest >= DELAY && shortest < DELAY * 4, "{shortest:?}");
    }

    #[test]
    fn forgotten_names_are_asked_for_once_each() {
        let fuse = or_skip!(Fuse::new(50));
        let stat_all = || (0..50).for_each(|number| assert!(fuse.file(number).is_file()));
        for _ in 0..3 {
            let before = fuse.requests();
            stat_all();
            stat_all();
            assert_eq!(fuse.requests() - before, 50);
            fuse.forget_names().unwrap();
        }
    }

    #[test]
    fn dropping_it_is_quick_with_many_in_flight() {
        const WAITERS: usize = 300;
        let fuse = or_skip!(Fuse::new(1_000));
        fuse.set_delay(Duration::from_mins(10));
        fuse.set_width(WAITERS / 2);
        let waits: Vec<_> = (0..1_000)
            .take(WAITERS)
            .map(|number| fuse.file(number))
            .map(|path| thread::spawn(move || fs::metadata(path).is_ok()))
            .collect();
        while fuse.requests() < WAITERS {
            thread::sleep(Duration::from_millis(1));
        }
        let start = Instant::now();
        drop(fuse);
        assert!(waits.into_iter().all(|thread| !thread.join().unwrap()));
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
