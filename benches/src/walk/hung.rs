//! How long a walk takes to find what can be found, beside directories that do not answer.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use testkit::Skip;
use testkit::fuse::Fuse;

use super::{Order, Truth, Way};
use crate::report::{self, Table};
use crate::stats::{self, Estimate};

/// How often it is looked whether all has been found.
const LOOK: Duration = Duration::from_micros(100);

/// Two empty directories, each the root of a file system whose server does not answer.
#[derive(Debug)]
pub struct Hung([Fuse; 2]);

impl Hung {
    /// Mounts them.
    ///
    /// # Errors
    /// No root, or no FUSE.
    pub fn new() -> Result<Self, Skip> {
        Ok(Self([Fuse::new(0)?, Fuse::new(0)?]))
    }

    fn roots(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().map(|fuse| fuse.path().to_owned())
    }

    fn hang(&self) {
        self.0.iter().for_each(Fuse::hang);
    }

    fn release(&self) {
        self.0.iter().for_each(Fuse::release);
    }

    /// The time until each way has found what is in the tree, alone and with these as roots before
    /// it, and the ratio of the two. Who needs more than `limit` is not asked again.
    ///
    /// # Errors
    /// A walk failed, or did not find all of the tree alone.
    pub fn table(
        &self,
        title: &str,
        ways: &[Way],
        (tree, truth): (&Path, Truth),
        rounds: usize,
        limit: Duration,
    ) -> io::Result<Table> {
        let alone = [tree.to_owned()];
        let beside: Vec<_> = self.roots().chain(alone.clone()).collect();
        let entries = truth.tally.entries;
        let mut times = vec![(Vec::new(), Vec::new()); ways.len()];
        for round in 0..rounds {
            for position in 0..ways.len() {
                let index = (round + position) % ways.len();
                let (way, own) = (&ways[index], &mut times[index]);
                if own.1.len() < round {
                    // It has not done it before.
                    continue;
                }
                let took = self.until_found(way, &alone, entries, limit)?;
                let Some(took) = took else {
                    let text = format!("{}: {entries} entries not found in {limit:?}", way.name);
                    return Err(io::Error::other(text));
                };
                own.0.push(took.as_secs_f64());
                self.hang();
                let took = self.until_found(way, &beside, entries, limit);
                self.release();
                own.1.extend(took?.map(|took| took.as_secs_f64()));
            }
        }
        let mut table = Table::new(&[title, "alone, ms", "beside them, ms", "ratio"]);
        for (way, (alone, beside)) in ways.iter().zip(&times) {
            let millis = |values| format!("{:.1}", stats::median(values) * 1e3);
            let (time, ratio) = if beside.len() == rounds {
                let ratio = Estimate::of_ratios(beside, alone);
                (millis(beside), report::ratio(ratio))
            } else {
                (format!("not within {limit:?}"), String::new())
            };
            table.row(vec![way.name.clone(), millis(alone), time, ratio]);
        }
        Ok(table)
    }

    /// The time until so many entries have been found, if that happens. It ends when the walk does,
    /// for which the directories have to answer.
    fn until_found(
        &self,
        way: &Way,
        roots: &[PathBuf],
        entries: u64,
        limit: Duration,
    ) -> io::Result<Option<Duration>> {
        let order = Order::new(roots.to_vec(), false);
        let start = Instant::now();
        thread::scope(|scope| {
            let walk = scope.spawn(|| way.walk(&order));
            let found = loop {
                // Asked first, or the last entries could come in between.
                let ended = walk.is_finished();
                if order.board.total().entries >= entries {
                    break Some(start.elapsed());
                }
                if ended || start.elapsed() >= limit {
                    break None;
                }
                thread::sleep(LOOK);
            };
            self.release();
            let walked = walk.join();
            walked.unwrap_or_else(|_| Err(io::Error::other("a walk panicked")))?;
            Ok(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{visitor, walkdir};

    #[test]
    fn who_walks_one_root_after_the_other_does_not_get_there() {
        let hung = match Hung::new() {
            Ok(hung) => hung,
            Err(skip) => return skip.report(),
        };
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("file"), "").unwrap();
        let truth = Truth::of(tree.path()).unwrap();
        let ways = [walkdir(), visitor()];
        let table = hung
            .table(
                "beside two",
                &ways,
                (tree.path(), truth),
                1,
                Duration::from_secs(2),
            )
            .unwrap()
            .to_string();
        let row = |name: &str| table.lines().find(|line| line.contains(name)).unwrap();
        assert!(row("walkdir").contains("not within 2s"), "{table}");
        assert!(!row("ringwalk").contains("not within"), "{table}");
    }
}
