//! Ways to stat the same files, measured in turns.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use lexopt::prelude::*;

use crate::cli::{self, Error, TreeArgs};
use crate::report::{self, Table};
use crate::stats::{self, Estimate};

/// What is measured, and how long.
#[derive(Debug)]
pub struct Args {
    /// Where the files are made.
    pub tree: TreeArgs,
    /// How many there are, in one directory.
    pub files: usize,
    /// Values per contender.
    pub rounds: usize,
    /// How long each contender is to work in all.
    pub work: Duration,
    /// What the titles of the tables wanted have in them.
    pub only: String,
}

impl Args {
    /// Reads the command line: `--tree DIR`, `--files N`, `-n N`, `--only TEXT`,
    /// `--smoke`.
    ///
    /// # Errors
    /// An argument is none of these, or `--help`.
    pub fn parse(files: usize, help: &str) -> Result<Self, Error> {
        let mut args = Self {
            tree: TreeArgs::default(),
            files,
            rounds: 15,
            work: Duration::from_secs(1),
            only: String::new(),
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("tree") => args.tree.directory = parser.value()?.into(),
                Long("files") => args.files = cli::positive(&mut parser)?,
                Long("only") => args.only = parser.value()?.string()?,
                Short('n') => args.rounds = cli::positive(&mut parser)?,
                Long("smoke") => {
                    args.files = 500;
                    args.rounds = 3;
                    args.work = Duration::from_millis(20);
                }
                arg => return Err(cli::other(arg, help)),
            }
        }
        Ok(args)
    }
}

/// A file's name, as the kernel and as std take it.
#[derive(Debug)]
pub struct Name {
    /// With its NUL.
    pub c: CString,
    /// The same.
    pub std: String,
}

/// Makes empty files.
///
/// # Errors
/// What making one answered.
pub fn make_files(directory: &Path, count: usize) -> Result<Vec<Name>, Error> {
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

/// A way to stat every file once.
pub struct Contender {
    name: String,
    pass: Box<Pass>,
}

/// Stats every file once.
type Pass = dyn Fn(&[Name]) -> io::Result<()>;

impl Contender {
    /// A way that has a name.
    pub fn new(
        name: impl Into<String>,
        pass: impl Fn(&[Name]) -> io::Result<()> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            pass: Box::new(pass),
        }
    }
}

/// Measures the contenders in turns: nanoseconds per call, and the ratio to the first of them.
///
/// # Errors
/// A stat failed.
pub fn measure(
    title: &str,
    contenders: &[Contender],
    names: &[Name],
    args: &Args,
) -> io::Result<Table> {
    let nanos = values(contenders, names, args)?;
    let first = contenders
        .first()
        .map_or("", |contender| contender.name.as_str());
    let ratio = format!("× {first}");
    let mut table = Table::new(&[title, "ns per call", &ratio]);
    for (contender, values) in contenders.iter().zip(&nanos) {
        table.row(vec![
            contender.name.clone(),
            format!("{:.0}", stats::median(values)),
            report::ratio(Estimate::of_ratios(values, &nanos[0])),
        ]);
    }
    Ok(table)
}

/// One list per contender, one value per round.
fn values(
    contenders: &[Contender],
    names: &[Name],
    &Args { rounds, work, .. }: &Args,
) -> io::Result<Vec<Vec<f64>>> {
    let mut passes = Vec::with_capacity(contenders.len());
    for contender in contenders {
        (contender.pass)(names)?;
        let start = Instant::now();
        (contender.pass)(names)?;
        passes.push(passes_per_round(work, rounds, start.elapsed()));
    }
    let mut nanos = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        for position in 0..contenders.len() {
            let index = (round + position) % contenders.len();
            let start = Instant::now();
            for _ in 0..passes[index] {
                (contenders[index].pass)(names)?;
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
