//! `-ls` and `-fls`.

use fscall::{FileType, StatxMask};

use super::{Doc, Effect, Entry, Needs, Parsed, Predicate, Primary};
use crate::file::File;
use crate::files::Opened;
use crate::listing::{self, Clock, Listing};
use crate::output::Receiver;
use crate::parse::Parser;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "ls",
        doc: Doc::action("", "print a line as ls -dils does").tested_in("ls"),
        parse: |parser, _| Ok(action(parser, &Opened::output())),
    },
    Entry {
        name: "fls",
        doc: Doc::action("FILE", "as -ls, into FILE").tested_in("ls"),
        parse: |parser, _| {
            let opened = parser.open()?;
            Ok(action(parser, &opened))
        },
    },
];

fn action(parser: &mut Parser<'_>, opened: &Opened) -> Parsed {
    let columns = parser.columns.clone();
    let to = parser.add_receiver(Box::new(Listing::new(opened.to, columns)));
    let ls = Ls {
        block_size: if parser.environment.posixly_correct {
            512
        } else {
            1024
        },
        clock: Clock::new(parser.now.sec),
        to,
    };
    let fields = StatxMask::TYPE
        | StatxMask::MODE
        | StatxMask::INO
        | StatxMask::BLOCKS
        | StatxMask::NLINK
        | StatxMask::UID
        | StatxMask::GID
        | StatxMask::SIZE
        | StatxMask::MTIME;
    Parsed::Predicate(Predicate::action(ls, Needs::Stat(fields), Effect::Prints))
}

#[derive(Debug)]
struct Ls {
    /// Bytes.
    block_size: u64,
    clock: Clock,
    to: Receiver,
}

impl Primary for Ls {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let Some(stat) = file.stat() else {
            return false;
        };
        let is_link = stat.file_type().is_some_and(FileType::is_symlink);
        let target = is_link.then(|| file.reach(fscall::readlinkat));
        let path = file.path();
        let Some(stat) = file.status.answer() else {
            return false;
        };
        let mut pen = file.out.pen(Some(self.to));
        listing::write_record(stat, self.block_size, &self.clock, pen.bytes());
        listing::write_escaped(&path, pen.bytes());
        match target {
            None => {}
            Some(Ok(target)) => {
                pen.bytes().extend_from_slice(b" -> ");
                listing::write_escaped(&target, pen.bytes());
            }
            // GNU find does not count it as an error, and quotes nothing.
            Some(Err(error)) => {
                let errno = error.raw_os_error().unwrap_or(0);
                pen.remark(&file.messages.errno(&path, errno));
                listing::write_rest(pen.bytes());
            }
        }
        pen.bytes().push(b'\n');
        true
    }
}
