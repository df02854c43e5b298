//! Walks, and what they are compared with.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use ringwalk::{
    Backend, Entry, EntryRef, Error, Order, OrderedVisitor, ParallelVisitor, SerialVisitor,
    StatxMask, Visit, Walk,
};
use testkit::oracle::Case;

use crate::block_on;

/// A tree's paths as std finds them, the root's first of all, sorted.
///
/// # Panics
/// A directory cannot be read.
pub fn std_paths(root: &Path) -> Vec<PathBuf> {
    let mut paths = vec![root.to_owned()];
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("a directory") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("its type").is_dir() {
                dirs.push(entry.path());
            }
            paths.push(entry.path());
        }
    }
    paths.sort();
    paths
}

/// The paths that find(1) prints, in its order, with arguments after the root.
///
/// # Panics
/// find cannot be run.
pub fn found(root: &Path, args: &[&str]) -> Vec<PathBuf> {
    found_with(&[], root, args)
}

/// As [`found`], with options before the root, such as `-L`.
///
/// # Panics
/// find cannot be run.
pub fn found_with(options: &[&str], root: &Path, args: &[&str]) -> Vec<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let root = root.to_str().expect("a plain name");
    let args = [options, &[root], args, &["-print0"]].concat();
    let answer = Case::new("/", args).run_find().expect("a find");
    let paths = answer.stdout.split(|&byte| byte == 0);
    paths
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path)))
        .collect()
}

/// A walk by every back end with every parallelism.
pub fn every_way(walk: &Walk) -> impl Iterator<Item = Walk> {
    let backends = [Backend::Auto, Backend::Ring, Backend::Threads];
    backends.into_iter().flat_map(move |backend| {
        let driver = crate::driver(backend);
        [None, Some(1), Some(2), Some(8)].map(|most| {
            let walk = walk.clone().driver(driver.clone());
            match most.and_then(std::num::NonZeroUsize::new) {
                Some(most) => walk.parallelism(most),
                None => walk,
            }
        })
    })
}

/// As [`every_way`], in either order.
pub fn every_order(walk: &Walk) -> impl Iterator<Item = Walk> {
    let orders = [Order::Any, Order::PreOrder].map(|order| walk.clone().order(order));
    orders
        .into_iter()
        .flat_map(|walk| every_way(&walk).collect::<Vec<_>>())
}

/// All that the stream of a walk gives.
pub fn items(walk: Walk) -> Vec<Result<Entry, Error>> {
    block_on(walk.into_stream().collect())
}

/// The paths and errors of a walk, in the order of the stream.
pub fn streamed(walk: Walk) -> (Vec<PathBuf>, Vec<Error>) {
    let (mut paths, mut errors) = (Vec::new(), Vec::new());
    for item in items(walk) {
        match item {
            Ok(entry) => paths.push(entry.into_path()),
            Err(error) => errors.push(error),
        }
    }
    (paths, errors)
}

/// The paths and errors of a walk that visits in order.
pub fn in_order(walk: Walk) -> (Vec<PathBuf>, Vec<Error>) {
    in_order_until(walk, |_| Visit::Continue)
}

/// The paths and errors of a walk that visits one entry after the other; `decide` says how to go on.
///
/// # Panics
/// The walk takes longer than [`LIMIT`](crate::LIMIT).
pub fn one_by_one(
    walk: Walk,
    decide: impl FnMut(&EntryRef<'_>) -> Visit,
) -> (Vec<PathBuf>, Vec<Error>) {
    struct Serial<F>(F, Vec<PathBuf>, Vec<Error>);
    impl<F: FnMut(&EntryRef<'_>) -> Visit> SerialVisitor for Serial<F> {
        fn visit(&mut self, entry: &EntryRef<'_>) -> Visit {
            self.1.push(entry.path());
            (self.0)(entry)
        }

        fn error(&mut self, error: &Error) -> Visit {
            self.2.push(error.clone());
            Visit::Continue
        }
    }
    let _deadline = testkit::deadline(crate::LIMIT);
    let mut serial = Serial(decide, Vec::new(), Vec::new());
    walk.visit_one_by_one(&mut serial);
    (serial.1, serial.2)
}

/// As [`in_order`]; `decide` says how to go on after each entry.
///
/// # Panics
/// The walk takes longer than [`LIMIT`](crate::LIMIT).
pub fn in_order_until(
    walk: Walk,
    decide: impl Fn(&EntryRef<'_>) -> Visit + Send + Sync + 'static,
) -> (Vec<PathBuf>, Vec<Error>) {
    let _deadline = testkit::deadline(crate::LIMIT);
    let collector = Arc::new(Collector {
        decide,
        items: Mutex::default(),
    });
    walk.order(Order::PreOrder)
        .visit_in_order(Arc::clone(&collector));
    let mut items = collector
        .items
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut items)
}

/// The paths and errors of a walk on visitors of each thread, sorted.
///
/// # Panics
/// The walk takes longer than [`LIMIT`](crate::LIMIT).
pub fn in_parallel(walk: Walk) -> (Vec<PathBuf>, Vec<Error>) {
    struct Visitor(Arc<Mutex<Items>>);
    impl ParallelVisitor for Visitor {
        fn visit(&mut self, entry: Result<&EntryRef<'_>, &Error>) -> Visit {
            let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match entry {
                Ok(entry) => items.0.push(entry.path()),
                Err(error) => items.1.push(error.clone()),
            }
            Visit::Continue
        }
    }
    let _deadline = testkit::deadline(crate::LIMIT);
    let items = Arc::new(Mutex::new(Items::default()));
    let shared = Arc::clone(&items);
    walk.visit_parallel(move || Visitor(Arc::clone(&shared)));
    let mut items = std::mem::take(&mut *items.lock().unwrap_or_else(PoisonError::into_inner));
    items.0.sort();
    items
}

type Items = (Vec<PathBuf>, Vec<Error>);

struct Collector<F> {
    decide: F,
    items: Mutex<Items>,
}

impl<F: Fn(&EntryRef<'_>) -> Visit + Send + Sync + 'static> OrderedVisitor for Collector<F> {
    type Segment = Items;

    fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
        StatxMask::empty()
    }

    fn visit(&self, entry: &EntryRef<'_>, out: &mut Items) -> Visit {
        out.0.push(entry.path());
        (self.decide)(entry)
    }

    fn error(&self, error: &Error, out: &mut Items) -> Visit {
        out.1.push(error.clone());
        Visit::Continue
    }

    fn weight(&self, out: &Items) -> usize {
        200 * (out.0.len() + out.1.len())
    }

    fn emit(&self, out: Items) -> Visit {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items.0.extend(out.0);
        items.1.extend(out.1);
        Visit::Continue
    }
}
