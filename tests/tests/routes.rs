//! What is refused, hidden, counted and told, alike on every route.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use ringfs::{
    Backend, Capabilities, Driver, Metadata, OperationKind, Route, Statx, StatxFlags, StatxMask,
};
use testkit::child::{self, Rerun};
use tests::plain::Plain;
use tests::{block_on, driver, drivers, process};

const ROUTES: [Route; 3] = [Route::Inline, Route::Worker, Route::Ring];

/// Every way of every driver to ask about a file.
async fn ask_all(path: &Path, flags: StatxFlags, mask: StatxMask) -> Vec<io::Result<Statx>> {
    let mut answers = Vec::new();
    for driver in drivers() {
        let dir = driver.open_dir("/").await.unwrap();
        let routes = [None].into_iter().chain(ROUTES.map(Some));
        for route in routes {
            if driver.backend() == Backend::Threads && !matches!(route, None | Some(Route::Worker))
            {
                continue;
            }
            for stat in [driver.statx(path), dir.statx_at(path)] {
                let stat = stat.flags(flags).mask(mask);
                answers.push(match route {
                    Some(route) => stat.route(route).await,
                    None => stat.await,
                });
            }
        }
    }
    answers
}

/// A file on a file system that can answer from memory.
fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "content").unwrap();
    file
}

#[test]
fn what_kernels_differ_on_is_refused_everywhere() {
    let file = file();
    let basic = StatxMask::BASIC_STATS;
    let refused = [
        (StatxFlags::from_bits_retain(0x1), basic),
        (StatxFlags::from_bits_retain(0x200), basic),
        (StatxFlags::from_bits_retain(0x8000_0000), basic),
        (StatxFlags::SYNC_TYPE, basic),
        (StatxFlags::empty(), basic | StatxMask::RESERVED),
    ];
    for (flags, mask) in refused {
        // Of a missing file as well: it is not even looked for.
        for path in [file.path(), Path::new("/no/such/file"), Path::new("")] {
            for answer in block_on(ask_all(path, flags, mask)) {
                let errno = answer.unwrap_err().raw_os_error();
                assert_eq!(errno, Some(libc::EINVAL), "{flags:?} {mask:?}");
            }
        }
    }
}

#[test]
fn a_path_with_nul_is_refused_everywhere() {
    let path = Path::new("/etc\0/passwd");
    for answer in block_on(ask_all(path, StatxFlags::empty(), StatxMask::all())) {
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
    for driver in drivers() {
        let opened = block_on(driver.open_dir(path)).unwrap_err();
        assert_eq!(opened.kind(), io::ErrorKind::InvalidInput);
        let read = block_on(driver.read_dir(path)).unwrap_err();
        assert_eq!(read.kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn sync_types_reach_the_kernel_and_local_files_do_not_mind() {
    let file = file();
    let c_path = fscall::to_c_path(file.path().as_os_str().as_encoded_bytes()).unwrap();
    for flags in [StatxFlags::DONT_SYNC, StatxFlags::FORCE_SYNC] {
        let expected = Plain::statx(libc::AT_FDCWD, &c_path, flags, Metadata::MASK);
        for answer in block_on(ask_all(file.path(), flags, Metadata::MASK)) {
            assert_eq!(Plain::from(answer), expected, "{flags:?}");
        }
    }
}

#[test]
fn an_answer_has_what_was_asked_for_and_nothing_else() {
    let file = file();
    let c_path = fscall::to_c_path(file.path().as_os_str().as_encoded_bytes()).unwrap();
    let masks = [
        StatxMask::empty(),
        StatxMask::SIZE,
        StatxMask::TYPE,
        StatxMask::NLINK,
        StatxMask::BASIC_STATS,
        StatxMask::BASIC_STATS | StatxMask::BTIME,
        StatxMask::MNT_ID,
        StatxMask::MNT_ID_UNIQUE,
        StatxMask::MNT_ID | StatxMask::MNT_ID_UNIQUE,
        StatxMask::all(),
        StatxMask::from_bits_retain(0x4000_0000),
    ];
    for mask in masks {
        let expected = Plain::statx(libc::AT_FDCWD, &c_path, StatxFlags::empty(), mask);
        for answer in block_on(ask_all(file.path(), StatxFlags::empty(), mask)) {
            if let Ok(answer) = &answer {
                assert!(
                    mask.contains(answer.mask()),
                    "{mask:?}: {:?}",
                    answer.mask()
                );
                let told = StatxMask::BASIC_STATS & mask;
                assert!(
                    answer.mask().contains(told),
                    "{mask:?}: {:?}",
                    answer.mask()
                );
            }
            assert_eq!(Plain::from(answer), expected, "{mask:?}");
        }
    }
}

/// How often each operation took each route since `before`.
fn counted(driver: &Driver, operation: OperationKind) -> [u64; 3] {
    ROUTES.map(|route| driver.metrics().calls(operation, route))
}

#[test]
fn each_call_is_counted_once_where_it_was_made() {
    const CALLS: u64 = 10;
    use OperationKind::{Close, Open, ReadDir, StatxFd, StatxPath};
    let file = file();
    fs::metadata(file.path()).unwrap();
    for driver in drivers() {
        block_on(async {
            let has_ring = driver.backend() != Backend::Threads;
            let inline = driver.backend() != Backend::Ring;
            for _ in 0..CALLS {
                driver
                    .statx(file.path())
                    .route(Route::Worker)
                    .await
                    .unwrap();
                if has_ring {
                    driver.statx(file.path()).route(Route::Ring).await.unwrap();
                    driver
                        .statx(file.path())
                        .route(Route::Inline)
                        .await
                        .unwrap();
                }
            }
            let each = if has_ring { CALLS } else { 0 };
            assert_eq!(counted(&driver, StatxPath), [each, CALLS, each]);
            assert_eq!(driver.metrics().inline_misses(), 0);
            assert_eq!(counted(&driver, StatxFd), [0; 3]);

            let mut dir = driver.open_dir("/").await.unwrap();
            for _ in 0..CALLS {
                dir.statx().await.unwrap();
            }
            let by_fd = counted(&driver, StatxFd);
            assert_eq!(by_fd.iter().sum::<u64>(), CALLS);
            assert_eq!(by_fd[0], if inline { CALLS } else { 0 });
            while !dir.read().await.unwrap().is_empty() {}
            dir.close().await.unwrap();
            let on_ring = usize::from(!inline) + 1;
            let mut once = [0; 3];
            once[on_ring] = 1;
            assert_eq!(counted(&driver, Open), once);
            assert_eq!(counted(&driver, Close), once);
            let [inline, worker, ring] = counted(&driver, ReadDir);
            assert!(inline == 0 && worker >= 1 && ring == 0);
            // A worker leaves a moment after its answer.
            let in_flight = process::settles(|| driver.metrics().in_flight(), |&count| count == 0);
            assert_eq!(in_flight, 0);
        });
    }
}

#[test]
fn an_inline_miss_is_counted_and_answered_by_the_next_route() {
    let driver = driver(Backend::Auto);
    block_on(driver.statx("/proc/version").into_future()).unwrap();
    assert_eq!(driver.metrics().inline_misses(), 1);
    assert_eq!(counted(&driver, OperationKind::StatxPath), [0, 1, 0]);
    let inline = block_on(
        driver
            .statx("/proc/version")
            .route(Route::Inline)
            .into_future(),
    );
    assert_eq!(inline.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(driver.metrics().inline_misses(), 2);
    assert_eq!(counted(&driver, OperationKind::StatxPath), [0, 1, 0]);
}

fn routes(capabilities: &Capabilities, operation: OperationKind) -> &[Route] {
    &capabilities.operation(operation).routes
}

#[test]
fn capabilities_tell_routes_and_reasons() {
    use OperationKind::{Open, ReadDir, StatxFd, StatxPath};
    let [auto, ring, threads] = drivers().map(|driver| block_on(driver.capabilities()));
    assert!(auto.has_ring() && ring.has_ring() && !threads.has_ring());
    assert_eq!(auto.ring_unavailable(), None);
    assert_eq!(routes(&auto, StatxPath), ROUTES);
    assert_eq!(routes(&auto, Open), [Route::Worker, Route::Ring]);
    assert_eq!(routes(&ring, StatxFd), [Route::Ring]);
    assert_eq!(routes(&ring, ReadDir), [Route::Worker]);
    assert_eq!(routes(&threads, StatxFd), [Route::Inline, Route::Worker]);
    assert_eq!(routes(&threads, StatxPath), [Route::Worker]);
    let reason = threads.ring_unavailable().unwrap();
    assert_eq!(reason, "worker threads were asked for");
    assert!(threads.operation(StatxPath).reason.contains("openat2"));
    for capabilities in [&auto, &ring, &threads] {
        let text = capabilities.to_string();
        assert!(text.starts_with(&format!("back end: {}\n", capabilities.backend())));
        assert_eq!(text.lines().count(), 2 + capabilities.operations().len());
        for support in capabilities.operations() {
            assert!(text.contains(&support.operation.to_string()), "{text}");
            assert!(text.contains(&support.reason), "{text}");
        }
    }
    assert!(
        threads
            .to_string()
            .contains("ring: none (worker threads were asked for)")
    );
}

#[test]
fn without_a_ring_the_ring_route_says_why() {
    let driver = driver(Backend::Threads);
    let error = block_on(driver.statx("/").route(Route::Ring).into_future()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "worker threads were asked for");
}

#[test]
fn many_drivers_leave_each_other_threads() {
    const NAME: &str = "many_drivers_leave_each_other_threads";
    if !child::is_child(NAME) {
        // They use up the budget of their process.
        return Rerun::new(NAME).run().assert_passed();
    }
    let drivers: Vec<_> = (0..12).map(|_| driver(Backend::Ring)).collect();
    let with_ring = drivers
        .iter()
        .take_while(|driver| block_on(driver.capabilities()).has_ring())
        .count();
    assert!(with_ring >= 4, "{with_ring}");
    // What a ring can't do, or would have done if there were one, still finds a thread.
    for driver in &drivers {
        assert!(block_on(driver.read_dir("/")).is_ok());
        block_on(driver.statx("/").into_future()).unwrap();
        block_on(driver.statx("/").route(Route::Worker).into_future()).unwrap();
    }
    drop(drivers);
    let in_use = process::settles(|| blockpool::budget().in_use(), |&count| count <= 4);
    assert!(in_use <= 4, "{in_use} permits were not given back");
}

#[test]
fn metadata_is_that_of_std() {
    use std::os::unix::fs::MetadataExt;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    File::create(&path).unwrap().set_len(5000).unwrap();
    let std = fs::metadata(&path).unwrap();
    for driver in drivers() {
        let ours = block_on(driver.statx(&path).into_future()).map(Metadata::from);
        let ours = ours.unwrap();
        assert_eq!(
            (ours.dev(), ours.ino(), ours.mode(), ours.nlink()),
            (std.dev(), std.ino(), std.mode(), std.nlink())
        );
        assert_eq!(
            (ours.uid(), ours.gid(), ours.size(), ours.blocks()),
            (std.uid(), std.gid(), std.size(), std.blocks())
        );
        assert_eq!(ours.modified().unwrap(), std.modified().unwrap());
        assert_eq!(ours.created().ok(), std.created().ok());
        assert!(ours.mnt_id().is_some());
    }
}
