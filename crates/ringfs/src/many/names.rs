//! Many names in one allocation.

use std::ffi::CStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// So many bytes are set aside for a name that has not been seen yet.
const LIKELY: usize = 24;
/// What an iterator says of its length is believed up to here.
const BELIEVED: usize = 16 * 1024;

/// Names one after the other, each with its NUL, as the kernel takes them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// Where each ends, its NUL included.
    ends: Vec<usize>,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The name at `index`, which must be below [`len`](Self::len).
    #[inline]
    pub(super) fn get(&self, index: usize) -> io::Result<&CStr> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let name = &self.bytes[start..self.ends[index]];
        match CStr::from_bytes_with_nul(name) {
            Ok(name) => Ok(name),
            // A NUL in it: refused in the words that every path with one is refused in.
            Err(_) => Err(fscall::to_c_path(name).err().unwrap_or_else(no_end)),
        }
    }
}

/// Every name is stored with its NUL, so there is always one to refuse.
fn no_end() -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

impl<P: AsRef<Path>> FromIterator<P> for Names {
    fn from_iter<I: IntoIterator<Item = P>>(names: I) -> Self {
        let names = names.into_iter();
        let likely = names.size_hint().0.min(BELIEVED);
        let mut all = Self {
            bytes: Vec::with_capacity(likely * LIKELY),
            ends: Vec::with_capacity(likely),
        };
        for name in names {
            all.bytes
                .extend_from_slice(name.as_ref().as_os_str().as_bytes());
            all.bytes.push(0);
            all.ends.push(all.bytes.len());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let long = "x".repeat(5000);
        let texts = ["a", "", &long, "b/c"];
        let names: Names = texts.iter().collect();
        assert_eq!(names.len(), texts.len());
        for (index, text) in texts.iter().enumerate() {
            assert_eq!(names.get(index).unwrap().to_bytes(), text.as_bytes());
        }
        assert_eq!(Names::from_iter([""; 0]).len(), 0);
    }

    #[test]
    fn a_nul_spoils_its_own_name_alone() {
        let names: Names = ["a", "b\0", "\0b", "\0", "c"].iter().collect();
        for index in 1..4 {
            let error = names.get(index).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert_eq!(error.to_string(), "the path contains a NUL byte");
        }
        assert_eq!(names.get(0).unwrap(), c"a");
        assert_eq!(names.get(4).unwrap(), c"c");
    }
}
