//! Where actions write: the standard streams, and files that are opened while arguments are read.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{ffi::OsStr, mem};

use crate::failure::Failure;

/// Bytes collected before they are written.
const BLOCK: usize = 64 * 1024;

/// Something to write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
    /// One of the [`Files`].
    File(usize),
}

/// A [`Destination`] as an action has it.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) to: Destination,
    /// What messages call it.
    pub(crate) name: Vec<u8>,
    pub(crate) is_terminal: bool,
}

impl Opened {
    /// Standard output.
    pub(crate) fn output() -> Self {
        Self {
            to: Destination::Output,
            name: b"standard output".to_vec(),
            is_terminal: crate::output_is_terminal(),
        }
    }

    /// Standard error.
    fn error() -> Self {
        Self {
            to: Destination::Error,
            name: b"standard error".to_vec(),
            is_terminal: io::stderr().is_terminal(),
        }
    }
}

/// Files that are written to, each once, by whatever names they were given.
#[derive(Debug, Default)]
pub(crate) struct Files(Vec<OpenFile>);

#[derive(Debug)]
struct OpenFile {
    /// The first name that it was given.
    name: Vec<u8>,
    /// Device and inode.
    id: (u64, u64),
    file: File,
    buffer: Vec<u8>,
    /// The error that lost some of it, and has not been reported.
    errno: Option<i32>,
}

impl Files {
    /// Opens, and empties, the file `name`. `/dev/stdout` and `/dev/stderr` are this process's streams.
    pub(crate) fn open(&mut self, name: &[u8]) -> Result<Opened, Failure> {
        match name {
            b"/dev/stdout" => return Ok(Opened::output()),
            b"/dev/stderr" => return Ok(Opened::error()),
            _ => {}
        }
        let open = || {
            let file = File::create(Path::new(OsStr::from_bytes(name)))?;
            let metadata = file.metadata()?;
            Ok((file, (metadata.dev(), metadata.ino())))
        };
        let (file, id) = open().map_err(|error| Failure::file(name, errno(&error)))?;
        let is_terminal = file.is_terminal();
        let known = self.0.iter().position(|other| other.id == id);
        let number = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(OpenFile {
                name: name.to_vec(),
                id,
                file,
                buffer: Vec::new(),
                errno: None,
            });
        }
        Ok(Opened {
            to: Destination::File(number),
            name: name.to_vec(),
            is_terminal,
        })
    }

    /// Appends to the file with this number.
    pub(crate) fn write(&mut self, number: usize, bytes: &[u8]) {
        if let Some(file) = self.0.get_mut(number) {
            file.buffer.extend_from_slice(bytes);
            if file.buffer.len() >= BLOCK {
                file.flush_unseen();
            }
        }
    }

    /// Hands to the kernel what is collected for the file with this number.
    pub(crate) fn flush(&mut self, number: usize) -> io::Result<()> {
        self.0.get_mut(number).map_or(Ok(()), OpenFile::flush)
    }

    /// Writes out and closes all; the name and error number of the first that has lost something.
    pub(crate) fn close(&mut self) -> Option<(Vec<u8>, i32)> {
        let mut lost = None;
        for mut file in mem::take(&mut self.0) {
            file.flush_unseen();
            if let Some(errno) = file.errno {
                lost.get_or_insert((file.name, errno));
            }
        }
        lost
    }
}

impl OpenFile {
    fn flush(&mut self) -> io::Result<()> {
        let result = self.file.write_all(&self.buffer);
        self.buffer.clear();
        result
    }

    /// Keeps an error for the end.
    fn flush_unseen(&mut self) {
        if let Err(error) = self.flush() {
            self.errno = Some(errno(&error));
        }
    }
}

fn errno(error: &io::Error) -> i32 {
    // Anything else than the kernel's would be a write of nothing.
    error.raw_os_error().unwrap_or(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_by_two_names_is_written_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::os::unix::fs::symlink("a", path("b")).unwrap();
        std::fs::write(path("a"), "old").unwrap();
        let mut files = Files::default();
        let mut open = |name: &str| {
            let path = path(name);
            files.open(path.as_os_str().as_bytes()).unwrap().to
        };
        let (a, b, c) = (open("a"), open("b"), open("c"));
        assert_eq!(a, b);
        assert_ne!(a, c);
        files.write(0, b"one");
        files.write(0, b"two");
        assert!(files.close().is_none());
        assert_eq!(std::fs::read(path("a")).unwrap(), b"onetwo");
    }

    #[test]
    fn a_full_device_is_named() {
        let mut files = Files::default();
        assert_eq!(files.open(b"/dev/full").unwrap().to, Destination::File(0));
        files.write(0, b"x");
        assert_eq!(files.close(), Some((b"/dev/full".to_vec(), 28)));
        assert!(files.open(b"/no/such/file").is_err());
    }
}
