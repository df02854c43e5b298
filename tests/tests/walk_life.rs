//! How walks begin, wait and end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use ringwalk::{Backend, EntryRef, Error, Order, OrderedVisitor, StatxMask, Visit, Walk};
use testkit::tree::{self, Tree};
use tests::{LIMIT, alone, block_on, driver, process, walks};

fn tree(entries: usize) -> Tree {
    tree::Builder::new(50)
        .entries(entries)
        .plain_modes()
        .build()
        .unwrap()
}

fn drivers_orders() -> impl Iterator<Item = (ringfs::Driver, Order)> {
    tests::drivers()
        .into_iter()
        .flat_map(|driver| [Order::Any, Order::PreOrder].map(|order| (driver.clone(), order)))
}

#[test]
fn a_thousand_walks_of_one_tree_are_alike() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree(300);
    let listed = walks::found(tree.path(), &[]);
    let sorted = walks::std_paths(tree.path());
    for (driver, order) in drivers_orders() {
        for round in 0..170 {
            let walk = Walk::new(tree.path()).driver(driver.clone()).order(order);
            let mut paths = walks::streamed(walk).0;
            let expected = match order {
                Order::PreOrder => &listed,
                _ => &sorted,
            };
            if order == Order::Any {
                paths.sort();
            }
            assert!(paths == *expected, "{driver:?}, {order:?}, round {round}");
        }
    }
}

#[test]
fn walks_at_the_same_time_do_not_disturb_each_other() {
    let tree = tree(1_000);
    let expected = walks::std_paths(tree.path()).len();
    for (driver, order) in drivers_orders() {
        let walks = (0..20).map(|_| {
            let walk = Walk::new(tree.path()).driver(driver.clone()).order(order);
            async {
                let mut entries = walk.into_stream();
                let mut count = 0;
                while let Some(entry) = entries.next().await {
                    entry.unwrap();
                    count += 1;
                }
                count
            }
        });
        let counts = block_on(futures::future::join_all(walks));
        assert!(counts.iter().all(|&count| count == expected), "{counts:?}");
    }
}

#[test]
fn a_dropped_stream_ends_its_walk() {
    alone("a_dropped_stream_ends_its_walk", || {
        let tree = tree(5_000);
        let drivers: Vec<_> = drivers_orders().collect();
        // Threads and rings are there, and stay.
        for (driver, order) in &drivers {
            let walk = Walk::new(tree.path()).driver(driver.clone()).order(*order);
            futures::executor::block_on(walk.into_stream().count());
        }
        // The last directories of a walk may still be on their way to be closed.
        std::thread::sleep(Duration::from_millis(200));
        let before = process::descriptors();
        for (driver, order) in &drivers {
            for taken in [0, 1, 100, 4_000] {
                let walk = Walk::new(tree.path()).driver(driver.clone()).order(*order);
                let mut entries = walk.metadata(StatxMask::SIZE).into_stream();
                for _ in 0..taken {
                    assert!(futures::executor::block_on(entries.next()).is_some());
                }
                let start = Instant::now();
                drop(entries);
                assert!(start.elapsed() < Duration::from_millis(500));
            }
        }
        let after = process::settles(process::descriptors, |&count| count <= before);
        assert!(after <= before, "{after} descriptors, {before} before");
        // What is left of it waits for work, and computes nothing.
        let cpu = process::cpu_time();
        std::thread::sleep(Duration::from_millis(300));
        let busy = process::cpu_time().saturating_sub(cpu);
        assert!(busy < Duration::from_millis(50), "{busy:?}");
        // Those of io_uring are the kernel's affair; ours are not many.
        let threads = process::threads();
        let ours = threads.iter().filter(|name| *name == "blockpool").count();
        assert!(ours < 64, "{threads:?}");
    });
}

#[test]
fn spare_threads_go_away() {
    alone("spare_threads_go_away", || {
        let tree = tree(2_000);
        let walk = Walk::new(tree.path()).backend(Backend::Auto);
        assert!(walks::streamed(walk).0.len() > 2_000);
        let spares = || {
            let names = process::threads();
            names.iter().filter(|name| *name == "blockpool").count()
        };
        let end = Instant::now() + Duration::from_secs(25);
        while spares() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(spares(), 0);
        assert_eq!(blockpool::budget().in_use(), 0);
    });
}

#[test]
fn a_walk_is_only_so_far_ahead_of_its_consumer() {
    alone("a_walk_is_only_so_far_ahead_of_its_consumer", || {
        let place = tempfile::tempdir().unwrap();
        for i in 0..60 {
            let dir = place.path().join(format!("d{i}"));
            std::fs::create_dir(&dir).unwrap();
            tree::fill(&dir, 5_000).unwrap();
        }
        for order in [Order::Any, Order::PreOrder] {
            let driver = driver(Backend::Ring);
            let walk = Walk::new(place.path()).driver(driver.clone()).order(order);
            let mut entries = walk.metadata(StatxMask::SIZE).into_stream();
            assert!(futures::executor::block_on(entries.next()).is_some());
            // It goes on until it may not any more.
            let asked = || {
                let metrics = driver.metrics();
                metrics.calls(ringfs::OperationKind::StatxPath, ringfs::Route::Ring)
            };
            let mut last = asked();
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let now = asked();
                if now == last {
                    break;
                }
                last = now;
            }
            assert!(
                last < 200_000,
                "{order:?}: {last} of 300,000 were looked at"
            );
            assert_eq!(futures::executor::block_on(entries.count()), 60 * 5_001);
        }
    });
}

#[test]
fn nothing_begins_before_it_is_polled() {
    alone("nothing_begins_before_it_is_polled", || {
        let threads = process::threads().len();
        let entries = Walk::new("/").into_stream();
        let stat = ringfs::statx("/proc/version");
        let driver = driver(Backend::Ring);
        assert_eq!(process::threads().len(), threads);
        drop((entries, stat, driver));
    });
}

/// Panics at the nth visit.
struct Panics(AtomicUsize);

impl Panics {
    fn new(after: usize) -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(after)))
    }

    fn count(&self) {
        let left = self.0.fetch_sub(1, Ordering::Relaxed);
        assert!(left != 0, "the visitor's panic");
    }
}

impl OrderedVisitor for Panics {
    type Segment = usize;

    fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
        StatxMask::empty()
    }

    fn visit(&self, _: &EntryRef<'_>, out: &mut usize) -> Visit {
        self.count();
        *out += 1;
        Visit::Continue
    }

    fn error(&self, _: &Error, _: &mut usize) -> Visit {
        Visit::Continue
    }

    fn weight(&self, out: &usize) -> usize {
        *out
    }

    fn emit(&self, _: usize) -> Visit {
        Visit::Continue
    }
}

/// How many descriptors and threads there are once walks that have ended are gone.
fn settled() -> (usize, usize) {
    std::thread::sleep(Duration::from_millis(300));
    (process::descriptors(), process::threads().len())
}

#[test]
fn a_visitors_panic_is_thrown_once_on_the_caller() {
    alone("a_visitors_panic_is_thrown_once_on_the_caller", || {
        std::panic::set_hook(Box::new(|_| ()));
        let tree = tree(800);
        let drivers = tests::drivers();
        let thrown = |walk: &dyn Fn()| {
            let panic = catch_unwind(AssertUnwindSafe(walk)).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"the visitor's panic"));
        };
        let mut before = (0, 0);
        for round in 0..500 {
            if round == 100 {
                before = settled();
            }
            let walk = Walk::new(tree.path()).driver(drivers[round % 3].clone());
            let after = round % 100 * 8;
            thrown(&|| walk.clone().visit_in_order(Panics::new(after)));
            thrown(&|| {
                let panics = Panics::new(after);
                walk.clone().visit_parallel(move || {
                    let panics = Arc::clone(&panics);
                    move |_: Result<&EntryRef<'_>, &Error>| {
                        panics.count();
                        Visit::Continue
                    }
                });
            });
        }
        let (descriptors, threads) = settled();
        assert!(
            descriptors <= before.0,
            "{before:?}, {descriptors} descriptors"
        );
        assert!(threads <= before.1 + 4, "{before:?}, {threads} threads");
        // Everything still works.
        let _ = std::panic::take_hook();
        for driver in drivers {
            let walk = Walk::new(tree.path()).driver(driver);
            assert_eq!(walks::streamed(walk).0.len(), 801);
        }
    });
}

#[test]
fn a_panic_in_emit_is_thrown_as_well() {
    struct Emits(Panics);
    impl OrderedVisitor for Emits {
        type Segment = usize;
        fn wants(&self, _: &EntryRef<'_>) -> StatxMask {
            StatxMask::empty()
        }
        fn visit(&self, _: &EntryRef<'_>, out: &mut usize) -> Visit {
            *out += 1;
            Visit::Continue
        }
        fn error(&self, _: &Error, _: &mut usize) -> Visit {
            Visit::Continue
        }
        fn weight(&self, out: &usize) -> usize {
            *out
        }
        fn emit(&self, _: usize) -> Visit {
            self.0.count();
            Visit::Continue
        }
    }
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree(400);
    for driver in tests::drivers() {
        for after in 0..10 {
            let walk = Walk::new(tree.path()).driver(driver.clone());
            let visitor = Arc::new(Emits(Panics(AtomicUsize::new(after))));
            let thrown = catch_unwind(AssertUnwindSafe(|| walk.visit_in_order(visitor)));
            assert!(thrown.is_err());
        }
    }
}

#[test]
fn a_walk_inside_a_visitor_works() {
    let _deadline = testkit::deadline(LIMIT);
    let tree = tree(100);
    let root: Arc<Path> = tree.path().into();
    for driver in tests::drivers() {
        let count = Arc::new(AtomicUsize::new(0));
        let (shared, root) = (Arc::clone(&count), Arc::clone(&root));
        let walk = Walk::new(&*root).max_depth(1).driver(driver.clone());
        walk.visit_parallel(move || {
            let (count, driver, root) = (Arc::clone(&shared), driver.clone(), Arc::clone(&root));
            move |_: Result<&EntryRef<'_>, &Error>| {
                let inner = Walk::new(&*root).driver(driver.clone());
                count.fetch_add(walks::in_parallel(inner).0.len(), Ordering::Relaxed);
                Visit::Continue
            }
        });
        let outer = std::fs::read_dir(tree.path()).unwrap().count() + 1;
        assert_eq!(count.load(Ordering::Relaxed), outer * 101);
    }
}
