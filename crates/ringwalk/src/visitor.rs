//! What a walk asks of those who use it.

use fscall::StatxMask;

use crate::entry::EntryRef;
use crate::error::Error;

/// How the walk goes on after an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visit {
    /// As usual: into the entry if it is a directory, then to the next.
    #[default]
    Continue,
    /// Not into this directory. The same as [`Continue`](Self::Continue) for anything else.
    Prune,
    /// Not at all.
    Quit,
}

/// Visits a tree on several threads and hands its output on in the tree's own order.
///
/// Entries are visited in any order, but what each visit wrote into its segment is emitted in
/// pre-order: a directory, then its contents in the order in which the system lists them, each
/// sub-directory's contents right behind it. Up to 4 MiB of segments may wait for their turn.
///
/// If [`visit`](Self::visit) answers [`Visit::Quit`], what comes before the entry in that order,
/// and the entry's own output, is still emitted, and nothing of what comes after it.
pub trait OrderedVisitor: Send + Sync + 'static {
    /// A stretch of output.
    type Segment: Default + Send + 'static;

    /// Which fields of the entry [`visit`](Self::visit) will look at, beyond what the directory
    /// lists. If any, the entry is asked for them first: once, and just for these.
    fn wants(&self, entry: &EntryRef<'_>) -> StatxMask;

    /// Visits an entry; called once for each. A directory's own output is the beginning of the
    /// segment that its contents continue, and is emitted only once the directory has been opened
    /// or turned out not to be walked.
    fn visit(&self, entry: &EntryRef<'_>, out: &mut Self::Segment) -> Visit;

    /// A directory that was visited, and was to be walked, cannot be opened. `out` holds just what
    /// its own visit wrote.
    fn unopened(&self, entry: &EntryRef<'_>, error: &Error, out: &mut Self::Segment) -> Visit {
        let _ = entry;
        self.error(error, out)
    }

    /// A link that was to be followed, and cannot be: what it leads to cannot be looked at. The entry is
    /// that of the link, of which nothing has been asked, and is not visited.
    fn unfollowed(&self, entry: &EntryRef<'_>, error: &Error, out: &mut Self::Segment) -> Visit {
        let _ = entry;
        self.error(error, out)
    }

    /// A root that cannot be looked at, a directory that cannot be read on, a link that leads to a directory
    /// that it is in (or, below a followed link, such a directory), or a directory whose turn has come after its contents and that is no longer where it was.
    fn error(&self, error: &Error, out: &mut Self::Segment) -> Visit;

    /// How many bytes the segment keeps in memory; 0 says that it is empty and need not be
    /// emitted.
    fn weight(&self, segment: &Self::Segment) -> usize;

    /// Hands a segment on. One call at a time, in order, from whichever thread is at it.
    /// [`Visit::Quit`] ends the walk at once.
    fn emit(&self, segment: Self::Segment) -> Visit;

    /// The walk is over: nothing more will be emitted.
    fn finished(&self) {}

    /// Everything that is ready has been emitted, and the next segment may take a while: a good
    /// moment to flush.
    fn idle(&self) {}

    /// A thread of the walk is about to wait: for a call that may sleep, or for work. What is kept back
    /// to be handed on with more had better go now. Called often, and from all threads at once.
    fn about_to_wait(&self) {}
}

/// Visits a tree on the calling thread, one entry after the other; see
/// [`Walk::visit_one_by_one`](crate::Walk::visit_one_by_one).
pub trait SerialVisitor {
    /// Visits an entry. Nothing behind it has been looked at; of its directory, the names have been
    /// read.
    fn visit(&mut self, entry: &EntryRef<'_>) -> Visit;

    /// A directory that was to be walked cannot be opened. Where contents come first it is visited
    /// after this.
    fn unopened(&mut self, entry: &EntryRef<'_>, error: &Error) -> Visit {
        let _ = entry;
        self.error(error)
    }

    /// As [`OrderedVisitor::unfollowed`].
    fn unfollowed(&mut self, entry: &EntryRef<'_>, error: &Error) -> Visit {
        let _ = entry;
        self.error(error)
    }

    /// As [`OrderedVisitor::error`].
    fn error(&mut self, error: &Error) -> Visit;
}

/// Visits a tree on several threads, in any order; each thread that takes part has a visitor of
/// its own.
pub trait ParallelVisitor: Send {
    /// Visits an entry, or what is there instead of one. A directory comes before its contents, or after
    /// them where that was [asked for](crate::Walk::contents_first).
    /// For an error [`Visit::Prune`] means the same as [`Visit::Continue`].
    fn visit(&mut self, entry: Result<&EntryRef<'_>, &Error>) -> Visit;
}

impl<F> ParallelVisitor for F
where
    F: FnMut(Result<&EntryRef<'_>, &Error>) -> Visit + Send,
{
    fn visit(&mut self, entry: Result<&EntryRef<'_>, &Error>) -> Visit {
        self(entry)
    }
}
