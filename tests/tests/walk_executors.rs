//! Walks inside of other walks, runtimes and thread pools: nobody waits for the pool it runs on.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use futures::StreamExt;
use rayon::iter::{IntoParallelIterator, ParallelBridge, ParallelIterator};
use ringwalk::{Backend, EntryRef, Error, Order, Visit, Walk};
use testkit::tree::{self, Tree};
use tests::{LIMIT, drivers, walks};

const ENTRIES: usize = 300;

fn tree() -> Tree {
    let tree = tree::Builder::new(90).entries(ENTRIES);
    tree.plain_modes().build().unwrap()
}

/// Every kind of walk, by this thread; each finds everything.
fn check_all(walk: &Walk) {
    let ordered = walk.clone().order(Order::PreOrder);
    assert_eq!(walks::in_parallel(walk.clone()).0.len(), ENTRIES + 1);
    assert_eq!(walks::in_order(ordered).0.len(), ENTRIES + 1);
    assert_eq!(walks::streamed(walk.clone()).0.len(), ENTRIES + 1);
}

/// Walks of a tree by every back end, by many threads and by one.
fn walks_of(root: &Path) -> Vec<Walk> {
    let one = NonZeroUsize::MIN;
    let walks = drivers().map(|driver| Walk::new(root).driver(driver));
    walks
        .into_iter()
        .flat_map(|walk| [walk.clone().parallelism(one), walk])
        .collect()
}

#[test]
fn blocking_walks_inside_a_current_thread_runtime() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for walk in walks_of(tree.path()) {
        // They block the only thread that the runtime has.
        runtime.block_on(async {
            let before = tokio::spawn(walk.clone().into_stream().count());
            tokio::task::yield_now().await;
            assert_eq!(walks::in_parallel(walk.clone()).0.len(), ENTRIES + 1);
            assert_eq!(walks::in_order(walk.clone()).0.len(), ENTRIES + 1);
            assert_eq!(walk.clone().into_stream().count().await, ENTRIES + 1);
            assert_eq!(before.await.unwrap(), ENTRIES + 1);
        });
    }
}

#[test]
fn blocking_walks_inside_block_on() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree();
    for walk in walks_of(tree.path()) {
        futures::executor::block_on(async {
            assert_eq!(walks::in_parallel(walk.clone()).0.len(), ENTRIES + 1);
            assert_eq!(walks::in_order(walk.clone()).0.len(), ENTRIES + 1);
        });
    }
}

#[test]
fn walks_inside_a_rayon_pool() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree();
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        for walk in walks_of(tree.path()) {
            pool.install(|| {
                check_all(&walk);
                // All of its threads walk at the same time.
                (0..8).into_par_iter().for_each(|_| check_all(&walk));
            });
        }
    }
}

#[test]
fn a_walk_feeds_a_rayon_pool() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
    let pool = pool.build().unwrap();
    for walk in walks_of(tree.path()) {
        let count = pool.install(|| {
            let entries = futures::executor::block_on_stream(walk.clone().into_stream());
            let entries = entries.par_bridge();
            // What is done with an entry walks as well.
            let below = entries.map(|entry| {
                let dir = Walk::new(entry.unwrap().path()).max_depth(0);
                walks::in_parallel(dir.backend(Backend::Threads)).0.len()
            });
            below.sum::<usize>()
        });
        assert_eq!(count, ENTRIES + 1);
    }
}

#[test]
fn a_rayon_pool_inside_a_visitor() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree();
    for walk in walks_of(tree.path()) {
        let count = Arc::new(AtomicUsize::new(0));
        let shared = Arc::clone(&count);
        walk.visit_parallel(move || {
            let count = Arc::clone(&shared);
            move |entry: Result<&EntryRef<'_>, &Error>| {
                let path = entry.unwrap().path();
                let found = rayon::join(|| path.symlink_metadata().is_ok(), || true);
                count.fetch_add(usize::from(found.0 && found.1), Relaxed);
                Visit::Continue
            }
        });
        assert_eq!(count.load(Relaxed), ENTRIES + 1);
    }
}

#[test]
fn walks_of_all_kinds_inside_a_visitor() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree();
    let top = std::fs::read_dir(tree.path()).unwrap().count() + 1;
    for walk in walks_of(tree.path()) {
        let visits = Arc::new(AtomicUsize::new(0));
        let (shared, inner) = (Arc::clone(&visits), walk.clone());
        walk.max_depth(1).visit_parallel(move || {
            let (visits, inner) = (Arc::clone(&shared), inner.clone());
            move |_: Result<&EntryRef<'_>, &Error>| {
                check_all(&inner);
                visits.fetch_add(1, Relaxed);
                Visit::Continue
            }
        });
        assert_eq!(visits.load(Relaxed), top);
    }
}

#[test]
fn a_walk_inside_a_filter() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree();
    for walk in walks_of(tree.path()) {
        let inner = walk.clone().max_depth(1);
        let walk = walk.filter_entry(move |_| !walks::streamed(inner.clone()).0.is_empty());
        assert_eq!(walks::in_parallel(walk).0.len(), ENTRIES + 1);
    }
}
