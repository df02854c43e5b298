//! Whole walks by our walker, by other libraries and by bare threads, in turns: of a warm tree and a
//! cold one, of slow ones, and beside one that does not answer.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use benches::cli::{self, Error};
use benches::machine::Machine;
use benches::report::{self, Table};
use benches::slow::{Scenario, Slow};
use benches::stats;
use benches::tree::Shape;
use benches::turns::{self, Args, Contender, Plan};
use benches::walk::cold::Caches;
use benches::walk::hung::Hung;
use benches::walk::slow_tree::{self, SlowTree};
use benches::walk::{self, Job, Truth, Way, peak};
use lexopt::ValueExt;
use testkit::Skip;
use testkit::fuse::remote;

const HELP: &str = "\
Usage: walk-bench [OPTIONS]
Measures whole walks and prints Markdown. Slow and hung trees, and cold caches, need root.

  --tree DIR    directory for the tree (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --scale F     a tree of F × 500,000 entries (default: 1)
  --files N     files of the one large directory (default: 8000)
  -n N          rounds (default: 15; slow trees have at most 7, cold ones 3)
  --only TEXT   only the tables with TEXT in their title: warm, names, with sizes, per answer,
                one directory, hung, cold
  --smoke       small trees, few threads, short: does it work at all?
";

/// So many bare threads are the floor of a warm walk, and of a cold one; the best counts.
const WARM: [usize; 4] = [1, 2, 4, 8];
const COLD: [usize; 5] = [1, 4, 16, 64, 256];

/// The most rounds of slow walks and of cold ones.
const SLOW_ROUNDS: usize = 7;
const COLD_ROUNDS: usize = 3;

/// Who has not found all beside hung directories by then is taken not to do it.
const LIMIT: Duration = Duration::from_secs(2);

const MILLISECONDS: turns::Unit = ("ms", 1e6);

/// Who is measured for a table.
struct Field {
    contenders: Vec<Contender<Job>>,
    /// So many, the first, are the floor.
    floors: usize,
    /// So many, the last, take too long for turns: they are measured once, after the others.
    once: usize,
}

impl Field {
    fn new(floors: usize, in_turns: &[Way], once: &[Way]) -> Self {
        Self {
            contenders: in_turns.iter().chain(once).map(Way::contender).collect(),
            floors,
            once: once.len(),
        }
    }
}

/// Those of a warm walk, and who takes too long for turns.
fn warm_ways() -> Result<(Vec<Way>, Vec<Way>), Error> {
    let cores = std::thread::available_parallelism()?.get();
    let mut ways: Vec<_> = WARM.map(walk::bare).into();
    ways.extend([
        walk::visitor(),
        walk::stream(),
        walk::batches(),
        walk::visitor_in_order(),
        walk::stream_in_order(),
        walk::walkdir(),
        walk::jwalk(None)?,
        walk::ignore(None),
        walk::ignore(Some(cores)),
        walk::one_by_one()?,
        walk::at_once(64)?,
    ]);
    Ok((ways, vec![walk::async_walkdir()]))
}

/// Has them walk in so many rounds.
fn measure(
    title: &str,
    job: &Job,
    field: &Field,
    rounds: usize,
    mut before: impl FnMut() -> io::Result<()>,
) -> io::Result<Table> {
    let plan = Plan {
        rounds,
        work: Duration::ZERO,
        calls: 1,
    };
    let contenders = &field.contenders[..];
    let (in_turns, once) = contenders.split_at(contenders.len() - field.once);
    let mut nanos = turns::values(in_turns, job, plan, &mut before)?;
    for contender in once {
        before()?;
        let start = Instant::now();
        contender.pass(job)?;
        nanos.push(vec![start.elapsed().as_secs_f64() * 1e9]);
    }
    let base = turns::fastest(&nanos[..field.floors]);
    let mut table = turns::table(title, MILLISECONDS, contenders, &nanos, base);
    let cpu = contenders.iter().map(|contender| {
        let passes = job.cpu_seconds(contender.name());
        format!("{:.1}", stats::median(&passes) * 1e3)
    });
    table.column("user+sys ms", cpu);
    Ok(table)
}

/// What the report is made of.
struct Bench {
    args: Args,
    out: io::Stdout,
    /// So many threads are to wait for a slow server; for each program the best counts.
    many: &'static [usize],
}

impl Bench {
    fn new(args: Args) -> Self {
        Self {
            many: if args.smoke { &[16] } else { &[64, 256] },
            args,
            out: io::stdout(),
        }
    }

    fn show(&mut self, table: &Table, rounds: usize, once: &[Contender<Job>]) -> io::Result<()> {
        writeln!(self.out, "{table}\n{}", report::intervals(rounds))?;
        for contender in once {
            writeln!(self.out, "{}: n = 1.", contender.name())?;
        }
        writeln!(self.out)
    }

    fn skipped(&mut self, what: &str, why: &Skip) -> Result<(), Error> {
        Ok(writeln!(self.out, "{what}: {why}\n")?)
    }

    fn warm(&mut self, root: &Path, truth: Truth) -> Result<(), Error> {
        let titles = [("names, warm", false), ("with sizes, warm", true)];
        let wanted: Vec<_> = titles
            .into_iter()
            .filter(|(title, _)| self.args.wants(title))
            .collect();
        let (in_turns, once) = warm_ways()?;
        let all = [&in_turns[..], &once[..]].concat();
        // First of all: a child begins with the peak of its parent, which will grow.
        let growth = wanted
            .iter()
            .map(|&(_, sizes)| peak::growth(&all, root, sizes))
            .collect::<io::Result<Vec<_>>>()?;
        let field = Field::new(WARM.len(), &in_turns, &once);
        for ((title, sizes), growth) in wanted.into_iter().zip(growth) {
            let job = Job::new(root.to_owned(), sizes, truth);
            let rounds = self.args.rounds;
            let mut table = measure(title, &job, &field, rounds, || Ok(()))?;
            let cells = growth.iter().map(|&kib| report::megabytes(kib));
            table.column("peak growth MB", cells.map(|mb| format!("{mb:.1}")));
            self.show(&table, rounds, &field.contenders[in_turns.len()..])?;
        }
        Ok(())
    }

    fn slow(&mut self) -> Result<(), Error> {
        let millisecond = Duration::from_millis(1);
        let plain = Scenario::of(millisecond);
        let mut scenarios = vec![
            plain,
            Scenario::of(10 * millisecond),
            Scenario { width: 16, ..plain },
            Scenario { width: 64, ..plain },
        ];
        let mut shape = slow_tree::Shape {
            directories: 100,
            files: 29,
        };
        if self.args.smoke {
            scenarios.remove(1);
            scenarios.truncate(2);
            shape.directories = 12;
            shape.files = 3;
        }
        let tables = scenarios.into_iter().flat_map(|scenario| {
            [("names", false), ("with sizes", true)].map(|(what, sizes)| {
                let (entries, slow) = (shape.entries(), scenario.title());
                (
                    format!("{entries} entries, {what}, {slow}"),
                    scenario,
                    sizes,
                )
            })
        });
        let wanted: Vec<_> = tables
            .filter(|(title, ..)| self.args.wants(title))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let mut tree = match SlowTree::new(shape) {
            Ok(tree) => tree,
            Err(skip) => return self.skipped("slow trees", &skip),
        };
        let (root, truth) = (tree.path().to_owned(), Truth::of(tree.path())?);
        let many = self.many.iter().copied();
        let mut in_turns: Vec<_> = many.clone().map(walk::bare).collect();
        in_turns.extend([walk::visitor(), walk::stream()]);
        in_turns.extend(many.clone().map(|threads| walk::ignore(Some(threads))));
        for threads in many {
            in_turns.push(walk::jwalk(Some(threads))?);
        }
        in_turns.push(walk::at_once(64)?);
        let field = Field::new(self.many.len(), &in_turns, &[walk::walkdir()]);
        let rounds = self.args.rounds.min(SLOW_ROUNDS);
        for (title, scenario, sizes) in wanted {
            tree.set(scenario)?;
            let job = Job::new(root.clone(), sizes, truth);
            let mut asked = 0;
            let mut table = measure(&title, &job, &field, rounds, || {
                tree.forget()?;
                asked = tree.requests()?;
                Ok(())
            })?;
            let requests_of_walkdir = tree.requests()? - asked;
            // Only ours: each costs one more cold pass.
            let ours = [walk::visitor(), walk::stream()];
            let mut cells = vec![String::new(); field.contenders.len()];
            for way in &ours {
                tree.forget()?;
                let growth = peak::growth(std::slice::from_ref(way), &root, sizes)?;
                let at = field.contenders.iter().position(|it| it.name() == way.name);
                if let (Some(at), Some(&kib)) = (at, growth.first()) {
                    cells[at] = format!("{:.1}", report::megabytes(kib));
                }
            }
            table.column("peak growth MB", cells);
            self.show(&table, rounds, &field.contenders[in_turns.len()..])?;
            writeln!(
                self.out,
                "walkdir's pass was {requests_of_walkdir} requests.\n"
            )?;
        }
        Ok(())
    }

    fn one_directory(&mut self) -> Result<(), Error> {
        let scenario = Scenario::of(Duration::from_millis(1));
        let (files, slow) = (self.args.files, scenario.title());
        let title = format!("one directory of {files}, with sizes, {slow}");
        if !self.args.wants(&title) {
            return Ok(());
        }
        let mut slow = match Slow::new(files) {
            Ok(slow) => slow,
            Err(skip) => return self.skipped(&title, &skip),
        };
        let mut ways = vec![
            walk::bare_in_one_directory(400),
            walk::visitor(),
            walk::stream(),
            walk::stats_at_once(512)?,
        ];
        let many = self.many.iter().copied();
        ways.extend(many.map(|threads| walk::ignore(Some(threads))));
        let field = Field::new(1, &ways, &[]);
        let job = Job::new(slow.directory(), true, Truth::of(&slow.directory())?);
        slow.set(scenario)?;
        let rounds = self.args.rounds.min(SLOW_ROUNDS);
        let table = measure(&title, &job, &field, rounds, || slow.forget())?;
        self.show(&table, rounds, &[])?;
        let (fewest, most) = slow.asked()?;
        writeln!(self.out, "A pass was {fewest} to {most} requests.\n")?;
        Ok(())
    }

    fn hung(&mut self, tree: &Path, truth: Truth) -> Result<(), Error> {
        let entries = truth.tally.entries;
        let title = format!("{entries} warm entries beside two hung directories");
        if !self.args.wants(&title) {
            return Ok(());
        }
        let hung = match Hung::new() {
            Ok(hung) => hung,
            Err(skip) => return self.skipped(&title, &skip),
        };
        let ways = [
            walk::visitor(),
            walk::stream(),
            walk::ignore(None),
            walk::jwalk(None)?,
        ];
        let rounds = self.args.rounds;
        let limit = if self.args.smoke { LIMIT / 4 } else { LIMIT };
        let table = hung.table(&title, &ways, (tree, truth), rounds, limit)?;
        Ok(self.show(&table, rounds, &[])?)
    }

    fn cold(&mut self, root: &Path, truth: Truth) -> Result<(), Error> {
        let floors = if self.args.smoke { &[16] } else { &COLD[..] };
        let mut ways: Vec<_> = floors.iter().copied().map(walk::bare).collect();
        ways.extend([walk::visitor(), walk::ignore(Some(64))]);
        let field = Field::new(floors.len(), &ways, &[]);
        for (title, sizes) in [("names, cold", false), ("with sizes, cold", true)] {
            if !self.args.wants(title) {
                continue;
            }
            let caches = match Caches::new() {
                Ok(caches) => caches,
                Err(skip) => return self.skipped(title, &skip),
            };
            let job = Job::new(root.to_owned(), sizes, truth);
            let rounds = self.args.rounds.min(COLD_ROUNDS);
            let table = measure(title, &job, &field, rounds, || caches.drop_all())?;
            self.show(&table, rounds, &[])?;
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    if let Some(exit) = remote::serve_if_child().or_else(slow_tree::serve_if_child) {
        return exit;
    }
    cli::finish("walk-bench", run())
}

fn run() -> Result<(), Error> {
    let defaults = Args {
        files: 8_000,
        ..Args::default()
    };
    let (mut scale, mut alone) = (None, None);
    let mut args = defaults.parse(HELP, |option, parser| {
        match option {
            "scale" => scale = Some(cli::positive(parser)?),
            peak::OPTION => {
                let (name, what) = (parser.value()?.string()?, parser.value()?.string()?);
                alone = Some((name, what, parser.value()?));
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if let Some((name, what, root)) = alone {
        let (in_turns, once) = warm_ways()?;
        return peak::walk_alone(&[in_turns, once].concat(), &name, &what, root);
    }
    if args.smoke {
        scale.get_or_insert(0.004);
        args.rounds = 2;
        // Some contenders stat them one after the other.
        args.files = 80;
    }
    args.tree.shape = scale.map_or(args.tree.shape, Shape::scaled);
    let root = args.tree.ensure()?;
    let truth = Truth::of(&root)?;
    let mut bench = Bench::new(args);
    writeln!(
        bench.out,
        "{}. Tree: {} entries.\n",
        Machine::of(&root),
        truth.tally.entries
    )?;
    bench.warm(&root, truth)?;
    bench.slow()?;
    bench.one_directory()?;
    bench.hung(&root, truth)?;
    bench.cold(&root, truth)
}
