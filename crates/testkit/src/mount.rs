//! File systems for tests, as root: made in an image file or by the kernel,
//! mounted in a directory for temporary files, gone when dropped.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::process::{self, Finished};
use crate::skip::needs_root;
use crate::{Reason, Skip};

/// A mounted file system.
#[derive(Debug)]
pub struct Mount {
    point: PathBuf,
    /// Holds the mount point and the image; `None` once given up.
    directory: Option<TempDir>,
    /// Mounts that this one lies on; dropped after it.
    _below: Vec<Mount>,
}

impl Mount {
    /// The root of the file system.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// Mounts `source` with arguments of mount(8).
    fn new(
        name: &str,
        directory: TempDir,
        below: Vec<Mount>,
        args: &[&OsStr],
    ) -> Result<Self, Skip> {
        let point = directory.path().join("mnt");
        fs::create_dir(&point).map_err(|error| skip(name, &error))?;
        let mut command = Command::new("mount");
        tool(name, command.args(args).arg(&point))?;
        Ok(Self {
            point,
            directory: Some(directory),
            _below: below,
        })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Something that has just closed a file may still hold the mount for a moment.
        let unmounted = (0..20).any(|attempt| {
            if attempt > 0 {
                thread::sleep(Duration::from_millis(10));
            }
            unmount(&self.point, 0).is_ok()
        });
        if unmounted || unmount(&self.point, libc::MNT_DETACH).is_ok() {
            return;
        }
        // What is still mounted must not be removed: with a bind mount, it is someone's.
        if let Some(directory) = self.directory.take() {
            eprintln!(
                "{}: cannot be unmounted and stays",
                directory.keep().display()
            );
        }
    }
}

#[allow(unsafe_code)]
pub(crate) fn unmount(point: &Path, flags: i32) -> io::Result<()> {
    let point = CString::new(point.as_os_str().as_bytes())?;
    // SAFETY: `point` ends with NUL and lives through the call.
    match unsafe { libc::umount2(point.as_ptr(), flags | libc::UMOUNT_NOFOLLOW) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// mount(2).
#[allow(unsafe_code)]
pub(crate) fn mount(
    source: &str,
    point: &Path,
    kind: &str,
    flags: libc::c_ulong,
    options: &str,
) -> io::Result<()> {
    let point = CString::new(point.as_os_str().as_bytes())?;
    let [source, kind, options] = [source, kind, options].map(CString::new);
    let (source, kind, options) = (source?, kind?, options?);
    // SAFETY: all strings end with NUL and live through the call.
    let result = unsafe {
        libc::mount(
            source.as_ptr(),
            point.as_ptr(),
            kind.as_ptr(),
            flags,
            options.as_ptr().cast(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Ends a FUSE mount whatever its server does: its requests fail, and it goes with its last user.
pub(crate) fn abort(point: &Path) {
    // By force it aborts the connection first, so that neither call can wait for the server.
    if unmount(point, libc::MNT_FORCE).is_err() {
        let _ = unmount(point, libc::MNT_DETACH);
    }
}

/// ext4, 64 MiB.
///
/// # Errors
/// No root, no mkfs.ext4, or the kernel refuses.
pub fn ext4() -> Result<Mount, Skip> {
    image("ext4", 64, &["mkfs.ext4", "-q"])
}

/// ext4 with room for so many files and directories.
///
/// # Errors
/// As [`ext4`].
pub fn ext4_for(entries: u64) -> Result<Mount, Skip> {
    // A directory takes a block of 4 KiB, and each entry an inode of 256 bytes.
    let mib = 64 + ((entries * (4096 + 256)) >> 20);
    let inodes = (entries + 100).to_string();
    image("ext4", mib, &["mkfs.ext4", "-q", "-N", &inodes])
}

/// ext4 whose directories do not tell the type of their entries (`DT_UNKNOWN`).
///
/// # Errors
/// As [`ext4`].
pub fn ext4_without_types() -> Result<Mount, Skip> {
    image("ext4", 64, &["mkfs.ext4", "-q", "-O", "^filetype"])
}

/// XFS.
///
/// # Errors
/// No root, no mkfs.xfs, or the kernel refuses.
pub fn xfs() -> Result<Mount, Skip> {
    image("xfs", XFS_MIB, &["mkfs.xfs", "-q"])
}

/// XFS whose directories do not tell the type of their entries. This takes
/// XFS's fourth format, which kernels have ceased to support.
///
/// # Errors
/// As [`xfs`]; that the kernel refuses is then [`Reason::NotPossibleHere`].
pub fn xfs_without_types() -> Result<Mount, Skip> {
    let mkfs = ["mkfs.xfs", "-q", "-m", "crc=0", "-n", "ftype=0"];
    image("xfs", XFS_MIB, &mkfs).map_err(|skip| {
        // Only what mount(8) itself says is the kernel's word.
        let kernel = skip.reason.starts_with("mount: ");
        let kind = if kernel {
            Reason::NotPossibleHere
        } else {
            skip.kind
        };
        Skip { kind, ..skip }
    })
}

/// mkfs.xfs makes no smaller one than 300 MB. Image files are sparse.
const XFS_MIB: u64 = 320;

/// btrfs.
///
/// # Errors
/// No root, no mkfs.btrfs, or the kernel refuses.
pub fn btrfs() -> Result<Mount, Skip> {
    image("btrfs", 128, &["mkfs.btrfs", "-q"])
}

/// squashfs, read-only, with the contents of `source`.
///
/// # Errors
/// No root, no mksquashfs, or the kernel refuses.
pub fn squashfs(source: &Path) -> Result<Mount, Skip> {
    let name = "mount squashfs";
    let directory = start(name)?;
    let image = directory.path().join("image");
    let mut mksquashfs = Command::new("mksquashfs");
    tool(
        name,
        mksquashfs
            .args([source, &image])
            .args(["-quiet", "-no-progress"]),
    )?;
    Mount::new(
        name,
        directory,
        vec![],
        &words(&["-t", "squashfs", "-o", "loop,ro"], &image),
    )
}

/// tmpfs.
///
/// # Errors
/// No root, or the kernel refuses.
pub fn tmpfs() -> Result<Mount, Skip> {
    let name = "mount tmpfs";
    Mount::new(
        name,
        start(name)?,
        vec![],
        &words(&["-t", "tmpfs"], Path::new("tmpfs")),
    )
}

/// overlay over `lower`, whose own contents do not change: the upper layer is a tmpfs.
///
/// # Errors
/// No root, or the kernel refuses. A path with `,` or `:` in it is refused too.
pub fn overlay(lower: &Path) -> Result<Mount, Skip> {
    let name = "mount overlay";
    let layers = tmpfs()?;
    let [upper, work] = ["upper", "work"].map(|layer| layers.path().join(layer));
    for layer in [&upper, &work] {
        fs::create_dir(layer).map_err(|error| skip(name, &error))?;
    }
    let mut options = OsString::from("lowerdir=");
    options.push(lower);
    options.push(",upperdir=");
    options.push(upper);
    options.push(",workdir=");
    options.push(work);
    let args = ["-t", "overlay", "overlay", "-o"].map(OsStr::new);
    let args = [&args[..], &[&options]].concat();
    Mount::new(name, start(name)?, vec![layers], &args)
}

/// `source` at a second place.
///
/// # Errors
/// No root, or the kernel refuses.
pub fn bind(source: &Path) -> Result<Mount, Skip> {
    let name = "mount bind";
    Mount::new(name, start(name)?, vec![], &words(&["--bind"], source))
}

/// `source` at a second place, where no symbolic link is followed (Linux 5.10).
///
/// # Errors
/// No root, or the kernel refuses.
pub fn nosymfollow(source: &Path) -> Result<Mount, Skip> {
    /// Not in libc.
    const MS_NOSYMFOLLOW: libc::c_ulong = 256;
    let again = bind(source)?;
    let flags = libc::MS_BIND | libc::MS_REMOUNT | MS_NOSYMFOLLOW;
    mount("none", again.path(), "none", flags, "")
        .map_err(|error| skip("mount nosymfollow", &error))?;
    Ok(again)
}

/// tmpfs over whatever is at `point`, which is there again once this is dropped.
///
/// # Errors
/// As [`tmpfs`].
pub fn tmpfs_over(point: &Path) -> Result<Mount, Skip> {
    let name = "mount tmpfs";
    needs_root(name)?;
    let mut command = Command::new("mount");
    tool(name, command.args(["-t", "tmpfs", "tmpfs"]).arg(point))?;
    Ok(Mount {
        point: point.to_owned(),
        directory: None,
        _below: vec![],
    })
}

/// A file system made in an image file of so many MiB.
fn image(kind: &str, mib: u64, mkfs: &[&str]) -> Result<Mount, Skip> {
    let name = format!("mount {kind}");
    let directory = start(&name)?;
    let image = directory.path().join("image");
    File::create_new(&image)
        .and_then(|file| file.set_len(mib << 20))
        .map_err(|error| skip(&name, &error))?;
    tool(&name, Command::new(mkfs[0]).args(&mkfs[1..]).arg(&image))?;
    Mount::new(
        &name,
        directory,
        vec![],
        &words(&["-t", kind, "-o", "loop"], &image),
    )
}

/// A directory for a mount, if there may be any.
fn start(name: &str) -> Result<TempDir, Skip> {
    needs_root(name)?;
    tempfile::Builder::new()
        .prefix("mount-")
        .tempdir()
        .map_err(|error| skip(name, &error))
}

fn words<'a>(options: &'a [&str], source: &'a Path) -> Vec<&'a OsStr> {
    options
        .iter()
        .map(OsStr::new)
        .chain([source.as_os_str()])
        .collect()
}

fn tool(name: &str, command: &mut Command) -> Result<Finished, Skip> {
    let finished =
        process::run(command, b"", process::LIMIT).map_err(|error| skip(name, &error))?;
    if finished.status.success() {
        return Ok(finished);
    }
    let program = command.get_program().display();
    let text = finished.stderr_text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let reason = format!("{program}: {}: {text}", finished.status);
    // A tool can be installed; a file system that the kernel does not know cannot.
    if text.contains("unknown filesystem type") {
        return Err(Skip::not_possible_here(name, reason));
    }
    Err(Skip::missing(name, reason))
}

fn skip(name: &str, error: &io::Error) -> Skip {
    Skip::missing(name, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::or_skip;

    /// The type in the last line of mountinfo for this mount point.
    fn kind_at(point: &Path) -> Option<String> {
        let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let point = format!(" {} ", point.display());
        let line = mountinfo.lines().rfind(|line| line.contains(&point))?;
        line.split_once(" - ")?
            .1
            .split(' ')
            .next()
            .map(str::to_owned)
    }

    fn holds_files_and_goes(mount: Mount, kind: &str) {
        let point = mount.path().to_owned();
        assert_eq!(kind_at(&point).as_deref(), Some(kind));
        fs::write(point.join("file"), "content").unwrap();
        assert_eq!(fs::read(point.join("file")).unwrap(), b"content");
        drop(mount);
        assert_eq!(kind_at(&point), None);
        assert!(!point.exists());
    }

    #[test]
    fn ext4_is_mounted() {
        holds_files_and_goes(or_skip!(ext4()), "ext4");
        holds_files_and_goes(or_skip!(ext4_without_types()), "ext4");
    }

    #[test]
    fn ext4_holds_what_it_was_made_for() {
        let mount = or_skip!(ext4_for(6_000));
        for i in 0..6_000 {
            fs::create_dir(mount.path().join(i.to_string())).unwrap();
        }
    }

    #[test]
    fn xfs_is_mounted() {
        holds_files_and_goes(or_skip!(xfs()), "xfs");
    }

    #[test]
    fn old_xfs_is_mounted() {
        holds_files_and_goes(or_skip!(xfs_without_types()), "xfs");
    }

    #[test]
    fn btrfs_is_mounted() {
        holds_files_and_goes(or_skip!(btrfs()), "btrfs");
    }

    #[test]
    fn tmpfs_is_mounted() {
        holds_files_and_goes(or_skip!(tmpfs()), "tmpfs");
    }

    #[test]
    fn overlay_shows_its_lower_layer_and_leaves_it_alone() {
        let lower = tempfile::tempdir().unwrap();
        fs::write(lower.path().join("below"), "").unwrap();
        let mount = or_skip!(overlay(lower.path()));
        assert!(mount.path().join("below").exists());
        holds_files_and_goes(mount, "overlay");
        assert!(!lower.path().join("file").exists());
    }

    #[test]
    fn squashfs_has_its_sources_contents() {
        let source = tempfile::tempdir().unwrap();
        fs::write(source.path().join("file"), "content").unwrap();
        let mount = or_skip!(squashfs(source.path()));
        assert_eq!(kind_at(mount.path()).as_deref(), Some("squashfs"));
        assert_eq!(fs::read(mount.path().join("file")).unwrap(), b"content");
    }

    #[test]
    fn a_mount_over_another_hides_it() {
        let below = or_skip!(tmpfs());
        fs::write(below.path().join("file"), "content").unwrap();
        let above = or_skip!(tmpfs_over(below.path()));
        assert!(!below.path().join("file").exists());
        drop(above);
        assert!(below.path().join("file").exists());
    }

    #[test]
    fn no_link_is_followed() {
        let source = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/", source.path().join("link")).unwrap();
        let mount = or_skip!(nosymfollow(source.path()));
        let error = fs::metadata(mount.path().join("link")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
        assert!(fs::read_link(mount.path().join("link")).is_ok());
    }

    #[test]
    fn a_bind_mount_goes_without_its_source() {
        let source = tempfile::tempdir().unwrap();
        fs::write(source.path().join("file"), "content").unwrap();
        let mount = or_skip!(bind(source.path()));
        let point = mount.path().to_owned();
        assert!(point.join("file").exists());
        // Still in use: the mount is detached instead.
        let _open = File::open(point.join("file")).unwrap();
        drop(mount);
        assert!(!point.exists());
        assert!(source.path().join("file").exists());
    }
}
