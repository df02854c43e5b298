//! What a walk on the ring asks of the ring, counted.

use std::fs;
use std::path::Path;

use ringfs::{Backend, Driver, OperationKind, Route};
use ringwalk::{Order, StatxMask, Walk};
use tests::{driver, process, walks};

/// A tree of so many directories, the root counted, and files in each.
fn tree(root: &Path, directories: usize, files: usize) -> usize {
    let mut dir = root.to_owned();
    for i in 0..directories {
        if i > 0 {
            // Chains of three.
            dir = if i % 3 == 0 { root.to_owned() } else { dir };
            dir.push(format!("d{i}"));
            fs::create_dir(&dir).unwrap();
        }
        for j in 0..files {
            fs::write(dir.join(format!("f{j}")), "x").unwrap();
        }
    }
    directories - 1 + directories * files
}

fn on_ring(driver: &Driver, operation: OperationKind) -> usize {
    usize::try_from(driver.metrics().calls(operation, Route::Ring)).unwrap()
}

fn elsewhere(driver: &Driver, operation: OperationKind) -> u64 {
    let metrics = driver.metrics();
    metrics.calls(operation, Route::Worker) + metrics.calls(operation, Route::Inline)
}

#[test]
fn every_call_of_a_walk_on_the_ring_is_on_the_ring() {
    use OperationKind::{Close, Open, ReadDir, StatxFd, StatxPath};
    const DIRECTORIES: usize = 40;
    let place = tempfile::tempdir().unwrap();
    let entries = tree(place.path(), DIRECTORIES, 50);
    for order in [Order::Any, Order::PreOrder] {
        let driver = driver(Backend::Ring);
        let walk = Walk::new(place.path()).driver(driver.clone()).order(order);
        let (paths, errors) = walks::streamed(walk.metadata(StatxMask::SIZE));
        assert!(errors.is_empty());
        assert_eq!(paths.len(), entries + 1);
        // One for each entry, and one for the root.
        assert_eq!(on_ring(&driver, StatxPath), entries + 1);
        assert_eq!(on_ring(&driver, Open), DIRECTORIES);
        // The last are still on their way when the walk ends.
        let closed = process::settles(|| on_ring(&driver, Close), |&count| count == DIRECTORIES);
        assert_eq!(closed, DIRECTORIES);
        for operation in [StatxPath, StatxFd, Open, Close, ReadDir] {
            assert_eq!(elsewhere(&driver, operation), 0, "{operation}");
        }
    }
}

#[test]
fn what_is_not_asked_for_is_not_fetched() {
    let place = tempfile::tempdir().unwrap();
    tree(place.path(), 10, 10);
    let driver = driver(Backend::Ring);
    let walk = Walk::new(place.path()).driver(driver.clone());
    walks::streamed(walk.clone().root(place.path()));
    // The two roots alone: everything else has its type from the directory.
    assert_eq!(on_ring(&driver, OperationKind::StatxPath), 2);
    assert_eq!(on_ring(&driver, OperationKind::Open), 20);
    // A directory at the greatest depth is not opened.
    let opened = on_ring(&driver, OperationKind::Open);
    walks::streamed(walk.max_depth(1));
    assert_eq!(on_ring(&driver, OperationKind::Open), opened + 1);
}

#[test]
fn a_walk_elsewhere_asks_nothing_of_the_ring() {
    let place = tempfile::tempdir().unwrap();
    tree(place.path(), 10, 10);
    for backend in [Backend::Auto, Backend::Threads] {
        let driver = driver(backend);
        let walk = Walk::new(place.path()).driver(driver.clone());
        walks::streamed(walk.metadata(StatxMask::SIZE));
        for operation in [
            OperationKind::StatxPath,
            OperationKind::Open,
            OperationKind::Close,
        ] {
            assert_eq!(on_ring(&driver, operation), 0);
        }
    }
}
