//! Unbuffered writes to the standard streams as they were inherited.
//!
//! `std::io::stdout()` hides EBADF and writes to `/dev/null` where the descriptor was closed; a
//! find has to report it.

#![allow(unsafe_code)]

use std::io;

use crate::startup::was_closed;

/// A standard stream that is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Descriptor 1.
    Output = 1,
    /// Descriptor 2.
    Error = 2,
}

/// Writes all of `bytes`, as `write(2)` does, repeated until done.
///
/// # Errors
/// What `write(2)` answers; EBADF also where the descriptor was closed when the process started.
/// EINTR is retried. A part may have been written.
pub fn write_all(stream: Stream, mut bytes: &[u8]) -> io::Result<()> {
    let fd = stream as i32;
    if was_closed(fd) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    while !bytes.is_empty() {
        // SAFETY: pointer and length are those of a live slice, which the kernel only reads.
        let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written.min(bytes.len())..],
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_write_is_no_error() {
        assert!(write_all(Stream::Error, b"").is_ok());
    }
}
