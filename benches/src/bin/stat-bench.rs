//! Warm stats, one call after the other in each task: by several routes, by several tasks, and of
//! files that lie deep.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use benches::cli::{self, Error};
use benches::depth;
use benches::machine::Machine;
use benches::turns::{self, Args, Contender, Name, PER_CALL, Plan};
use benches::{report, rivals, sys};
use lexopt::ValueExt;
use tokio::runtime::Builder;

const HELP: &str = "\
Usage: stat-bench [OPTIONS]
Measures nanoseconds per warm stat and prints Markdown.

  --tree DIR    directory for the files (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --files N     files in one directory (default: 20000)
  --tasks N,…   numbers of tasks on as many threads (default: 2,4)
  -n N          rounds (default: 15)
  --only TEXT   only the tables with TEXT in their title: one by one, 2 tasks, depth
  --smoke       few files, short: does it work at all?
";

fn one_by_one() -> io::Result<Vec<Contender>> {
    let mut contenders = vec![
        rivals::plain(),
        Contender::new(
            "openat2(RESOLVE_CACHED) + statx(fd, NULL) + close",
            |names: &[Name]| {
                names.iter().try_for_each(|name| {
                    let fd = sys::open_cached(sys::CWD, &name.c)?;
                    sys::statx_fd(fd.as_fd(), libc::STATX_BASIC_STATS).map(drop)
                })
            },
        ),
    ];
    let runtime = rivals::runtime()?;
    contenders.push(Contender::new(
        "ringfs::symlink_metadata",
        move |names: &[Name]| {
            runtime.block_on(rivals::in_flight(names, 1, ringfs::symlink_metadata))
        },
    ));
    contenders.extend(rivals::runtimes(1)?);
    Ok(contenders)
}

/// What a task is spawned with, and what it does: every so-manieth of the files, from one on.
type Task = fn(Part) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

struct Part {
    names: Arc<Vec<Name>>,
    first: usize,
    step: usize,
}

impl Part {
    fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.names.iter().skip(self.first).step_by(self.step);
        own.map(|name| name.std.as_str())
    }
}

/// The files divided among so many tasks, on a runtime of as many threads.
fn in_tasks(name: &str, count: usize, task: Task) -> io::Result<Contender<Arc<Vec<Name>>>> {
    let runtime = Builder::new_multi_thread().worker_threads(count).build()?;
    Ok(Contender::new(name, move |names: &Arc<Vec<Name>>| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..count)
                .map(|first| {
                    tokio::spawn(task(Part {
                        names: Arc::clone(names),
                        first,
                        step: count,
                    }))
                })
                .collect();
            for task in tasks {
                task.await??;
            }
            Ok(())
        })
    }))
}

/// The time that passes for so many calls, however many threads share them.
fn tasks(count: usize) -> io::Result<Vec<Contender<Arc<Vec<Name>>>>> {
    let floor = format!("statx, {count} threads");
    Ok(vec![
        Contender::new(floor, move |names: &Arc<Vec<Name>>| {
            rivals::statx_by_threads(names, count)
        }),
        in_tasks("ringfs::symlink_metadata", count, |part| {
            Box::pin(async move {
                for name in part.names() {
                    ringfs::symlink_metadata(name).await?;
                }
                Ok(())
            })
        })?,
        in_tasks("tokio::fs::symlink_metadata", count, |part| {
            Box::pin(async move {
                for name in part.names() {
                    tokio::fs::symlink_metadata(name).await?;
                }
                Ok(())
            })
        })?,
    ])
}

fn main() -> ExitCode {
    cli::finish("stat-bench", run())
}

fn run() -> Result<(), Error> {
    let mut counts = vec![2, 4];
    let args = Args::default().parse(HELP, |option, parser| {
        if option != "tasks" {
            return Ok(false);
        }
        counts = cli::numbers(option, &parser.value()?.string()?)?;
        Ok(true)
    })?;
    std::fs::create_dir_all(&args.tree.directory)?;
    let directory = tempfile::tempdir_in(&args.tree.directory)?;
    measure(directory.path(), &args, &counts)
}

fn measure(directory: &Path, args: &Args, counts: &[usize]) -> Result<(), Error> {
    let names = turns::make_files(directory, args.files)?;
    let machine = Machine::of(directory);
    // Every route resolves one component from the working directory.
    std::env::set_current_dir(directory)?;

    let mut out = io::stdout();
    writeln!(
        out,
        "{machine}. {} files in one directory, warm.\n",
        args.files
    )?;
    if args.wants("one by one, warm") {
        let table = turns::measure("one by one, warm", &one_by_one()?, &names, args)?;
        writeln!(out, "{table}")?;
    }
    let names = Arc::new(names);
    for &count in counts {
        let title = format!("{count} tasks, wall time");
        if args.wants(&title) {
            let contenders = tasks(count)?;
            let plan = Plan::new(args, names.len());
            let nanos = turns::values(&contenders, &names, plan, || Ok(()))?;
            let table = turns::table(&title, PER_CALL, &contenders, &nanos, 0);
            writeln!(out, "{table}")?;
        }
    }
    if args.wants(depth::TITLE) {
        writeln!(out, "{}", depth::measure(directory, args)?)?;
    }
    writeln!(out, "{}", report::intervals(args.rounds))?;
    Ok(())
}
