//! Names of users and groups, from wherever the system keeps them (`nsswitch.conf(5)`).

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Answers so far.
type Cache = LazyLock<RwLock<HashMap<u32, Option<Vec<u8>>>>>;

/// An entry is rarely longer than this.
const FIRST: usize = 1024;

/// Where an entry that does not end is given up.
const LAST: usize = 1 << 24;

/// The name of the user `uid`; `None` if there is none. Asked for once in the life of the process.
#[doc(alias = "getpwuid")]
#[doc(alias = "getpwuid_r")]
pub fn user_name(uid: u32) -> Option<Vec<u8>> {
    static CACHE: Cache = LazyLock::new(RwLock::default);
    cached(&CACHE, uid, ask_user)
}

/// The name of the group `gid`; `None` if there is none. Asked for once in the life of the process.
#[doc(alias = "getgrgid")]
#[doc(alias = "getgrgid_r")]
pub fn group_name(gid: u32) -> Option<Vec<u8>> {
    static CACHE: Cache = LazyLock::new(RwLock::default);
    cached(&CACHE, gid, ask_group)
}

fn cached(cache: &Cache, id: u32, ask: fn(u32) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    if let Some(known) = cache
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&id)
    {
        return known.clone();
    }
    let name = ask(id);
    let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
    cache.insert(id, name.clone());
    name
}

fn ask_user(uid: u32) -> Option<Vec<u8>> {
    with_room(|room| {
        let mut entry = MaybeUninit::<libc::passwd>::zeroed();
        let mut found = std::ptr::null_mut();
        // SAFETY: all pointers are to live objects of the right types, the room is as long as said.
        let result = unsafe {
            libc::getpwuid_r(
                uid,
                entry.as_mut_ptr(),
                room.as_mut_ptr(),
                room.len(),
                &raw mut found,
            )
        };
        if result != 0 || found.is_null() {
            return Err(result);
        }
        // SAFETY: getpwuid_r has found an entry, and `found` points to it.
        let name = unsafe { (*found).pw_name };
        // SAFETY: the name is a C string in `room`, which lives.
        Ok(unsafe { CStr::from_ptr(name) }.to_bytes().to_vec())
    })
}

fn ask_group(gid: u32) -> Option<Vec<u8>> {
    with_room(|room| {
        let mut entry = MaybeUninit::<libc::group>::zeroed();
        let mut found = std::ptr::null_mut();
        // SAFETY: all pointers are to live objects of the right types, the room is as long as said.
        let result = unsafe {
            libc::getgrgid_r(
                gid,
                entry.as_mut_ptr(),
                room.as_mut_ptr(),
                room.len(),
                &raw mut found,
            )
        };
        if result != 0 || found.is_null() {
            return Err(result);
        }
        // SAFETY: getgrgid_r has found an entry, and `found` points to it.
        let name = unsafe { (*found).gr_name };
        // SAFETY: the name is a C string in `room`, which lives.
        Ok(unsafe { CStr::from_ptr(name) }.to_bytes().to_vec())
    })
}

/// Asks with ever more room while the answer is that there is too little (`ERANGE`).
fn with_room(mut ask: impl FnMut(&mut [c_char]) -> Result<Vec<u8>, c_int>) -> Option<Vec<u8>> {
    let mut room = vec![0; FIRST];
    loop {
        match ask(&mut room) {
            Ok(name) => return Some(name),
            Err(libc::ERANGE) if room.len() < LAST => room.resize(room.len() * 4, 0),
            Err(libc::EINTR) => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_names_and_a_stranger_has_none() {
        for _ in 0..2 {
            assert_eq!(user_name(0).as_deref(), Some(&b"root"[..]));
            assert_eq!(group_name(0).as_deref(), Some(&b"root"[..]));
            assert_eq!(user_name(3_999_999_999), None);
            assert_eq!(group_name(3_999_999_999), None);
        }
    }
}
