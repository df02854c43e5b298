//! Error numbers that GNU find, and so this one, treats in ways of their own.

/// "No such file or directory".
pub(crate) const ENOENT: i32 = 2;
/// "Input/output error".
pub(crate) const EIO: i32 = 5;
/// "Argument list too long".
pub(crate) const E2BIG: i32 = 7;
/// "Bad file descriptor".
pub(crate) const EBADF: i32 = 9;
/// "Resource temporarily unavailable".
pub(crate) const EAGAIN: i32 = 11;
/// "Cannot allocate memory".
pub(crate) const ENOMEM: i32 = 12;
/// "Permission denied".
pub(crate) const EACCES: i32 = 13;
/// "Not a directory".
pub(crate) const ENOTDIR: i32 = 20;
/// "Is a directory".
pub(crate) const EISDIR: i32 = 21;
/// "Numerical result out of range".
pub(crate) const ERANGE: i32 = 34;
/// "Too many levels of symbolic links".
pub(crate) const ELOOP: i32 = 40;
/// "Value too large for defined data type".
pub(crate) const EOVERFLOW: i32 = 75;
