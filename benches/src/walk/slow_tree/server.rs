//! What a slow server has to say: directories of files, two levels deep.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, OpenFlags, ReplyAttr, ReplyDirectory, ReplyEntry,
    ReplyOpen, Request,
};
use tempfile::TempDir;

use super::pace::Pace;

/// How long the kernel believes what it is told of a name.
const LONG: Duration = Duration::from_hours(1);

/// The inode number of the root.
const ROOT: u64 = 1;

/// How many directories there are in the root; each of the others lies in one of them.
const TOP: u64 = 10;

/// How many threads receive requests. None of them waits for an answer's time.
const THREADS: usize = 4;

/// How large the tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Directories without the root; ten of them lie in it.
    pub directories: u64,
    /// Files in each of them.
    pub files: u64,
}

impl Shape {
    /// Directories and files, without the root.
    pub const fn entries(self) -> u64 {
        self.directories * (1 + self.files)
    }

    /// Directories come first, then the files of one after the other; the root is neither.
    fn node(self, ino: u64) -> Option<Node> {
        let directory = ino.checked_sub(ROOT + 1)?;
        let (parent, is_directory, size) = if directory < self.directories {
            let top = directory % TOP;
            let parent = if top == directory {
                ROOT
            } else {
                ROOT + 1 + top
            };
            (parent, true, 0)
        } else {
            let file = directory - self.directories;
            let parent = file.checked_div(self.files)?;
            if parent >= self.directories {
                return None;
            }
            // Small ones and large ones, and no size twice.
            (ROOT + 1 + parent, false, file * 10_001)
        };
        Some(Node {
            ino,
            parent,
            is_directory,
            size,
        })
    }

    fn lookup(self, parent: u64, name: &OsStr) -> Option<Node> {
        let ino = name.to_str()?.strip_prefix('n')?.parse().ok()?;
        self.node(ino).filter(|node| node.parent == parent)
    }

    fn children(self, parent: u64) -> impl Iterator<Item = Node> {
        let all = ROOT + 1..=ROOT + self.entries();
        all.filter_map(move |ino| self.node(ino))
            .filter(move |node| node.parent == parent)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.directories, self.files)
    }
}

impl FromStr for Shape {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        let (directories, files) = text.split_once('x').ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self {
            directories: directories.parse().map_err(io::Error::other)?,
            files: files.parse().map_err(io::Error::other)?,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    ino: u64,
    parent: u64,
    is_directory: bool,
    size: u64,
}

impl Node {
    const ROOT: Self = Self {
        ino: ROOT,
        parent: ROOT,
        is_directory: true,
        size: 0,
    };

    fn name(self) -> String {
        format!("n{}", self.ino)
    }

    fn kind(self) -> FileType {
        if self.is_directory {
            FileType::Directory
        } else {
            FileType::RegularFile
        }
    }

    fn attributes(self) -> FileAttr {
        FileAttr {
            ino: INodeNo(self.ino),
            size: self.size,
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: self.kind(),
            perm: 0o755,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

struct Server {
    shape: Shape,
    /// What is in each directory, the root first.
    children: Vec<Vec<Node>>,
    requests: AtomicUsize,
    pace: Pace,
}

impl Server {
    fn new(shape: Shape) -> Self {
        let directories = ROOT..=ROOT + shape.directories;
        Self {
            shape,
            children: directories
                .map(|ino| shape.children(ino).collect())
                .collect(),
            requests: AtomicUsize::new(0),
            pace: Pace::default(),
        }
    }

    fn in_directory(&self, ino: INodeNo) -> &[Node] {
        let index = usize::try_from(ino.0 - ROOT).ok();
        let children = index.and_then(|index| self.children.get(index));
        children.map_or(&[], Vec::as_slice)
    }

    fn answer(&self, answer: impl FnOnce() + Send + 'static) {
        self.requests.fetch_add(1, Relaxed);
        self.pace.push(Box::new(answer));
    }
}

struct Tree(Arc<Server>);

impl Filesystem for Tree {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Where it is refused, lookups in one directory wait for each other.
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let node = self.0.shape.lookup(parent.0, name);
        self.0.answer(move || match node {
            Some(node) => reply.entry(&LONG, &node.attributes(), Generation(0)),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let node = match ino.0 {
            ROOT => Some(Node::ROOT),
            ino => self.0.shape.node(ino),
        };
        self.0.answer(move || match node {
            Some(node) => reply.attr(&Duration::ZERO, &node.attributes()),
            None => reply.error(Errno::ENOENT),
        });
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        self.0
            .answer(move || reply.opened(FileHandle(0), FopenFlags::empty()));
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.0.in_directory(ino).iter().zip(1..).skip(offset);
        for (node, next) in rest {
            if reply.add(INodeNo(node.ino), next, node.kind(), node.name()) {
                break;
            }
        }
        self.0.answer(move || reply.ok());
    }
}

/// The tree, served by this process until this is dropped.
pub(super) struct Mounted {
    session: Option<BackgroundSession>,
    server: Arc<Server>,
    timer: Option<JoinHandle<()>>,
    point: PathBuf,
    _directory: TempDir,
}

impl Mounted {
    /// Mounts it, without delay at first.
    pub(super) fn new(shape: Shape) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("slow-tree-").tempdir()?;
        let point = directory.path().join("mnt");
        fs::create_dir(&point)?;
        let server = Arc::new(Server::new(shape));
        let own = Arc::clone(&server);
        let timer = thread::Builder::new().spawn(move || own.pace.run())?;
        let mut mounted = Self {
            session: None,
            server,
            timer: Some(timer),
            point,
            _directory: directory,
        };
        let mut config = Config::default();
        config.n_threads = Some(THREADS);
        let tree = Tree(Arc::clone(&mounted.server));
        mounted.session = Some(fuser::spawn_mount(tree, &mounted.point, &config)?);
        Ok(mounted)
    }

    /// The root.
    pub(super) fn path(&self) -> &Path {
        &self.point
    }

    /// How long each answer takes, and how many of them are made at the same time.
    pub(super) fn set_pace(&self, delay: Duration, width: usize) {
        self.server.pace.set(delay, width.max(1));
    }

    /// How much the kernel has asked so far.
    pub(super) fn requests(&self) -> usize {
        self.server.requests.load(Relaxed)
    }

    /// The kernel no longer knows what is in the root, nor what is below it.
    pub(super) fn forget(&self) -> io::Result<()> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let notifier = session.notifier();
        for node in self.server.in_directory(INodeNo(ROOT)) {
            match notifier.inval_entry(INodeNo(ROOT), OsStr::new(&node.name())) {
                Ok(()) => {}
                // It does not know that one.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.server.pace.close();
        drop(self.session.take());
        if let Some(timer) = self.timer.take() {
            let _ = timer.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_lies_in_one_directory() {
        let shape: Shape = "23x4".parse().unwrap();
        assert_eq!(shape.to_string(), "23x4");
        let server = Server::new(shape);
        let listed = server.children.iter().map(Vec::len).sum::<usize>();
        assert_eq!(listed as u64, shape.entries());
        assert_eq!(server.children[0].len() as u64, TOP);
        for (directory, children) in (ROOT..).zip(&server.children) {
            for node in children {
                let found = shape.lookup(directory, OsStr::new(&node.name()));
                assert_eq!(found, Some(*node));
                assert!(shape.lookup(node.ino, OsStr::new(&node.name())).is_none());
            }
        }
        assert!(shape.node(ROOT + shape.entries() + 1).is_none());
    }
}
