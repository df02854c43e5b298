//! Text for error numbers.

#![allow(unsafe_code)]

/// The C library's text for the error number `errno`, such as `No such file or directory`, in the
/// locale's language.
#[doc(alias = "strerror")]
#[doc(alias = "strerror_r")]
#[must_use]
pub fn errno_text(errno: i32) -> Vec<u8> {
    let mut text = [0_u8; 1024];
    // SAFETY: the buffer is valid for writes of its whole length. libc binds the XSI variant, which
    // ends what it wrote with a NUL (and cuts it to fit); the array starts as zeroes, so a NUL is
    // there even if it wrote nothing.
    unsafe { libc::strerror_r(errno, text.as_mut_ptr().cast(), text.len()) };
    let end = text
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(text.len());
    text[..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_numbers() {
        assert_eq!(errno_text(libc::ENOENT), b"No such file or directory");
        assert_eq!(errno_text(54321), b"Unknown error 54321");
    }
}
