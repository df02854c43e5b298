//! Starting points that a file names: `-files0-from`.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fscall::StatxMask;

use crate::errno::EBADF;
use crate::failure::Failure;
use crate::message::Messages;
use crate::quote::quote;

/// Read at once. What has come by then is searched before more is read, so names may come from a
/// program that is still looking for them.
const BLOCK: usize = 64 * 1024;

/// A file of names, each ended by a NUL, and how far it has been read.
#[derive(Debug)]
pub(crate) struct Names {
    file: File,
    /// As it is named in messages.
    shown: Vec<u8>,
    /// Standard input was closed from the start.
    is_closed: bool,
    /// Read and not handed out yet.
    bytes: Vec<u8>,
    /// Names handed out, with the empty ones.
    count: u64,
    /// There is nothing more to read.
    ended: bool,
}

/// What comes next in the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// At least one name.
    Names(Vec<Vec<u8>>),
    /// Something is wrong; this is the message. There may be more behind it.
    Wrong(Vec<u8>),
    End,
}

impl Names {
    /// Opens the file, `-` for standard input. `given` is the first starting point of the command
    /// line, which must not have any; `asks` tells that standard input is needed for answers.
    pub(crate) fn open(file: &[u8], given: Option<&Vec<u8>>, asks: bool) -> Result<Self, Failure> {
        if let Some(given) = given {
            let extra = Failure::of(&[b"extra operand ", &quote(given)]);
            return Err(extra.and(&[b"file operands cannot be combined with -files0-from"]));
        }
        let names = |file, shown, is_closed| Self {
            file,
            shown,
            is_closed,
            bytes: Vec::new(),
            count: 0,
            ended: false,
        };
        // The messages about questions end with an empty line.
        if file == b"-" {
            if asks {
                return Err(Failure::new(
                    &b"option -files0-from reading from standard input cannot be combined with -ok, -okdir\n"[..],
                ));
            }
            let shown = quote(b"(standard input)");
            let stdin = io::stdin().as_fd().try_clone_to_owned();
            let stdin = stdin.map_err(|error| cannot_open(&shown, &error))?;
            let is_closed = hostproc::startup::was_closed(0);
            return Ok(names(File::from(stdin), shown, is_closed));
        }
        let shown = quote(file);
        let opened = File::open(Path::new(std::ffi::OsStr::from_bytes(file)));
        let opened = opened.map_err(|error| cannot_open(&shown, &error))?;
        if asks && is_standard_input(&opened) {
            return Err(Failure::of(&[
                b"option -files0-from: standard input must not refer to the same file when combined with \
                  -ok, -okdir: ",
                &shown,
                b"\n",
            ]));
        }
        Ok(names(opened, shown, false))
    }

    /// What comes next; waits for it.
    pub(crate) fn next(&mut self, messages: &Messages) -> Next {
        loop {
            let mut found = Vec::new();
            let mut start = 0;
            for end in memchr::memchr_iter(0, &self.bytes) {
                if end == start {
                    break;
                }
                found.push(self.bytes[start..end].to_vec());
                start = end + 1;
            }
            if found.is_empty() && self.ended && !self.bytes.is_empty() && self.bytes[0] != 0 {
                // The last one needs no NUL.
                start = self.bytes.len();
                found.push(self.bytes.clone());
            }
            self.bytes.drain(..start);
            if !found.is_empty() {
                self.count += found.len() as u64;
                return Next::Names(found);
            }
            if self.bytes.first() == Some(&0) {
                self.bytes.remove(0);
                self.count += 1;
                let count = self.count.to_string();
                let text: [&[u8]; 4] = [
                    &self.shown,
                    b":",
                    count.as_bytes(),
                    b": invalid zero-length file name",
                ];
                return Next::Wrong(messages.plain(&text.concat()));
            }
            if self.ended {
                return Next::End;
            }
            if let Err(error) = self.read() {
                self.ended = true;
                self.bytes.clear();
                let text = [&self.shown, &b": read error"[..]].concat();
                return Next::Wrong(messages.errno(&text, error.raw_os_error().unwrap_or(0)));
            }
        }
    }

    fn read(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Err(io::Error::from_raw_os_error(EBADF));
        }
        let before = self.bytes.len();
        self.bytes.resize(before + BLOCK, 0);
        let read = loop {
            match self.file.read(&mut self.bytes[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                answer => break answer,
            }
        };
        self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(())
    }
}

fn cannot_open(shown: &[u8], error: &io::Error) -> Failure {
    let text = [b"cannot open ", shown, b" for reading"].concat();
    Failure::errno(&text, error.raw_os_error().unwrap_or(0))
}

/// Whether the file is the one that standard input reads.
fn is_standard_input(file: &File) -> bool {
    let identity = |fd| {
        let flags = fscall::StatxFlags::empty();
        let answer = fscall::statx_fd(fd, flags, StatxMask::INO).ok()?;
        Some((answer.dev(), answer.ino()?))
    };
    let stdin = io::stdin();
    let (one, other) = (identity(file.as_fd()), identity(stdin.as_fd()));
    one.is_some() && one == other
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    fn all(bytes: &[u8]) -> Vec<Next> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        let path = file.path().as_os_str().as_bytes();
        let mut names = Names::open(path, None, false).unwrap();
        names.shown = b"F".to_vec();
        let messages = Messages::new(b"find");
        std::iter::from_fn(|| Some(names.next(&messages)).filter(|next| *next != Next::End))
            .collect()
    }

    fn some(names: &[&[u8]]) -> Next {
        Next::Names(names.iter().map(|name| name.to_vec()).collect())
    }

    fn empty(number: usize) -> Next {
        let text = format!("find: F:{number}: invalid zero-length file name\n");
        Next::Wrong(text.into_bytes())
    }

    #[test]
    fn names_end_with_a_nul_or_the_file() {
        assert_eq!(all(b""), []);
        assert_eq!(all(b"a\0b c\0"), [some(&[b"a", b"b c"])]);
        assert_eq!(all(b"a\0-b\n"), [some(&[b"a"]), some(&[b"-b\n"])]);
        assert_eq!(all(b"\0"), [empty(1)]);
        let expected = [empty(1), some(&[b"a"]), empty(3), empty(4), some(&[b"b"])];
        assert_eq!(all(b"\0a\0\0\0b"), expected);
    }

    #[test]
    fn names_longer_than_a_block() {
        let long = vec![b'n'; 3 * BLOCK];
        let bytes = [b"a\0", &*long, b"\0b\0"].concat();
        let names: Vec<_> = all(&bytes)
            .into_iter()
            .flat_map(|next| match next {
                Next::Names(names) => names,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names, [b"a".to_vec(), long, b"b".to_vec()]);
    }

    #[test]
    fn what_cannot_be_read() {
        assert!(Names::open(b"/nothing/there", None, false).is_err());
        assert!(Names::open(b"-", Some(&b"x".to_vec()), false).is_err());
        assert!(Names::open(b"-", None, true).is_err());
        let mut directory = Names::open(b"/", None, false).unwrap();
        let messages = Messages::new(b"find");
        let expected = b"find: '/': read error: Is a directory\n".to_vec();
        assert_eq!(directory.next(&messages), Next::Wrong(expected));
        assert_eq!(directory.next(&messages), Next::End);
    }
}
