//! Threads with nothing but kernel calls.

use std::ffi::CString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use super::truth::LARGE_KIB;
use super::{Slot, Tally, Tells, Way};
use crate::floor::{self, Open, Options};
use crate::rivals;
use crate::turns::Name;

/// The floor with so many threads. It makes the lines that the program of that name prints, and they
/// are counted.
pub fn threads(count: usize) -> Way {
    let name = format!("floor T={count}");
    let way = Way::new(name, move |order| {
        let options = Options {
            threads: count,
            open: Open::Relative,
            size_over_kib: order.sizes.then_some(LARGE_KIB),
            buffer: Options::BUFFER,
        };
        for root in &order.roots {
            let lines = Lines {
                slot: order.board.slot(),
                // It prints the root, as no size is asked for.
                skip: u64::from(!order.sizes),
            };
            floor::run(root, options, lines)?;
        }
        Ok(())
    });
    way.telling(Tells::Lines)
}

/// Counts lines.
struct Lines {
    slot: Arc<Slot>,
    /// How many of the next are not to be counted.
    skip: u64,
}

impl Write for Lines {
    fn write(&mut self, output: &[u8]) -> io::Result<usize> {
        let lines = memchr::memchr_iter(b'\n', output).count() as u64;
        let skipped = self.skip.min(lines);
        self.skip -= skipped;
        self.slot.add(Tally {
            entries: lines - skipped,
            ..Tally::default()
        });
        Ok(output.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads one directory, and has so many threads stat what is in it.
pub fn one_directory(count: usize) -> Way {
    let name = format!("readdir, then statx T={count}");
    let way = Way::new(name, move |order| {
        let (mut names, slot) = (Vec::new(), order.board.slot());
        for root in &order.roots {
            for entry in std::fs::read_dir(root)? {
                let entry = entry?;
                slot.add(Tally::one(entry.file_name().len(), 0));
                names.push(Name {
                    c: CString::new(entry.path().into_os_string().into_vec())?,
                    std: String::new(),
                });
            }
        }
        if order.sizes {
            rivals::statx_by_threads(&names, count)?;
        }
        Ok(())
    });
    way.telling(Tells::Names)
}
