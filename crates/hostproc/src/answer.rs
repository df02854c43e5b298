//! Answers of the user.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Whether `answer` means "yes" in the language of the locale set by
/// [`locale::init`](crate::locale::init).
#[doc(alias = "rpmatch")]
#[doc(alias = "YESEXPR")]
#[must_use]
pub fn is_affirmative(answer: &CStr) -> bool {
    // SAFETY: YESEXPR is a valid item.
    let pattern = unsafe { libc::nl_langinfo(libc::YESEXPR) };
    // SAFETY: the answer is never null, and a C string that lives until the locale is changed.
    let pattern = unsafe { CStr::from_ptr(pattern) };
    let pattern = if pattern.is_empty() {
        c"^[yY]"
    } else {
        pattern
    };
    let mut regex = MaybeUninit::<libc::regex_t>::uninit();
    // SAFETY: the pointer is valid for writes, and the pattern is a C string.
    if unsafe { libc::regcomp(regex.as_mut_ptr(), pattern.as_ptr(), libc::REG_EXTENDED) } != 0 {
        return false;
    }
    // SAFETY: the expression was compiled, the text is a C string, and no groups are asked for.
    let result =
        unsafe { libc::regexec(regex.as_ptr(), answer.as_ptr(), 0, std::ptr::null_mut(), 0) };
    // SAFETY: it was compiled, and is not used after this.
    unsafe { libc::regfree(regex.as_mut_ptr()) };
    result == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_decides_in_the_c_locale() {
        for yes in [c"y", c"Y", c"yes", c"yonder"] {
            assert!(is_affirmative(yes), "{yes:?}");
        }
        for no in [c"", c"n", c" y", c"oui"] {
            assert!(!is_affirmative(no), "{no:?}");
        }
    }
}
