//! Ways to walk whole trees, and what each of them has to find there.

mod bare;
mod board;
pub mod cold;
pub mod hung;
mod ours;
pub mod peak;
mod rivals;
pub mod slow_tree;
mod tokio_fs;
mod truth;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use self::board::{Board, Slot, Tally};
pub use self::truth::Truth;
pub use self::{bare::one_directory as bare_in_one_directory, bare::threads as bare};
pub use self::{ours::batches, ours::stream, ours::stream_in_order};
pub use self::{ours::visitor, ours::visitor_in_order};
pub use self::{rivals::async_walkdir, rivals::ignore, rivals::jwalk, rivals::walkdir};
pub use self::{tokio_fs::at_once, tokio_fs::one_by_one, tokio_fs::stats_at_once};

use crate::sys;
use crate::turns::Contender;

/// What is to be walked, and where it is counted.
#[derive(Debug, Clone)]
pub struct Order {
    /// The trees. What is counted are the entries below them.
    pub roots: Vec<PathBuf>,
    /// Whether the size of each regular file is to be asked for.
    pub sizes: bool,
    /// Counts what is found.
    pub board: Arc<Board>,
}

impl Order {
    /// With an empty board.
    pub fn new(roots: Vec<PathBuf>, sizes: bool) -> Self {
        Self {
            roots,
            sizes,
            board: Arc::default(),
        }
    }
}

/// How much of what there is a way tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// All of it.
    All,
    /// The names, even where it asks for sizes.
    Names,
    /// How many entries there are, or how many large files where it asks for sizes: what the floor
    /// prints.
    Lines,
}

type Walk = dyn Fn(&Order) -> io::Result<()> + Send + Sync;

/// A way to walk.
#[derive(Clone)]
pub struct Way {
    /// What tables call it.
    pub name: String,
    /// What its board shows afterwards.
    pub tells: Tells,
    walk: Arc<Walk>,
}

impl Way {
    /// A way that has a name and tells all.
    pub fn new(
        name: impl Into<String>,
        walk: impl Fn(&Order) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            tells: Tells::All,
            walk: Arc::new(walk),
        }
    }

    /// The same, telling only so much.
    #[must_use]
    pub fn telling(mut self, tells: Tells) -> Self {
        self.tells = tells;
        self
    }

    /// Walks once. What was found is on the order's board.
    ///
    /// # Errors
    /// Something could not be read or looked at.
    pub fn walk(&self, order: &Order) -> io::Result<()> {
        (self.walk)(order)?;
        order.board.failure().map_or(Ok(()), Err)
    }

    /// The same as a contender: who finds something else than there is has failed.
    pub fn contender(&self) -> Contender<Job> {
        let way = self.clone();
        Contender::new(&self.name, move |job: &Job| job.pass(&way))
    }
}

/// One tree as it is given to contenders.
#[derive(Debug)]
pub struct Job {
    /// Its root.
    pub root: PathBuf,
    /// Whether sizes are to be asked for.
    pub sizes: bool,
    /// What is in it.
    pub truth: Truth,
    /// User and system time of each pass of each contender.
    cpu: RefCell<BTreeMap<String, Vec<Duration>>>,
}

impl Job {
    /// To walk this tree.
    pub fn new(root: PathBuf, sizes: bool, truth: Truth) -> Self {
        Self {
            root,
            sizes,
            truth,
            cpu: RefCell::default(),
        }
    }

    fn pass(&self, way: &Way) -> io::Result<()> {
        let order = Order::new(vec![self.root.clone()], self.sizes);
        let before = sys::cpu_time()?;
        way.walk(&order)
            .map_err(|error| io::Error::other(format!("{}: {error}", way.name)))?;
        let cpu = sys::cpu_time()?.saturating_sub(before);
        let mut passes = self.cpu.borrow_mut();
        passes.entry(way.name.clone()).or_default().push(cpu);
        self.truth.check(way, &order)
    }

    /// User and system time of each pass that the contender of that name has done, in seconds.
    pub fn cpu_seconds(&self, name: &str) -> Vec<f64> {
        let passes = self.cpu.borrow();
        let passes = passes.get(name).map_or(&[][..], Vec::as_slice);
        passes.iter().map(Duration::as_secs_f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tree::{self, Shape};

    fn all() -> Vec<Way> {
        let mut ways = vec![
            bare(1),
            bare(3),
            bare_in_one_directory(2),
            visitor(),
            stream(),
            batches(),
            visitor_in_order(),
            stream_in_order(),
            walkdir(),
            async_walkdir(),
            jwalk(None).unwrap(),
            jwalk(Some(3)).unwrap(),
            ignore(None),
            ignore(Some(3)),
            one_by_one().unwrap(),
            at_once(4).unwrap(),
            stats_at_once(4).unwrap(),
        ];
        ways.sort_by(|a, b| a.name.cmp(&b.name));
        ways
    }

    #[test]
    fn names_are_told_apart() {
        let ways = all();
        let names: Vec<_> = ways.iter().map(|way| &way.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }

    /// And each notices that there is one less.
    #[test]
    fn every_way_finds_all() {
        let dir = tempfile::tempdir().unwrap();
        tree::make(dir.path(), Shape::scaled(0.002)).unwrap();
        let flat = tempfile::tempdir().unwrap();
        fs::write(flat.path().join("one"), "some text").unwrap();
        fs::write(flat.path().join("other"), "more").unwrap();
        for sizes in [false, true] {
            for way in all() {
                let of_one_directory = [bare_in_one_directory(2), stats_at_once(4).unwrap()];
                let flat_only = of_one_directory.iter().any(|own| own.name == way.name);
                let root = if flat_only { flat.path() } else { dir.path() };
                let mut truth = Truth::of(root).unwrap();
                assert!(truth.tally.entries > 1);
                let job = Job::new(root.to_owned(), sizes, truth);
                way.contender().pass(&job).unwrap();
                assert_eq!(job.cpu_seconds(&way.name).len(), 1);
                truth.tally.entries += 1;
                truth.large += 1;
                let job = Job::new(root.to_owned(), sizes, truth);
                let error = way.contender().pass(&job).unwrap_err().to_string();
                assert!(error.starts_with(&way.name), "{error}");
            }
        }
    }

    #[test]
    fn who_cannot_read_says_so() {
        for way in all() {
            let order = Order::new(vec!["/no/such".into()], false);
            assert!(way.walk(&order).is_err(), "{}", way.name);
        }
    }
}
