//! The floor: what listing a tree costs with bare threads and kernel calls.
//!
//! Threads share one stack of directories. Each takes the newest, reads it
//! whole, prints the full path of every entry that passes and puts the
//! sub-directories on the stack. The order of the output is that of the race.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::sys;

/// Bytes that a thread gathers before it writes them out.
const OUTPUT: usize = 64 * 1024;

/// How a directory is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// By its name, relative to its parent's descriptor, which stays open as long as it is needed.
    Relative,
    /// By its full path from the working directory.
    Path,
}

impl Open {
    /// The word that the command line uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Open::Relative => "relative",
            Open::Path => "path",
        }
    }
}

/// What to do; see [`run`].
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Threads that walk, at least one.
    pub threads: usize,
    /// How directories are opened.
    pub open: Open,
    /// Print only regular files of more than so many KiB, like find's `-type f -size +Nk`.
    pub size_over_kib: Option<u64>,
    /// Size of each thread's getdents64 buffer in bytes.
    pub buffer: usize,
}

impl Options {
    /// A good buffer size: 32, 64, 128 and 256 KiB do not differ measurably where directories hold some dozens of entries.
    pub const BUFFER: usize = 64 * 1024;
}

/// A directory that waits to be read.
struct Pending {
    /// Its path, with a NUL at the end.
    path: Vec<u8>,
    /// Where its last component begins in `path`.
    name: usize,
    /// The descriptor that `name` is relative to; `None`: open by path.
    parent: Option<Arc<OwnedFd>>,
}

impl Pending {
    fn open(&self, root: bool) -> io::Result<OwnedFd> {
        let (dir, bytes) = match &self.parent {
            Some(parent) => (parent.as_fd(), &self.path[self.name..]),
            None => (sys::CWD, &self.path[..]),
        };
        let path = CStr::from_bytes_with_nul(bytes).map_err(io::Error::other)?;
        sys::open_directory(dir, path, root)
    }
}

/// The stack of directories.
struct Stack {
    pending: Vec<Pending>,
    /// Threads that are reading a directory and may push more.
    busy: usize,
    /// Threads that wait for work.
    idle: usize,
    /// The first failure; ends the walk.
    failed: Option<io::Error>,
}

struct Shared<W> {
    options: Options,
    stack: Mutex<Stack>,
    work: Condvar,
    sink: Mutex<W>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Walks `root` and writes one line per entry to `sink`.
///
/// # Errors
/// The first failed call, with the path it was for; the walk then ends early.
pub fn run(root: &Path, options: Options, sink: impl Write + Send) -> io::Result<()> {
    let mut path = root.as_os_str().as_bytes().to_vec();
    path.push(0);
    let shared = Shared {
        options,
        stack: Mutex::new(Stack {
            pending: vec![Pending {
                path,
                name: 0,
                parent: None,
            }],
            busy: 0,
            idle: 0,
            failed: None,
        }),
        work: Condvar::new(),
        sink: Mutex::new(sink),
    };
    if options.size_over_kib.is_none() {
        let mut sink = lock(&shared.sink);
        sink.write_all(root.as_os_str().as_bytes())?;
        sink.write_all(b"\n")?;
    }
    std::thread::scope(|scope| {
        for _ in 1..options.threads {
            scope.spawn(|| Worker::new(&shared).run());
        }
        Worker::new(&shared).run();
    });
    shared
        .stack
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .failed
        .map_or(Ok(()), Err)
}

/// [`run`] with standard output as the sink, unbuffered.
///
/// # Errors
/// As [`run`].
pub fn run_to_stdout(root: &Path, options: Options) -> io::Result<()> {
    // std's Stdout looks for line ends in all that it is given; a File writes at once.
    run(
        root,
        options,
        File::from(io::stdout().as_fd().try_clone_to_owned()?),
    )
}

/// One thread's state.
struct Worker<'a, W> {
    shared: &'a Shared<W>,
    entries: Vec<u8>,
    children: Vec<Pending>,
    output: Vec<u8>,
}

impl<'a, W: Write> Worker<'a, W> {
    fn new(shared: &'a Shared<W>) -> Self {
        Self {
            shared,
            entries: vec![0; shared.options.buffer],
            children: Vec::new(),
            output: Vec::with_capacity(OUTPUT),
        }
    }

    fn run(mut self) {
        let mut first = true;
        while let Some(directory) = self.next(first) {
            first = false;
            let result = self
                .read(&directory)
                .map_err(|error| with_path(&error, &directory.path));
            self.finish(result);
        }
        if let Err(error) = self.flush() {
            lock(&self.shared.stack).failed.get_or_insert(error);
        }
    }

    /// Hands in what the last directory held and takes the next: one lock for both.
    fn next(&mut self, first: bool) -> Option<Pending> {
        let mut stack = lock(&self.shared.stack);
        if !first {
            stack.busy -= 1;
        }
        stack.pending.append(&mut self.children);
        loop {
            if stack.failed.is_some() {
                stack.pending.clear();
            }
            if let Some(directory) = stack.pending.pop() {
                stack.busy += 1;
                if stack.idle > 0 && !stack.pending.is_empty() {
                    self.shared.work.notify_one();
                }
                return Some(directory);
            }
            if stack.busy == 0 {
                self.shared.work.notify_all();
                return None;
            }
            stack.idle += 1;
            stack = self
                .shared
                .work
                .wait(stack)
                .unwrap_or_else(PoisonError::into_inner);
            stack.idle -= 1;
        }
    }

    fn finish(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            lock(&self.shared.stack).failed.get_or_insert(error);
        }
    }

    fn read(&mut self, directory: &Pending) -> io::Result<()> {
        let is_root = directory.name == 0;
        let fd = Arc::new(directory.open(is_root)?);
        let path = &directory.path[..directory.path.len() - 1];
        loop {
            let length = sys::getdents64(fd.as_fd(), &mut self.entries)?;
            if length == 0 {
                return Ok(());
            }
            // The buffer leaves `self` while its records are borrowed.
            let entries = std::mem::take(&mut self.entries);
            let result = sys::records(&entries[..length])
                .try_for_each(|record| self.entry(path, &fd, record));
            self.entries = entries;
            result?;
        }
    }

    fn entry(&mut self, path: &[u8], fd: &Arc<OwnedFd>, record: sys::Record<'_>) -> io::Result<()> {
        let options = self.shared.options;
        let kind = match record.kind {
            libc::DT_UNKNOWN => resolve(fd.as_fd(), record.name)?,
            kind => kind,
        };
        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
        let name = record.name.to_bytes();
        if kind == libc::DT_DIR {
            let mut child = Vec::with_capacity(path.len() + slash.len() + name.len() + 1);
            child.extend_from_slice(path);
            child.extend_from_slice(slash);
            let start = child.len();
            child.extend_from_slice(record.name.to_bytes_with_nul());
            let parent = (options.open == Open::Relative).then(|| Arc::clone(fd));
            self.children.push(Pending {
                path: child,
                name: start,
                parent,
            });
        }
        if let Some(kib) = options.size_over_kib
            && (kind != libc::DT_REG
                || sys::statx(fd.as_fd(), record.name, libc::STATX_SIZE)?.stx_size <= kib * 1024)
        {
            return Ok(());
        }
        let line = path.len() + slash.len() + name.len() + 1;
        if self.output.len() + line > OUTPUT {
            self.flush()?;
        }
        for piece in [path, slash, name, b"\n"] {
            self.output.extend_from_slice(piece);
        }
        Ok(())
    }

    /// Writes the gathered lines under the sink's lock: a pipe that is full lets other writers in between.
    fn flush(&mut self) -> io::Result<()> {
        let result = lock(&self.shared.sink).write_all(&self.output);
        self.output.clear();
        result
    }
}

/// The type of an entry whose file system does not tell it in the directory.
fn resolve(dir: BorrowedFd<'_>, name: &CStr) -> io::Result<u8> {
    let stat = sys::statx(dir, name, libc::STATX_TYPE)?;
    Ok(match u32::from(stat.stx_mode) & libc::S_IFMT {
        libc::S_IFDIR => libc::DT_DIR,
        libc::S_IFREG => libc::DT_REG,
        _ => libc::DT_LNK,
    })
}

fn with_path(error: &io::Error, path: &[u8]) -> io::Error {
    let path = path.strip_suffix(b"\0").unwrap_or(path);
    io::Error::new(
        error.kind(),
        format!("{}: {error}", String::from_utf8_lossy(path)),
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::tree::Shape;

    fn sorted(bytes: &[u8]) -> Vec<&[u8]> {
        let mut lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        lines.sort_unstable();
        lines
    }

    fn options() -> impl Iterator<Item = Options> {
        [1, 2, 8].into_iter().flat_map(|threads| {
            [Open::Relative, Open::Path]
                .into_iter()
                .flat_map(move |open| {
                    [None, Some(0), Some(100)].map(|size_over_kib| Options {
                        threads,
                        open,
                        size_over_kib,
                        // Small, so that a directory takes several reads.
                        buffer: 1024,
                    })
                })
        })
    }

    #[test]
    fn prints_what_find_prints() {
        let dir = tempfile::tempdir().unwrap();
        crate::tree::make(dir.path(), Shape::scaled(0.01)).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        for root in [dir.path().to_owned(), dir.path().join("")] {
            for options in options() {
                let mut find = Command::new("find");
                find.arg(&root);
                if let Some(kib) = options.size_over_kib {
                    find.args(["-type", "f", "-size", &format!("+{kib}k")]);
                }
                let expected = find.output().unwrap().stdout;
                let mut actual = Vec::new();
                run(&root, options, &mut actual).unwrap();
                assert!(!expected.is_empty());
                assert!(sorted(&expected) == sorted(&actual), "{options:?} {root:?}");
            }
        }
    }

    #[test]
    fn names_the_path_that_failed() {
        for options in options() {
            let error = run(Path::new("no/such/root"), options, Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(error.to_string().starts_with("no/such/root: "), "{error}");
        }
    }

    #[test]
    fn a_sink_that_fails_ends_the_walk() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let options = Options {
            threads: 2,
            open: Open::Relative,
            size_over_kib: Some(0),
            buffer: 4096,
        };
        std::fs::write(dir.path().join("file"), "content").unwrap();
        let error = run(dir.path(), options, full).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
    }
}
