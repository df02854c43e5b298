//! Rings that the system does not grant, for real reasons: every answer is the same, the reason is
//! told, and the set-up is not tried again with every call.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use ringfs::{Backend, Driver, OperationKind, Route};
use testkit::skip::needs_root;
use testkit::{child, or_skip, strace};
use tests::everything::{check_everything, tree};
use tests::process::{self, place, rerun};
use tests::{LIMIT, driver, walks};

/// How often the child of [`count`] asks.
const CALLS: usize = 150;

/// Both back ends that want a ring.
fn ringed() -> [Driver; 2] {
    [Backend::Auto, Backend::Ring].map(driver)
}

/// Why there is no ring, after everything has been looked at; `None` if there is one.
fn check_with_reason(driver: &Driver) -> Option<String> {
    check_everything(driver, &place());
    reason(driver)
}

/// Why there is no ring, in all the words that tell it.
fn reason(driver: &Driver) -> Option<String> {
    let capabilities = block_on(driver.capabilities());
    let Some(reason) = capabilities.ring_unavailable() else {
        assert!(capabilities.has_ring());
        return None;
    };
    assert!(!capabilities.has_ring());
    let text = capabilities.to_string();
    assert!(text.contains(&format!("ring: none ({reason})")), "{text}");
    for support in capabilities.operations() {
        assert!(!support.routes.contains(&Route::Ring));
    }
    let insists = block_on(driver.statx("/").route(Route::Ring).into_future());
    let told = insists.unwrap_err().to_string();
    assert!(reason.ends_with(&told), "{reason}: {told}");
    let metrics = driver.metrics();
    assert_eq!(metrics.calls(OperationKind::StatxPath, Route::Ring), 0);
    Some(reason)
}

/// Asks often, in ways that want a ring.
fn ask_often(place: &Path) {
    for driver in ringed() {
        for _ in 0..CALLS {
            assert!(block_on(driver.statx(place).into_future()).is_ok());
            drop(block_on(
                driver.statx(place).route(Route::Ring).into_future(),
            ));
            drop(block_on(driver.open_dir(place)));
        }
        let many = std::iter::repeat_n(place, CALLS);
        let answers = block_on(driver.statx_paths(many).into_future());
        assert!(answers.iter().all(Result::is_ok));
    }
}

/// Runs a test again under strace, where it is to [`ask_often`], and tells how often a ring was
/// wanted of the kernel.
fn check_setups(name: &str, tree: &Path) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]);
    command.env("COUNTED", "1").env("PLACE", tree);
    let start = Instant::now();
    let trace = or_skip!(strace::trace(&command, &["io_uring_setup"]));
    assert!(trace.status().success(), "{:?}", trace.finished);
    let setups = trace.count("io_uring_setup");
    // Two drivers with up to four sets of flags; what may have passed is tried again once a second.
    let most = 2 * 4 * (2 + usize::try_from(start.elapsed().as_secs()).unwrap());
    assert!(setups <= most && setups < CALLS, "{setups} set-ups");
}

/// This process is the child of [`check_setups`], or of a rerun.
fn is_child(name: &str) -> bool {
    child::is_child(name) || is_counted()
}

fn is_counted() -> bool {
    std::env::var_os("COUNTED").is_some()
}

#[test]
fn no_memory_may_be_locked() {
    const NAME: &str = "no_memory_may_be_locked";
    if is_child(NAME) {
        process::limit(libc::RLIMIT_MEMLOCK, 0).unwrap();
        process::become_nobody().unwrap();
        if is_counted() {
            return ask_often(&place());
        }
        for driver in ringed() {
            match check_with_reason(&driver) {
                // Kernels since 5.12 count most of a ring's memory elsewhere.
                None => eprintln!("{NAME}: a ring is granted"),
                Some(reason) => {
                    eprintln!("{NAME}: {reason}");
                    assert!(reason.starts_with("io_uring_setup: Cannot allocate memory"));
                }
            }
        }
        return;
    }
    or_skip!(needs_root("become another user"));
    let tree = tree();
    let finished = rerun(NAME, tree.path()).run();
    eprint!("{}", finished.stderr_text());
    finished.assert_passed();
    check_setups(NAME, tree.path());
}

/// So many free descriptors are enough for everything.
const ENOUGH: usize = 4;

/// Opens files until only so many more can be.
fn leave_descriptors(free: usize) -> Vec<File> {
    let mut files = Vec::new();
    let error = loop {
        match File::open("/dev/null") {
            Ok(file) => files.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
    files.truncate(files.len() - free);
    files
}

#[test]
fn no_descriptor_is_left_for_a_ring() {
    const NAME: &str = "no_descriptor_is_left_for_a_ring";
    if is_child(NAME) {
        process::limit(libc::RLIMIT_NOFILE, 64).unwrap();
        if is_counted() {
            // One for the event by which a ring is woken, none for the ring.
            let _held = leave_descriptors(1);
            return ask_often(&place());
        }
        let free = std::env::var("FREE").unwrap().parse().unwrap();
        let backend = std::env::var("BACKEND").unwrap().parse().unwrap();
        return check_descriptors(&driver(backend), free);
    }
    let tree = tree();
    for backend in ["auto", "ring"] {
        for free in 0..=ENOUGH {
            let rerun = rerun(NAME, tree.path()).env("BACKEND", backend);
            rerun.env("FREE", free.to_string()).run().assert_passed();
        }
    }
    check_setups(NAME, tree.path());
}

/// With so few free descriptors everything is answered that needs none, and the rest once there
/// are some again.
fn check_descriptors(driver: &Driver, free: usize) {
    let place = place();
    let expected = std::fs::read_dir(&place).unwrap().count();
    let held = leave_descriptors(free);
    let capabilities = block_on(driver.capabilities());
    match (free, capabilities.ring_unavailable()) {
        (0, Some(reason)) => assert!(reason.starts_with("eventfd: Too many open files")),
        (1, Some(reason)) => assert!(reason.starts_with("io_uring_setup: Too many open files")),
        (0 | 1, None) => panic!("{free} descriptors, and a ring"),
        (_, reason) => assert_eq!(reason, None),
    }
    let answer = block_on(driver.statx(&place).into_future()).unwrap();
    assert!(answer.file_type().unwrap().is_dir());
    let many = block_on(driver.statx_paths([&place; 40]).into_future());
    assert!(many.iter().all(Result::is_ok));
    let listed = block_on(async {
        let mut entries = driver.read_dir(&place).await?;
        let mut names = Vec::new();
        while let Some(entry) = entries.next_entry().await? {
            entry.metadata().await?;
            names.push(entry.file_name());
        }
        io::Result::Ok(names)
    });
    match listed {
        Ok(names) => assert_eq!(names.len(), expected),
        Err(error) => {
            // The ring has two, the table of mounts one, and then comes the directory.
            assert!(free < ENOUGH, "{free}: {error}");
            assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{error}");
        }
    }
    drop(held);
    check_everything(driver, &place);
}

/// A user of whom there are no other processes, whose number all limits count.
const LONELY: u32 = 64_222;

#[test]
fn no_thread_is_left_for_a_ring() {
    const NAME: &str = "no_thread_is_left_for_a_ring";
    if is_child(NAME) {
        process::become_user(LONELY).unwrap();
        let _deadline = testkit::deadline(LIMIT);
        // Before anything of a driver is there.
        let least = (1..100).find(|&most| may_have_thread(most)).unwrap();
        if is_counted() {
            process::limit_soft(libc::RLIMIT_NPROC, least).unwrap();
            return ask_often(&place());
        }
        let more: u64 = std::env::var("MORE").unwrap().parse().unwrap();
        process::limit_soft(libc::RLIMIT_NPROC, least + more).unwrap();
        for driver in ringed() {
            // The only thread may still be on its way from the driver before, and then there is none.
            let at_work = || blockpool::budget().at_work();
            process::settles(at_work, |&count| count == 0);
            check_all_is_there(&driver, &place());
            let reason = reason(&driver);
            eprintln!("{NAME}: {more} more: {reason:?}");
            if let Some(reason) = reason {
                let calls = ["the process's budget of waiting threads: ", "clone: "];
                assert!(
                    calls.iter().any(|call| reason.starts_with(call)),
                    "{reason}"
                );
            }
        }
        return;
    }
    or_skip!(needs_root("become another user"));
    let tree = tree();
    for more in [0, 1, 2, 4, 8] {
        let rerun = rerun(NAME, tree.path()).env("MORE", more.to_string());
        let finished = rerun.limit(Duration::from_secs(100)).run();
        eprint!("{}", finished.stderr_text());
        finished.assert_passed();
    }
    check_setups(NAME, tree.path());
}

/// Stats and directories, looked at without a thread that watches over the time.
fn check_all_is_there(driver: &Driver, root: &Path) {
    let expected = walks::std_paths(root);
    let mut found = vec![root.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        let stat = driver.statx(&path).follow_symlinks(false).into_future();
        if !block_on(stat).unwrap().file_type().unwrap().is_dir() {
            continue;
        }
        block_on(async {
            let mut entries = driver.read_dir(&path).await.unwrap();
            while let Some(entry) = entries.next_entry().await.unwrap() {
                entry.metadata().await.unwrap();
                found.push(entry.path());
            }
        });
    }
    found.sort();
    assert_eq!(found, expected);
    let answers = block_on(
        driver
            .statx_paths(&found)
            .follow_symlinks(false)
            .into_future(),
    );
    assert!(answers.iter().all(Result::is_ok));
}

/// Whether this many processes and threads are enough for one thread more.
fn may_have_thread(most: u64) -> bool {
    process::limit_soft(libc::RLIMIT_NPROC, most).unwrap();
    thread::Builder::new()
        .spawn(|| ())
        .map(|thread| thread.join().unwrap())
        .is_ok()
}
