//! The functions, in tokio::fs's names.

use std::io;
use std::path::Path;

use crate::driver::Driver;
use crate::metadata::Metadata;
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
