//! From the kernel's return values to `io::Result`.

use std::io;

/// The result of a call that answers -1 and sets errno.
pub(crate) fn check<T: Copy + Into<i64>>(ret: T) -> io::Result<i64> {
    match ret.into() {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Calls again while a signal interrupts the call.
pub(crate) fn retry_on_eintr(mut call: impl FnMut() -> io::Result<i64>) -> io::Result<i64> {
    loop {
        match call() {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_eintr_is_retried() {
        let mut left = 3;
        let result = retry_on_eintr(|| {
            left -= 1;
            if left > 0 {
                Err(io::Error::from_raw_os_error(libc::EINTR))
            } else {
                Ok(7)
            }
        });
        assert_eq!((result.unwrap(), left), (7, 0));
        let refused = retry_on_eintr(|| Err(io::Error::from_raw_os_error(libc::EAGAIN)));
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EAGAIN));
    }
}
