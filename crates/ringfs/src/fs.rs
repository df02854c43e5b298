//! The functions, in tokio::fs's names.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use fscall::StatFs;

use crate::dir::Dir;
use crate::driver::Driver;
use crate::many::StatMany;
use crate::metadata::Metadata;
use crate::open_beneath::OpenBeneath;
use crate::read_dir::ReadDir;
use crate::statx::Stat;

/// The metadata of a file, following symbolic links.
///
/// Answered at once, without a thread, if it is in memory and on a local file system; see
/// [`statx`](crate::statx()) for more control.
///
/// # Errors
///
/// Those of `statx(2)`.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the answer.
///
/// ```
/// # futures::executor::block_on(async {
/// assert!(ringfs::metadata("/").await?.is_dir());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[doc(alias = "stat")]
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    statx(path.as_ref()).await.map(Metadata::from)
}

/// The metadata of a file; of a symbolic link itself, not of what it points to.
///
/// # Errors
///
/// Those of `statx(2)`.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the answer.
///
/// ```
/// # futures::executor::block_on(async {
/// assert!(ringfs::symlink_metadata("/proc/self/exe").await?.is_symlink());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[doc(alias = "lstat")]
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    statx(path.as_ref())
        .follow_symlinks(false)
        .await
        .map(Metadata::from)
}

/// Asks for a file's metadata with all of `statx(2)`'s choices; see [`Stat`].
///
/// ```
/// use ringfs::{Route, StatxMask};
///
/// # futures::executor::block_on(async {
/// let size = ringfs::statx("/etc/passwd").mask(StatxMask::SIZE).route(Route::Worker).await?.size();
/// assert!(size.is_some());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub fn statx<P: AsRef<Path> + ?Sized>(path: &P) -> Stat<'_> {
    Driver::global().statx(path)
}

/// Asks for the metadata of many files, in one hop; see [`StatMany`].
///
/// The paths are copied, so that the calls can be made while the caller does something else.
///
/// ```
/// # futures::executor::block_on(async {
/// let answers = ringfs::statx_paths(["/etc/passwd", "/no such file"]).await;
/// assert!(answers[0].is_ok());
/// assert_eq!(answers[1].as_ref().unwrap_err().kind(), std::io::ErrorKind::NotFound);
/// # });
/// ```
pub fn statx_paths<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> StatMany {
    Driver::global().statx_paths(paths)
}

/// The entries of a directory. Opening it and reading its first entries is one hop.
///
/// # Errors
///
/// Those of `openat2(2)` and `getdents64(2)`; `NotADirectory` if it is something else.
///
/// # Cancel safety
///
/// A descriptor that arrives after the future was dropped is closed.
///
/// ```
/// # futures::executor::block_on(async {
/// let first = ringfs::read_dir("/proc").await?.next_entry().await?;
/// assert!(first.is_some());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    Driver::global().read_dir(path).await
}

/// Whether there is such a file, following symbolic links: a dangling link is none.
///
/// Answered as [`metadata`] is: at once if that is possible.
///
/// # Errors
///
/// Those of `statx(2)` that leave it open, such as `PermissionDenied` on the way to it.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the answer.
///
/// ```
/// # futures::executor::block_on(async {
/// assert!(ringfs::try_exists("/").await?);
/// assert!(!ringfs::try_exists("/no such file").await?);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    Driver::global().try_exists(path).await
}

/// What a symbolic link contains.
///
/// # Errors
///
/// Those of `readlinkat(2)`; `InvalidInput` if it is no symbolic link.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the answer.
///
/// ```
/// # futures::executor::block_on(async {
/// assert_eq!(ringfs::read_link("/proc/self/exe").await?, std::env::current_exe()?);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[doc(alias = "readlink")]
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    Driver::global().read_link(path).await
}

/// The absolute path of a file, without `.`, `..` and symbolic links, as
/// [`std::fs::canonicalize`] answers it. All its calls are one hop.
///
/// # Errors
///
/// Those of `realpath(3)`: also the last component has to be there.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the answer.
///
/// ```
/// # futures::executor::block_on(async {
/// assert_eq!(ringfs::canonicalize("/proc/../etc/.").await?.to_str(), Some("/etc"));
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[doc(alias = "realpath")]
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    Driver::global().canonicalize(path).await
}

/// How large and how full the file system of a file is. Symbolic links are followed and automounts
/// triggered.
///
/// A network file system asks its server, and its answer takes as long as that likes.
///
/// # Errors
///
/// Those of `statfs(2)`.
///
/// # Cancel safety
///
/// Dropping the future loses nothing but the answer.
///
/// ```
/// # futures::executor::block_on(async {
/// let root = ringfs::statfs("/").await?;
/// println!("{} of {} bytes left", root.bytes_available(), root.bytes());
/// assert!(root.bytes_free() <= root.bytes());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[doc(alias = "statvfs")]
pub async fn statfs(path: impl AsRef<Path>) -> io::Result<StatFs> {
    Driver::global().statfs(path).await
}

/// Opens a directory; the same as [`Dir::open`].
///
/// # Errors
///
/// As [`Dir::open`].
///
/// # Cancel safety
///
/// As [`Dir::open`].
///
/// ```
/// # futures::executor::block_on(async {
/// let etc = ringfs::open_dir("/etc").await?;
/// assert!(etc.statx().await?.file_type().unwrap().is_dir());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
#[doc(alias = "opendir")]
pub async fn open_dir(path: impl AsRef<Path>) -> io::Result<Dir> {
    Dir::open(path).await
}

/// Opens a file for reading that must not lie outside of a directory, and asks for its metadata in
/// the same hop; see [`OpenBeneath`]. It goes through the directory's driver.
///
/// ```
/// # futures::executor::block_on(async {
/// let etc = ringfs::open_dir("/etc").await?;
/// let (_fd, metadata) = ringfs::open_beneath(&etc, "passwd").await?;
/// assert!(metadata.len() > 0);
/// assert!(ringfs::open_beneath(&etc, "/etc/passwd").await.is_err());
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub fn open_beneath<'a, P: AsRef<Path> + ?Sized>(root: &'a Dir, path: &'a P) -> OpenBeneath<'a> {
    root.open_beneath(path)
}

/// Closes a descriptor where its last close may take time, and tells if that went wrong.
///
/// # Errors
///
/// Those of `close(2)`; the descriptor is gone whatever is answered.
///
/// # Cancel safety
///
/// Once polled the descriptor will be closed; if the future is dropped before that, on the spot.
///
/// ```
/// # futures::executor::block_on(async {
/// let file = std::fs::File::open("/etc/passwd")?;
/// ringfs::close(file.into()).await?;
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub async fn close(fd: OwnedFd) -> io::Result<()> {
    Driver::global().close(fd).await
}
