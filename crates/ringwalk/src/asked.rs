//! What a directory's task has asked others, and what they have answered: no thread sleeps on it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use fscall::{Statx, StatxMask};
use ringfs::Dir;

use crate::access::OpenDir;

pub(crate) type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What has been asked and not been used yet.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) look: Option<Answer<io::Result<Statx>>>,
    pub(crate) open: Option<Answer<io::Result<Dir>>>,
    /// For each of the next entries the answer, if one was wanted and has come.
    answers: Vec<Option<io::Result<Statx>>>,
    batches: Vec<Batch>,
    /// The next entries are those that were asked about.
    about_entries: bool,
    closing: Vec<Answer<io::Result<()>>>,
}

/// Files of which the same fields are wanted.
struct Batch {
    /// Their places among the entries.
    entries: Vec<usize>,
    answers: Answer<Vec<io::Result<Statx>>>,
}

impl Asked {
    /// How many entries of a directory the ring is asked about at a time.
    pub(crate) const WINDOW: usize = 512;

    /// Whether it is known what others answer about the next entries, or will be.
    pub(crate) fn is_about_entries(&self) -> bool {
        self.about_entries
    }

    /// Asks about the next entries, by one batch for all of which the same fields are wanted: links
    /// are not followed. Nothing is asked about an entry with an empty mask.
    pub(crate) fn ask<'a>(
        &mut self,
        dir: &Dir,
        entries: impl Iterator<Item = (&'a [u8], StatxMask)>,
    ) {
        let mut groups: Vec<(StatxMask, Vec<usize>, Vec<&Path>)> = Vec::new();
        self.answers.clear();
        for (index, (name, mask)) in entries.enumerate() {
            self.answers.push(None);
            if mask.is_empty() {
                continue;
            }
            let known = groups.iter().position(|group| group.0 == mask);
            let group = known.unwrap_or_else(|| {
                groups.push((mask, Vec::new(), Vec::new()));
                groups.len() - 1
            });
            let (_, places, names) = &mut groups[group];
            places.push(index);
            names.push(Path::new(OsStr::from_bytes(name)));
        }
        for (mask, entries, names) in groups {
            let batch = dir.statx_many(names).follow_symlinks(false).mask(mask);
            self.batches.push(Batch {
                entries,
                answers: Box::pin(batch.into_future()),
            });
        }
        self.about_entries = true;
    }

    /// Ready when all answers about entries are there.
    pub(crate) fn poll_answers(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self {
            answers, batches, ..
        } = self;
        batches.retain_mut(|batch| match batch.answers.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(results) => {
                for (&entry, result) in batch.entries.iter().zip(results) {
                    answers[entry] = Some(result);
                }
                false
            }
        });
        if batches.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// About how many entries there are answers.
    pub(crate) fn answered(&self) -> usize {
        self.answers.len()
    }

    /// The answer about an entry, if it was asked about.
    pub(crate) fn take_answer(&mut self, entry: usize) -> Option<io::Result<Statx>> {
        self.answers.get_mut(entry)?.take()
    }

    /// The entries that were asked about have been visited.
    pub(crate) fn forget(&mut self) {
        self.answers.clear();
        self.batches.clear();
        self.about_entries = false;
    }

    /// Closes a directory that nobody needs any more: through the ring if it came from there.
    pub(crate) fn close(&mut self, dir: Option<Arc<OpenDir>>) {
        if let Some(OpenDir::Ring(dir)) = dir.and_then(Arc::into_inner) {
            let mut close: Answer<io::Result<()>> = Box::pin(dir.close());
            // Polled once it is on its way, however long the directory's own work takes.
            if close
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
            {
                self.closing.push(close);
            }
        }
    }

    /// Ready when all that was to be closed is.
    pub(crate) fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // An error of a directory that was only read has nothing to say.
        self.closing
            .retain_mut(|close| close.as_mut().poll(cx).is_pending());
        if self.closing.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
