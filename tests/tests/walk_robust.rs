//! Very large directories, slow consumers and slow servers: memory stays flat, nothing waits for
//! more than it needs, and who waits computes nothing.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::executor::block_on;
use ringwalk::{Backend, Order, Progress, StatxMask, Walk};
use testkit::fuse::Fuse;
use testkit::mount::{self, Mount};
use testkit::{Skip, or_skip, tree};
use tests::{LIMIT, alone, alone_within, driver, drivers, is_long, process, walks};

const ORDERS: [Order; 2] = [Order::Any, Order::PreOrder];

/// What memory may grow by while a consumer is asleep.
const MOST_HELD: usize = 64 << 20;

/// So many bytes of memory the process has.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("a /proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.expect("a size").trim().parse::<usize>().unwrap() << 10
}

/// A tmpfs with so many files in its directory `large`.
fn large(files: usize) -> Result<Mount, Skip> {
    let mount = mount::tmpfs()?;
    let dir = mount.path().join("large");
    fs::create_dir(&dir).unwrap();
    let start = Instant::now();
    tree::fill(&dir, files).unwrap();
    assert!(start.elapsed() < LIMIT, "a slow machine");
    Ok(mount)
}

/// How much memory grows while the consumer of a walk is asleep, and then while it takes the rest.
fn growth(walk: Walk, expected: usize) -> (usize, usize) {
    let progress = Progress::new();
    let mut entries = walk.progress(&progress).into_stream();
    let before = resident();
    block_on(entries.next()).unwrap().unwrap();
    // It goes on until it may not any more.
    let mut last = u64::MAX;
    while last != progress.entries() {
        last = progress.entries();
        std::thread::sleep(Duration::from_millis(300));
    }
    let ahead = usize::try_from(last).unwrap();
    assert!(
        ahead < expected / 2,
        "{ahead} of {expected} were looked at ahead"
    );
    let asleep = resident().saturating_sub(before);
    let mut most = 0;
    let mut count = 1;
    while let Some(entry) = block_on(entries.next()) {
        entry.unwrap();
        count += 1;
        if count % 10_000 == 0 {
            most = most.max(resident().saturating_sub(before));
        }
    }
    assert_eq!(count, expected);
    (asleep, most)
}

#[test]
fn a_sleeping_consumer_costs_no_memory() {
    alone("a_sleeping_consumer_costs_no_memory", || {
        let files = if is_long() { 1_000_000 } else { 400_000 };
        let mount = or_skip!(large(files));
        for driver in drivers() {
            for order in ORDERS {
                let walk = Walk::new(mount.path()).driver(driver.clone());
                let walk = walk.order(order);
                let (asleep, most) = growth(walk, files + 2);
                let context = format!("{}, {order:?}", driver.backend());
                assert!(asleep < MOST_HELD, "{context}: {asleep} bytes asleep");
                assert!(most < MOST_HELD, "{context}: {most} bytes awake");
            }
        }
    });
}

#[test]
fn a_sleeping_consumer_of_metadata_costs_no_memory() {
    alone("a_sleeping_consumer_of_metadata_costs_no_memory", || {
        let mount = or_skip!(large(100_000));
        for driver in drivers() {
            let walk = Walk::new(mount.path()).metadata(StatxMask::SIZE);
            let (asleep, most) = growth(walk.driver(driver.clone()), 100_002);
            assert!(asleep < MOST_HELD, "{}: {asleep} bytes", driver.backend());
            assert!(most < MOST_HELD, "{}: {most} bytes", driver.backend());
        }
    });
}

#[test]
fn the_first_entry_comes_before_the_directory_ends() {
    const FILES: u64 = 100_000;
    let fuse = or_skip!(Fuse::new(FILES));
    let _deadline = testkit::deadline(LIMIT);
    fuse.set_delay(Duration::from_millis(2));
    for driver in drivers() {
        for order in ORDERS {
            let before = fuse.requests();
            let asked = || fuse.requests() - before;
            let walk = Walk::new(fuse.path()).min_depth(1);
            let mut entries = walk.driver(driver.clone()).order(order).into_stream();
            block_on(entries.next()).unwrap().unwrap();
            let first = asked();
            let rest = block_on(entries.count());
            assert_eq!(rest as u64, FILES - 1);
            let context = format!("{}, {order:?}", driver.backend());
            assert!(
                first * 4 < asked(),
                "{context}: after {first} requests of {}",
                asked()
            );
        }
    }
}

#[test]
fn what_has_been_found_comes_while_a_directory_does_not_answer() {
    let fuse = or_skip!(Fuse::new(10));
    let _deadline = testkit::deadline(LIMIT);
    let root = fuse.path().parent().unwrap();
    fs::create_dir_all(root.join("dir/sub")).unwrap();
    fs::write(root.join("dir/sub/file"), "").unwrap();
    // That it is a mount, and a directory, is known.
    fs::metadata(fuse.path()).unwrap();
    fuse.hang();
    for driver in drivers() {
        for _ in 0..10 {
            let walk = Walk::new(root).driver(driver.clone());
            let mut entries = walk.into_stream();
            let all = async {
                for _ in 0..5 {
                    entries.next().await.unwrap().unwrap();
                }
            };
            block_on(testkit::within(LIMIT / 4, all));
        }
    }
}

#[test]
fn very_many_directories_in_one() {
    const NAME: &str = "very_many_directories_in_one";
    // A million take longer than other tests may.
    let limit = if is_long() { 10 * LIMIT } else { 3 * LIMIT };
    alone_within(limit, NAME, || {
        let count = if is_long() { 1_000_000 } else { 100_000 };
        let mount = or_skip!(mount::tmpfs());
        for number in 0..count {
            let dir = mount.path().join(number.to_string());
            fs::create_dir(&dir).unwrap();
            if number % 10 == 0 {
                fs::write(dir.join("file"), "").unwrap();
            }
        }
        check_many(mount.path(), 1 + count + count / 10);
    });
}

fn check_many(root: &Path, expected: usize) {
    let walk = Walk::new(root);
    let walks = [
        (Backend::Auto, walk.clone()),
        (Backend::Auto, walk.clone().order(Order::PreOrder)),
        (Backend::Auto, walk.clone().sort_by_file_name()),
        (Backend::Auto, walk.clone().contents_first(true)),
        (Backend::Ring, walk.clone()),
        (Backend::Threads, walk.order(Order::PreOrder)),
    ];
    for (backend, walk) in walks {
        let walk = walk.driver(driver(backend));
        let before = process::descriptors();
        let mut most = 0;
        let mut count = 0;
        let mut entries = walk.clone().into_stream();
        while let Some(entry) = block_on(entries.next()) {
            entry.unwrap();
            count += 1;
            if count % 5_000 == 0 {
                most = most.max(process::descriptors());
            }
        }
        assert_eq!(count, expected, "{backend}, {walk:?}");
        // A quarter of what there may be for reading, and another for what is kept.
        let may = fscall::limits::nofile().map_or(1024, |(soft, _)| soft);
        let may = before + usize::try_from(may).unwrap() / 2 + 20;
        assert!(most <= may, "{backend}, {walk:?}: {most} descriptors");
    }
}

#[test]
fn who_waits_for_a_slow_server_computes_nothing() {
    const NAME: &str = "who_waits_for_a_slow_server_computes_nothing";
    alone(NAME, || {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), "").unwrap();
        for driver in drivers() {
            let fuse = or_skip!(Fuse::new(10));
            // Threads and ring are there.
            let warm = Walk::new(place.path()).driver(driver.clone());
            assert_eq!(walks::streamed(warm).0.len(), 2);
            fuse.set_delay(Duration::from_secs(2));
            let (start, cpu) = (Instant::now(), process::cpu_time());
            let walk = Walk::new(fuse.path()).driver(driver.clone());
            let (paths, errors) = walks::streamed(walk);
            let busy = process::cpu_time().saturating_sub(cpu);
            assert!(errors.is_empty(), "{errors:?}");
            assert_eq!(paths.len(), 11);
            assert!(start.elapsed() > Duration::from_secs(4), "the server slept");
            let backend = driver.backend();
            assert!(busy < Duration::from_millis(100), "{backend}: {busy:?}");
        }
    });
}
