//! What is told to those who look into a running program: changes of routes, and no single calls.
//!
//! A process has one subscriber, so each test has a process of its own.

use std::fmt;
use std::future::IntoFuture;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::executor::block_on;
use ringfs::{Backend, Driver, Route};
use testkit::child::{self, Rerun};
use testkit::fuse::Fuse;
use testkit::or_skip;
use testkit::seccomp::Filter;
use tests::{LIMIT, alone, driver};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// How often is asked, for what must be told only once.
const CALLS: usize = 150;

/// An event.
#[derive(Debug, PartialEq)]
struct Told {
    level: Level,
    text: String,
    /// As `name=value`.
    fields: Vec<String>,
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.text = format!("{value:?}"),
            name => self.fields.push(format!("{name}={value:?}")),
        }
    }
}

/// Keeps the events of ringfs.
struct Listener;

static HEARD: Mutex<Vec<Told>> = Mutex::new(Vec::new());

fn heard() -> MutexGuard<'static, Vec<Told>> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listener {
    fn listen() {
        tracing::subscriber::set_global_default(Self).unwrap();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ringfs"
    }

    fn event(&self, event: &Event<'_>) {
        let mut told = Told {
            level: *event.metadata().level(),
            text: String::new(),
            fields: Vec::new(),
        };
        event.record(&mut told);
        heard().push(told);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Asks often, by all routes.
fn ask_often(driver: &Driver) {
    for _ in 0..CALLS {
        block_on(driver.statx("/").into_future()).unwrap();
        block_on(driver.statx("/proc/version").into_future()).unwrap();
        for route in [Route::Inline, Route::Worker, Route::Ring] {
            // Whether there is such a route or not.
            drop(block_on(driver.statx("/").route(route).into_future()));
        }
        block_on(driver.open_dir("/")).unwrap();
    }
    let many = std::iter::repeat_n("/proc/version", CALLS);
    let answers = block_on(driver.statx_paths(many).into_future());
    assert!(answers.iter().all(Result::is_ok));
}

fn told(level: Level, text: &str, fields: &[String]) -> Told {
    Told {
        level,
        text: text.to_owned(),
        fields: fields.to_vec(),
    }
}

#[test]
fn a_granted_ring_is_told_once() {
    alone("a_granted_ring_is_told_once", || {
        Listener::listen();
        for backend in [Backend::Auto, Backend::Ring] {
            let driver = driver(backend);
            if let Some(reason) = block_on(driver.capabilities()).ring_unavailable() {
                testkit::skip!("have a ring told", "{reason}");
            }
            ask_often(&driver);
            ask_often(&driver.clone());
            let heard = std::mem::take(&mut *heard());
            let [ready] = &heard[..] else {
                panic!("{backend}: {heard:?}");
            };
            assert_eq!((ready.level, &ready.text[..]), (Level::DEBUG, "ring ready"));
            let completions = ready.fields[0].strip_prefix("completions=").unwrap();
            assert!(completions.parse::<usize>().unwrap() > 0);
        }
    });
}

#[test]
fn a_back_end_without_a_ring_has_nothing_to_tell() {
    alone("a_back_end_without_a_ring_has_nothing_to_tell", || {
        Listener::listen();
        for backend in [Backend::Threads, Backend::ThisThread] {
            let driver = driver(backend);
            block_on(driver.capabilities());
            ask_often(&driver);
        }
        assert_eq!(*heard(), []);
    });
}

#[test]
fn a_refused_ring_is_told_once_with_its_reason() {
    const NAME: &str = "a_refused_ring_is_told_once_with_its_reason";
    if !child::is_child(NAME) {
        let filter = Filter::new().io_uring_errno(libc::EPERM);
        return Rerun::new(NAME).filter(&filter).run().assert_passed();
    }
    let _deadline = testkit::deadline(LIMIT);
    Listener::listen();
    for backend in [Backend::Auto, Backend::Ring] {
        let driver = driver(backend);
        let reason = block_on(driver.capabilities()).ring_unavailable().unwrap();
        assert!(reason.starts_with("io_uring_setup: Operation not permitted"));
        ask_often(&driver);
        let heard = std::mem::take(&mut *heard());
        let refusal = told(
            Level::INFO,
            "no ring: workers take its place",
            &[format!("reason={reason}")],
        );
        assert_eq!(heard, [refusal], "{backend}");
    }
}

#[test]
fn a_refused_openat2_is_told_once() {
    const NAME: &str = "a_refused_openat2_is_told_once";
    if !child::is_child(NAME) {
        for errno in [libc::EPERM, libc::ENOSYS] {
            let filter = Filter::new().errno(libc::SYS_openat2, errno);
            Rerun::new(NAME).filter(&filter).run().assert_passed();
        }
        return;
    }
    let _deadline = testkit::deadline(LIMIT);
    Listener::listen();
    let driver = driver(Backend::Auto);
    ask_often(&driver);
    block_on(driver.capabilities());
    let mut heard = std::mem::take(&mut *heard());
    // Whether this system grants a ring is no matter here.
    heard.retain(|told| !told.text.contains("ring"));
    let text = "openat2 with RESOLVE_CACHED is refused: paths are not looked up inline";
    assert_eq!(heard, [told(Level::INFO, text, &[])]);
}

#[test]
fn a_shut_down_is_told_with_what_it_leaves() {
    alone("a_shut_down_is_told_with_what_it_leaves", || {
        const SHORT: Duration = Duration::from_millis(100);
        let down = |left: usize| {
            let fields = [format!("left={left}")];
            told(Level::DEBUG, "driver shut down", &fields)
        };
        Listener::listen();
        let idle = driver(Backend::Threads);
        block_on(idle.statx("/proc/version").into_future()).unwrap();
        idle.shutdown_timeout(LIMIT).unwrap();
        assert_eq!(std::mem::take(&mut *heard()), [down(0)]);

        let fuse = or_skip!(Fuse::new(10));
        fuse.hang();
        let busy = driver(Backend::Threads);
        let path = fuse.file(1);
        let mut stuck = Box::pin(busy.statx(&path).into_future());
        assert!(block_on(async { futures::poll!(&mut stuck) }).is_pending());
        busy.shutdown_timeout(SHORT).unwrap_err();
        assert_eq!(std::mem::take(&mut *heard()), [down(1)]);
        fuse.release();
        block_on(stuck).unwrap();
    });
}
