//! Telling a forked child from its parent.
#![allow(unsafe_code, reason = "the page, and madvise(2)")]

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the forks between the process that made it and the one that asks.
///
/// A child made by fork(2) inherits memory, but not the threads that served it. Nothing tells it
/// that it is a child: pids come back, and `pthread_atfork` handlers are not run by a bare
/// `clone`. So one page is marked to be zero in every child (`MADV_WIPEONFORK`, Linux 4.14).
/// Asking costs two loads.
///
/// ```
/// use fscall::thread::ForkGeneration;
///
/// let generation = ForkGeneration::new()?;
/// assert_eq!(generation.generation(), 1);
/// assert!(!generation.is_child());
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "MADV_WIPEONFORK")]
#[derive(Debug)]
pub struct ForkGeneration {
    /// This process's generation, in a page that a child finds wiped: then it is 0.
    token: NonNull<AtomicU64>,
    page_size: usize,
    /// The last generation that anybody was told, in memory that a child inherits.
    told: AtomicU64,
}

// SAFETY: the page belongs to this value until it is dropped, and all that is in it is an atomic.
unsafe impl Send for ForkGeneration {}
// SAFETY: as above.
unsafe impl Sync for ForkGeneration {}

impl ForkGeneration {
    /// Starts at generation 1.
    ///
    /// # Errors
    ///
    /// `EINVAL` before Linux 4.14; `ENOMEM`.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a question.
        let page_size = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
            .map_err(|_| io::Error::last_os_error())?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let page = unsafe { libc::mmap(ptr::null_mut(), page_size, access, kind, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let token = NonNull::new(page.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // From here on the page is given back on failure.
        let generation = Self {
            token,
            page_size,
            told: AtomicU64::new(1),
        };
        // SAFETY: the page is this value's own, and has no content yet to be lost.
        if unsafe { libc::madvise(page, page_size, libc::MADV_WIPEONFORK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        generation.token().store(1, Ordering::Release);
        Ok(generation)
    }

    /// 1 in the process that made it; in a forked child, one more than its parent's was.
    ///
    /// All threads of a process get the same answer, also those that ask at the same time.
    pub fn generation(&self) -> u64 {
        let mut token = self.token().load(Ordering::Acquire);
        let told = self.told.load(Ordering::Acquire);
        if token == told {
            return token;
        }
        if token == 0 {
            let next = told + 1;
            let race = Ordering::AcqRel;
            token = match self
                .token()
                .compare_exchange(0, next, race, Ordering::Acquire)
            {
                Ok(_) => next,
                Err(of_another_thread) => of_another_thread,
            };
        }
        // Nobody is told a generation before it is down where a child finds it: whoever forks
        // next, in whatever thread, has a child that counts on from it.
        self.told.fetch_max(token, Ordering::AcqRel);
        token
    }

    /// Whether this process is a forked child of the one that made it.
    pub fn is_child(&self) -> bool {
        self.generation() != 1
    }

    fn token(&self) -> &AtomicU64 {
        // SAFETY: the page is mapped until this value is dropped, aligned, and zero is an atomic.
        unsafe { self.token.as_ref() }
    }
}

impl Drop for ForkGeneration {
    fn drop(&mut self) {
        // SAFETY: the page is this value's own, and nobody can refer to it any more.
        unsafe { libc::munmap(self.token.as_ptr().cast(), self.page_size) };
    }
}
