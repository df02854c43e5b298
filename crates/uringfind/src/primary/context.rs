//! `-context`.

use fscall::mounts::FsTypes;

use super::{Entry, Kind, not_yet};
use crate::failure::Failure;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "context",
    kind: Kind::Other,
    parse: |parser, typed| {
        parser.argument()?;
        let is_enabled = FsTypes::read().is_ok_and(|types| types.contains(b"selinuxfs"));
        Err(if is_enabled {
            not_yet::refusal(typed)
        } else {
            Failure::new(&b"invalid predicate -context: SELinux is not enabled."[..])
        }
        .into())
    },
}];
