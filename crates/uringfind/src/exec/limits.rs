//! How much a command may be given at once.

use hostproc::{arg_max, environment_size};

use crate::failure::Failure;

/// What GNU find takes at most, however much the system allows.
const SENSIBLE: usize = 128 * 1024;

/// Left free for what the command itself may add to its environment.
const HEADROOM: usize = 2048;

/// Limits of one command's arguments, which are those of GNU find: they show in how files are shared out
/// among commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes, with a NUL for each.
    pub(super) size: usize,
    pub(super) count: usize,
}

impl Limits {
    /// This process's.
    pub(super) fn of_process() -> Result<Self, Failure> {
        Self::within(arg_max(), environment_size())
            .ok_or_else(|| Failure::new(&b"The environment is too large for exec()."[..]))
    }

    fn within(arg_max: usize, environment: usize) -> Option<Self> {
        let left = arg_max
            .checked_sub(environment.checked_add(HEADROOM)?)
            .filter(|&left| left > 0)?;
        Some(Self {
            size: left.min(SENSIBLE),
            // With next to no room left, the number wraps around for GNU find.
            count: (left / size_of::<*const u8>()).wrapping_sub(2).max(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_takes_its_share() {
        let limits = Limits::within(2 << 20, 1000).unwrap();
        assert_eq!(limits.size, SENSIBLE);
        let limits = Limits::within(SENSIBLE, 1000).unwrap();
        assert_eq!(limits.size, SENSIBLE - 3048);
        assert_eq!(limits.count, (SENSIBLE - 3048) / size_of::<usize>() - 2);
        let limits = Limits::within(4096, 2040).unwrap();
        assert_eq!((limits.size, limits.count), (8, usize::MAX));
        assert_eq!(Limits::within(4096, 2048), None);
        assert_eq!(Limits::within(4096, usize::MAX), None);
    }
}
