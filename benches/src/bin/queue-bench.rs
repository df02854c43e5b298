//! Ways to share directories out among threads: what they take with real directories and with none,
//! how often threads touch what others write, and what follows from that for many cores.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use benches::cli::{self, Error};
use benches::machine::Machine;
use benches::queue::files::Files;
use benches::queue::synthetic::Synthetic;
use benches::queue::transfer::Transfer;
use benches::queue::{self, Scheme, Touch, Walked, Work, model};
use benches::report::Table;
use benches::stats;
use benches::tree::Shape;
use benches::turns::{self, Args, Contender, Plan};

const HELP: &str = "\
Usage: queue-bench [OPTIONS]
Measures ways to share directories out among threads and prints Markdown.

  --tree DIR         directory for the tree (default: RINGFS_BENCH_DIR, else TMPDIR/ringfs-bench)
  --scale F          a tree of F × 500,000 entries (default: 1)
  --threads N,N,…    numbers of threads (default: 1,2,4,8)
  --directories N    of the tree that is nowhere (default: 1000000)
  -n N               rounds (default: 7)
  --only TEXT        only the tables with TEXT in their title: names, sizes, nothing, 500 ns,
                     touches, cores
  --smoke            small trees, short: does it work at all?
";

/// What the tables of many cores are made for.
const CORES: [usize; 3] = [8, 64, 256];
/// Nanoseconds of work for a directory of the tree that is nowhere, beside none.
const SOME_WORK: u64 = 500;
/// So near to the deques one queue is to come by batches.
const AS_GOOD: f64 = 0.95;
/// Levels of the tree: a core steals about once for each, and once for each core that steals from it.
const LEVELS: f64 = 10.0;
/// Nanoseconds that a cache line takes to come from a core far away, as machines of many cores have them.
const FAR: f64 = 100.0;
/// Cache lines that come from another core with the lock: its own, the queue, and two of the heap.
const LOCK_TRANSFERS: f64 = 4.0;
/// The counters of ringwalk that lie on one line are written when a directory begins and when it
/// ends, so often in all.
const COUNTER_VISITS: f64 = 2.0;
const COUNTER_ADDS: f64 = 4.0;
/// Cache lines that come from others with one steal.
const STEAL_TRANSFERS: f64 = 6.0;

/// A kind of work, with what there is to find.
struct Field<W> {
    title: String,
    work: W,
    directories: u64,
}

/// What is measured with a kind of work, for each scheme and number of threads: nanoseconds of
/// wall time for each directory, median of the rounds.
type Medians = Vec<Vec<f64>>;

struct Bench {
    args: Args,
    threads: Vec<usize>,
    out: io::Stdout,
}

impl Bench {
    /// Walks with each scheme in turns, for one number of threads after the other.
    fn measure<W: Work + Clone + 'static>(&mut self, field: &Field<W>) -> Result<Medians, Error> {
        let directories = field.directories;
        let plan = Plan {
            rounds: self.args.rounds,
            work: Duration::ZERO,
            calls: usize::try_from(directories)?,
        };
        let mut columns = Vec::new();
        for &threads in &self.threads {
            let contenders = Scheme::ALL.map(|scheme| {
                Contender::new(scheme.to_string(), move |work: &W| {
                    check(queue::run(work, scheme, threads, false)?, directories)
                })
            });
            let values = turns::values(&contenders, &field.work, plan, || Ok(()))?;
            columns.push(values);
        }
        let medians: Medians = (0..Scheme::ALL.len())
            .map(|scheme| {
                let of = |column: &Vec<Vec<f64>>| stats::median(&column[scheme]);
                columns.iter().map(of).collect()
            })
            .collect();
        let mut table = Table::new(&[&field.title]);
        for scheme in Scheme::ALL {
            table.row(vec![scheme.to_string()]);
        }
        for (column, threads) in self.threads.iter().enumerate() {
            let cells = medians.iter().map(|row| format!("{:.0}", row[column]));
            table.column(&format!("ns, T={threads}"), cells);
        }
        for (column, threads) in columns.iter().zip(&self.threads) {
            let base = &column[place(Scheme::AsRingwalk)];
            let cells = column.iter().map(|values| {
                let ratio = stats::Estimate::of_ratios(values, base);
                format!("{:.2} ({:.2}–{:.2})", ratio.median, ratio.low, ratio.high)
            });
            table.column(&format!("ratio, T={threads}"), cells);
        }
        writeln!(self.out, "{table}")?;
        Ok(medians)
    }

    /// Counts what threads touch, in passes of their own.
    fn count<W: Work>(&mut self, field: &Field<W>) -> Result<(), Error> {
        let title = format!("touches per 1,000 directories, {}", field.title);
        if !self.args.wants(&title) {
            return Ok(());
        }
        let names = Touch::ALL.map(|(_, name)| name);
        let heads = [&[title.as_str(), "T"][..], &names[..]].concat();
        let mut table = Table::new(&heads);
        for scheme in Scheme::ALL {
            for &threads in &self.threads {
                let walked = queue::run(&field.work, scheme, threads, true)?;
                check(walked, field.directories)?;
                let mut cells = vec![scheme.to_string(), threads.to_string()];
                cells.extend(Touch::ALL.map(|(touch, _)| per_thousand(walked, touch)));
                table.row(cells);
            }
        }
        Ok(writeln!(self.out, "{table}")?)
    }

    fn both<W: Work + Clone + 'static>(
        &mut self,
        field: &Field<W>,
    ) -> Result<Option<Medians>, Error> {
        let medians = if self.args.wants(&field.title) || self.args.wants("cores") {
            Some(self.measure(field)?)
        } else {
            None
        };
        self.count(field)?;
        Ok(medians)
    }

    fn transfer(&mut self) -> Result<Transfer, Error> {
        let steps = if self.args.smoke { 5_000 } else { 500_000 };
        let transfer = Transfer::measure(steps, self.args.rounds);
        let mut table = Table::new(&["two cores and one line", "ns"]);
        for (what, nanos) in [
            ("a write until the other sees it", transfer.one_way),
            ("fetch_add, alone", transfer.add_alone),
            ("fetch_add, both", transfer.add_shared),
            ("lock and unlock, alone", transfer.lock_alone),
            ("lock and unlock, both", transfer.lock_shared),
        ] {
            table.row(vec![what.to_owned(), format!("{nanos:.1}")]);
        }
        writeln!(self.out, "{table}")?;
        Ok(transfer)
    }

    fn predict(&mut self, costs: &Costs, title: &str, work: f64) -> Result<(), Error> {
        let title = format!("speed-up on many cores, {title}");
        let heads = CORES.map(|cores| format!("{cores} cores"));
        let mut table = Table::new(&[&title, "limit", &heads[0], &heads[1], &heads[2]]);
        let deques = CORES.map(|cores| costs.deques(cores, work));
        let lock = costs.lock * costs.locks;
        for (name, alone, stations) in [
            (
                "heap, as ringwalk",
                costs.ringwalk,
                vec![lock, costs.counters],
            ),
            ("heap, one lock", costs.heap, vec![costs.lock]),
            (
                "deques, and ringwalk's counters",
                costs.ringwalk,
                vec![costs.counters],
            ),
        ] {
            let limit = stations.iter().copied().fold(0.0, f64::max);
            let mut cells = vec![name.to_owned(), format!("{:.0}", (work + alone) / limit)];
            let speed_up = |cores| model::speed_up(cores, work + alone, work, &stations);
            cells.extend(CORES.map(|cores| format!("{:.1}", speed_up(cores))));
            table.row(cells);
        }
        let mut cells = vec!["deques, crossbeam".to_owned(), "none".to_owned()];
        cells.extend(deques.map(|speed_up| format!("{speed_up:.1}")));
        table.row(cells);
        let mut cells = vec![
            "at a time, for one heap to do 95 % of it".to_owned(),
            String::new(),
        ];
        for (cores, deques) in CORES.into_iter().zip(deques) {
            let (alone, cost) = (work + costs.heap, (costs.fixed(), costs.each));
            let batch = model::batch(cores, alone, work, cost, AS_GOOD * deques);
            cells.push(batch.map_or("never".to_owned(), |batch| batch.to_string()));
        }
        table.row(cells);
        Ok(writeln!(self.out, "{table}")?)
    }
}

/// Nanoseconds that sharing takes for each directory.
struct Costs {
    /// By one thread.
    heap: f64,
    ringwalk: f64,
    deques: f64,
    /// A directory's way into the heap and out, in batches.
    each: f64,
    /// While the lock is held that another core has held last: its lines have to come from there.
    lock: f64,
    /// So often ringwalk takes it.
    locks: f64,
    /// While its counters' line is elsewhere.
    counters: f64,
    /// One steal.
    steal: f64,
    /// Directories of the tree.
    directories: f64,
}

impl Costs {
    /// From what a tree without work takes, what a cache line takes to come from another core and
    /// an addition on one that is there, and how many locks ringwalk takes for each directory of a
    /// tree of so many.
    #[allow(clippy::cast_precision_loss)]
    fn of(medians: &Medians, line: f64, add: f64, (locks, directories): (f64, u64)) -> Self {
        let row = |scheme| &medians[place(scheme)];
        let heap = row(Scheme::Heap);
        Self {
            heap: heap[0],
            ringwalk: row(Scheme::AsRingwalk)[0],
            deques: row(Scheme::Deques)[0],
            each: row(Scheme::HeapBatches)[0],
            lock: heap[1].max(heap[0] + LOCK_TRANSFERS * line),
            locks,
            counters: COUNTER_VISITS * line + COUNTER_ADDS * add,
            steal: STEAL_TRANSFERS * line,
            directories: directories as f64,
        }
    }

    /// What taking costs beside what each directory does.
    fn fixed(&self) -> f64 {
        (self.lock - self.each).max(0.0)
    }

    #[allow(clippy::cast_precision_loss)]
    fn deques(&self, cores: usize, work: f64) -> f64 {
        let steals = cores as f64 * LEVELS / self.directories;
        let alone = work + self.deques;
        model::speed_up(cores, alone, alone + steals * self.steal, &[])
    }
}

fn place(scheme: Scheme) -> usize {
    let is_it = |other: &Scheme| *other == scheme;
    Scheme::ALL.iter().position(is_it).unwrap_or(0)
}

fn check(walked: Walked, directories: u64) -> io::Result<()> {
    if walked.directories == directories {
        return Ok(());
    }
    let found = walked.directories;
    Err(io::Error::other(format!(
        "{found} directories walked, not {directories}"
    )))
}

#[allow(clippy::cast_precision_loss)]
fn per_thousand(walked: Walked, touch: Touch) -> String {
    let count = walked.touches[touch] as f64 * 1e3 / walked.directories as f64;
    if count > 0.0 && count < 10.0 {
        format!("{count:.2}")
    } else {
        format!("{count:.0}")
    }
}

fn main() -> ExitCode {
    cli::finish("queue-bench", run())
}

#[allow(clippy::cast_precision_loss)]
fn run() -> Result<(), Error> {
    let defaults = Args {
        rounds: 7,
        ..Args::default()
    };
    let (mut scale, mut threads, mut directories) = (None, vec![1, 2, 4, 8], 1_000_000);
    let mut args = defaults.parse(HELP, |option, parser| {
        match option {
            "scale" => scale = Some(cli::positive(parser)?),
            "threads" => {
                let value = parser.value()?;
                threads = cli::numbers(option, &value.to_string_lossy())?;
            }
            "directories" => directories = cli::positive(parser)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if args.smoke {
        scale.get_or_insert(0.004);
        directories = directories.min(5_000);
        args.rounds = 2;
    }
    if threads.len() < 2 || threads[0] != 1 || threads[1] != 2 {
        return Err("--threads: must begin with 1,2".into());
    }
    args.tree.shape = scale.map_or(args.tree.shape, Shape::scaled);
    let root = args.tree.ensure()?;
    let on_disk = args.tree.shape.directories as u64 + 1;
    let mut bench = Bench {
        args,
        threads,
        out: io::stdout(),
    };
    writeln!(
        bench.out,
        "{}. Tree: {on_disk} directories; the one that is nowhere: {directories}. n = {}; ratios are \
         to \"heap, as ringwalk\", in brackets the interval of the median.\n",
        Machine::of(&root),
        bench.args.rounds,
    )?;
    let transfer = bench.transfer()?;
    let real = |title: &str, sizes| {
        Ok::<_, Error>(Field {
            title: format!("{title}, per directory"),
            work: Files::new(&root, sizes)?,
            directories: on_disk,
        })
    };
    let names = bench.both(&real("names", false)?)?;
    let sizes = bench.both(&real("with sizes", true)?)?;
    let nowhere = |title: String, nanos| Field {
        title,
        work: Synthetic::new(directories, nanos),
        directories,
    };
    let nothing = bench.both(&nowhere("nothing to do, per directory".to_owned(), 0))?;
    let some = format!("{SOME_WORK} ns to do, per directory");
    bench.both(&nowhere(some, SOME_WORK))?;
    if let (Some(names), Some(sizes), Some(nothing)) = (names, sizes, nothing)
        && bench.args.wants("cores")
    {
        let walked = queue::run(&Files::new(&root, false)?, Scheme::AsRingwalk, 1, true)?;
        let locks = walked.touches[Touch::Lock] as f64 / walked.directories as f64;
        // Both threads come back to what they left: with many there is always another in between.
        let line = transfer.one_way.max(transfer.add_shared);
        for (title, medians) in [("names", names), ("with sizes", sizes)] {
            for line in [line, FAR] {
                let costs = Costs::of(&nothing, line, transfer.add_alone, (locks, on_disk));
                // What one thread takes is nearly all work.
                let work = medians[place(Scheme::Deques)][0] - costs.deques;
                bench.predict(&costs, &format!("{title}, {line:.0} ns per line"), work)?;
            }
        }
    }
    Ok(())
}
