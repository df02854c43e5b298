//! What is in a tree, by the plainest means.

use std::io;
use std::path::Path;

use super::{Order, Tally, Tells, Way};

/// Files of more than so many KiB are large, for the floor and for `find-bench`.
pub(super) const LARGE_KIB: u64 = 100;

/// What is in a tree, as one thread of std sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Truth {
    /// All entries below the root.
    pub tally: Tally,
    /// Regular files of more than 100 KiB.
    pub large: u64,
}

impl Truth {
    /// Looks at everything.
    ///
    /// # Errors
    /// Something could not be read.
    pub fn of(root: &Path) -> io::Result<Self> {
        let mut truth = Self::default();
        let mut pending = vec![root.to_owned()];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(directory)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                let size = if kind.is_file() {
                    entry.metadata()?.len()
                } else {
                    0
                };
                truth.large += u64::from(size > LARGE_KIB * 1024);
                truth.tally = truth.tally + Tally::one(entry.file_name().len(), size);
                if kind.is_dir() {
                    pending.push(entry.path());
                }
            }
        }
        Ok(truth)
    }

    /// What the way has counted is what there is.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self, way: &Way, order: &Order) -> io::Result<()> {
        let actual = order.board.total();
        let all = self.tally;
        let expected = match (way.tells, order.sizes) {
            (Tells::All, true) => all,
            (Tells::All, false) | (Tells::Names, _) => Tally { sizes: 0, ..all },
            (Tells::Lines, sizes) => Tally {
                entries: if sizes { self.large } else { all.entries },
                ..Tally::default()
            },
        };
        if actual == expected {
            return Ok(());
        }
        let text = format!("{}: found {actual:?}, not {expected:?}", way.name);
        Err(io::Error::other(text))
    }
}
