//! The plain system call, made without any code of the crates under test: the
//! answer that every route has to give.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::os::fd::RawFd;

use ringfs::{Statx, StatxFlags, StatxMask};

const SIZE: usize = size_of::<Statx>();

/// An answer of statx(2), for comparison: every byte of it but the access time
/// and what was not asked for, or the errno.
#[derive(Clone, PartialEq, Eq)]
pub struct Plain(Result<[u8; SIZE], i32>);

impl Plain {
    /// Asks the kernel.
    #[allow(unsafe_code)]
    pub fn statx(dir: RawFd, path: &CStr, flags: StatxFlags, mask: StatxMask) -> Self {
        let mut answer = Statx::default();
        // SAFETY: `path` ends with NUL, and the kernel writes a `struct statx`, which `Statx` is.
        let result = unsafe {
            libc::syscall(
                libc::SYS_statx,
                dir,
                path.as_ptr(),
                flags.bits(),
                mask.bits(),
                answer.as_mut_ptr(),
            )
        };
        if result == 0 {
            // Kernels tell more than they were asked, and not all of them the same.
            answer.keep_fields(mask);
            Self::from(Ok(answer))
        } else {
            Self::from(Err(io::Error::last_os_error()))
        }
    }

    /// The errno, if it is an error.
    pub fn errno(&self) -> Option<i32> {
        self.0.err()
    }
}

impl From<io::Result<Statx>> for Plain {
    #[allow(unsafe_code)]
    fn from(result: io::Result<Statx>) -> Self {
        Self(match result {
            Ok(mut answer) => {
                let valid = answer.mask();
                answer.clear_fields(StatxMask::ATIME);
                // SAFETY: a `Statx` is that many bytes, all of them written.
                let mut bytes: [u8; SIZE] =
                    unsafe { answer.as_mut_ptr().cast::<[u8; SIZE]>().read() };
                // Only the value is of no account: whether it is there counts.
                bytes[..4].copy_from_slice(&valid.bits().to_ne_bytes());
                Ok(bytes)
            }
            // An error without a number is none of the kernel's.
            Err(error) => Err(error.raw_os_error().unwrap_or(-1)),
        })
    }
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(bytes) => bytes
                .chunks(16)
                .try_for_each(|line| write!(f, "\n  {line:02x?}")),
            Err(errno) => write!(f, "{}", io::Error::from_raw_os_error(*errno)),
        }
    }
}
