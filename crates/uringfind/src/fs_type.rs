//! Types of file systems, by the mount table.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use fscall::Statx;

/// The name of the type of the file system that a file is on, `unknown` if the mount table does not
/// tell. A device is looked up once.
pub(crate) fn fs_type(file: &Statx) -> &'static [u8] {
    static KNOWN: LazyLock<RwLock<HashMap<u64, &'static [u8]>>> = LazyLock::new(RwLock::default);
    let device = file.dev();
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = known.get(&device) {
        return name;
    }
    drop(known);
    let name = fscall::mounts::fs_type_of_device(file.dev_numbers());
    let name = name.map_or(&b"unknown"[..], |name| Vec::leak(name));
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.insert(device, name);
    name
}
