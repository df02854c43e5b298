//! `-context`.

use fscall::mounts::FsTypes;

use super::{Doc, Entry, not_yet};
use crate::failure::Failure;

pub(super) const ENTRIES: &[Entry] = &[Entry {
    name: "context",
    doc: Doc::test("PATTERN", "its SELinux context matches a shell pattern")
        .differs("refused where SELinux is enabled")
        .tested_in("stat_tests"),
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
