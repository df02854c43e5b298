//! What a field of a format shows.

use fscall::StatxMask;

use crate::primary::{Needs, Stamp};

/// What a field shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// `%b`, `%k`: what it takes on the disk, in blocks of so many bytes.
    Blocks(u64),
    /// `%d`
    Depth,
    /// `%D`
    Device,
    /// `%f`
    BaseName,
    /// `%F`
    FsType,
    /// `%g`
    GroupName,
    /// `%G`
    GroupId,
    /// `%h`
    Directory,
    /// `%H`
    Root,
    /// `%i`
    Inode,
    /// `%l`
    LinkTarget {
        /// Bytes of text in front of it that come after a message that the link cannot be read: in GNU
        /// find they are part of the field.
        lead: usize,
    },
    /// `%m`
    Permissions,
    /// `%M`
    Mode,
    /// `%n`
    Links,
    /// `%p`
    Path,
    /// `%P`
    PathBelowRoot,
    /// `%s`
    Size,
    /// `%S`
    Sparseness,
    /// `%a` and the like, `%Ak` and the like.
    Time(Stamp, Shape),
    /// `%u`
    UserName,
    /// `%U`
    UserId,
    /// `%y`
    Type,
    /// `%Y`
    TargetType,
    /// `%Z`
    SecurityContext,
}

/// How a time is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// As ctime(3) does, with a fraction.
    Whole,
    /// `@`: seconds since 1970.
    Epoch,
    /// `+`: date and time, with a plus between.
    DatePlusTime,
    /// Any other letter: what strftime(3) makes of it.
    Letter(u8),
}

impl Directive {
    /// The directive of this letter; one that takes a second letter comes from [`time`](Self::time).
    pub(super) fn of(letter: u8) -> Option<Self> {
        Some(match letter {
            b'a' => Self::Time(Stamp::Access, Shape::Whole),
            b'b' => Self::Blocks(512),
            b'c' => Self::Time(Stamp::Change, Shape::Whole),
            b'd' => Self::Depth,
            b'D' => Self::Device,
            b'f' => Self::BaseName,
            b'F' => Self::FsType,
            b'g' => Self::GroupName,
            b'G' => Self::GroupId,
            b'h' => Self::Directory,
            b'H' => Self::Root,
            b'i' => Self::Inode,
            b'k' => Self::Blocks(1024),
            b'l' => Self::LinkTarget { lead: 0 },
            b'm' => Self::Permissions,
            b'M' => Self::Mode,
            b'n' => Self::Links,
            b'p' => Self::Path,
            b'P' => Self::PathBelowRoot,
            b's' => Self::Size,
            b'S' => Self::Sparseness,
            b't' => Self::Time(Stamp::Modification, Shape::Whole),
            b'u' => Self::UserName,
            b'U' => Self::UserId,
            b'y' => Self::Type,
            b'Y' => Self::TargetType,
            b'Z' => Self::SecurityContext,
            _ => return None,
        })
    }

    /// The time of this letter shown as the second one says.
    pub(super) fn time(stamp: Stamp, letter: u8) -> Self {
        let shape = match letter {
            b'@' => Shape::Epoch,
            b'+' => Shape::DatePlusTime,
            letter => Shape::Letter(letter),
        };
        Self::Time(stamp, shape)
    }

    /// What must be known of a file, as GNU find sees it: that decides for which files an error can
    /// appear.
    pub(super) fn needs(self) -> Needs {
        Needs::Stat(match self {
            Self::BaseName
            | Self::Depth
            | Self::Directory
            | Self::Path
            | Self::PathBelowRoot
            | Self::Root
            | Self::SecurityContext => return Needs::Nothing,
            Self::Type => return Needs::Type,
            Self::Inode => return Needs::Inode,
            Self::Blocks(_) => StatxMask::BLOCKS,
            Self::Device | Self::FsType | Self::LinkTarget { .. } | Self::TargetType => {
                StatxMask::TYPE
            }
            Self::GroupName | Self::GroupId => StatxMask::GID,
            Self::Permissions => StatxMask::MODE,
            Self::Mode => StatxMask::TYPE | StatxMask::MODE,
            Self::Links => StatxMask::NLINK,
            Self::Size => StatxMask::SIZE,
            Self::Sparseness => StatxMask::SIZE | StatxMask::BLOCKS,
            Self::Time(stamp, _) => stamp.mask(),
            Self::UserName | Self::UserId => StatxMask::UID,
        })
    }

    /// Others chose these bytes: a terminal does not get them as they are.
    pub(super) fn is_shown_with_care(self) -> bool {
        matches!(
            self,
            Self::BaseName
                | Self::Directory
                | Self::FsType
                | Self::LinkTarget { .. }
                | Self::Path
                | Self::PathBelowRoot
        )
    }

    /// A width and a precision treat it as text, whatever it looks like.
    pub(super) fn is_text(self) -> bool {
        !matches!(self, Self::Depth | Self::Permissions | Self::Sparseness)
    }
}

impl Needs {
    /// What is needed for both.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Stat(one), Self::Stat(other)) => Self::Stat(one | other),
            (Self::Stat(fields), Self::Inode) | (Self::Inode, Self::Stat(fields)) => {
                Self::Stat(fields | StatxMask::INO)
            }
            (Self::Stat(fields), _) | (_, Self::Stat(fields)) => Self::Stat(fields),
            (Self::Inode, _) | (_, Self::Inode) => Self::Inode,
            (Self::Type, _) | (_, Self::Type) => Self::Type,
            (Self::Nothing, Self::Nothing) => Self::Nothing,
        }
    }
}
