//! A tree shaped like a kernel's sources, the same for the same [`Shape`].
//!
//! Kernel sources have some sixteen files to a directory with a long tail,
//! directories about five levels down, names of a dozen bytes, and files of a
//! few kilobytes of which one in a hundred exceeds 100 kB. Sizes are set, not
//! written: a walk never looks at the contents.

mod names;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use self::names::Names;

/// Changes when the same shape gives another tree.
const VERSION: u32 = 1;

/// No directory lies deeper.
const MAX_DEPTH: u32 = 10;

/// What the tree is like; equal shapes give equal trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Directories, without the root.
    pub directories: usize,
    /// Regular files.
    pub files: usize,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Shape {
    /// The tree that reports are made with: 500,000 entries, 30,000 of them directories.
    pub const FULL: Self = Self {
        directories: 30_000,
        files: 470_000,
        seed: 1,
    };

    /// [`Shape::FULL`] with its numbers times `scale`, at least one of each.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss
    )]
    pub fn scaled(scale: f64) -> Self {
        let by = |n: usize| ((n as f64 * scale) as usize).max(1);
        Self {
            directories: by(Self::FULL.directories),
            files: by(Self::FULL.files),
            ..Self::FULL
        }
    }

    /// Directories and files, without the root.
    pub const fn entries(self) -> usize {
        self.directories + self.files
    }

    /// The name of the tree's own directory.
    fn name(self) -> String {
        format!(
            "tree-v{VERSION}-d{}-f{}-s{}",
            self.directories, self.files, self.seed
        )
    }
}

/// Where trees are kept if the command line does not say: `RINGFS_BENCH_DIR`,
/// else `ringfs-bench` in the system's directory for temporary files.
pub fn default_directory() -> PathBuf {
    match std::env::var_os("RINGFS_BENCH_DIR") {
        Some(directory) if !directory.is_empty() => directory.into(),
        _ => std::env::temp_dir().join("ringfs-bench"),
    }
}

/// The root of a tree of this shape in `directory`; made if it is not there yet.
///
/// A stamp beside the tree says that it is complete. A tree without one is
/// removed and made anew.
///
/// # Errors
/// What making or removing a file or directory answered, with its path.
pub fn ensure(directory: &Path, shape: Shape) -> io::Result<PathBuf> {
    let stamp = format!("{shape:?}\n");
    ensure_named(directory, &shape.name(), &stamp, |root| make(root, shape))
}

/// A directory of so many empty files in `directory`; made if it is not there yet, as [`ensure`]
/// does.
///
/// # Errors
/// As [`ensure`].
pub fn ensure_flat(directory: &Path, files: usize) -> io::Result<PathBuf> {
    let (name, stamp) = (format!("flat-v{VERSION}-f{files}"), format!("{files}\n"));
    ensure_named(directory, &name, &stamp, |root| {
        testkit::tree::fill(root, files).map_err(|error| with_path(&error, root))
    })
}

/// What `make` makes in an empty directory; its stamp says `text`.
fn ensure_named(
    directory: &Path,
    name: &str,
    text: &str,
    make: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let root = directory.join(name);
    let stamp = directory.join(format!("{name}.complete"));
    if stamp.exists() && root.is_dir() {
        return Ok(root);
    }
    if root.exists() {
        fs::remove_dir_all(&root).map_err(|error| with_path(&error, &root))?;
    }
    fs::create_dir_all(&root).map_err(|error| with_path(&error, &root))?;
    make(&root)?;
    fs::write(&stamp, text).map_err(|error| with_path(&error, &stamp))?;
    Ok(root)
}

/// Makes the tree in `root`, an empty directory.
///
/// # Errors
/// What making a file or directory answered, with its path.
pub fn make(root: &Path, shape: Shape) -> io::Result<()> {
    let mut rng = Rng::with_seed(shape.seed);
    let directories = Directories::plan(&mut rng, shape.directories);
    let files = spread(&mut rng, shape.files, directories.parents.len());
    let mut paths: Vec<PathBuf> = Vec::with_capacity(directories.parents.len());
    let children = directories.children();
    paths.resize(directories.parents.len(), PathBuf::new());
    root.clone_into(&mut paths[0]);

    // A parent comes before its children, so their paths are known when their turn comes.
    for (index, files) in files.into_iter().enumerate() {
        let path = std::mem::take(&mut paths[index]);
        let mut names = Names::default();
        for &child in &children[index] {
            let child_path = path.join(names.directory(&mut rng));
            fs::create_dir(&child_path).map_err(|error| with_path(&error, &child_path))?;
            paths[child] = child_path;
        }
        for _ in 0..files {
            let file = path.join(names.file(&mut rng));
            let size = file_size(&mut rng);
            File::create_new(&file)
                .and_then(|handle| handle.set_len(size))
                .map_err(|error| with_path(&error, &file))?;
        }
    }
    Ok(())
}

/// Which directory lies in which; number 0 is the root.
struct Directories {
    parents: Vec<usize>,
}

impl Directories {
    /// Each new directory goes into the shallower of two old ones drawn at
    /// random, which gives the flat, bushy shape of a source tree.
    fn plan(rng: &mut Rng, count: usize) -> Self {
        let mut parents = vec![0];
        let mut depths: Vec<u32> = vec![0];
        while parents.len() <= count {
            let (a, b) = (rng.usize(..parents.len()), rng.usize(..parents.len()));
            let parent = if depths[a] <= depths[b] { a } else { b };
            if depths[parent] < MAX_DEPTH {
                parents.push(parent);
                depths.push(depths[parent] + 1);
            }
        }
        Self { parents }
    }

    fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.parents.len()];
        for (index, &parent) in self.parents.iter().enumerate().skip(1) {
            children[parent].push(index);
        }
        children
    }
}

/// Distributes exactly `total` files over `directories` with log-normal weights.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]
fn spread(rng: &mut Rng, total: usize, directories: usize) -> Vec<usize> {
    let weights: Vec<f64> = (0..directories).map(|_| normal(rng).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let mut sofar = 0.0;
    let mut given = 0;
    let mut counts: Vec<usize> = weights
        .iter()
        .map(|weight| {
            sofar += weight;
            let until = ((sofar / sum * total as f64) as usize).min(total);
            let count = until - given;
            given = until;
            count
        })
        .collect();
    // Rounding may leave one over.
    if let Some(last) = counts.last_mut() {
        *last += total - given;
    }
    counts
}

/// Bytes of a file: median 5 kB, one in a hundred above 100 kB.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn file_size(rng: &mut Rng) -> u64 {
    const MEDIAN: f64 = 5_000.0;
    const SIGMA: f64 = 1.3;
    (MEDIAN * (SIGMA * normal(rng)).exp()) as u64
}

/// A standard normal number (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    // 1 - u is never zero, so its logarithm is finite.
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.f64()).cos()
}

fn with_path(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Paths below `root` with sizes; directories have none.
    fn listing(root: &Path) -> BTreeMap<PathBuf, Option<u64>> {
        let mut found = BTreeMap::new();
        let mut pending = vec![root.to_owned()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                let metadata = entry.metadata().unwrap();
                if metadata.is_dir() {
                    pending.push(entry.path());
                }
                let path = entry.path().strip_prefix(root).unwrap().to_owned();
                found.insert(path, metadata.is_file().then_some(metadata.len()));
            }
        }
        found
    }

    #[test]
    fn equal_shapes_give_equal_trees() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let shape = Shape::scaled(0.004);
        make(a.path(), shape).unwrap();
        make(b.path(), shape).unwrap();
        let listed = listing(a.path());
        assert_eq!(listed, listing(b.path()));
        assert_eq!(listed.len(), shape.entries());
        assert_eq!(
            listed.values().filter(|size| size.is_none()).count(),
            shape.directories
        );
    }

    #[test]
    fn a_tree_without_its_stamp_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let shape = Shape::scaled(0.001);
        let root = ensure(dir.path(), shape).unwrap();
        let listed = listing(&root);
        fs::write(root.join("left over"), "").unwrap();
        assert_eq!(ensure(dir.path(), shape).unwrap(), root);
        assert_ne!(listing(&root), listed, "a stamped tree is used as it is");
        fs::remove_file(dir.path().join(format!("{}.complete", shape.name()))).unwrap();
        ensure(dir.path(), shape).unwrap();
        assert_eq!(listing(&root), listed);
    }

    #[test]
    fn a_flat_directory_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let root = ensure_flat(dir.path(), 30).unwrap();
        assert_eq!(fs::read_dir(&root).unwrap().count(), 30);
        fs::write(root.join("left over"), "").unwrap();
        assert_eq!(ensure_flat(dir.path(), 30).unwrap(), root);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 31);
        assert_ne!(ensure_flat(dir.path(), 31).unwrap(), root);
    }

    #[test]
    fn the_full_tree_is_like_a_kernel() {
        let mut rng = Rng::with_seed(Shape::FULL.seed);
        let plan = Directories::plan(&mut rng, Shape::FULL.directories);
        let files = spread(&mut rng, Shape::FULL.files, plan.parents.len());
        assert_eq!(plan.parents.len(), Shape::FULL.directories + 1);
        assert_eq!(files.iter().sum::<usize>(), Shape::FULL.files);
        let most = *files.iter().max().unwrap();
        assert!((300..2_000).contains(&most), "{most}");
        let large = (0..Shape::FULL.files)
            .filter(|_| file_size(&mut rng) > 100 * 1024)
            .count();
        assert!((3_000..8_000).contains(&large), "{large}");
        let mut depths = vec![0usize];
        for &parent in &plan.parents[1..] {
            depths.push(depths[parent] + 1);
        }
        let mean = depths.iter().sum::<usize>() / depths.len();
        assert!((4..=6).contains(&mean), "{mean}");
    }
}
