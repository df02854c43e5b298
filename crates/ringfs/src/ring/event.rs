//! What wakes the ring's thread when an operation comes in.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use io_uring::{opcode, squeue, types};

/// An eventfd that the ring polls.
#[derive(Debug)]
pub(super) struct Event(File);

impl Event {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: takes no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: descriptors are owned on arrival: this one was just made and is nobody else's.
        Ok(Self(File::from(unsafe { OwnedFd::from_raw_fd(fd) })))
    }

    pub(super) fn notify(&self) {
        // It fails only when the counter is full, and then the poll is ready anyway.
        let _ = (&self.0).write(&1_u64.to_ne_bytes());
    }

    /// Makes the next poll wait again.
    pub(super) fn clear(&self) {
        let _ = (&self.0).read(&mut [0; 8]);
    }

    /// An entry that completes at the next [`notify`](Self::notify).
    pub(super) fn poll(&self) -> squeue::Entry {
        // POLLIN is 1; the field holds poll(2)'s 16 bits.
        opcode::PollAdd::new(
            types::Fd(self.0.as_raw_fd()),
            libc::POLLIN.cast_unsigned().into(),
        )
        .build()
    }
}
