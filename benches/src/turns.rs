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
    /// Whether it is only to be seen if all works.
    pub smoke: bool,
}

impl Default for Args {
    /// 20,000 files, 15 rounds, a second of work.
    fn default() -> Self {
        Self {
            tree: TreeArgs::default(),
            files: 20_000,
            rounds: 15,
            work: Duration::from_secs(1),
            only: String::new(),
            smoke: false,
        }
    }
}

impl Args {
    /// Reads the command line, these being the defaults: `--tree DIR`, `--files N`, `-n N`,
    /// `--only TEXT`, `--smoke`. Long options that are none of these are shown to `take`, which
    /// answers whether it knows them.
    ///
    /// # Errors
    /// An argument is none of these, or `--help`; and those of `take`.
    pub fn parse(
        self,
        help: &str,
        mut take: impl FnMut(&str, &mut lexopt::Parser) -> Result<bool, Error>,
    ) -> Result<Self, Error> {
        let mut args = self;
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            let option = match arg {
                Short('n') => {
                    args.rounds = cli::positive(&mut parser)?;
                    continue;
                }
                Long(option) => option.to_owned(),
                arg => return Err(cli::other(arg, help)),
            };
            match option.as_str() {
                "tree" => args.tree.directory = parser.value()?.into(),
                "files" => args.files = cli::positive(&mut parser)?,
                "only" => args.only = parser.value()?.string()?,
                "smoke" => {
                    args.files = 500;
                    args.rounds = 3;
                    args.work = Duration::from_millis(20);
                    args.smoke = true;
                }
                _ if take(&option, &mut parser)? => {}
                _ => return Err(cli::other(Long(&option), help)),
            }
        }
        Ok(args)
    }

    /// Whether a table with this title is wanted.
    pub fn wants(&self, title: &str) -> bool {
        title.contains(&self.only)
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

/// A way to do the work once, such as to stat every file. `T` is what all contenders are given.
pub struct Contender<T: ?Sized = [Name]> {
    name: String,
    pass: Box<Pass<T>>,
}

/// Does the work once.
type Pass<T> = dyn Fn(&T) -> io::Result<()>;

impl<T: ?Sized> Contender<T> {
    /// A way that has a name.
    pub fn new(name: impl Into<String>, pass: impl Fn(&T) -> io::Result<()> + 'static) -> Self {
        Self {
            name: name.into(),
            pass: Box::new(pass),
        }
    }

    /// What tables call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Does the work once.
    ///
    /// # Errors
    /// A call failed.
    pub fn pass(&self, input: &T) -> io::Result<()> {
        (self.pass)(input)
    }
}

/// How long contenders work, and how they are told apart from what happens between.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Values per contender.
    pub rounds: usize,
    /// How long each is to work in all. If it is zero, once in each round.
    pub work: Duration,
    /// By how much a pass is divided: calls, or entries.
    pub calls: usize,
}

impl Plan {
    /// What the command line says, for so many calls in each pass.
    pub fn new(args: &Args, calls: usize) -> Self {
        Self {
            rounds: args.rounds,
            work: args.work,
            calls,
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
    let plan = Plan::new(args, names.len());
    let nanos = values(contenders, names, plan, || Ok(()))?;
    Ok(table(title, PER_CALL, contenders, &nanos, 0))
}

/// Head of the column of values, and by how much nanoseconds are divided.
pub type Unit = (&'static str, f64);

/// Nanoseconds per call, as they are measured.
pub const PER_CALL: Unit = ("ns per call", 1.0);

/// What has been measured: medians, and the ratio to the contender with the index `base`.
pub fn table<T: ?Sized>(
    title: &str,
    (head, nanos): Unit,
    contenders: &[Contender<T>],
    values: &[Vec<f64>],
    base: usize,
) -> Table {
    let ratio = format!("× {}", contenders[base].name);
    let mut table = Table::new(&[title, head, &ratio]);
    for (contender, own) in contenders.iter().zip(values) {
        let median = stats::median(own) / nanos;
        table.row(vec![
            contender.name.clone(),
            if median < 100.0 && nanos > 1.0 {
                format!("{median:.1}")
            } else {
                format!("{median:.0}")
            },
            report::ratio(Estimate::of_ratios(own, &values[base])),
        ]);
    }
    table
}

/// The contender with the lowest median, such as the best floor of several.
pub fn fastest(values: &[Vec<f64>]) -> usize {
    let medians: Vec<f64> = values.iter().map(|own| stats::median(own)).collect();
    let order = |&a: &usize, &b: &usize| medians[a].total_cmp(&medians[b]);
    (0..values.len()).min_by(order).unwrap_or(0)
}

/// One list per contender, one value per round: nanoseconds per call.
///
/// `before` is called before each pass, and not measured.
///
/// # Errors
/// A pass failed, or what comes before one.
pub fn values<T: ?Sized>(
    contenders: &[Contender<T>],
    input: &T,
    plan: Plan,
    mut before: impl FnMut() -> io::Result<()>,
) -> io::Result<Vec<Vec<f64>>> {
    let mut pass = |contender: &Contender<T>| {
        before()?;
        let start = Instant::now();
        contender.pass(input)?;
        Ok::<_, io::Error>(start.elapsed())
    };
    let mut passes = Vec::with_capacity(contenders.len());
    for contender in contenders {
        let mut took = pass(contender)?;
        if !plan.work.is_zero() {
            // The first warms up.
            took = pass(contender)?;
        }
        passes.push(passes_per_round(plan.work, plan.rounds, took));
    }
    let mut nanos = vec![Vec::with_capacity(plan.rounds); contenders.len()];
    for round in 0..plan.rounds {
        for position in 0..contenders.len() {
            let index = (round + position) % contenders.len();
            let mut elapsed = Duration::ZERO;
            for _ in 0..passes[index] {
                elapsed += pass(&contenders[index])?;
            }
            nanos[index].push(per_call(elapsed, passes[index], plan.calls));
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
fn per_call(elapsed: Duration, passes: u32, calls: usize) -> f64 {
    elapsed.as_secs_f64() * 1e9 / f64::from(passes) / calls as f64
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn what_comes_before_a_pass_is_not_measured() {
        let (calls, before) = (Rc::new(Cell::new(0)), Cell::new(0));
        let counted = Rc::clone(&calls);
        let contender = Contender::new("sleeps", move |&time: &Duration| {
            counted.set(counted.get() + 1);
            std::thread::sleep(time);
            Ok(())
        });
        let plan = Plan {
            rounds: 3,
            work: Duration::ZERO,
            calls: 10,
        };
        let millisecond = Duration::from_millis(1);
        let values = values(&[contender], &millisecond, plan, || {
            before.set(before.get() + 1);
            std::thread::sleep(20 * millisecond);
            Ok(())
        })
        .unwrap();
        assert_eq!((calls.get(), before.get(), values[0].len()), (4, 4, 3));
        let fastest = values[0].iter().copied().fold(f64::INFINITY, f64::min);
        assert!((1e5..1e6).contains(&fastest), "{fastest}");
    }

    #[test]
    fn short_passes_are_repeated() {
        let ms = Duration::from_millis;
        assert_eq!(passes_per_round(ms(1_000), 10, ms(10)), 11);
        assert_eq!(passes_per_round(Duration::ZERO, 10, ms(10)), 1);
    }
}
