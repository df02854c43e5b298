//! What the first call of a process costs, and what it leaves behind: threads and rings.
//!
//! Each sample is a process of its own: this program, started again.

#![forbid(unsafe_code)]

use std::fs;
use std::future::Future;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use benches::cli::{self, Error};
use benches::machine::Machine;
use benches::report::{self, Table};
use benches::rivals;
use benches::stats::{self, Estimate};
use benches::turns::Args;

const HELP: &str = "\
Usage: first-call [OPTIONS]
Measures the first call of fresh processes, and prints Markdown.

  -n N          processes per call (default: 31)
  --only TEXT   only the calls with TEXT in their name
  --smoke       few processes: does it work at all?
";

/// Which call a child is to make.
const VARIABLE: &str = "RINGFS_BENCH_FIRST_CALL";

/// Makes a call; the path is that of this program.
type Call = fn(&Path) -> io::Result<Sample>;

/// A file that no process can have looked up yet: `/proc` is that of its own.
const UNCACHED: &str = "/proc/version";

/// The calls. The first of them is what the others are compared with.
const CALLS: [(&str, Call); 9] = [
    ("std::fs::metadata", |path| {
        Sample::of(|| fs::metadata(path).map(drop))
    }),
    ("ringfs::metadata, cached", |path| {
        on_tokio(|| ringfs::metadata(path))
    }),
    ("ringfs::metadata, /proc/version", |_| {
        on_tokio(|| ringfs::metadata(UNCACHED))
    }),
    ("ringfs::read_dir", |path| {
        on_tokio(|| ringfs::read_dir(directory(path)))
    }),
    ("ringfs Driver::capabilities", |_| {
        on_tokio(|| async { Ok(ringfs::Driver::global().capabilities().await) })
    }),
    ("tokio::fs::metadata", |path| {
        on_tokio(|| tokio::fs::metadata(path))
    }),
    ("tokio::fs::read_dir", |path| {
        on_tokio(|| tokio::fs::read_dir(directory(path)))
    }),
    ("tokio-uring statx", |path| {
        let start = Instant::now();
        let runtime = tokio_uring::Runtime::new(&tokio_uring::builder())?;
        runtime.block_on(Sample::of_future(start, || tokio_uring::fs::statx(path)))
    }),
    ("compio metadata", |path| {
        let start = Instant::now();
        let runtime = compio::runtime::Runtime::new()?;
        runtime.block_on(Sample::of_future(start, || compio::fs::metadata(path)))
    }),
];

fn directory(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

fn on_tokio<F: Future<Output = io::Result<T>>, T>(call: impl FnOnce() -> F) -> io::Result<Sample> {
    let start = Instant::now();
    let runtime = rivals::runtime()?;
    runtime.block_on(Sample::of_future(start, call))
}

/// One process.
struct Sample {
    /// From just before the call to its answer.
    call: f64,
    /// From before its runtime was made to the call's answer.
    all: f64,
    /// Of the process, the kernel's workers among them.
    threads: usize,
    rings: usize,
}

impl Sample {
    fn of(call: impl FnOnce() -> io::Result<()>) -> io::Result<Self> {
        let start = Instant::now();
        call()?;
        Self::now(start, start)
    }

    async fn of_future<F: Future<Output = io::Result<T>>, T>(
        all: Instant,
        call: impl FnOnce() -> F,
    ) -> io::Result<Self> {
        let start = Instant::now();
        let answer = call().await?;
        let sample = Self::now(all, start);
        drop(answer);
        sample
    }

    fn now(all: Instant, call: Instant) -> io::Result<Self> {
        let (call, all) = (call.elapsed(), all.elapsed());
        let is_ring = |path: PathBuf| path.as_os_str() == "anon_inode:[io_uring]";
        let targets = fs::read_dir("/proc/self/fd")?.flatten();
        let rings = targets
            .filter_map(|fd| fs::read_link(fd.path()).ok())
            .filter(|target| is_ring(target.clone()))
            .count();
        Ok(Self {
            call: call.as_secs_f64(),
            all: all.as_secs_f64(),
            threads: fs::read_dir("/proc/self/task")?.count(),
            rings,
        })
    }

    /// In a fresh process.
    fn take(call: usize) -> Result<Self, Error> {
        let output = Command::new(std::env::current_exe()?)
            .env(VARIABLE, call.to_string())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let fields: Vec<f64> = text
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        if let &[call, all, threads, rings] = &fields[..] {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            return Ok(Self {
                call,
                all,
                threads: threads as usize,
                rings: rings as usize,
            });
        }
        let error = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: {}", CALLS[call].0, error.trim_end()).into())
    }
}

/// The call that this process was started for, if any.
fn child() -> Option<Result<(), Error>> {
    let call: usize = std::env::var(VARIABLE).ok()?.parse().ok()?;
    Some((|| {
        let (_, call) = CALLS.get(call).ok_or("no such call")?;
        let Sample {
            call,
            all,
            threads,
            rings,
        } = call(&std::env::current_exe()?)?;
        Ok(writeln!(io::stdout(), "{call} {all} {threads} {rings}")?)
    })())
}

fn main() -> ExitCode {
    cli::finish("first-call", child().unwrap_or_else(run))
}

fn run() -> Result<(), Error> {
    let defaults = Args {
        rounds: 31,
        ..Args::default()
    };
    let args = defaults.parse(HELP, |_, _| Ok(false))?;
    let wanted: Vec<usize> = (0..CALLS.len())
        .filter(|&call| args.wants(CALLS[call].0))
        .collect();
    let mut samples: Vec<Vec<Sample>> = wanted.iter().map(|_| Vec::new()).collect();
    for round in 0..args.rounds {
        for position in 0..wanted.len() {
            let index = (round + position) % wanted.len();
            samples[index].push(Sample::take(wanted[index])?);
        }
    }
    let machine = Machine::of(&std::env::current_exe()?);
    let mut out = io::stdout();
    writeln!(out, "{machine}. Each sample is a fresh process.\n")?;
    writeln!(out, "{}", table(&wanted, &samples))?;
    writeln!(out, "{}", report::intervals(args.rounds))?;
    Ok(())
}

fn table(wanted: &[usize], samples: &[Vec<Sample>]) -> Table {
    let base = wanted.first().map_or("", |&call| CALLS[call].0);
    let mut table = Table::new(&[
        "first call",
        "µs",
        &format!("× {base}"),
        "with its runtime, µs",
        "threads after",
        "rings after",
    ]);
    let column = |samples: &[Sample], of: fn(&Sample) -> f64| samples.iter().map(of).collect();
    for (&call, own) in wanted.iter().zip(samples) {
        let calls: Vec<f64> = column(own, |sample| sample.call);
        let base: Vec<f64> = column(&samples[0], |sample| sample.call);
        let all: Vec<f64> = column(own, |sample| sample.all);
        table.row(vec![
            CALLS[call].0.to_owned(),
            format!("{:.1}", stats::median(&calls) * 1e6),
            report::ratio(Estimate::of_ratios(&calls, &base)),
            format!("{:.1}", stats::median(&all) * 1e6),
            range(own.iter().map(|sample| sample.threads)),
            range(own.iter().map(|sample| sample.rings)),
        ]);
    }
    table
}

/// `1`, or `1–3` if they differ.
fn range(numbers: impl Iterator<Item = usize> + Clone) -> String {
    let (least, most) = (numbers.clone().min(), numbers.max());
    let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
    if least == most {
        least.to_string()
    } else {
        format!("{least}–{most}")
    }
}
