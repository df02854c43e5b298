//! One warm stat by several routes, one call after the other, in turns.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use benches::cli::{self, Error};
use benches::machine::Machine;
use benches::report;
use benches::sys;
use benches::turns::{self, Args, Contender};
use tokio::runtime::{Builder, Runtime};

const HELP: &str = "\
Usage: stat-bench [OPTIONS]
Measures nanoseconds per warm stat and prints Markdown.

  --tree DIR    directory for the files (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --files N     files in one directory (default: 20000)
  -n N          rounds (default: 15)
  --smoke       few files, short: does it work at all?
";

fn contenders() -> io::Result<Vec<Contender>> {
    let runtime = || Builder::new_current_thread().build();
    Ok(vec![
        Contender::new("statx", |names| {
            names.iter().try_for_each(|name| {
                sys::statx(sys::CWD, &name.c, libc::STATX_BASIC_STATS).map(drop)
            })
        }),
        Contender::new(
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

fn tokio_fs(runtime: Runtime) -> Contender {
    Contender::new("tokio::fs::symlink_metadata", move |names| {
        runtime.block_on(async {
            for name in names {
                tokio::fs::symlink_metadata(&name.std).await?;
            }
            Ok(())
        })
    })
}

fn ringfs(runtime: Runtime) -> Contender {
    Contender::new("ringfs::symlink_metadata", move |names| {
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
    let args = Args::parse(20_000, HELP)?;
    std::fs::create_dir_all(&args.tree.directory)?;
    let directory = tempfile::tempdir_in(&args.tree.directory)?;
    let names = turns::make_files(directory.path(), args.files)?;
    let machine = Machine::of(directory.path());
    // Every route resolves one component from the working directory.
    std::env::set_current_dir(directory.path())?;

    let table = turns::measure("one by one, warm", &contenders()?, &names, &args)?;
    let mut out = io::stdout();
    writeln!(
        out,
        "{machine}. {} files in one directory.\n\n{table}",
        args.files
    )?;
    writeln!(out, "{}", report::intervals(args.rounds))?;
    Ok(())
}
