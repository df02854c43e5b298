//! The type of a file.

use std::fmt;

/// The type of a file, with the method names of [`std::fs::FileType`] and its Unix extension.
///
/// It is always one of the seven that Linux has.
///
/// ```
/// use fscall::FileType;
///
/// assert_eq!(FileType::from_mode(0o100_644), Some(FileType::REGULAR));
/// assert!(FileType::from_d_type(4).is_some_and(|file_type| file_type.is_dir()));
/// assert_eq!(FileType::from_d_type(0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileType(
    /// The number of `d_type`, which is `S_IFMT` shifted right by 12.
    u8,
);

impl FileType {
    /// A named pipe.
    #[doc(alias = "S_IFIFO")]
    pub const FIFO: Self = Self(libc::DT_FIFO);
    /// A character device.
    #[doc(alias = "S_IFCHR")]
    pub const CHAR_DEVICE: Self = Self(libc::DT_CHR);
    /// A directory.
    #[doc(alias = "S_IFDIR")]
    pub const DIRECTORY: Self = Self(libc::DT_DIR);
    /// A block device.
    #[doc(alias = "S_IFBLK")]
    pub const BLOCK_DEVICE: Self = Self(libc::DT_BLK);
    /// A regular file.
    #[doc(alias = "S_IFREG")]
    pub const REGULAR: Self = Self(libc::DT_REG);
    /// A symbolic link.
    #[doc(alias = "S_IFLNK")]
    pub const SYMLINK: Self = Self(libc::DT_LNK);
    /// A socket.
    #[doc(alias = "S_IFSOCK")]
    pub const SOCKET: Self = Self(libc::DT_SOCK);

    /// The type in a mode's `S_IFMT` part; `None` if it is none of the seven, as in the mode of
    /// an anonymous inode (`eventfd`, `io_uring`).
    #[doc(alias = "S_IFMT")]
    pub const fn from_mode(mode: u32) -> Option<Self> {
        #[allow(clippy::cast_possible_truncation, reason = "four bits are left")]
        Self::from_d_type(((mode & libc::S_IFMT) >> 12) as u8)
    }

    /// The type in a directory entry; `None` for `DT_UNKNOWN`, which some file systems answer for
    /// every file, and for numbers that are no type (`DT_WHT`).
    #[doc(alias = "DT_UNKNOWN")]
    pub const fn from_d_type(d_type: u8) -> Option<Self> {
        match d_type {
            libc::DT_FIFO
            | libc::DT_CHR
            | libc::DT_DIR
            | libc::DT_BLK
            | libc::DT_REG
            | libc::DT_LNK
            | libc::DT_SOCK => Some(Self(d_type)),
            _ => None,
        }
    }

    /// The number in a directory entry.
    pub const fn d_type(self) -> u8 {
        self.0
    }

    /// The `S_IFMT` part of a mode.
    pub const fn mode_bits(self) -> u32 {
        (self.0 as u32) << 12
    }

    /// Whether it is a directory.
    pub const fn is_dir(self) -> bool {
        self.0 == libc::DT_DIR
    }

    /// Whether it is a regular file.
    pub const fn is_file(self) -> bool {
        self.0 == libc::DT_REG
    }

    /// Whether it is a symbolic link.
    pub const fn is_symlink(self) -> bool {
        self.0 == libc::DT_LNK
    }

    /// Whether it is a named pipe.
    pub const fn is_fifo(self) -> bool {
        self.0 == libc::DT_FIFO
    }

    /// Whether it is a socket.
    pub const fn is_socket(self) -> bool {
        self.0 == libc::DT_SOCK
    }

    /// Whether it is a block device.
    pub const fn is_block_device(self) -> bool {
        self.0 == libc::DT_BLK
    }

    /// Whether it is a character device.
    pub const fn is_char_device(self) -> bool {
        self.0 == libc::DT_CHR
    }
}

impl fmt::Debug for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            Self::FIFO => "fifo",
            Self::CHAR_DEVICE => "char device",
            Self::DIRECTORY => "dir",
            Self::BLOCK_DEVICE => "block device",
            Self::REGULAR => "file",
            Self::SYMLINK => "symlink",
            _ => "socket",
        };
        write!(f, "FileType({name})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mode_and_d_type_agree_on_every_number() {
        for number in 0..=u8::MAX {
            let by_entry = FileType::from_d_type(number);
            if number < 16 {
                assert_eq!(
                    by_entry,
                    FileType::from_mode(u32::from(number) << 12 | 0o7777)
                );
            } else {
                assert_eq!(by_entry, None);
            }
            if let Some(file_type) = by_entry {
                assert_eq!(file_type.d_type(), number);
                assert_eq!(FileType::from_mode(file_type.mode_bits()), by_entry);
            }
        }
        assert_eq!((0..=u8::MAX).filter_map(FileType::from_d_type).count(), 7);
    }

    #[test]
    fn each_type_is_exactly_one() {
        for file_type in (0..16).filter_map(FileType::from_d_type) {
            let answers = [
                file_type.is_dir(),
                file_type.is_file(),
                file_type.is_symlink(),
                file_type.is_fifo(),
                file_type.is_socket(),
                file_type.is_block_device(),
                file_type.is_char_device(),
            ];
            assert_eq!(
                answers.iter().filter(|&&answer| answer).count(),
                1,
                "{file_type:?}"
            );
        }
    }

    #[test]
    fn debug_names_the_type() {
        assert_eq!(format!("{:?}", FileType::DIRECTORY), "FileType(dir)");
        assert_eq!(format!("{:?}", FileType::SOCKET), "FileType(socket)");
    }
}
