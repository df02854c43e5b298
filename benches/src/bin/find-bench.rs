//! `find`, `uringfind` and the floor as whole processes on a warm tree, in turns.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use benches::cli::{self, Error, TreeArgs};
use benches::floor::Open;
use benches::machine::Machine;
use benches::process::{self, Contender, Run, Sink};
use benches::report::{self, Table};
use benches::stats::{self, Estimate};
use benches::tree::Shape;
use lexopt::prelude::*;

/// Runs before the measured ones, which fill the caches.
const WARM_UP: usize = 2;

struct Args {
    tree: TreeArgs,
    n: usize,
    threads: Vec<usize>,
    sinks: Vec<Sink>,
    uringfind: Option<PathBuf>,
    rivals: Vec<PathBuf>,
    skip: Vec<String>,
}

fn help() -> String {
    let tree = TreeArgs::HELP;
    format!(
        "\
Usage: find-bench [OPTIONS]
Measures find, uringfind and the floor on a warm tree and prints Markdown.

{tree}  -n N          measured runs of each (default: 15)
  --threads N   threads of the floor; may be repeated (default: 1, 2, 4, 8)
  --pipe        also with the output read through a pipe
  --uringfind PATH   default: beside this program
  --rival PATH  one more program with find's language; may be repeated
  --skip NAME   leave out `find`, `uringfind` or `floor`; may be repeated
  --smoke       a small tree, n = 3, few threads: does it work at all?
"
    )
}

fn parse() -> Result<Args, Error> {
    let mut args = Args {
        tree: TreeArgs::default(),
        n: 15,
        threads: Vec::new(),
        sinks: vec![Sink::Null],
        uringfind: None,
        rivals: Vec::new(),
        skip: Vec::new(),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Short('n') => args.n = cli::positive(&mut parser)?,
            Long("threads") => args.threads.push(cli::positive(&mut parser)?),
            Long("pipe") => args.sinks = vec![Sink::Null, Sink::Pipe],
            Long("uringfind") => args.uringfind = Some(parser.value()?.into()),
            Long("rival") => args.rivals.push(parser.value()?.into()),
            Long("skip") => args.skip.push(parser.value()?.string()?),
            Long("smoke") => {
                args.n = 3;
                args.tree.shape = Shape::scaled(0.01);
                args.threads = vec![1, 2];
            }
            Long(option) => {
                let option = option.to_owned();
                if !args.tree.take(&option, &mut parser)? {
                    return Err(cli::other(Long(&option), &help()));
                }
            }
            arg => return Err(cli::other(arg, &help())),
        }
    }
    if args.threads.is_empty() {
        args.threads = vec![1, 2, 4, 8];
    }
    Ok(args)
}

/// What is searched for, in the words of find and of the floor.
struct Scenario {
    name: &'static str,
    find: &'static [&'static str],
    floor: &'static [&'static str],
}

const SCENARIOS: [Scenario; 2] = [
    Scenario {
        name: "names",
        find: &[],
        floor: &[],
    },
    Scenario {
        name: "-type f -size +100k",
        find: &["-type", "f", "-size", "+100k"],
        floor: &["--size-over-kib", "100"],
    },
];

fn main() -> ExitCode {
    cli::finish("find-bench", run())
}

fn run() -> Result<(), Error> {
    let args = parse()?;
    let root = args.tree.ensure()?;
    let mut out = io::stdout();
    writeln!(
        out,
        "{}. Tree: {} entries.",
        Machine::of(&root),
        args.tree.shape.entries()
    )?;
    if let Some(kib) = process::resident_kib() {
        writeln!(
            out,
            "A peak below {:.1} MB cannot be told from that.",
            report::megabytes(kib)
        )?;
    }
    for scenario in &SCENARIOS {
        let contenders = contenders(&args, scenario, &root)?;
        check_equal(&contenders)?;
        for &sink in &args.sinks {
            let runs = measure(&contenders, sink, args.n)?;
            let sink = match sink {
                Sink::Null => "/dev/null",
                Sink::Pipe => "a pipe",
            };
            writeln!(out, "\n## Warm, {}, to {sink}\n", scenario.name)?;
            writeln!(out, "{}", table(&contenders, &runs))?;
            writeln!(out, "{}", report::intervals(args.n))?;
        }
    }
    Ok(())
}

fn contenders(args: &Args, scenario: &Scenario, root: &Path) -> Result<Vec<Contender>, Error> {
    let wanted = |name: &str| !args.skip.iter().any(|skip| skip == name);
    let like_find = |name: &str, program: PathBuf| {
        let mut args = vec![OsString::from(root)];
        args.extend(cli::os_args(scenario.find));
        Contender {
            name: name.to_owned(),
            program,
            args,
        }
    };
    let mut contenders = Vec::new();
    if wanted("find") {
        contenders.push(like_find("find", "find".into()));
    }
    if wanted("uringfind") {
        let program = args
            .uringfind
            .clone()
            .map_or_else(|| cli::sibling("uringfind"), Ok)?;
        contenders.push(like_find("uringfind", program));
    }
    for rival in &args.rivals {
        let name = rival
            .file_name()
            .unwrap_or(rival.as_os_str())
            .to_string_lossy();
        contenders.push(like_find(&name, rival.clone()));
    }
    if wanted("floor") {
        let program = cli::sibling("floor")?;
        for &threads in &args.threads {
            for open in [Open::Relative, Open::Path] {
                let mut args =
                    cli::os_args(&["--threads", &threads.to_string(), "--open", open.as_str()]);
                args.extend(cli::os_args(scenario.floor));
                args.push(root.into());
                let name = format!("floor T={threads} {}", open.as_str());
                contenders.push(Contender {
                    name,
                    program: program.clone(),
                    args,
                });
            }
        }
    }
    if contenders.is_empty() {
        return Err("nothing is left to measure".into());
    }
    Ok(contenders)
}

/// All print the same lines, or their times mean nothing.
fn check_equal(contenders: &[Contender]) -> Result<(), Error> {
    let expected = contenders[0].fingerprint()?;
    for contender in &contenders[1..] {
        let actual = contender.fingerprint()?;
        if actual != expected {
            return Err(format!(
                "{} prints {} lines, {} prints {}, and they differ",
                contenders[0].name, expected.lines, contender.name, actual.lines
            )
            .into());
        }
    }
    Ok(())
}

/// `n` runs of each, in turns. Each round begins with another contender, so that none always follows the same one.
fn measure(contenders: &[Contender], sink: Sink, n: usize) -> io::Result<Vec<Vec<Run>>> {
    let mut runs = vec![Vec::with_capacity(n); contenders.len()];
    for round in 0..WARM_UP + n {
        for position in 0..contenders.len() {
            let index = (round + position) % contenders.len();
            let run = contenders[index].measure(sink)?;
            if round >= WARM_UP {
                runs[index].push(run);
            }
        }
    }
    Ok(runs)
}

fn table(contenders: &[Contender], runs: &[Vec<Run>]) -> Table {
    let walls: Vec<Vec<f64>> = runs
        .iter()
        .map(|runs| of_each(runs, |run| seconds(run.wall)))
        .collect();
    let find = contenders
        .iter()
        .position(|contender| contender.name == "find");
    let floor = (0..contenders.len())
        .filter(|&index| contenders[index].name.starts_with("floor"))
        .min_by(|&a, &b| stats::median(&walls[a]).total_cmp(&stats::median(&walls[b])));
    let mut table = Table::new(&[
        "program",
        "median ms",
        "× find",
        "× best floor",
        "user+sys ms",
        "peak MB",
    ]);
    for (index, contender) in contenders.iter().enumerate() {
        let against = |base: Option<usize>| match base {
            Some(base) if base == index => "1".to_owned(),
            Some(base) => report::ratio(Estimate::of_ratios(&walls[index], &walls[base])),
            None => String::new(),
        };
        let cpu = stats::median(&of_each(&runs[index], |run| seconds(run.cpu)));
        let peak = runs[index]
            .iter()
            .map(|run| run.peak_kib)
            .max()
            .unwrap_or(0);
        table.row(vec![
            contender.name.clone(),
            format!("{:.1}", stats::median(&walls[index]) * 1e3),
            against(find),
            against(floor),
            format!("{:.1}", cpu * 1e3),
            format!("{:.1}", report::megabytes(peak)),
        ]);
    }
    table
}

fn of_each(runs: &[Run], value: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}

fn seconds(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64()
}
