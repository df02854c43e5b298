//! Stats of one directory on a file system that is slow to answer: how many are in flight decides.

#![forbid(unsafe_code)]

use std::future::IntoFuture;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use benches::cli::{self, Error};
use benches::company;
use benches::machine::Machine;
use benches::report::Table;
use benches::slow::{Scenario, Slow};
use benches::turns::{self, Args, Contender, Name, Plan};
use benches::{report, rivals};
use ringfs::{Backend, Driver};
use testkit::fuse::remote;

const HELP: &str = "\
Usage: slow-bench [OPTIONS]
Measures stats of all files in one directory of a slow FUSE file system, and how late a timer of
the same runtime is meanwhile. Prints Markdown. Needs root.

  --files N     files in the directory (default: 8000)
  --tree DIR    directory for the local file of the timer's table
  -n N          rounds (default: 7)
  --only TEXT   only the tables with TEXT in their title: 1ms, 10ms, at a time, more, ticks
  --smoke       few files, short: does it work at all?
";

/// So many bare threads are the floor; the best of them counts.
const THREADS: [usize; 3] = [64, 256, 400];

fn scenarios() -> [Scenario; 5] {
    let millisecond = Duration::from_millis(1);
    let plain = Scenario::of(millisecond);
    [
        plain,
        Scenario::of(10 * millisecond),
        Scenario { width: 16, ..plain },
        Scenario { width: 64, ..plain },
        Scenario {
            jitter: millisecond / 2,
            ..plain
        },
    ]
}

fn driver(backend: Backend) -> Driver {
    Driver::builder().backend(backend).build()
}

/// One future for all files.
fn batch(backend: Backend, slow: &Slow) -> io::Result<Contender> {
    let (runtime, driver) = (rivals::runtime()?, driver(backend));
    let dir = runtime.block_on(driver.open_dir(slow.directory()))?;
    let names = Arc::clone(&slow.relative);
    let name = format!("ringfs Dir::statx_many, {backend}");
    Ok(Contender::new(name, move |_: &[Name]| {
        runtime.block_on(company::stat_batch(&dir, &names))
    }))
}

/// A future for each file, all at the same time.
fn singles(backend: Backend) -> io::Result<Contender> {
    let (runtime, driver) = (rivals::runtime()?, driver(backend));
    let name = format!("ringfs statx, all in flight, {backend}");
    Ok(Contender::new(name, move |names: &[Name]| {
        runtime.block_on(rivals::in_flight(names, names.len(), |name| {
            driver.statx(name).follow_symlinks(false).into_future()
        }))
    }))
}

fn contenders(slow: &Slow) -> io::Result<Vec<Contender>> {
    let mut contenders: Vec<_> = THREADS.map(rivals::threads).into();
    for backend in [Backend::Auto, Backend::Ring] {
        contenders.push(batch(backend, slow)?);
        contenders.push(singles(backend)?);
    }
    contenders.extend(rivals::runtimes(slow.absolute.len())?);
    Ok(contenders)
}

fn stat_table(slow: &mut Slow, scenario: Scenario, args: &Args) -> io::Result<Table> {
    slow.set(scenario)?;
    let contenders = contenders(slow)?;
    let plan = Plan {
        rounds: args.rounds,
        work: Duration::ZERO,
        calls: 1,
    };
    let names = Arc::clone(&slow.absolute);
    let nanos = turns::values(&contenders, &names[..], plan, || slow.forget())?;
    let floor = turns::fastest(&nanos[..THREADS.len()]);
    let title = format!("{} files, {}", slow.relative.len(), scenario.title());
    Ok(turns::table(
        &title,
        ("ms", 1e6),
        &contenders,
        &nanos,
        floor,
    ))
}

fn main() -> ExitCode {
    if let Some(exit) = remote::serve_if_child() {
        return exit;
    }
    cli::finish("slow-bench", run())
}

fn run() -> Result<(), Error> {
    let defaults = Args {
        files: 8_000,
        rounds: 7,
        ..Args::default()
    };
    let mut args = defaults.parse(HELP, |_, _| Ok(false))?;
    if args.smoke {
        // Eight at a time, as rivals ask, take their time.
        args.files = 80;
    }
    let mut out = io::stdout();
    let mut slow = match Slow::new(args.files) {
        Ok(slow) => slow,
        // For a person that is an answer, and no measurement has failed.
        Err(skip) => return Ok(writeln!(out, "{skip}")?),
    };
    let parallel = if slow.parallel_lookups()? {
        "granted: lookups in one directory overlap"
    } else {
        "not granted: lookups in one directory wait for each other"
    };
    let machine = Machine::of(&slow.directory());
    writeln!(
        out,
        "{machine}. The server is another process; FUSE_PARALLEL_DIROPS is {parallel}.\n"
    )?;
    for scenario in scenarios() {
        if args.wants(&scenario.title()) {
            writeln!(out, "{}", stat_table(&mut slow, scenario, &args)?)?;
        }
    }
    let (fewest, most) = slow.asked()?;
    if most > 0 {
        writeln!(
            out,
            "Before each pass the kernel forgets the names, so that a stat is one request, a \
             lookup: for {} files there were {fewest} to {most}. {}\n",
            args.files,
            report::intervals(args.rounds)
        )?;
    }
    if args.wants(company::TITLE) {
        std::fs::create_dir_all(&args.tree.directory)?;
        let local = tempfile::NamedTempFile::new_in(&args.tree.directory)?;
        writeln!(out, "{}", company::measure(&mut slow, local.path(), &args)?)?;
    }
    Ok(())
}
