//! A server that speaks the protocol of `/dev/fuse` itself, and can thus say
//! what no library for honest file systems lets it say.
//!
//! The tree: the root and its directories `dir0` to `dir2`, and in each of the
//! four the files that the [`Lies`] name.

mod wire;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;

use self::wire::{Bytes, Request, init, u32_at, u64_at};
use crate::skip::needs_root;
use crate::{Skip, mount};

/// How many directories the root has.
pub const DIRECTORIES: usize = 3;

/// How many entries one answer to readdir has.
const PER_READ: usize = 10;

/// What the server says that no good one does.
#[derive(Clone, Debug)]
pub struct Lies {
    /// The names of the files in each directory.
    pub names: Vec<Vec<u8>>,
    /// Directories do not tell the types of their entries (`DT_UNKNOWN`).
    pub unknown_types: bool,
    /// All entries have inode number 0 in their directories.
    pub zero_ino: bool,
    /// From which read of a directory on each fails with EIO. A read gives ten entries.
    pub unreadable_from: Option<usize>,
    /// The attributes of files cannot be had: ENOSYS.
    pub no_getattr: bool,
    /// The modification times of the files, in turn: seconds and nanoseconds.
    pub times: Vec<(i64, u32)>,
}

impl Default for Lies {
    /// An honest server with 25 files in each directory.
    fn default() -> Self {
        Self {
            names: (0..25)
                .map(|number| format!("f{number}").into_bytes())
                .collect(),
            unknown_types: false,
            zero_ino: false,
            unreadable_from: None,
            no_getattr: false,
            times: vec![(0, 0)],
        }
    }
}

/// A mounted file system that lies.
#[derive(Debug)]
pub struct Hostile {
    point: PathBuf,
    _directory: TempDir,
}

impl Hostile {
    /// Mounts it.
    ///
    /// # Errors
    /// No root, or no FUSE.
    pub fn new(lies: Lies) -> Result<Self, Skip> {
        let name = "mount hostile fuse";
        needs_root(name)?;
        let skip = |error: io::Error| Skip::missing(name, error.to_string());
        let directory = tempfile::Builder::new()
            .prefix("hostile-")
            .tempdir()
            .map_err(skip)?;
        let point = directory.path().join("mnt");
        fs::create_dir(&point).map_err(skip)?;
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .map_err(skip)?;
        let fd = device.as_raw_fd();
        let options = format!("fd={fd},rootmode=40000,user_id=0,group_id=0");
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        mount::mount("fuse", &point, "fuse", flags, &options).map_err(skip)?;
        // It ends with the mount: the device then answers ENODEV.
        thread::spawn(move || serve(device, &lies));
        Ok(Self {
            point,
            _directory: directory,
        })
    }

    /// The root of the file system.
    pub fn path(&self) -> &Path {
        &self.point
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        mount::abort(&self.point);
    }
}

fn serve(mut device: File, lies: &Lies) {
    // The kernel refuses to write to a smaller one.
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = match device.read(&mut buffer) {
            Ok(read) => read,
            // A request that was withdrawn before it could be read.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {
                continue;
            }
            Err(_) => return,
        };
        let Some(request) = Request::parse(&buffer[..read]) else {
            return;
        };
        let Some(answer) = lies.answer(&request) else {
            continue;
        };
        let (errno, body) = match answer {
            Ok(body) => (0, body),
            Err(errno) => (-errno, Bytes::default()),
        };
        let length = u32::try_from(16 + body.0.len()).expect("a short answer");
        let header = Bytes::default()
            .u32(length)
            .u32(errno.cast_unsigned())
            .u64(request.unique);
        // Fails if nobody waits for it any more.
        let _ = device.write(&[header.0, body.0].concat());
    }
}

/// What a node number stands for.
#[derive(Clone, Copy)]
enum Node {
    Directory,
    /// Its place among the names.
    File(usize),
}

const ROOT: u64 = 1;
const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;

impl Lies {
    /// `None` for what wants no answer.
    fn answer(&self, request: &Request<'_>) -> Option<Result<Bytes, i32>> {
        let answer = match request.opcode {
            FORGET | BATCH_FORGET | INTERRUPT => return None,
            INIT => Ok(init(request.body)),
            LOOKUP => self.lookup(request),
            GETATTR => self.getattr(request.node),
            OPENDIR => Ok(Bytes::default().u64(0).u64(0)),
            READDIR => self.readdir(request),
            RELEASEDIR => Ok(Bytes::default()),
            _ => Err(libc::ENOSYS),
        };
        Some(answer)
    }

    /// The entries of a directory: names and node numbers.
    fn entries(&self, directory: u64) -> Vec<(Vec<u8>, u64)> {
        let mut entries = Vec::new();
        if directory == ROOT {
            let directories = 0..DIRECTORIES as u64;
            entries.extend(directories.map(|dir| (format!("dir{dir}").into_bytes(), dir + 2)));
        }
        let files = self.names.iter().zip(directory << 32 | 1 << 16..);
        entries.extend(files.map(|(name, node)| (name.clone(), node)));
        entries
    }

    fn node(number: u64) -> Node {
        if number < 1 << 16 {
            return Node::Directory;
        }
        let index = number & 0xffff;
        Node::File(usize::try_from(index).expect("16 bits"))
    }

    fn attributes(&self, number: u64) -> Bytes {
        let (mode, time) = match Self::node(number) {
            Node::Directory => (libc::S_IFDIR | 0o755, (0, 0)),
            Node::File(index) => (libc::S_IFREG | 0o644, self.times[index % self.times.len()]),
        };
        let seconds = time.0.cast_unsigned();
        Bytes::default()
            .u64(number)
            // Size and blocks.
            .u64(0)
            .u64(0)
            // Of access, modification and change.
            .u64(seconds)
            .u64(seconds)
            .u64(seconds)
            .u32(time.1)
            .u32(time.1)
            .u32(time.1)
            .u32(mode)
            // Links, user, group, device, block size and flags.
            .u32(1)
            .u32(0)
            .u32(0)
            .u32(0)
            .u32(4096)
            .u32(0)
    }

    fn lookup(&self, request: &Request<'_>) -> Result<Bytes, i32> {
        let name = request.body.split(|&byte| byte == 0).next();
        let entries = self.entries(request.node);
        let found = entries
            .into_iter()
            .find(|(known, _)| Some(&known[..]) == name);
        let (_, node) = found.ok_or(libc::ENOENT)?;
        // Node and generation; name and attributes are valid for no time at all.
        let head = Bytes::default().u64(node).u64(0).u64(0).u64(0).u64(0);
        Ok(head.bytes(&self.attributes(node).0))
    }

    fn getattr(&self, node: u64) -> Result<Bytes, i32> {
        if self.no_getattr && matches!(Self::node(node), Node::File(_)) {
            return Err(libc::ENOSYS);
        }
        Ok(Bytes::default()
            .u64(0)
            .u64(0)
            .bytes(&self.attributes(node).0))
    }

    fn readdir(&self, request: &Request<'_>) -> Result<Bytes, i32> {
        let offset = u64_at(request.body, 8).ok_or(libc::EINVAL)?;
        let room = u32_at(request.body, 16).ok_or(libc::EINVAL)?;
        let offset = usize::try_from(offset).map_err(|_| libc::EINVAL)?;
        if self
            .unreadable_from
            .is_some_and(|read| offset >= read * PER_READ)
        {
            return Err(libc::EIO);
        }
        let mut answer = Bytes::default();
        let entries = self.entries(request.node).into_iter().zip(1_u64..);
        for ((name, node), next) in entries.skip(offset).take(PER_READ) {
            let kind = match Self::node(node) {
                _ if self.unknown_types => libc::DT_UNKNOWN,
                Node::Directory => libc::DT_DIR,
                Node::File(_) => libc::DT_REG,
            };
            let length = u32::try_from(name.len()).expect("a short name");
            let entry = Bytes::default()
                .u64(if self.zero_ino { 0 } else { node })
                .u64(next)
                .u32(length)
                .u32(u32::from(kind))
                .bytes(&name)
                .padded();
            if answer.0.len() + entry.0.len() > room as usize {
                break;
            }
            answer = answer.bytes(&entry.0);
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::or_skip;

    #[test]
    fn an_honest_one_is_a_file_system_like_others() {
        let hostile = or_skip!(Hostile::new(Lies::default()));
        let point = hostile.path().to_owned();
        assert_eq!(fs::read_dir(&point).unwrap().count(), 25 + DIRECTORIES);
        for directory in [point.clone(), point.join("dir2")] {
            assert!(fs::metadata(directory.join("f24")).unwrap().is_file());
            let missing = fs::metadata(directory.join("f25")).unwrap_err();
            assert_eq!(missing.raw_os_error(), Some(libc::ENOENT));
        }
        drop(hostile);
        assert!(!point.exists());
    }

    #[test]
    fn lies_arrive() {
        let name = vec![0xff; 255];
        let hostile = or_skip!(Hostile::new(Lies {
            names: vec![name.clone(), b"b".to_vec()],
            times: vec![(-1, 999_999_999), (16_725_225_600, 0)],
            ..Lies::default()
        }));
        let long = fs::metadata(hostile.path().join(OsString::from_vec(name))).unwrap();
        assert_eq!((long.mtime(), long.mtime_nsec()), (-1, 999_999_999));
        let other = fs::metadata(hostile.path().join("b")).unwrap();
        assert_eq!(other.mtime(), 16_725_225_600);
    }

    #[test]
    fn failures_arrive() {
        let hostile = or_skip!(Hostile::new(Lies {
            unreadable_from: Some(1),
            no_getattr: true,
            ..Lies::default()
        }));
        let entries: Vec<_> = fs::read_dir(hostile.path()).unwrap().collect();
        assert_eq!(entries.iter().filter(|entry| entry.is_ok()).count(), 10);
        assert!(entries.last().unwrap().is_err());
        let error = fs::metadata(hostile.path().join("f1")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOSYS));
    }

    #[test]
    fn dropping_it_frees_who_still_uses_it() {
        let hostile = or_skip!(Hostile::new(Lies::default()));
        let open = File::open(hostile.path()).unwrap();
        drop(hostile);
        assert!(open.metadata().is_err());
    }
}
