//! The locale: which bytes make a character, and which characters can be printed.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::sync::Once;

/// `wchar_t`.
type WideChar = libc::wchar_t;

/// `mbstate_t`: 8 bytes in glibc and musl. A zeroed one is the initial state.
#[repr(C, align(8))]
struct ShiftState([u8; 128]);

unsafe extern "C" {
    fn mbrtowc(
        wide: *mut WideChar,
        bytes: *const c_char,
        len: usize,
        state: *mut ShiftState,
    ) -> usize;
    fn iswprint(wide: u32) -> c_int;
    fn iswcntrl(wide: u32) -> c_int;
    fn wcwidth(wide: WideChar) -> c_int;
    fn towlower(wide: u32) -> u32;
    fn __ctype_get_mb_cur_max() -> usize;
}

/// Takes the locale from the environment (`LC_ALL`, `LC_*`, `LANG`), once. Call it at the start of
/// `main`, while there is one thread: the C library reads the environment.
#[doc(alias = "setlocale")]
pub fn init() {
    static ONCE: Once = Once::new();
    // SAFETY: the second argument is a NUL-terminated string. Nobody holds a pointer into the old
    // locale: this crate is the only user of the C library's locale and copies what it reads.
    // `Once` makes the call single.
    ONCE.call_once(|| unsafe {
        libc::setlocale(libc::LC_ALL, c"".as_ptr());
    });
}

/// Whether the locale's characters are UTF-8.
#[doc(alias = "nl_langinfo")]
#[must_use]
pub fn is_utf8() -> bool {
    // SAFETY: CODESET is a valid item; the answer is never null.
    let name = unsafe { libc::nl_langinfo(libc::CODESET) };
    // SAFETY: nl_langinfo gives a NUL-terminated string that lives until the locale is changed, and
    // `init`, the only place that changes it, comes first in `main`.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_bytes().eq_ignore_ascii_case(b"UTF-8")
}

/// Whether every character is one byte (as in the C locale).
#[doc(alias = "MB_CUR_MAX")]
#[must_use]
pub fn is_single_byte() -> bool {
    // SAFETY: takes nothing, reads a number of the current locale.
    unsafe { __ctype_get_mb_cur_max() == 1 }
}

/// Whether upper and lower case of ASCII letters are each other's, as everywhere but in Turkish and
/// its relatives, where the small letter of `I` has no dot.
#[doc(alias = "towlower")]
#[must_use]
pub fn folds_ascii() -> bool {
    (0..128_u8).all(|byte| {
        // SAFETY: takes a plain number.
        let lower = unsafe { towlower(byte.into()) };
        lower == u32::from(byte.to_ascii_lowercase())
    })
}

/// What stands at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A character of `len` bytes.
    Character {
        /// Bytes it takes, at least 1.
        len: usize,
        /// It has a glyph (`iswprint`).
        printable: bool,
        /// It takes columns on a terminal (`wcwidth` is not negative).
        has_width: bool,
    },
    /// The first byte starts no character.
    Invalid,
    /// The bytes end within a character.
    Incomplete,
}

/// Decodes the first character of `bytes` by the locale. An empty slice is `Incomplete`.
///
/// Only for encodings without shift states, which are all that Linux's locales have.
#[doc(alias = "mbrtowc")]
#[must_use]
pub fn decode(bytes: &[u8]) -> Decoded {
    let (wide, len) = match first(bytes) {
        Ok(first) => first,
        Err(other) => return other,
    };
    // SAFETY: takes a plain number.
    let width = unsafe { wcwidth(wide) };
    // SAFETY: takes a plain number.
    let printable = unsafe { iswprint(wide.cast_unsigned()) } != 0;
    Decoded::Character {
        len,
        printable,
        has_width: width >= 0,
    }
}

/// Columns that `text` takes on a terminal. Control characters take none; any other character
/// without a width, and a byte that starts no character, one.
#[doc(alias = "wcwidth")]
#[doc(alias = "mbswidth")]
#[must_use]
pub fn width(text: &[u8]) -> usize {
    if text.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return text.len();
    }
    let mut columns = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (width, len) = match first(rest) {
            Ok((wide, len)) => (columns_of(wide), len),
            Err(Decoded::Incomplete) => (1, rest.len()),
            Err(_) => (1, 1),
        };
        columns += width;
        rest = &rest[len..];
    }
    columns
}

fn columns_of(wide: WideChar) -> usize {
    // SAFETY: takes a plain number.
    let width = unsafe { wcwidth(wide) };
    usize::try_from(width).unwrap_or_else(|_| {
        // SAFETY: takes a plain number.
        usize::from(unsafe { iswcntrl(wide.cast_unsigned()) } == 0)
    })
}

/// The first character and its length in bytes, at least 1; or why there is none.
fn first(bytes: &[u8]) -> Result<(WideChar, usize), Decoded> {
    let mut wide: WideChar = 0;
    let mut state = ShiftState([0; 128]);
    // SAFETY: pointer and length are those of a live slice; `wide` and `state` are valid for
    // writes, and the state is at least as large and as aligned as any C library's.
    let len = unsafe {
        mbrtowc(
            &raw mut wide,
            bytes.as_ptr().cast(),
            bytes.len(),
            &raw mut state,
        )
    };
    match len {
        usize::MAX => Err(Decoded::Invalid),
        len if len == usize::MAX - 1 => Err(Decoded::Incomplete),
        len => Ok((wide, len.max(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_the_same_everywhere() {
        assert!(folds_ascii());
        assert_eq!(
            decode(b"abc"),
            Decoded::Character {
                len: 1,
                printable: true,
                has_width: true
            }
        );
        assert!(matches!(
            decode(b"\n"),
            Decoded::Character {
                len: 1,
                printable: false,
                has_width: false
            }
        ));
        assert_eq!(decode(b""), Decoded::Incomplete);
        assert!(matches!(decode(b"\0"), Decoded::Character { len: 1, .. }));
    }

    #[test]
    fn widths_in_the_c_locale() {
        assert_eq!(width(b"name"), 4);
        assert_eq!(width(b""), 0);
        assert_eq!(width(b"a\tb"), 2);
    }
}
