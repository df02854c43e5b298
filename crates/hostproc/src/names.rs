//! Names of users and groups, from wherever the system's name service (NSS) has them.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{PoisonError, RwLock};

/// The name of the user with this number. Every number is looked up once in the life of the
/// process, as the name service may have to ask a server; whatever the service fails on has no
/// name.
#[doc(alias = "getpwuid")]
#[doc(alias = "getpwuid_r")]
#[must_use]
pub fn user_name(uid: u32) -> Option<&'static [u8]> {
    static KNOWN: Known = Known::new();
    KNOWN.get(uid, || {
        look_up(
            |entry, buffer, len, found| {
                // SAFETY: `look_up` passes an entry to write to, a buffer of `len` bytes, and a
                // place for the result.
                unsafe { libc::getpwuid_r(uid, entry, buffer, len, found) }
            },
            |entry: &libc::passwd| name_of(entry.pw_name),
        )
    })
}

/// The name of the group with this number; see [`user_name`].
#[doc(alias = "getgrgid")]
#[doc(alias = "getgrgid_r")]
#[must_use]
pub fn group_name(gid: u32) -> Option<&'static [u8]> {
    static KNOWN: Known = Known::new();
    KNOWN.get(gid, || {
        look_up(
            |entry, buffer, len, found| {
                // SAFETY: `look_up` passes an entry to write to, a buffer of `len` bytes, and a
                // place for the result.
                unsafe { libc::getgrgid_r(gid, entry, buffer, len, found) }
            },
            |entry: &libc::group| name_of(entry.gr_name),
        )
    })
}

/// The number of the user with this name; `None` if there is no such user.
#[doc(alias = "getpwnam")]
#[doc(alias = "getpwnam_r")]
#[must_use]
pub fn user_id(name: &[u8]) -> Option<u32> {
    let name = CString::new(name).ok()?;
    look_up(
        |entry, buffer, len, found| {
            // SAFETY: `look_up` passes an entry to write to, a buffer of `len` bytes, and a place
            // for the result; the name ends with a NUL.
            unsafe { libc::getpwnam_r(name.as_ptr(), entry, buffer, len, found) }
        },
        |entry: &libc::passwd| entry.pw_uid,
    )
}

/// The number of the group with this name; `None` if there is no such group.
#[doc(alias = "getgrnam")]
#[doc(alias = "getgrnam_r")]
#[must_use]
pub fn group_id(name: &[u8]) -> Option<u32> {
    let name = CString::new(name).ok()?;
    look_up(
        |entry, buffer, len, found| {
            // SAFETY: `look_up` passes an entry to write to, a buffer of `len` bytes, and a place
            // for the result; the name ends with a NUL.
            unsafe { libc::getgrnam_r(name.as_ptr(), entry, buffer, len, found) }
        },
        |entry: &libc::group| entry.gr_gid,
    )
}

/// Names by number, `None` for those without. They live as long as the process: there are as many as
/// users and groups, and a name is wanted for one file after the other.
struct Known(RwLock<Option<HashMap<u32, Name>>>);

type Name = Option<&'static [u8]>;

impl Known {
    const fn new() -> Self {
        Self(RwLock::new(None))
    }

    fn get(&self, id: u32, look_up: impl FnOnce() -> Option<Vec<u8>>) -> Name {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.as_ref().and_then(|names| names.get(&id)) {
            return *name;
        }
        drop(known);
        let name = look_up().map(|name| &*name.leak());
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(HashMap::new).insert(id, name);
        name
    }
}

/// Room for the strings of an entry, at first.
const ROOM: usize = 1024;
/// An entry with more text than this is given up: a group of a million members.
const MOST_ROOM: usize = 64 * 1024 * 1024;

/// Makes one of the `get…_r` calls, with more room until its answer fits, and reads the entry that
/// was found.
fn look_up<E, T>(
    mut call: impl FnMut(*mut E, *mut c_char, usize, *mut *mut E) -> c_int,
    read: impl FnOnce(&E) -> T,
) -> Option<T> {
    let mut buffer: Vec<c_char> = vec![0; ROOM];
    let mut entry = MaybeUninit::<E>::uninit();
    loop {
        let mut found: *mut E = ptr::null_mut();
        let error = call(
            entry.as_mut_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
            &raw mut found,
        );
        match error {
            // SAFETY: the result is null or points to `entry`, which then has been filled in, with
            // pointers into the buffer; both are there until `read` is done.
            0 => return unsafe { found.as_ref() }.map(read),
            libc::EINTR => {}
            libc::ERANGE if buffer.len() < MOST_ROOM => buffer.resize(buffer.len() * 4, 0),
            _ => return None,
        }
    }
}

fn name_of(name: *const c_char) -> Vec<u8> {
    if name.is_null() {
        return Vec::new();
    }
    // SAFETY: only called on the name of an entry that was found, which is a string in its buffer.
    unsafe { CStr::from_ptr(name) }.to_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known_by_name_and_number() {
        for _ in 0..2 {
            assert_eq!(user_name(0), Some(&b"root"[..]));
            assert_eq!(group_name(0), Some(&b"root"[..]));
        }
        assert_eq!(user_id(b"root"), Some(0));
        assert_eq!(group_id(b"root"), Some(0));
    }

    #[test]
    fn nobody_has_an_odd_name() {
        for name in [&b""[..], b"no such name", b"\xff", b"a\0b"] {
            assert_eq!(user_id(name), None);
            assert_eq!(group_id(name), None);
        }
        assert_eq!(user_name(4_123_456_789), None);
        assert_eq!(group_name(4_123_456_789), None);
    }

    #[test]
    fn long_entries_get_their_room() {
        let mut calls = 0;
        let answer = look_up(
            |entry: *mut u32, _, len, found| {
                calls += 1;
                if len < 10_000 {
                    return libc::ERANGE;
                }
                // SAFETY: both pointers are valid for writes: `look_up` made them.
                unsafe { entry.write(7) };
                // SAFETY: as above.
                unsafe { found.write(entry) };
                0
            },
            |entry| *entry,
        );
        assert_eq!((answer, calls), (Some(7), 3));
    }
}
