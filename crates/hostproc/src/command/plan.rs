//! What happens in the child before the program begins.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use super::{Command, Input};
use crate::startup;

/// The C library's objects for one spawn.
pub(super) struct Plan {
    // Boxed: nobody says that they may be moved.
    actions: Box<MaybeUninit<libc::posix_spawn_file_actions_t>>,
    attributes: Box<MaybeUninit<libc::posix_spawnattr_t>>,
}

impl Plan {
    pub(super) fn new(command: &Command<'_>) -> io::Result<Self> {
        let mut actions = Box::new(MaybeUninit::uninit());
        // SAFETY: the pointer is valid for writes.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        let mut attributes = Box::new(MaybeUninit::uninit());
        // SAFETY: the pointer is valid for writes.
        if let Err(error) = check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) }) {
            // SAFETY: initialised above, and not used after this.
            unsafe { libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr()) };
            return Err(error);
        }
        let mut plan = Self {
            actions,
            attributes,
        };
        plan.restore_signals()?;
        plan.arrange_descriptors(command)?;
        Ok(plan)
    }

    pub(super) fn actions(&self) -> *const libc::posix_spawn_file_actions_t {
        self.actions.as_ptr()
    }

    pub(super) fn attributes(&self) -> *const libc::posix_spawnattr_t {
        self.attributes.as_ptr()
    }

    /// The thread that runs this may have blocked signals.
    fn restore_signals(&mut self) -> io::Result<()> {
        let mask = startup::signal_mask();
        let attributes = self.attributes.as_mut_ptr();
        // SAFETY: the attributes are initialised, and the mask is a valid set.
        check(unsafe { libc::posix_spawnattr_setsigmask(attributes, &raw const mask) })?;
        let defaults = startup::internal_defaults();
        // SAFETY: the attributes are initialised, and the set is valid.
        check(unsafe { libc::posix_spawnattr_setsigdefault(attributes, &raw const defaults) })?;
        #[allow(clippy::cast_possible_truncation, reason = "small constants")]
        let flags = (libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF) as libc::c_short;
        // SAFETY: the attributes are initialised.
        check(unsafe { libc::posix_spawnattr_setflags(attributes, flags) })
    }

    fn arrange_descriptors(&mut self, command: &Command<'_>) -> io::Result<()> {
        for fd in 0..3 {
            // Rust's runtime has put something there.
            let closes = startup::was_closed(fd) || fd == 0 && command.input == Input::Closed;
            let opens = fd == 0 && command.input == Input::Null;
            if closes && !opens {
                self.close(fd)?;
            }
        }
        let actions = self.actions.as_mut_ptr();
        if command.input == Input::Null {
            let path = c"/dev/null".as_ptr();
            // SAFETY: the actions are initialised; the path is a C string, which is copied.
            check(unsafe {
                libc::posix_spawn_file_actions_addopen(actions, 0, path, libc::O_RDONLY, 0)
            })?;
        }
        if let Some(directory) = command.directory {
            let fd = directory.as_raw_fd();
            // SAFETY: the actions are initialised.
            check(unsafe { libc::posix_spawn_file_actions_addfchdir_np(actions, fd) })?;
        }
        Ok(())
    }

    fn close(&mut self, fd: i32) -> io::Result<()> {
        // SAFETY: the actions are initialised.
        check(unsafe { libc::posix_spawn_file_actions_addclose(self.actions.as_mut_ptr(), fd) })
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, and not used after this.
        unsafe { libc::posix_spawn_file_actions_destroy(self.actions.as_mut_ptr()) };
        // SAFETY: as above.
        unsafe { libc::posix_spawnattr_destroy(self.attributes.as_mut_ptr()) };
    }
}

/// The result of a function that answers an error number.
pub(super) fn check(errno: i32) -> io::Result<()> {
    match errno {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}
