//! What a program finds when it begins: descriptors that are closed, a signal that is ignored, a
//! terminal.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::Command;

use crate::start::{before_exec, ignore};

/// Closes a descriptor in the child.
pub fn close(command: &mut Command, fd: i32) {
    before_exec(command, move || {
        // SAFETY: nothing in the child uses the descriptor between here and exec.
        unsafe { libc::close(fd) };
        Ok(())
    });
}

/// Ignores `SIGPIPE` in the child.
pub fn ignore_sigpipe(command: &mut Command) {
    before_exec(command, ignore(libc::SIGPIPE));
}

/// A pseudo-terminal: what is written to the second comes out of the first.
///
/// # Errors
/// What openpty(3) answers.
pub fn terminal() -> io::Result<(File, OwnedFd)> {
    let (mut master, mut slave) = (-1, -1);
    let null = std::ptr::null_mut::<()>();
    // SAFETY: both descriptors are valid for writes; name, settings and size may be null.
    let result = unsafe {
        libc::openpty(
            &raw mut master,
            &raw mut slave,
            null.cast(),
            null.cast(),
            null.cast(),
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: openpty succeeded, so this is an open descriptor that nobody else owns.
    let master = unsafe { File::from_raw_fd(master) };
    // SAFETY: as above.
    let slave = unsafe { OwnedFd::from_raw_fd(slave) };
    Ok((master, slave))
}
