//! The parser of directory entries: any bytes, well-formed ones, and real directories.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirEntryExt, FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use fscall::{Dirents, FileType, getdents64, rewind};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

mod invariants;

#[derive(Clone, Debug, PartialEq)]
struct Record {
    ino: u64,
    offset: i64,
    d_type: u8,
    name: Vec<u8>,
}

/// As the kernel writes it, with something left over behind the name.
fn encode(record: &Record, leftover: u8, out: &mut Vec<u8>) {
    let reclen = (19 + record.name.len() + 1).next_multiple_of(8);
    let start = out.len();
    out.extend_from_slice(&record.ino.to_ne_bytes());
    out.extend_from_slice(&record.offset.to_ne_bytes());
    out.extend_from_slice(&u16::try_from(reclen).unwrap().to_ne_bytes());
    out.push(record.d_type);
    out.extend_from_slice(&record.name);
    out.push(0);
    out.resize(start + reclen, leftover);
}

fn record() -> impl Strategy<Value = Record> {
    let name = prop::collection::vec(1u8.., 1..256);
    (any::<u64>(), any::<i64>(), any::<u8>(), name).prop_map(|(ino, offset, d_type, name)| Record {
        ino,
        offset,
        d_type,
        name,
    })
}

/// What fails is kept beside this file.
fn config() -> ProptestConfig {
    let keep = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        failure_persistence: Some(Box::new(keep)),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
        invariants::check_dirents(&bytes);
    }

    /// Mostly right, so that the parser gets further than its first record.
    #[test]
    fn damaged_records_end(
        records in prop::collection::vec(record(), 1..20),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..10),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        for record in &records {
            encode(record, 0, &mut bytes);
        }
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        invariants::check_dirents(&bytes);
    }

    #[test]
    fn what_was_encoded_comes_back(
        records in prop::collection::vec(record(), 0..40),
        leftover in any::<u8>(),
    ) {
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for record in &records {
            starts.push(bytes.len());
            encode(record, leftover, &mut bytes);
        }
        let mut entries = Dirents::new(&bytes);
        for (record, start) in records.iter().zip(starts) {
            prop_assert_eq!(entries.offset_in_buffer(), start);
            let entry = entries.next().unwrap().unwrap();
            prop_assert_eq!(entry.name(), &record.name[..]);
            prop_assert_eq!((entry.ino(), entry.offset()), (record.ino, record.offset));
            prop_assert_eq!(entry.file_type(), FileType::from_d_type(record.d_type));
        }
        prop_assert!(entries.next().is_none());
    }
}

fn read_all(dir: &Path, capacity: usize) -> HashSet<(Vec<u8>, u64, Option<FileType>)> {
    let dir = File::open(dir).unwrap();
    let mut found = HashSet::new();
    let mut buf = Vec::with_capacity(capacity);
    rewind(dir.as_fd()).unwrap();
    while getdents64(dir.as_fd(), &mut buf).unwrap() > 0 {
        for entry in Dirents::new(&buf) {
            let entry = entry.unwrap();
            if !entry.is_dot() {
                let new = found.insert((entry.name().to_vec(), entry.ino(), entry.file_type()));
                assert!(new, "{entry:?} twice");
            }
        }
        buf.clear();
    }
    found
}

fn by_std(dir: &Path) -> HashSet<(Vec<u8>, u64, Option<FileType>)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let of = entry.file_type().unwrap();
        let file_type = match () {
            () if of.is_dir() => FileType::DIRECTORY,
            () if of.is_symlink() => FileType::SYMLINK,
            () if of.is_fifo() => FileType::FIFO,
            () if of.is_socket() => FileType::SOCKET,
            () if of.is_char_device() => FileType::CHAR_DEVICE,
            () if of.is_block_device() => FileType::BLOCK_DEVICE,
            () => FileType::REGULAR,
        };
        (entry.file_name().into_vec(), entry.ino(), Some(file_type))
    });
    entries.collect()
}

fn fill(dir: &Path) {
    for number in 0..700 {
        fs::write(dir.join(format!("file-{number}")), b"").unwrap();
    }
    for length in 1..=255 {
        fs::write(dir.join("n".repeat(length)), b"").unwrap();
    }
    for byte in (1..=255).filter(|&byte| byte != b'/' && byte != b'.') {
        fs::write(dir.join(OsStr::from_bytes(&[b'-', byte])), b"").unwrap();
    }
    fs::create_dir(dir.join("directory")).unwrap();
    symlink("nowhere", dir.join("symlink")).unwrap();
    if let Err(error) = UnixListener::bind(dir.join("socket")) {
        println!("skipped: a socket: {error}");
    }
    let fifo = fscall::to_c_path(dir.join("fifo").as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
}

#[test]
fn real_directories_are_as_std_reads_them() {
    let places = [std::env::temp_dir(), "/dev/shm".into()];
    for place in places.iter().filter(|place| place.is_dir()) {
        let temp = tempfile::tempdir_in(place).unwrap();
        fill(temp.path());
        let expected = by_std(temp.path());
        assert!(expected.len() > 1200);
        for capacity in [280, 4096, 256 * 1024] {
            assert!(
                read_all(temp.path(), capacity) == expected,
                "{place:?} {capacity}"
            );
        }
    }
    assert_eq!(
        read_all(Path::new("/dev"), 32768),
        by_std(Path::new("/dev"))
    );
}
