//! The C library's pattern matcher.

#![allow(unsafe_code)]

use std::ffi::CStr;

/// How [`fnmatch`] compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FnmatchFlags(i32);

impl FnmatchFlags {
    /// Upper and lower case are the same.
    #[doc(alias = "FNM_CASEFOLD")]
    pub const CASEFOLD: Self = Self(libc::FNM_CASEFOLD);

    /// No flag: `/` and a leading `.` are like other characters, a backslash escapes.
    #[must_use]
    pub const fn empty() -> Self {
        Self(0)
    }
}

/// Whether `name` matches the shell pattern `pattern`, in the locale set by
/// [`locale::init`](crate::locale::init).
///
/// This is the function that GNU find calls, so the two agree on every oddity (bytes that are no
/// characters, unterminated brackets). An error of the matcher, such as memory running out, counts
/// as "does not match".
#[must_use]
pub fn fnmatch(pattern: &CStr, name: &CStr, flags: FnmatchFlags) -> bool {
    // SAFETY: both pointers are to NUL-terminated strings that outlive the call, which only reads
    // them.
    unsafe { libc::fnmatch(pattern.as_ptr(), name.as_ptr(), flags.0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_cross_slashes_and_dots() {
        let matches = |pattern, name| fnmatch(pattern, name, FnmatchFlags::empty());
        assert!(matches(c"*", c".a/b"));
        assert!(matches(c"a[/]b", c"a/b"));
        assert!(!matches(c"A", c"a"));
        assert!(matches(c"\\*", c"*"));
        assert!(fnmatch(c"A*", c"ab", FnmatchFlags::CASEFOLD));
    }
}
