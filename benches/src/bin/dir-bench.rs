//! Reading one large directory, whole or until its first entry, by several routes in turns.

#![forbid(unsafe_code)]

use std::any::Any;
use std::cell::RefCell;
use std::ffi::CString;
use std::hint::black_box;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use benches::cli::{self, Error};
use benches::machine::Machine;
use benches::report::Table;
use benches::turns::{self, Args, Contender, PER_CALL, Plan};
use benches::{report, rivals, sys, tree};
use lexopt::ValueExt;

const HELP: &str = "\
Usage: dir-bench [OPTIONS]
Measures reads of one large directory and prints Markdown.

  --tree DIR       where the directories are made and kept
                   (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --entries N,…    sizes of the directories (default: 20000,1000000)
  -n N             rounds (default: 15)
  --only TEXT      only the tables with TEXT in their title: whole, first entry
  --smoke          small directories, short: does it work at all?
";

/// Sizes of the floor's buffers in KiB. The best of them is what others are compared with.
const BUFFERS: [usize; 3] = [64, 128, 1024];

/// A directory.
struct Place {
    path: PathBuf,
    c_path: CString,
    entries: usize,
    /// What is not to be closed while the time runs.
    open: RefCell<Option<Box<dyn Any>>>,
}

impl Place {
    fn new(path: PathBuf, entries: usize) -> io::Result<Self> {
        Ok(Self {
            c_path: CString::new(path.as_os_str().as_bytes())?,
            path,
            entries,
            open: RefCell::new(None),
        })
    }

    fn open(&self) -> io::Result<OwnedFd> {
        sys::open_directory(sys::CWD, &self.c_path, true)
    }

    /// All entries must have been seen.
    fn check(&self, seen: usize) -> io::Result<()> {
        if seen == self.entries {
            return Ok(());
        }
        let text = format!("{}: {seen} entries seen", self.path.display());
        Err(io::Error::other(text))
    }

    fn keep(&self, open: impl Any) {
        *self.open.borrow_mut() = Some(Box::new(open));
    }
}

/// Bare calls; with `parse` the names are looked at too.
fn getdents(kib: usize, parse: bool) -> Contender<Place> {
    let buffer = RefCell::new(vec![0; kib * 1024]);
    let what = if parse { ", names parsed" } else { "" };
    Contender::new(
        format!("getdents64, {kib} KiB{what}"),
        move |place: &Place| {
            let (dir, mut buffer) = (place.open()?, buffer.borrow_mut());
            let mut seen = 0;
            loop {
                let read = sys::getdents64(dir.as_fd(), &mut buffer)?;
                if read == 0 {
                    break;
                }
                if parse {
                    seen += sys::records(&buffer[..read]).map(black_box).count();
                }
            }
            if parse { place.check(seen) } else { Ok(()) }
        },
    )
}

fn whole() -> io::Result<Vec<Contender<Place>>> {
    let mut contenders: Vec<_> = BUFFERS.map(|kib| getdents(kib, false)).into();
    contenders.extend(BUFFERS.map(|kib| getdents(kib, true)));
    contenders.push(Contender::new("std::fs::read_dir", |place: &Place| {
        let mut seen = 0;
        for entry in std::fs::read_dir(&place.path)? {
            black_box(entry?);
            seen += 1;
        }
        place.check(seen)
    }));
    let runtime = rivals::runtime()?;
    let (by_read, by_batch, by_entry) = (runtime.clone(), runtime.clone(), runtime.clone());
    contenders.push(Contender::new("ringfs Dir::read", move |place: &Place| {
        by_read.block_on(async {
            let mut dir = ringfs::open_dir(&place.path).await?;
            let mut seen = 0;
            loop {
                let batch = dir.read().await?;
                if batch.is_empty() {
                    break place.check(seen);
                }
                seen += names(&batch)?;
            }
        })
    }));
    contenders.push(Contender::new(
        "ringfs ReadDir::next_batch",
        move |place: &Place| {
            by_batch.block_on(async {
                let mut dir = ringfs::read_dir(&place.path).await?;
                let mut seen = 0;
                while let Some(batch) = dir.next_batch().await? {
                    seen += names(&batch)?;
                }
                place.check(seen)
            })
        },
    ));
    contenders.push(Contender::new(
        "ringfs ReadDir::next_entry",
        move |place: &Place| {
            by_entry.block_on(async {
                let mut dir = ringfs::read_dir(&place.path).await?;
                let mut seen = 0;
                while let Some(entry) = dir.next_entry().await? {
                    black_box(entry);
                    seen += 1;
                }
                place.check(seen)
            })
        },
    ));
    contenders.push(Contender::new(
        "tokio::fs ReadDir::next_entry",
        move |place: &Place| {
            runtime.block_on(async {
                let mut dir = tokio::fs::read_dir(&place.path).await?;
                let mut seen = 0;
                while let Some(entry) = dir.next_entry().await? {
                    black_box(entry);
                    seen += 1;
                }
                place.check(seen)
            })
        },
    ));
    Ok(contenders)
}

/// Looks at each name but `.` and `..`.
fn names(batch: &ringfs::DirBatch) -> io::Result<usize> {
    let mut seen = 0;
    for entry in batch.iter() {
        let entry = black_box(entry?);
        seen += usize::from(!entry.is_dot());
    }
    Ok(seen)
}

/// Open, and have one entry. Closing is not in the time.
fn first_entry() -> io::Result<Vec<Contender<Place>>> {
    let none = || io::Error::other("an empty directory");
    let ours = rivals::runtime()?;
    let tokio = Rc::clone(&ours);
    let buffer = RefCell::new(vec![0; 32 * 1024]);
    Ok(vec![
        Contender::new("getdents64, 32 KiB", move |place: &Place| {
            let (dir, mut buffer) = (place.open()?, buffer.borrow_mut());
            let read = sys::getdents64(dir.as_fd(), &mut buffer)?;
            let first = sys::records(&buffer[..read]).next();
            black_box(first).ok_or_else(none)?;
            place.keep(dir);
            Ok(())
        }),
        Contender::new("std::fs::read_dir", move |place: &Place| {
            let mut dir = std::fs::read_dir(&place.path)?;
            black_box(dir.next()).ok_or_else(none)??;
            place.keep(dir);
            Ok(())
        }),
        Contender::new("ringfs::read_dir", move |place: &Place| {
            ours.block_on(async {
                let mut dir = ringfs::read_dir(&place.path).await?;
                black_box(dir.next_entry().await?).ok_or_else(none)?;
                place.keep(dir);
                Ok(())
            })
        }),
        Contender::new("tokio::fs::read_dir", move |place: &Place| {
            tokio.block_on(async {
                let mut dir = tokio::fs::read_dir(&place.path).await?;
                black_box(dir.next_entry().await?).ok_or_else(none)?;
                place.keep(dir);
                Ok(())
            })
        }),
    ])
}

fn whole_table(title: &str, place: &Place, args: &Args) -> io::Result<Table> {
    let (contenders, plan) = (whole()?, Plan::new(args, place.entries));
    let nanos = turns::values(&contenders, place, plan, || Ok(()))?;
    let floor = turns::fastest(&nanos[..BUFFERS.len()]);
    let unit = ("ns per entry", PER_CALL.1);
    Ok(turns::table(title, unit, &contenders, &nanos, floor))
}

fn first_table(title: &str, place: &Place, args: &Args) -> io::Result<Table> {
    let (contenders, plan) = (first_entry()?, Plan::new(args, 1));
    let nanos = turns::values(&contenders, place, plan, || {
        place.open.take();
        Ok(())
    })?;
    Ok(turns::table(title, ("µs", 1e3), &contenders, &nanos, 0))
}

fn main() -> ExitCode {
    cli::finish("dir-bench", run())
}

fn run() -> Result<(), Error> {
    let mut sizes = None;
    let args = Args::default().parse(HELP, |option, parser| {
        if option != "entries" {
            return Ok(false);
        }
        sizes = Some(cli::numbers(option, &parser.value()?.string()?)?);
        Ok(true)
    })?;
    let sizes = sizes.unwrap_or(if args.smoke {
        vec![500, 3_000]
    } else {
        vec![20_000, 1_000_000]
    });
    std::fs::create_dir_all(&args.tree.directory)?;
    let mut out = io::stdout();
    writeln!(out, "{}. Warm.\n", Machine::of(&args.tree.directory))?;
    for &entries in &sizes {
        let place = place(&args.tree.directory, entries)?;
        let whole = format!("whole directory, {entries} entries");
        if args.wants(&whole) {
            writeln!(out, "{}", whole_table(&whole, &place, &args)?)?;
        }
        let first = format!("until the first entry of {entries}");
        if args.wants(&first) && Some(&entries) == sizes.iter().max() {
            writeln!(out, "{}", first_table(&first, &place, &args)?)?;
        }
    }
    writeln!(out, "{}", report::intervals(args.rounds))?;
    Ok(())
}

fn place(directory: &Path, entries: usize) -> io::Result<Place> {
    Place::new(tree::ensure_flat(directory, entries)?, entries)
}
