//! Large directories without sub-trees.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use tempfile::TempDir;

use super::with_path;

/// A directory of `count` empty files, named `f000000` and on, as fast as hard links can be made.
///
/// # Errors
/// What making a file answered.
pub fn flat(count: usize) -> io::Result<TempDir> {
    let directory = tempfile::Builder::new().prefix("flat-").tempdir()?;
    fill(directory.path(), count)?;
    Ok(directory)
}

/// Fills an empty directory as [`flat`] does.
///
/// # Errors
/// What making a file answered.
pub fn fill(directory: &Path, count: usize) -> io::Result<()> {
    // File systems limit the links of one file (ext4: 65,000).
    const LINKS: usize = 1_000;
    let mut original = PathBuf::new();
    for i in 0..count {
        let path = directory.join(format!("f{i:06}"));
        if i % LINKS == 0 {
            File::create_new(&path)?;
            original = path;
        } else {
            fs::hard_link(&original, &path)?;
        }
    }
    Ok(())
}

/// Fills an empty directory with `count` entries, named `000000` and on, which `make` makes at the
/// path it is given, in a random order. Their inodes so follow neither the names nor, on most file
/// systems, the directory.
///
/// # Errors
/// What `make` answered, with the path.
pub fn scatter(
    directory: &Path,
    count: usize,
    seed: u64,
    mut make: impl FnMut(&Path, usize) -> io::Result<()>,
) -> io::Result<()> {
    let mut numbers: Vec<usize> = (0..count).collect();
    Rng::with_seed(seed).shuffle(&mut numbers);
    for number in numbers {
        let path = directory.join(format!("{number:06}"));
        make(&path, number).map_err(|error| with_path(&error, &path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_flat_directory_has_its_entries() {
        let directory = flat(2_500).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2_500);
        assert!(directory.path().join("f002499").is_file());
    }

    #[test]
    fn scattered_entries_are_all_made_in_no_order_of_names() {
        let directory = tempfile::tempdir().unwrap();
        let mut made = Vec::new();
        scatter(directory.path(), 500, 1, |path, number| {
            made.push(number);
            File::create_new(path).map(drop)
        })
        .unwrap();
        assert!(!made.is_sorted());
        let inodes: std::collections::BTreeSet<u64> = (0..500)
            .map(|i| directory.path().join(format!("{i:06}")))
            .map(|path| path.symlink_metadata().unwrap().ino())
            .collect();
        assert_eq!(inodes.len(), 500);
        let error = scatter(directory.path(), 1, 1, |path, _| fs::create_dir(path)).unwrap_err();
        assert!(error.to_string().contains("/000000: "), "{error}");
    }
}
