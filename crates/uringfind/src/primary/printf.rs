//! `-printf` and `-fprintf`.

use super::{Doc, Effect, Entry, Needs, Parsed, Predicate, Primary, Refusal};
use crate::failure::Failure;
use crate::file::File;
use crate::files::{Destination, Opened};
use crate::format::{self, Format};
use crate::output::Receiver;
use crate::parse::Parser;
use crate::receiver::Receive;
use crate::writer::Writer;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "printf",
        doc: Doc::action("FORMAT", "print what FORMAT says; see find(1)")
            .in_bfs("%w for %B")
            .differs("%B is known")
            .tested_in("printf"),
        parse: |parser, _| {
            let format = parser.argument()?;
            action(parser, Opened::output(), format)
        },
    },
    Entry {
        name: "fprintf",
        doc: Doc::action("FILE FORMAT", "as -printf, into FILE")
            .in_bfs("%w for %B")
            .differs("%B is known")
            .tested_in("printf"),
        parse: |parser, _| {
            let file = parser.argument()?;
            let format = parser
                .argument()
                .map_err(|_| Failure::invalid_argument(file, b"-fprintf"))?;
            let opened = parser.files.open(file)?;
            action(parser, opened, format)
        },
    },
];

fn action(parser: &mut Parser<'_>, opened: Opened, format: &[u8]) -> Result<Parsed, Refusal> {
    let format = format::read(format, &mut |parts| parser.warn(parts))?;
    let needs = format.needs();
    let to = parser.receiver_of(opened.to);
    let flush = format.flushes.then(|| {
        parser.add_receiver(Box::new(Flush {
            to: opened.to,
            name: opened.name.clone(),
        }))
    });
    let printf = Printf {
        format,
        needs,
        opened,
        to,
        flush,
    };
    Ok(Parsed::Predicate(Predicate::action(
        printf,
        needs,
        Effect::Prints,
    )))
}

#[derive(Debug)]
struct Printf {
    format: Format,
    needs: Needs,
    opened: Opened,
    /// `None`: standard output.
    to: Option<Receiver>,
    /// Told after each file, if the format ends with `\c`.
    flush: Option<Receiver>,
}

impl Primary for Printf {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        let known = self.format.write(self.needs, file, self.to, &self.opened);
        if known && let Some(flush) = self.flush {
            file.out.send(flush, |_| {});
        }
        known
    }
}

/// Hands to the kernel what was written before.
#[derive(Debug)]
struct Flush {
    to: Destination,
    /// What messages call it.
    name: Vec<u8>,
}

impl Receive for Flush {
    fn receive(&mut self, _: &[u8], writer: &mut Writer) {
        if let Err(error) = writer.flush_to(self.to) {
            writer.file_error(&self.name, &error);
        }
    }
}
