//! `-empty`.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use fscall::{Dirents, OFlags, StatxMask};

use super::{Doc, Entry, Needs, Parsed, Predicate, Primary};
use crate::errno::EIO;
use crate::file::File;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "empty",
    doc: Doc::test("", "a file of no bytes or a directory with nothing in it")
        .tested_in("stat_tests"),
    parse: |_, _| {
        Ok(Parsed::Predicate(Predicate::test(
            Empty,
            Needs::Stat(StatxMask::TYPE.union(StatxMask::SIZE)),
            0.01,
        )))
    },
}];

/// A regular file without bytes, or a directory without entries.
#[derive(Debug)]
struct Empty;

impl Primary for Empty {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let Some(answer) = file.stat() else {
            return false;
        };
        match answer.file_type() {
            Some(kind) if kind.is_file() => answer.size() == Some(0),
            Some(kind) if kind.is_dir() => match file.reach(has_no_entries) {
                Ok(empty) => empty,
                Err(error) => {
                    file.report_error(&error);
                    false
                }
            },
            _ => false,
        }
    }
}

/// Room for the first few entries: one that is no dot is enough.
const ROOM: usize = 2048;

/// Whether a directory has no entries, by reading until there is one.
fn has_no_entries(dir: BorrowedFd<'_>, name: &CStr) -> io::Result<bool> {
    let flags = OFlags::DIRECTORY | OFlags::NOCTTY | OFlags::NONBLOCK;
    let opened = fscall::openat(dir, name, flags)?;
    let mut records = Vec::with_capacity(ROOM);
    loop {
        records.clear();
        if fscall::read_records(opened.as_fd(), &mut records)? == 0 {
            return Ok(true);
        }
        for entry in Dirents::new(&records) {
            let entry = entry.map_err(|_| io::Error::from_raw_os_error(EIO))?;
            if !entry.is_dot() {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn dots_are_no_entries() {
        let place = tempfile::tempdir().unwrap();
        let look = || {
            let path = place.path().as_os_str().as_bytes();
            fscall::with_c_path(path, |path| has_no_entries(fscall::CWD, path))
        };
        assert!(look().unwrap());
        std::fs::write(place.path().join(".hidden"), "").unwrap();
        assert!(!look().unwrap());
    }
}
