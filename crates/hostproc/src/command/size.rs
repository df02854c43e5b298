//! How long a command may be.

use std::ffi::CStr;

use super::environ;

/// Bytes that the arguments and the environment of a command may take together, by the C library's
/// account: a quarter of `RLIMIT_STACK`, at least 128 KiB.
///
/// The kernel counts pointers and the program's name as well, and allows 128 KiB for one argument;
/// so E2BIG is possible below it.
#[doc(alias = "sysconf")]
#[doc(alias = "ARG_MAX")]
#[must_use]
pub fn arg_max() -> usize {
    // SAFETY: takes and gives plain numbers.
    let limit = unsafe { libc::sysconf(libc::_SC_ARG_MAX) };
    match usize::try_from(limit) {
        Ok(limit) if limit > 0 => limit,
        // No limit is known.
        _ => usize::MAX / 2,
    }
}

/// Bytes that the environment takes, each entry with its NUL.
#[must_use]
pub fn environment_size() -> usize {
    let mut size = 0;
    // SAFETY: nobody in this program changes the environment.
    let mut next = unsafe { environ };
    while !next.is_null() {
        // SAFETY: the entries end with a null pointer, and none before was null.
        let entry = unsafe { *next };
        if entry.is_null() {
            break;
        }
        // SAFETY: entries are C strings.
        size += unsafe { CStr::from_ptr(entry) }.count_bytes() + 1;
        // SAFETY: this entry was not the last pointer, which is null.
        next = unsafe { next.add(1) };
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_fits() {
        assert!(arg_max() >= 4096);
        let names_and_values: usize = std::env::vars_os()
            .map(|(name, value)| name.len() + value.len() + 2)
            .sum();
        assert!(environment_size() >= names_and_values);
        assert!(environment_size() < arg_max());
    }
}
