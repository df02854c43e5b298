//! One entry of a tree, made by its kind.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::Kind;

/// Makes `path`; `size` is for a regular file, `target` for a link that leads somewhere.
pub(super) fn make(path: &Path, kind: Kind, size: u64, target: &Path) -> io::Result<()> {
    match kind {
        Kind::Directory => fs::create_dir(path),
        Kind::File => File::create_new(path)?.set_len(size),
        Kind::Link => symlink(target, path),
        Kind::DanglingLink => symlink("no/such/target", path),
        // Half of them cannot be resolved at all, the others lead round and round.
        Kind::LoopLink if size.is_multiple_of(2) => {
            symlink(path.file_name().unwrap_or_default(), path)
        }
        Kind::LoopLink => symlink(".", path),
        Kind::Fifo => mknod(path, libc::S_IFIFO | 0o644, 0),
        // The numbers of /dev/null.
        Kind::Device => mknod(path, libc::S_IFCHR | 0o600, libc::makedev(1, 3)),
        Kind::Socket => UnixListener::bind(path).map(drop),
    }
}

#[allow(unsafe_code)]
fn mknod(path: &Path, mode: libc::mode_t, device: libc::dev_t) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: `path` ends with NUL and lives through the call.
    match unsafe { libc::mknod(path.as_ptr(), mode, device) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
