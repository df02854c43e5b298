//! Types that a directory does not list.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fscall::{Dirents, FileType, StatxMask};

use super::entry::Buffer;
use crate::many::{StatMany, StatManyFuture};

/// So many types are asked for at a time: enough to make up for the hop, and the first entry of a
/// large buffer does not wait for all of them.
const AT_ONCE: usize = 1024;

/// The types of a buffer's entries whose type is not listed, asked for in batches: `DT_UNKNOWN` of
/// XFS without `ftype`, of ext4 without `filetype` and of many FUSE servers.
#[derive(Debug, Default)]
pub(super) struct UnlistedTypes {
    /// Of the next such entries, in their order.
    told: std::vec::IntoIter<Told>,
    /// It lives here and not in the future that started it, so that dropping that one loses
    /// nothing.
    asking: Option<StatManyFuture>,
}

/// What was told of an entry: nothing, if its type could not be had.
#[derive(Debug)]
pub(super) struct Told(pub(super) Option<FileType>);

impl UnlistedTypes {
    /// The type of the next such entry: [`poll_ask`](Self::poll_ask) if there is none yet.
    pub(super) fn next(&mut self) -> Option<Told> {
        self.told.next()
    }

    /// Asks for the types of such entries, those at `at` and behind.
    pub(super) fn poll_ask(
        &mut self,
        buffer: &Buffer,
        at: usize,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let asking = self.asking.get_or_insert_with(|| ask(buffer, at));
        let answers = ready!(Pin::new(asking).poll(cx));
        self.asking = None;
        // An error is told by whoever wants to know the type: it may even work then.
        let told = answers
            .into_iter()
            .map(|answer| Told(answer.ok().and_then(|answer| answer.file_type())));
        self.told = told.collect::<Vec<_>>().into_iter();
        Poll::Ready(())
    }
}

fn ask(buffer: &Buffer, at: usize) -> StatManyFuture {
    let names = Dirents::new(&buffer.batch.as_bytes()[at..])
        .map_while(Result::ok)
        .filter(|entry| entry.file_type().is_none() && !entry.is_dot())
        .map(|entry| OsStr::from_bytes(entry.name()))
        .take(AT_ONCE);
    StatMany::new(buffer.driver.clone(), Some(Arc::clone(&buffer.dir)), names)
        .follow_symlinks(false)
        .mask(StatxMask::TYPE)
        .into_future()
}
