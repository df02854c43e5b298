//! File systems whose server is in this process: one can be slow and stop
//! answering, the other ([`hostile`]) says what it should not.

pub mod hostile;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation,
    INodeNo, InitFlags, KernelConfig, OpenFlags, ReplyAttr, ReplyDirectory, ReplyEntry, ReplyOpen,
    Request, SessionACL,
};
use tempfile::TempDir;

use crate::skip::needs_root;
use crate::{Skip, mount};

/// A mounted file system: a directory of files `f0`, `f1` and so on; the size of each is its number.
#[derive(Debug)]
pub struct Fuse {
    // In this order they are dropped: unmounted first, removed then.
    session: Option<BackgroundSession>,
    point: PathBuf,
    server: Arc<Server>,
    _directory: TempDir,
}

/// How long the kernel believes what it is told.
const LONG: Duration = Duration::from_hours(1);

/// How many requests are answered at the same time.
const THREADS: usize = 64;

#[derive(Default)]
struct Server {
    files: u64,
    /// Microseconds before each answer.
    delay: AtomicU64,
    /// At most so many more, at random.
    jitter: AtomicU64,
    /// How many answers are being made, and how many may be; 0 is no limit.
    width: Mutex<(usize, usize)>,
    narrower: Condvar,
    requests: AtomicUsize,
    hangs: AtomicBool,
    /// Answers that nobody gets while the server hangs.
    held: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("requests", &self.requests)
            .field("hangs", &self.hangs)
            .finish_non_exhaustive()
    }
}

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
        let server = Arc::new(Server {
            files,
            ..Server::default()
        });
        let mut config = Config::default();
        config.n_threads = Some(THREADS);
        // Tests become other users.
        config.acl = SessionACL::All;
        let session = fuser::spawn_mount(Files(Arc::clone(&server)), &point, &config);
        Ok(Self {
            session: Some(session.map_err(skip)?),
            point,
            server,
            _directory: directory,
        })
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
        let micros = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.server.delay.store(micros, Ordering::Relaxed);
    }

    /// How much longer than that it takes at most, at random.
    pub fn set_jitter(&self, jitter: Duration) {
        let micros = u64::try_from(jitter.as_micros()).unwrap_or(u64::MAX);
        self.server.jitter.store(micros, Ordering::Relaxed);
    }

    /// How many requests are answered at the same time, at least one. All others queue.
    pub fn set_width(&self, width: usize) {
        self.server.width().1 = width.max(1);
        self.server.narrower.notify_all();
    }

    /// From now on nothing is answered.
    pub fn hang(&self) {
        self.server.hangs.store(true, Ordering::SeqCst);
    }

    /// Answers everything that was asked meanwhile, and works again.
    pub fn release(&self) {
        self.server.release();
    }

    /// How much the kernel has asked so far.
    pub fn requests(&self) -> usize {
        self.server.requests.load(Ordering::Relaxed)
    }

    /// The kernel no longer believes the attributes of a file that it knows, but still its name.
    ///
    /// # Panics
    /// The kernel refuses.
    pub fn expire(&self, number: u64) {
        if let Some(session) = &self.session {
            let result = session.notifier().inval_inode(INodeNo(number + 2), -1, 0);
            result.expect("attributes that the kernel knows");
        }
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        // Whoever still waits is freed, or could never be killed; even if the server is stuck.
        mount::abort(&self.point);
        self.server.release();
        drop(self.session.take());
    }
}

impl Server {
    fn release(&self) {
        self.hangs.store(false, Ordering::SeqCst);
        let held = std::mem::take(&mut *self.held());
        for answer in held {
            answer();
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn FnOnce() + Send>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, answer: impl FnOnce() + Send + 'static) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut held = self.held();
        if self.hangs.load(Ordering::SeqCst) {
            return held.push(Box::new(answer));
        }
        drop(held);
        self.enter();
        let jitter = match self.jitter.load(Ordering::Relaxed) {
            0 => 0,
            most => fastrand::u64(..=most),
        };
        let delay = self.delay.load(Ordering::Relaxed).saturating_add(jitter);
        if delay > 0 {
            thread::sleep(Duration::from_micros(delay));
        }
        answer();
        self.width().0 -= 1;
        self.narrower.notify_one();
    }

    fn width(&self) -> std::sync::MutexGuard<'_, (usize, usize)> {
        self.width.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another answer may be made.
    fn enter(&self) {
        let too_many = |&mut (answers, most): &mut (usize, usize)| most > 0 && answers >= most;
        let width = self.narrower.wait_while(self.width(), too_many);
        width.unwrap_or_else(PoisonError::into_inner).0 += 1;
    }

    fn attributes(&self, ino: INodeNo) -> Option<FileAttr> {
        let (kind, size) = match ino.0 {
            1 => (FileType::Directory, 0),
            file if file < self.files + 2 => (FileType::RegularFile, file - 2),
            _ => return None,
        };
        Some(FileAttr {
            ino,
            size,
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm: 0o755,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn number(&self, name: &OsStr) -> Option<u64> {
        let number = name.to_str()?.strip_prefix('f')?.parse().ok()?;
        (number < self.files).then_some(number)
    }
}

struct Files(Arc<Server>);

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Names in one directory are looked up at the same time, if the kernel can.
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let number = self.0.number(name);
        let attributes = number.and_then(|number| self.0.attributes(INodeNo(number + 2)));
        self.0.answer(move || match attributes {
            Some(attributes) => reply.entry(&LONG, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let attributes = self.0.attributes(ino);
        self.0.answer(move || match attributes {
            Some(attributes) => reply.attr(&Duration::ZERO, &attributes),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.0
            .answer(move || reply.opened(FileHandle(0), fuser::FopenFlags::empty()));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let files = self.0.files;
        self.0.answer(move || {
            for number in offset..files {
                let (ino, name) = (INodeNo(number + 2), format!("f{number}"));
                if reply.add(ino, number + 1, FileType::RegularFile, &name) {
                    break;
                }
            }
            reply.ok();
        });
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
}
