//! Paths as the kernel takes them: bytes that end with a NUL.

use std::ffi::{CStr, CString};
use std::io;

/// Longer paths go to the heap. Few are: the longest path of a kernel tree has 110 bytes.
const ON_STACK: usize = 384;

/// Runs `f` with `path` as a C string, without an allocation unless the path is long.
///
/// # Errors
///
/// `InvalidInput` if the path has a NUL byte in it, as in [`std::fs`]; otherwise what `f`
/// answers.
///
/// ```
/// let length = fscall::with_c_path(b"/etc", |path| Ok(path.count_bytes()))?;
/// assert_eq!(length, 4);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn with_c_path<T>(path: &[u8], f: impl FnOnce(&CStr) -> io::Result<T>) -> io::Result<T> {
    if path.len() >= ON_STACK {
        return f(&to_c_path(path)?);
    }
    let mut buf = [0; ON_STACK];
    buf[..path.len()].copy_from_slice(path);
    f(CStr::from_bytes_with_nul(&buf[..=path.len()]).map_err(|_| interior_nul())?)
}

/// `path` as a C string of its own.
///
/// # Errors
///
/// `InvalidInput` if the path has a NUL byte in it, as in [`std::fs`].
pub fn to_c_path(path: &[u8]) -> io::Result<CString> {
    CString::new(path).map_err(|_| interior_nul())
}

fn interior_nul() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path contains a NUL byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_around_the_buffer() {
        for length in [0, 1, ON_STACK - 1, ON_STACK, ON_STACK + 1, 5000] {
            let path = vec![b'x'; length];
            let same = with_c_path(&path, |c_path| Ok(c_path.to_bytes() == path)).unwrap();
            assert!(same, "{length}");
        }
    }

    #[test]
    fn a_nul_is_refused_wherever_it_is() {
        for length in [1, 10, ON_STACK, 5000] {
            for at in [0, length / 2, length - 1] {
                let mut path = vec![b'x'; length];
                path[at] = 0;
                let error = with_c_path(&path, |_| Ok(())).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                assert_eq!(
                    to_c_path(&path).unwrap_err().kind(),
                    io::ErrorKind::InvalidInput
                );
            }
        }
    }

    #[test]
    fn the_answer_is_that_of_the_closure() {
        let error =
            with_c_path(b"x", |_| Err::<(), _>(io::ErrorKind::NotFound.into())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
