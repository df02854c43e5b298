//! Trees to walk: random ones with all that a name, a type and a mode can be,
//! and large flat directories.

mod flat;
mod names;
mod node;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use tempfile::TempDir;

pub use self::flat::{fill, flat, scatter};

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link to something in the tree.
    Link,
    /// A symbolic link to nothing.
    DanglingLink,
    /// A symbolic link to itself or to a directory above it.
    LoopLink,
    /// A named pipe.
    Fifo,
    /// A socket in the file system.
    Socket,
    /// A character device; only root can make one.
    Device,
}

/// One entry of a [`Tree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the tree's root.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Permission bits; `None` for symbolic links, which have none of their own.
    pub mode: Option<u32>,
    /// Bytes of a regular file; 0 for all else.
    pub size: u64,
}

/// Sizes of files: around those where `-size` rounds.
const SIZES: [u64; 9] = [0, 1, 511, 512, 513, 1024, 4096, 102_401, 1 << 20];

/// How a random tree is made.
#[derive(Debug, Clone, Copy)]
pub struct Builder {
    seed: u64,
    entries: usize,
    depth: usize,
    plain_names: bool,
    plain_files: bool,
    plain_modes: bool,
}

impl Builder {
    /// A tree of some 200 entries, at most 6 deep, with everything odd in it. The same seed gives the same tree.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            entries: 200,
            depth: 6,
            plain_names: false,
            plain_files: false,
            plain_modes: false,
        }
    }

    /// How many entries, without the root.
    #[must_use]
    pub fn entries(self, entries: usize) -> Self {
        Self { entries, ..self }
    }

    /// How many levels below the root, at least one.
    #[must_use]
    pub fn depth(self, depth: usize) -> Self {
        Self {
            depth: depth.max(1),
            ..self
        }
    }

    /// Names of lower-case letters alone.
    #[must_use]
    pub fn plain_names(self) -> Self {
        Self {
            plain_names: true,
            ..self
        }
    }

    /// Directories and regular files alone.
    #[must_use]
    pub fn plain_files(self) -> Self {
        Self {
            plain_files: true,
            ..self
        }
    }

    /// All modes as the umask makes them.
    #[must_use]
    pub fn plain_modes(self) -> Self {
        Self {
            plain_modes: true,
            ..self
        }
    }

    /// Makes the tree in a new directory for temporary files.
    ///
    /// # Errors
    /// What making an entry answered, with its path.
    pub fn build(self) -> io::Result<Tree> {
        self.build_in(&std::env::temp_dir())
    }

    /// Makes the tree in a new directory inside `parent`, such as a mount.
    ///
    /// # Errors
    /// What making an entry answered, with its path.
    pub fn build_in(self, parent: &Path) -> io::Result<Tree> {
        let root = tempfile::Builder::new()
            .prefix("tree-")
            .tempdir_in(parent)?;
        let mut tree = Tree {
            root,
            seed: self.seed,
            entries: Vec::new(),
        };
        let mut rng = Rng::with_seed(self.seed);
        // Relative paths of directories with their depth; the root is the empty path.
        let mut directories = vec![(PathBuf::new(), 0)];
        while tree.entries.len() < self.entries {
            let (directory, depth) = &directories[rng.usize(..directories.len())];
            let name = if self.plain_names {
                names::plain(&mut rng)
            } else {
                names::any(&mut rng)
            };
            let path = directory.join(name);
            if tree.root.path().join(&path).symlink_metadata().is_ok() {
                continue;
            }
            let depth = depth + 1;
            let kind = self.kind(&mut rng, depth);
            let entry = tree.add(&mut rng, path, kind)?;
            if entry.kind == Kind::Directory {
                directories.push((entry.path.clone(), depth));
            }
        }
        if !self.plain_modes {
            tree.vary_modes(&mut rng)?;
        }
        Ok(tree)
    }

    fn kind(self, rng: &mut Rng, depth: usize) -> Kind {
        let odd = [
            Kind::Link,
            Kind::DanglingLink,
            Kind::LoopLink,
            Kind::Fifo,
            Kind::Socket,
            Kind::Device,
        ];
        match rng.u32(..10) {
            0..=2 if depth < self.depth => Kind::Directory,
            3..=4 if !self.plain_files => odd[rng.usize(..odd.len())],
            _ => Kind::File,
        }
    }
}

/// A tree that is removed when this is dropped.
#[derive(Debug)]
pub struct Tree {
    root: TempDir,
    seed: u64,
    entries: Vec<Entry>,
}

impl Tree {
    /// Its root.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// What it was made from; to be printed when a test fails.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// All that is in it, without the root; directories before what they hold.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn add(&mut self, rng: &mut Rng, path: PathBuf, kind: Kind) -> io::Result<&Entry> {
        // Drawn for every kind, so that what cannot be made here changes nothing that follows.
        let size = SIZES[rng.usize(..SIZES.len())];
        let target = self.link_target(rng, &path);
        let full = self.root.path().join(&path);
        let made = match node::make(&full, kind, size, &target) {
            // Only root makes devices, and a socket's path must be short: a file does as well.
            Err(_) if matches!(kind, Kind::Device | Kind::Socket) => {
                node::make(&full, Kind::File, size, &target).map(|()| Kind::File)
            }
            result => result.map(|()| kind),
        };
        let kind = made.map_err(|error| with_path(&error, &full))?;
        let mode = match kind {
            Kind::Link | Kind::DanglingLink | Kind::LoopLink => None,
            _ => Some(full.symlink_metadata()?.permissions().mode() & 0o7777),
        };
        let size = if kind == Kind::File { size } else { 0 };
        self.entries.push(Entry {
            path,
            kind,
            mode,
            size,
        });
        Ok(&self.entries[self.entries.len() - 1])
    }

    /// A relative path that leads from the directory of `path` to some entry or to the root.
    fn link_target(&self, rng: &mut Rng, path: &Path) -> PathBuf {
        let mut target = PathBuf::from(".");
        target.extend(path.components().skip(1).map(|_| ".."));
        if let Some(entry) = self.entries.get(rng.usize(..=self.entries.len())) {
            target.push(&entry.path);
        }
        target
    }

    /// Gives every fourth entry another mode. Last of all, as a directory may lose its write bit by it.
    fn vary_modes(&mut self, rng: &mut Rng) -> io::Result<()> {
        // Deepest first: a directory without x hides what is in it from all but root.
        for entry in self.entries.iter_mut().rev() {
            if entry.mode.is_none() || rng.u8(..4) != 0 {
                continue;
            }
            let modes = [
                0o000, 0o111, 0o400, 0o444, 0o500, 0o700, 0o755, 0o1777, 0o2755, 0o4711,
            ];
            let mode = modes[rng.usize(..modes.len())];
            let full = self.root.path().join(&entry.path);
            set_mode(&full, mode).map_err(|error| with_path(&error, &full))?;
            // The kernel may drop the set-group-ID bit.
            entry.mode = Some(full.symlink_metadata()?.permissions().mode() & 0o7777);
        }
        Ok(())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Others than root cannot empty a directory that they may not read.
        for entry in self
            .entries
            .iter()
            .filter(|entry| entry.kind == Kind::Directory)
        {
            let _ = set_mode(&self.root.path().join(&entry.path), 0o700);
        }
    }
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

fn with_path(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::FileTypeExt;

    use super::*;

    #[test]
    fn a_tree_is_as_described() {
        for seed in 0..6 {
            let tree = Builder::new(seed).build().unwrap();
            assert_eq!((tree.seed(), tree.entries().len()), (seed, 200));
            let paths: BTreeSet<_> = tree.entries().iter().map(|entry| &entry.path).collect();
            assert_eq!(paths.len(), 200);
            for entry in tree.entries() {
                assert!(entry.path.components().count() <= 6);
                check(&tree.path().join(&entry.path), entry);
            }
        }
    }

    fn check(path: &Path, entry: &Entry) {
        let metadata = match path.symlink_metadata() {
            // As an ordinary user, below a directory without x.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return,
            result => result.unwrap(),
        };
        let kind = metadata.file_type();
        let as_told = match entry.kind {
            Kind::Directory => kind.is_dir(),
            Kind::File => kind.is_file() && metadata.len() == entry.size,
            Kind::Link | Kind::LoopLink => kind.is_symlink(),
            Kind::DanglingLink => kind.is_symlink() && path.metadata().is_err(),
            Kind::Fifo => kind.is_fifo(),
            Kind::Socket => kind.is_socket(),
            Kind::Device => kind.is_char_device(),
        };
        assert!(as_told, "{entry:?}");
        if let Some(mode) = entry.mode {
            assert_eq!(metadata.permissions().mode() & 0o7777, mode, "{entry:?}");
        }
    }

    #[test]
    fn equal_seeds_give_equal_trees() {
        let (a, b) = (
            Builder::new(9).build().unwrap(),
            Builder::new(9).build().unwrap(),
        );
        assert_eq!(a.entries(), b.entries());
        assert_ne!(a.entries(), Builder::new(10).build().unwrap().entries());
        let kinds: BTreeSet<_> = a.entries().iter().map(|entry| entry.kind).collect();
        assert!(kinds.len() >= 6, "{kinds:?}");
    }

    #[test]
    fn a_tree_can_be_plain() {
        let builder = Builder::new(1).entries(50).depth(1);
        let tree = builder
            .plain_names()
            .plain_files()
            .plain_modes()
            .build()
            .unwrap();
        for entry in tree.entries() {
            assert!(
                entry
                    .path
                    .to_str()
                    .unwrap()
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase())
            );
            assert_eq!(entry.kind, Kind::File);
            assert_ne!(entry.mode, Some(0));
        }
    }

    #[test]
    fn a_tree_is_removed_whatever_its_modes() {
        let tree = Builder::new(4).build().unwrap();
        let path = tree.path().to_owned();
        drop(tree);
        assert!(!path.exists());
    }
}
