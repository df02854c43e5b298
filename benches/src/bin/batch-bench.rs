//! Warm stats that come many at a time: batches, calls in flight, and the descriptor form.

#![forbid(unsafe_code)]

use std::fs::File;
use std::future::IntoFuture;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::rc::Rc;

use benches::cli::{self, Error};
use benches::machine::Machine;
use benches::turns::{self, Args, Contender, Name};
use benches::{report, rivals, sys};
use ringfs::{Backend, Dir, Driver, Route, StatxFlags, StatxMask};

const HELP: &str = "\
Usage: batch-bench [OPTIONS]
Measures nanoseconds per warm stat where many are asked at a time, and prints Markdown.

  --tree DIR    directory for the files (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --files N     files in one directory (default: 2048)
  -n N          rounds (default: 15)
  --only TEXT   only the tables with TEXT in their title, such as: in batches, 64 in flight
  --smoke       few files, short: does it work at all?
";

/// How many descriptors the descriptor form is asked about.
const DESCRIPTORS: usize = 128;

fn driver(backend: Backend) -> Driver {
    Driver::builder().backend(backend).build()
}

/// `statx_many` of so many names, one batch after the other.
fn batch(backend: Backend, size: usize) -> Result<Contender, Error> {
    let (runtime, driver) = (rivals::runtime()?, driver(backend));
    let dir = runtime.block_on(driver.open_dir("."))?;
    let name = format!("ringfs statx_many, {size} names, {backend}");
    Ok(Contender::new(name, move |names: &[Name]| {
        runtime.block_on(async {
            for names in names.chunks(size) {
                let batch = dir.statx_many(names.iter().map(|name| &name.std));
                let batch = batch.follow_symlinks(false).mask(StatxMask::BASIC_STATS);
                for answer in batch.await {
                    answer?;
                }
            }
            Ok(())
        })
    }))
}

/// ringfs by this route, or as it likes.
fn single(backend: Backend, route: Option<Route>, count: usize) -> io::Result<Contender> {
    let (runtime, driver) = (rivals::runtime()?, driver(backend));
    let name = match route {
        Some(route) => format!("ringfs, {route}"),
        None => format!("ringfs, {backend}"),
    };
    Ok(Contender::new(name, move |names: &[Name]| {
        runtime.block_on(rivals::in_flight(names, count, |name| {
            let stat = driver.statx(name).follow_symlinks(false);
            match route {
                Some(route) => stat.route(route),
                None => stat,
            }
            .into_future()
        }))
    }))
}

fn batches() -> Result<Vec<Contender>, Error> {
    let mut contenders = vec![rivals::plain()];
    for size in [64, 512] {
        contenders.push(rivals::handed_over(size)?);
        contenders.push(rivals::spawn_blocking(size)?);
    }
    for size in [8, 12, 16, 64, 512] {
        contenders.push(batch(Backend::Auto, size)?);
    }
    for backend in [Backend::Threads, Backend::Ring] {
        contenders.push(batch(backend, 64)?);
        contenders.push(batch(backend, 512)?);
    }
    Ok(contenders)
}

fn singles(count: usize) -> io::Result<Vec<Contender>> {
    let mut contenders = vec![
        rivals::plain(),
        single(Backend::Auto, None, count)?,
        single(Backend::Auto, Some(Route::Worker), count)?,
        single(Backend::Ring, None, count)?,
    ];
    contenders.extend(rivals::runtimes(count)?);
    Ok(contenders)
}

/// The descriptor form: each call is about the next of a few open files.
fn descriptors(names: &[Name]) -> Result<Vec<Contender>, Error> {
    let files: Vec<OwnedFd> = names
        .iter()
        .take(DESCRIPTORS)
        .map(|name| File::open(&name.std).map(OwnedFd::from))
        .collect::<io::Result<_>>()?;
    let driver = driver(Backend::Auto);
    let dirs: Vec<Dir> = files
        .iter()
        .map(|file| Ok(driver.dir_from_fd(file.try_clone()?)))
        .collect::<io::Result<_>>()?;
    let files = Rc::new(files);
    let plain = |name: &str, call: fn(&OwnedFd) -> io::Result<()>| {
        let files = Rc::clone(&files);
        Contender::new(name, move |names: &[Name]| {
            let files = files.iter().cycle().take(names.len());
            files.into_iter().try_for_each(call)
        })
    };
    let runtime = rivals::runtime()?;
    let ringfs = Contender::new("ringfs Dir::statx", move |names: &[Name]| {
        runtime.block_on(async {
            for dir in dirs.iter().cycle().take(names.len()) {
                dir.statx().mask(StatxMask::BASIC_STATS).await?;
            }
            Ok(())
        })
    });
    Ok(vec![
        plain("statx(fd, NULL)", |file| {
            sys::statx_fd(file.as_fd(), libc::STATX_BASIC_STATS).map(drop)
        }),
        // With NULL or the empty path, as the kernel likes it, and the answer in ringfs's form.
        plain("fscall::statx_fd", |file| {
            let (flags, mask) = (StatxFlags::empty(), StatxMask::BASIC_STATS);
            fscall::statx_fd(file.as_fd(), flags, mask).map(drop)
        }),
        plain("statx(fd, \"\")", |file| {
            sys::statx_empty(file.as_fd(), libc::STATX_BASIC_STATS).map(drop)
        }),
        plain("fstat(fd)", |file| sys::fstat(file.as_fd()).map(drop)),
        ringfs,
    ])
}

fn main() -> ExitCode {
    cli::finish("batch-bench", run())
}

fn run() -> Result<(), Error> {
    let defaults = Args {
        files: 2048,
        ..Args::default()
    };
    let args = defaults.parse(HELP, |_, _| Ok(false))?;
    std::fs::create_dir_all(&args.tree.directory)?;
    let directory = tempfile::tempdir_in(&args.tree.directory)?;
    let names = turns::make_files(directory.path(), args.files)?;
    let machine = Machine::of(directory.path());
    // Every route resolves one component from the working directory.
    std::env::set_current_dir(directory.path())?;

    let mut out = io::stdout();
    writeln!(
        out,
        "{machine}. {} files in one directory, warm.\n",
        args.files
    )?;
    let measure = |title: &str, contenders: &dyn Fn() -> Result<Vec<Contender>, Error>| {
        if !args.wants(title) {
            return Ok(());
        }
        let table = turns::measure(title, &contenders()?, &names, &args)?;
        Ok::<_, Error>(writeln!(io::stdout(), "{table}")?)
    };
    measure("in batches", &batches)?;
    for count in [1, 4, 16, 32, 64, 512] {
        measure(&format!("{count} in flight"), &|| Ok(singles(count)?))?;
    }
    measure("by descriptor, one by one", &|| descriptors(&names))?;
    writeln!(out, "{}", report::intervals(args.rounds))?;
    Ok(())
}
