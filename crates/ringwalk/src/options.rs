//! What a walk was asked for.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fscall::StatxMask;

use crate::entry::EntryRef;
use crate::progress::Progress;

/// A caller's question about an entry.
pub(crate) type Test = Arc<dyn Fn(&EntryRef<'_>) -> bool + Send + Sync>;

/// Which fields a caller wants of an entry.
pub(crate) type Wanted = Arc<dyn Fn(&EntryRef<'_>) -> StatxMask + Send + Sync>;

/// A caller's order of the entries of one directory: their places, in the order wanted.
pub(crate) type SortBy = Arc<dyn Fn(&[EntryRef<'_>]) -> Vec<usize> + Send + Sync>;

/// How the entries of one directory are ordered.
#[derive(Clone, Default)]
pub(crate) enum Sort {
    /// As the system lists them.
    #[default]
    Listed,
    /// GNU find's rule for large directories.
    LargeByInode,
    ByName,
    By(SortBy),
}

/// Which links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follow {
    #[default]
    None,
    Roots,
    All,
}

/// What the walk does not leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Boundary {
    #[default]
    None,
    /// The device of the root.
    FileSystem,
    /// The mount of the root.
    Mount,
}

/// What is walked, and what of it is handed out.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) sort: Sort,
    pub(crate) min_depth: usize,
    pub(crate) max_depth: usize,
    pub(crate) mask: StatxMask,
    pub(crate) wanted: Option<Wanted>,
    pub(crate) contents_first: bool,
    pub(crate) follow: Follow,
    pub(crate) once: bool,
    pub(crate) boundary: Boundary,
    pub(crate) automount: bool,
    pub(crate) filter: Option<Test>,
    pub(crate) descend: Option<Test>,
    pub(crate) progress: Option<Progress>,
}

impl Rules {
    /// Whether it has to be known which directory it is that has been opened.
    pub(crate) fn need_places(&self, ordered: bool) -> bool {
        // In any order those above are opened again when all below has been visited.
        let comes_late = self.contents_first && !ordered;
        self.follow == Follow::All || self.once || self.boundary != Boundary::None || comes_late
    }

    /// The fields to ask an entry for; `more` tells of further ones, where it is handed out.
    pub(crate) fn mask_for(
        &self,
        entry: &EntryRef<'_>,
        more: impl FnOnce() -> StatxMask,
    ) -> StatxMask {
        let mut mask = self.mask;
        if entry.depth >= self.min_depth {
            mask |= more();
            if let Some(wanted) = &self.wanted {
                mask |= wanted(entry);
            }
        }
        if entry.file_type.is_none() {
            mask |= StatxMask::TYPE;
        }
        mask
    }

    /// Whether the entry is handed out or entered at all.
    pub(crate) fn admits(&self, entry: &EntryRef<'_>) -> bool {
        self.filter.as_ref().is_none_or(|test| test(entry))
    }

    /// Whether a directory is entered.
    pub(crate) fn enters(&self, entry: &EntryRef<'_>) -> bool {
        entry.depth < self.max_depth
            && entry.file_type.is_some_and(fscall::FileType::is_dir)
            && self.descend.as_ref().is_none_or(|test| test(entry))
    }

    pub(crate) fn follows(&self, depth: usize) -> bool {
        match self.follow {
            Follow::None => false,
            Follow::Roots => depth == 0,
            Follow::All => true,
        }
    }
}

/// What a walk was asked for, and what it may use.
pub(crate) struct Options {
    pub(crate) rules: Rules,
    pub(crate) ordered: bool,
    /// Set while the consumer is behind.
    pub(crate) held_up: Option<Arc<AtomicBool>>,
    /// How many threads may take part.
    pub(crate) threads: usize,
    /// How many directories may be open for reading at the same time.
    pub(crate) open: usize,
    /// How many more may be kept open for what is below them.
    pub(crate) kept: usize,
}
