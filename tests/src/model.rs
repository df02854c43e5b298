//! What a walk has to hand out: the answer of a plain recursion over `std::fs`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ringwalk::{Entry, Error, ErrorKind, FileType};

use crate::deep::within;

/// An entry, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Not a [`PathBuf`], for which `a//b` and `a/b` are the same.
    pub path: OsString,
    /// Of a root 0.
    pub depth: usize,
    /// `None` if looking at it failed.
    pub file_type: Option<FileType>,
    /// A symbolic link that was followed.
    pub followed: bool,
}

/// All that came of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order in which they came.
    pub entries: Vec<Seen>,
    /// In no order.
    pub errors: Vec<(OsString, ErrorKind)>,
}

impl Found {
    /// What a walk gave.
    pub fn of(items: impl IntoIterator<Item = Result<Entry, Error>>) -> Self {
        let mut found = Self::default();
        for item in items {
            match item {
                Ok(entry) => found.entries.push(Seen {
                    depth: entry.depth(),
                    file_type: entry.file_type(),
                    followed: entry.is_followed(),
                    path: entry.into_path().into_os_string(),
                }),
                Err(error) => {
                    let path = error.path().as_os_str().to_owned();
                    found.errors.push((path, error.kind()));
                }
            }
        }
        found
    }

    /// The same entries, as they would stand in a multiset.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.entries
            .sort_by(|a, b| (&a.path, a.depth).cmp(&(&b.path, b.depth)));
        self
    }

    /// Both are the same.
    ///
    /// # Panics
    /// They are not; the message tells the first difference, as there may be very many.
    #[track_caller]
    pub fn assert_is(&self, expected: &Self, context: &str) {
        let errors = |found: &Self| {
            let mut errors: Vec<_> = found.errors.clone();
            errors.sort_by(|a, b| a.0.cmp(&b.0));
            errors
        };
        assert_eq!(errors(self), errors(expected), "{context}: errors");
        let differ = |(a, b): (&Seen, &Seen)| a != b;
        if let Some(at) = self.entries.iter().zip(&expected.entries).position(differ) {
            let (came, wanted) = (&self.entries[at], &expected.entries[at]);
            panic!("{context}: entry {at} is {came:?}, not {wanted:?}");
        }
        let (came, wanted) = (self.entries.len(), expected.entries.len());
        assert_eq!(came, wanted, "{context}: number of entries");
    }
}

/// A type as std tells it.
fn from_std(file_type: fs::FileType) -> FileType {
    match file_type {
        _ if file_type.is_dir() => FileType::DIRECTORY,
        _ if file_type.is_file() => FileType::REGULAR,
        _ if file_type.is_symlink() => FileType::SYMLINK,
        _ if file_type.is_fifo() => FileType::FIFO,
        _ if file_type.is_socket() => FileType::SOCKET,
        _ if file_type.is_char_device() => FileType::CHAR_DEVICE,
        _ => FileType::BLOCK_DEVICE,
    }
}

/// How names of a directory are sorted.
pub type Compare = fn(&OsStr, &OsStr) -> std::cmp::Ordering;

/// A walk in pre-order, by one thread, without any care for speed.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The trees, one after the other.
    pub roots: Vec<PathBuf>,
    /// As `Walk::follow_links`.
    pub follow_links: bool,
    /// As `Walk::contents_first`.
    pub contents_first: bool,
    /// Otherwise as the directory lists them.
    pub sort: Option<Compare>,
}

impl Model {
    /// Of these trees.
    pub fn new(roots: &[PathBuf]) -> Self {
        Self {
            roots: roots.to_vec(),
            ..Self::default()
        }
    }

    /// Walks.
    pub fn run(&self) -> Found {
        let mut found = Found::default();
        // A stack of our own: trees are deeper than the thread's.
        let mut steps = Vec::new();
        for root in self.roots.iter().rev() {
            match root.symlink_metadata() {
                Ok(metadata) => steps.push(Step::Enter(Place {
                    parent: None,
                    real: root.clone(),
                    path: root.clone(),
                    depth: 0,
                    file_type: from_std(metadata.file_type()),
                })),
                Err(error) => steps.push(Step::Fail(root.clone(), kind_of(&error))),
            }
        }
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(place) => self.enter(&place, &mut steps, &mut found),
                Step::Leave(seen) => found.entries.push(seen),
                Step::Fail(path, kind) => found.errors.push((path.into_os_string(), kind)),
            }
        }
        found
    }

    fn enter(&self, place: &Place, steps: &mut Vec<Step>, found: &mut Found) {
        let mut seen = Seen {
            path: place.path.clone().into_os_string(),
            depth: place.depth,
            file_type: Some(place.file_type),
            followed: false,
        };
        let real = place.real();
        if self.follow_links && place.file_type.is_symlink() {
            match real.metadata() {
                Ok(target) if target.is_dir() && place.is_below(&target) => {
                    return found.errors.push((seen.path, ErrorKind::Loop));
                }
                Ok(target) => {
                    seen.file_type = Some(from_std(target.file_type()));
                    seen.followed = true;
                }
                Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                    return found.errors.push((seen.path, ErrorKind::Loop));
                }
                // A link to nothing is a link.
                Err(_) => {}
            }
        }
        let is_dir = seen.file_type.is_some_and(FileType::is_dir);
        if self.contents_first {
            steps.push(Step::Leave(seen));
        } else {
            found.entries.push(seen);
        }
        if is_dir && let Err(error) = self.list(place, &real, steps) {
            let path = place.path.clone().into_os_string();
            found.errors.push((path, kind_of(&error)));
        }
    }

    /// What is in a directory comes next.
    fn list(&self, place: &Place, real: &Path, steps: &mut Vec<Step>) -> io::Result<()> {
        let dir = File::open(real)?;
        let metadata = dir.metadata()?;
        let mut children = Vec::new();
        for entry in fs::read_dir(within(&dir, ""))? {
            let entry = entry?;
            children.push((entry.file_name(), from_std(entry.file_type()?)));
        }
        if let Some(sort) = self.sort {
            children.sort_by(|a, b| sort(&a.0, &b.0));
        }
        let parent = Rc::new(Parent {
            dir,
            line: Rc::new(Ancestor {
                id: (metadata.dev(), metadata.ino()),
                above: place.parent.as_ref().map(|parent| Rc::clone(&parent.line)),
            }),
        });
        let children = children.into_iter().rev().map(|(name, file_type)| {
            Step::Enter(Place {
                path: place.path.join(&name),
                real: PathBuf::from(name),
                depth: place.depth + 1,
                parent: Some(Rc::clone(&parent)),
                file_type,
            })
        });
        steps.extend(children);
        Ok(())
    }
}

fn kind_of(error: &io::Error) -> ErrorKind {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) => ErrorKind::Vanished,
        Some(libc::EACCES | libc::EPERM) => ErrorKind::Denied,
        Some(libc::ELOOP) => ErrorKind::Loop,
        _ => ErrorKind::Io,
    }
}

enum Step {
    Enter(Place),
    Leave(Seen),
    Fail(PathBuf, ErrorKind),
}

/// Something that has been listed, or a root.
struct Place {
    parent: Option<Rc<Parent>>,
    /// Relative to the parent.
    real: PathBuf,
    path: PathBuf,
    depth: usize,
    file_type: FileType,
}

impl Place {
    fn real(&self) -> PathBuf {
        match &self.parent {
            Some(parent) => within(&parent.dir, &self.real),
            None => self.real.clone(),
        }
    }

    /// Whether this directory is among those that led here.
    fn is_below(&self, directory: &fs::Metadata) -> bool {
        let first = self.parent.as_ref().map(|parent| &parent.line);
        let mut line = std::iter::successors(first, |ancestor| ancestor.above.as_ref());
        line.any(|ancestor| ancestor.id == (directory.dev(), directory.ino()))
    }
}

/// A directory that is being walked; open, as its path may be too long.
struct Parent {
    dir: File,
    line: Rc<Ancestor>,
}

/// What is remembered of a directory that may be closed by now.
struct Ancestor {
    /// Device and inode.
    id: (u64, u64),
    above: Option<Rc<Ancestor>>,
}
