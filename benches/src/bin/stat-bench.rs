//! One warm stat by several routes, one call after the other, in turns.

#![forbid(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use benches::cli::{self, Error, TreeArgs};
use benches::machine::Machine;
use benches::report::{self, Table};
use benches::stats::{self, Estimate};
use benches::sys;
use lexopt::prelude::*;
use tokio::runtime::{Builder, Runtime};

struct Args {
    tree: TreeArgs,
    files: usize,
    rounds: usize,
    /// How long each route is to work in all.
    work: Duration,
}

const HELP: &str = "\
Usage: stat-bench [OPTIONS]
Measures nanoseconds per warm stat and prints Markdown.

  --tree DIR    directory for the files (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --files N     files in one directory (default: 20000)
  -n N          rounds (default: 15)
  --smoke       few files, short: does it work at all?
";

fn parse() -> Result<Args, Error> {
    let mut args = Args {
        tree: TreeArgs::default(),
        files: 20_000,
        rounds: 15,
        work: Duration::from_secs(1),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("tree") => args.tree.directory = parser.value()?.into(),
            Long("files") => args.files = cli::positive(&mut parser)?,
            Short('n') => args.rounds = cli::positive(&mut parser)?,
            Long("smoke") => {
                args.files = 500;
                args.rounds = 3;
                args.work = Duration::from_millis(20);
            }
            arg => return Err(cli::other(arg, HELP)),
        }
    }
    Ok(args)
}

/// A way to stat every file once. The first is what the others are compared with.
struct Route {
    name: &'static str,
    pass: Box<Pass>,
}

/// Stats every file once.
type Pass = dyn Fn(&[Name]) -> io::Result<()>;

/// A file's name, as the kernel and as std take it.
struct Name {
    c: CString,
    std: String,
}

impl Route {
    fn new(name: &'static str, pass: impl Fn(&[Name]) -> io::Result<()> + 'static) -> Self {
        Self {
            name,
            pass: Box::new(pass),
        }
    }
}

fn routes() -> io::Result<Vec<Route>> {
    let runtime = || Builder::new_current_thread().build();
    Ok(vec![
        Route::new("statx", |names| {
            names.iter().try_for_each(|name| {
                sys::statx(sys::CWD, &name.c, libc::STATX_BASIC_STATS).map(drop)
            })
        }),
        Route::new(
            "openat2(RESOLVE_CACHED) + statx(fd, NULL) + close",
            |names| {
                names.iter().try_for_each(|name| {
                    let fd = sys::open_cached(sys::CWD, &name.c)?;
                    sys::statx_fd(fd.as_fd(), libc::STATX_BASIC_STATS).map(drop)
                })
            },
        ),
        tokio_fs(runtime()?),
        ringfs(runtime()?),
    ])
}

fn tokio_fs(runtime: Runtime) -> Route {
    Route::new("tokio::fs::symlink_metadata", move |names| {
        runtime.block_on(async {
            for name in names {
                tokio::fs::symlink_metadata(&name.std).await?;
            }
            Ok(())
        })
    })
}

fn ringfs(runtime: Runtime) -> Route {
    Route::new("ringfs::symlink_metadata", move |names| {
        runtime.block_on(async {
            for name in names {
                ringfs::symlink_metadata(&name.std).await?;
            }
            Ok(())
        })
    })
}

fn main() -> ExitCode {
    cli::finish("stat-bench", run())
}

fn run() -> Result<(), Error> {
    let args = parse()?;
    std::fs::create_dir_all(&args.tree.directory)?;
    let directory = tempfile::tempdir_in(&args.tree.directory)?;
    let names = make_files(directory.path(), args.files)?;
    let machine = Machine::of(directory.path());
    // Every route resolves one component from the working directory.
    std::env::set_current_dir(directory.path())?;

    let routes = routes()?;
    let nanos = measure(&routes, &names, args.rounds, args.work)?;
    let mut table = Table::new(&["one by one, warm", "ns per call", "× statx"]);
    for (route, values) in routes.iter().zip(&nanos) {
        table.row(vec![
            route.name.to_owned(),
            format!("{:.0}", stats::median(values)),
            report::ratio(Estimate::of_ratios(values, &nanos[0])),
        ]);
    }
    let mut out = io::stdout();
    writeln!(
        out,
        "{machine}. {} files in one directory.\n\n{table}",
        args.files
    )?;
    writeln!(out, "{}", report::intervals(args.rounds))?;
    Ok(())
}

fn make_files(directory: &std::path::Path, count: usize) -> Result<Vec<Name>, Error> {
    (0..count)
        .map(|i| {
            let std = format!("file-{i:06}.c");
            File::create(directory.join(&std))?;
            Ok(Name {
                c: CString::new(std.clone())?,
                std,
            })
        })
        .collect()
}

/// Nanoseconds per call: one list per route, one value per round.
fn measure(
    routes: &[Route],
    names: &[Name],
    rounds: usize,
    work: Duration,
) -> io::Result<Vec<Vec<f64>>> {
    let mut passes = Vec::with_capacity(routes.len());
    for route in routes {
        (route.pass)(names)?;
        let start = Instant::now();
        (route.pass)(names)?;
        passes.push(passes_per_round(work, rounds, start.elapsed()));
    }
    let mut nanos = vec![Vec::with_capacity(rounds); routes.len()];
    for round in 0..rounds {
        for position in 0..routes.len() {
            let index = (round + position) % routes.len();
            let start = Instant::now();
            for _ in 0..passes[index] {
                (routes[index].pass)(names)?;
            }
            nanos[index].push(per_call(start.elapsed(), passes[index], names.len()));
        }
    }
    Ok(nanos)
}

/// So many passes that all rounds together take at least `work`.
fn passes_per_round(work: Duration, rounds: usize, pass: Duration) -> u32 {
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
    let passes = (work / rounds).as_nanos() / pass.as_nanos().max(1);
    u32::try_from(passes).unwrap_or(u32::MAX).saturating_add(1)
}

#[allow(clippy::cast_precision_loss)]
fn per_call(elapsed: Duration, passes: u32, files: usize) -> f64 {
    elapsed.as_secs_f64() * 1e9 / f64::from(passes) / files as f64
}
