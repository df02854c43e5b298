//! From a request to a submission entry, and from a completion back to an answer.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use io_uring::{opcode, squeue, types};

use crate::capabilities::OperationKind;
use crate::op::{Answer, Request};

/// Builds the entry. It holds pointers to what the request lends, so it may be submitted only
/// while the lender stays in place; see the module's first invariant.
///
/// The kernel would try OPENAT2 and CLOSE on the submitting thread first, and there they can sleep
/// in spite of all: the lookup is confined to memory, but not the file system's own open (a FUSE
/// daemon's OPENDIR) and last close. So they go to a kernel worker at once.
pub(super) fn build(request: Request<'_>) -> squeue::Entry {
    match request {
        Request::Statx {
            dir,
            path,
            flags,
            mask,
            out,
        } => {
            opcode::Statx::new(
                types::Fd(dir.as_raw_fd()),
                path.as_ptr(),
                out.as_mut_ptr().cast(),
            )
            // The kernel's flags are bits in a signed field.
            .flags(flags.bits().cast_signed())
            .mask(mask.bits())
            .build()
        }
        Request::Openat2 { dir, path, how } => opcode::OpenAt2::new(
            types::Fd(dir.as_raw_fd()),
            path.as_ptr(),
            how.as_ptr().cast(),
        )
        .build()
        .flags(squeue::Flags::ASYNC),
        // The kernel closes it whatever the result, so it is given away here.
        Request::Close { fd } => opcode::Close::new(types::Fd(fd.into_raw_fd()))
            .build()
            .flags(squeue::Flags::ASYNC),
    }
}

/// Reads the result of a completed operation of this kind.
pub(super) fn answer(kind: OperationKind, result: i32) -> io::Result<Answer> {
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(match kind {
        OperationKind::Open | OperationKind::OpenBeneath => {
            // SAFETY: descriptors are owned on arrival: a successful OPENAT2 completion carries a
            // fresh descriptor that nobody else knows of.
            Answer::Fd(unsafe { OwnedFd::from_raw_fd(result) })
        }
        _ => Answer::Done,
    })
}
