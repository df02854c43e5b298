//! What a slow server answers, and when.

use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo, InitFlags,
    KernelConfig, OpenFlags, ReplyAttr, ReplyDirectory, ReplyEntry, ReplyOpen, Request,
};

use super::queue::{Answer, Queue};

/// How long the kernel believes what it is told.
const LONG: Duration = Duration::from_hours(1);

/// The inode number of `f0`.
pub(super) const FIRST: u64 = 2;

#[derive(Default)]
pub(super) struct Server {
    pub(super) files: u64,
    /// Microseconds before each answer.
    pub(super) delay: AtomicU64,
    /// At most so many more, at random.
    pub(super) jitter: AtomicU64,
    pub(super) requests: AtomicUsize,
    /// The kernel looks up several names of a directory at the same time.
    pub(super) parallel_lookups: AtomicBool,
    pub(super) queue: Queue,
    hangs: AtomicBool,
    /// Answers that nobody gets while the server hangs.
    held: Mutex<Vec<Answer>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("requests", &self.requests)
            .field("hangs", &self.hangs)
            .finish_non_exhaustive()
    }
}

impl Server {
    pub(super) fn new(files: u64) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }

    pub(super) fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }

    pub(super) fn release(&self) {
        self.hangs.store(false, Ordering::SeqCst);
        let held = std::mem::take(&mut *self.held());
        for answer in held {
            answer();
        }
    }

    fn held(&self) -> MutexGuard<'_, Vec<Answer>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the answer when its time has come. The calling thread does not wait for that.
    fn answer(&self, answer: impl FnOnce() + Send + 'static) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut held = self.held();
        if self.hangs.load(Ordering::SeqCst) {
            return held.push(Box::new(answer));
        }
        drop(held);
        let jitter = match self.jitter.load(Ordering::Relaxed) {
            0 => 0,
            most => fastrand::u64(..=most),
        };
        let delay = self.delay.load(Ordering::Relaxed).saturating_add(jitter);
        if delay == 0 && self.queue.is_unlimited() {
            return answer();
        }
        let delay = Duration::from_micros(delay);
        self.queue.push(delay, Box::new(answer));
    }

    fn attributes(&self, ino: INodeNo) -> Option<FileAttr> {
        let (kind, size) = match ino.0 {
            1 => (FileType::Directory, 0),
            file if file < self.files + FIRST => (FileType::RegularFile, file - FIRST),
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

pub(super) struct Files(pub(super) Arc<Server>);

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let granted = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        let parallel = &self.0.parallel_lookups;
        parallel.store(granted.is_ok(), Ordering::Relaxed);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let number = self.0.number(name);
        let attributes = number.and_then(|number| self.0.attributes(INodeNo(number + FIRST)));
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
        // Here and not in the answer, for which others wait.
        for number in offset..self.0.files {
            let (ino, name) = (INodeNo(number + FIRST), format!("f{number}"));
            if reply.add(ino, number + 1, FileType::RegularFile, &name) {
                break;
            }
        }
        self.0.answer(move || reply.ok());
    }
}
