//! One entry after the other, on the calling thread: nothing is looked at or opened before its turn.

use std::collections::HashSet;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fscall::mounts::Mounts;
use fscall::{FileType, OFlags, Statx, StatxMask};

use crate::access::{Access, Caution};
use crate::chunk::Chunk;
use crate::entry::EntryRef;
use crate::error::{Action, Error};
use crate::node::{OPEN, OPEN_FOLLOWED};
use crate::options::{Follow, Options};
use crate::place::{Identity, Place};
use crate::visit::{Known, Visible, fill, identity, know};
use crate::visitor::{SerialVisitor, Visit};

/// A directory on the way to where the walk is.
struct Level {
    /// `None` while there are too many: it is opened again by the `..` of the one below.
    dir: Option<OwnedFd>,
    /// Its path with a slash ends here in the walk's path; its name begins at `name`.
    end: usize,
    name: usize,
    own: Own,
    place: Place,
    chunk: Chunk,
}

/// A directory as an entry, when it was visited or would have been.
struct Own {
    ino: u64,
    followed: bool,
    stat: Option<io::Result<Statx>>,
}

/// A walk.
pub(crate) struct Serial<'a, V> {
    options: &'a Options,
    access: &'a Access,
    visitor: &'a mut V,
    /// Of the directory that is being walked, with a slash behind.
    path: Vec<u8>,
    levels: Vec<Level>,
    /// How many of the outer levels have been closed.
    closed: usize,
    /// Memory for directories to come.
    spare: Vec<Chunk>,
    /// The root as it was given.
    root: Vec<u8>,
    root_len: usize,
    /// The directories that have been walked, where none is to be walked twice.
    seen: HashSet<Identity>,
}

impl<'a, V: SerialVisitor> Serial<'a, V> {
    pub(crate) fn new(options: &'a Options, access: &'a Access, visitor: &'a mut V) -> Self {
        Self {
            options,
            access,
            visitor,
            path: Vec::new(),
            levels: Vec::new(),
            closed: 0,
            spare: Vec::new(),
            root: Vec::new(),
            root_len: 0,
            seen: HashSet::new(),
        }
    }

    /// Walks one root; true if the visitor wants no more.
    pub(crate) fn walk(&mut self, root: &[u8]) -> bool {
        self.path.clear();
        self.closed = 0;
        root.clone_into(&mut self.root);
        self.root_len = root.len();
        let visit = self.root(root);
        if visit == Visit::Quit {
            return true;
        }
        while !self.levels.is_empty() {
            if self.step() == Visit::Quit {
                self.levels.clear();
                return true;
            }
        }
        false
    }

    fn root(&mut self, root: &[u8]) -> Visit {
        let rules = &self.options.rules;
        let mask = StatxMask::BASIC_STATS | Mounts::mask() | rules.mask;
        let looked = fscall::with_c_path(root, |path| {
            know(fscall::CWD, path, None, mask, rules.follows(0))
        });
        let known = match looked {
            Ok(Known {
                stat: Some(Err(error)),
                ..
            })
            | Err(error) => {
                let error = Error::new(Action::Stat, root.to_vec(), 0, error);
                return self.visitor.error(&error);
            }
            Ok(known) => known,
        };
        let ino = match &known.stat {
            Some(Ok(stat)) => stat.ino().unwrap_or(0),
            _ => 0,
        };
        self.entry(root, ino, known)
    }

    /// The next entry of the innermost directory, or its end.
    fn step(&mut self) -> Visit {
        let depth = self.levels.len();
        let Some(level) = self.levels.last_mut() else {
            return Visit::Continue;
        };
        if level.chunk.len() == 0 {
            return self.read();
        }
        let mut chunk = std::mem::take(&mut level.chunk);
        let mut visit = Visit::Continue;
        if let Some(found) = chunk.peek(0) {
            let looked = self.look(found.c_name(), found.file_type, depth, found.ino);
            visit = match looked {
                Ok(known) => self.entry(found.name(), found.ino, known),
                Err(error) => self.miss(found.name(), depth, error),
            };
        }
        chunk.advance(1);
        if let Some(level) = self.levels.get_mut(depth - 1) {
            level.chunk = chunk;
        }
        visit
    }

    /// What is known of the entry before it is visited.
    fn look(
        &self,
        name: &CStr,
        file_type: Option<FileType>,
        depth: usize,
        ino: u64,
    ) -> io::Result<Known> {
        let rules = &self.options.rules;
        let visible = visible(&self.levels, &self.path, self.root_len);
        let entry = visible.bare(name.to_bytes(), ino, file_type);
        let mask = rules.mask_for(&entry, StatxMask::empty);
        let dir = visible.dir;
        let mut known = know(dir, name, file_type, mask, rules.follows(depth))?;
        if rules.follow == Follow::All
            && known.file_type.is_some_and(FileType::is_dir)
            && self.levels.iter().any(|level| level.own.followed)
        {
            known.identity = known.identity.or_else(|| identity(dir, name));
        }
        Ok(known)
    }

    /// An entry that can't be looked at although it should have been followed.
    fn miss(&mut self, name: &[u8], depth: usize, error: io::Error) -> Visit {
        let visible = visible(&self.levels, &self.path, self.root_len);
        let entry = visible.bare(name, 0, Some(FileType::SYMLINK));
        if !self.options.rules.admits(&entry) {
            return Visit::Continue;
        }
        let error = Error::new(Action::Stat, entry.path_bytes(), depth, error);
        self.visitor.unfollowed(&entry, &error)
    }

    /// Visits an entry, and goes into it if it is a directory.
    fn entry(&mut self, name: &[u8], ino: u64, known: Known) -> Visit {
        let rules = &self.options.rules;
        let depth = self.levels.len();
        let Self {
            levels,
            path,
            visitor,
            root_len,
            ..
        } = self;
        let entry = EntryRef {
            followed: known.followed,
            stat: known.stat.as_ref().map(Result::as_ref),
            ..visible(levels, path, *root_len).bare(name, ino, known.file_type)
        };
        if !rules.admits(&entry) {
            return Visit::Continue;
        }
        let is_dir = entry.file_type.is_some_and(FileType::is_dir);
        if is_dir && let Some(identity) = known.identity {
            let is_same = |level: &Level| level.place.identity == identity;
            if let Some(ancestor) = levels.iter().position(is_same) {
                let ancestor = &path[..levels[ancestor].end];
                let ancestor = without_slash(ancestor).to_vec();
                let error = Error::found_loop(entry.path_bytes(), depth, ancestor);
                return visitor.error(&error);
            }
        }
        let descends = rules.enters(&entry);
        let is_late = descends && rules.contents_first;
        let visit = if depth < rules.min_depth || is_late {
            Visit::Continue
        } else {
            if let Some(progress) = &rules.progress {
                progress.visited(1);
            }
            visitor.visit(&entry)
        };
        if !descends || visit != Visit::Continue {
            return visit;
        }
        let own = Own {
            ino,
            followed: known.followed,
            stat: known.stat,
        };
        self.descend(name, own)
    }

    /// Goes into a directory.
    fn descend(&mut self, name: &[u8], own: Own) -> Visit {
        let opened = self.open(name, own.followed);
        if let Some(progress) = &self.options.rules.progress {
            progress.begun([&*self.path, name].concat());
        }
        match opened {
            Ok(Some((dir, place))) => {
                let start = self.path.len();
                self.path.extend_from_slice(name);
                if !name.ends_with(b"/") {
                    self.path.push(b'/');
                }
                self.levels.push(Level {
                    dir: Some(dir),
                    end: self.path.len(),
                    name: start,
                    own,
                    place,
                    chunk: self.spare.pop().unwrap_or_default(),
                });
                self.close_some();
                Visit::Continue
            }
            // Where contents come first its own turn has not come yet.
            Ok(None) => self.late(&own, name),
            Err(error) => {
                let entry = own.entry(&visible(&self.levels, &self.path, self.root_len), name);
                let error = Error::new(Action::Open, entry.path_bytes(), entry.depth, error);
                match self.visitor.unopened(&entry, &error) {
                    Visit::Quit => Visit::Quit,
                    Visit::Continue | Visit::Prune => self.late(&own, name),
                }
            }
        }
    }

    /// Visits a directory whose contents came first.
    fn late(&mut self, own: &Own, name: &[u8]) -> Visit {
        let rules = &self.options.rules;
        if !rules.contents_first || self.levels.len() < rules.min_depth {
            return Visit::Continue;
        }
        if let Some(progress) = &rules.progress {
            progress.visited(1);
        }
        let entry = own.entry(&visible(&self.levels, &self.path, self.root_len), name);
        match self.visitor.visit(&entry) {
            Visit::Quit => Visit::Quit,
            Visit::Continue | Visit::Prune => Visit::Continue,
        }
    }

    /// Opens a directory; `None` if it is not to be walked.
    fn open(&mut self, name: &[u8], followed: bool) -> io::Result<Option<(OwnedFd, Place)>> {
        let rules = &self.options.rules;
        let parent = self.levels.last().map(|level| &level.place);
        let caution = Caution::new(rules, parent.is_none(), parent, followed);
        let at = current(&self.levels);
        let dir = fscall::with_c_path(name, |name| {
            if !caution.allows_now(at, name)? {
                return Ok(None);
            }
            fscall::openat(at, name, open_flags(followed)).map(Some)
        })?;
        let Some(dir) = dir else { return Ok(None) };
        // For where it has to be opened again.
        let place = Place::of_fd(dir.as_fd())?;
        let outside = parent.is_some_and(|parent| !parent.may_lead_to(&place, rules.boundary));
        if outside || rules.once && !self.seen.insert(place.identity) {
            return Ok(None);
        }
        let is_same = |level: &Level| level.place.identity == place.identity;
        if followed && self.levels.iter().any(is_same) {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        Ok(Some((dir, place)))
    }

    /// Reads on in the innermost directory, or leaves it.
    fn read(&mut self) -> Visit {
        let depth = self.levels.len() - 1;
        let Some(level) = self.levels.last_mut() else {
            return Visit::Continue;
        };
        let Some(dir) = &level.dir else {
            return self.leave();
        };
        if level.chunk.has_ended() {
            return self.leave();
        }
        let bare = Visible {
            dir: dir.as_fd(),
            prefix: b"",
            depth: depth + 1,
            root_len: self.root_len,
        };
        let prefix = |out: &mut Vec<u8>| out.extend_from_slice(&self.path);
        let sort = &self.options.rules.sort;
        match fill(&mut level.chunk, self.access, sort, &bare, prefix) {
            Ok(true) => Visit::Continue,
            Ok(false) => self.leave(),
            Err(error) => {
                let path = without_slash(&self.path).to_vec();
                let error = Error::new(Action::Read, path, depth, error);
                match self.visitor.error(&error) {
                    Visit::Quit => Visit::Quit,
                    Visit::Continue | Visit::Prune => self.leave(),
                }
            }
        }
    }

    /// Goes back to the directory above.
    fn leave(&mut self) -> Visit {
        let Some(mut level) = self.levels.pop() else {
            return Visit::Continue;
        };
        let mut chunk = std::mem::take(&mut level.chunk);
        chunk.reset();
        self.spare.push(chunk);
        if let Some(progress) = &self.options.rules.progress {
            progress.found(1);
            progress.walked(true);
        }
        let error = self.reopen(&level).err();
        let name = if self.levels.is_empty() {
            std::mem::take(&mut self.root)
        } else {
            without_slash(&self.path[level.name..level.end]).to_vec()
        };
        self.path.truncate(level.name);
        if let Some(error) = error {
            let path = without_slash(&self.path).to_vec();
            let error = Error::new(Action::Open, path, self.levels.len() - 1, error);
            // The rest of it can't be reached any more.
            if let Some(level) = self.levels.last_mut() {
                level.chunk.reset();
            }
            return match self.visitor.error(&error) {
                Visit::Quit => Visit::Quit,
                Visit::Continue | Visit::Prune => Visit::Continue,
            };
        }
        self.late(&level.own, &name)
    }

    /// Closes outer directories where there are more than the walk may keep open.
    fn close_some(&mut self) {
        let most = self.options.kept.max(1) + 1;
        while self.levels.len() - self.closed > most {
            self.levels[self.closed].dir = None;
            self.closed += 1;
        }
    }

    /// Opens the innermost directory again, if it was closed, from the one `below` it that has just
    /// been left.
    fn reopen(&mut self, below: &Level) -> io::Result<()> {
        let depth = self.levels.len();
        let Some(level) = self.levels.last() else {
            return Ok(());
        };
        if level.dir.is_some() {
            return Ok(());
        }
        let is_same = |dir: &OwnedFd| {
            Place::of_fd(dir.as_fd()).is_ok_and(|there| there.identity == level.place.identity)
        };
        let from_below = below
            .dir
            .as_ref()
            .filter(|_| !below.own.followed)
            .and_then(|dir| fscall::openat(dir.as_fd(), c"..", OPEN).ok());
        let dir = match from_below.filter(is_same) {
            Some(dir) => Some(dir),
            None => Some(self.open_from_the_root(depth)?).filter(is_same),
        };
        let Some(dir) = dir else {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        };
        self.levels[depth - 1].dir = Some(dir);
        self.closed = self.closed.min(depth - 1);
        Ok(())
    }

    /// Opens the directory of the outer `depth` levels by their names.
    fn open_from_the_root(&self, depth: usize) -> io::Result<OwnedFd> {
        let mut at: Option<OwnedFd> = None;
        for level in &self.levels[..depth] {
            let name = &self.path[level.name..level.end];
            let name = if at.is_some() {
                without_slash(name)
            } else {
                name
            };
            let dir = at.as_ref().map_or(fscall::CWD, AsFd::as_fd);
            at = Some(fscall::with_c_path(name, |name| {
                fscall::openat(dir, name, open_flags(level.own.followed))
            })?);
        }
        at.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Own {
    /// The directory as an entry among those that are visible where it was found.
    fn entry<'a>(&'a self, visible: &Visible<'a>, name: &'a [u8]) -> EntryRef<'a> {
        EntryRef {
            followed: self.followed,
            stat: self.stat.as_ref().map(Result::as_ref),
            ..visible.bare(name, self.ino, Some(FileType::DIRECTORY))
        }
    }
}

/// What all entries share that are visited now.
fn visible<'a>(levels: &'a [Level], path: &'a [u8], root_len: usize) -> Visible<'a> {
    Visible {
        dir: current(levels),
        prefix: path,
        depth: levels.len(),
        root_len,
    }
}

/// The directory whose entries are visited.
fn current(levels: &[Level]) -> BorrowedFd<'_> {
    let dir = levels.last().and_then(|level| level.dir.as_ref());
    dir.map_or(fscall::CWD, AsFd::as_fd)
}

fn open_flags(followed: bool) -> OFlags {
    if followed { OPEN_FOLLOWED } else { OPEN }
}

fn without_slash(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").unwrap_or(path)
}
