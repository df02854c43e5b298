//! The threads of a burst of calls that sleep, once it is over.

use std::future::IntoFuture;
use std::thread;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ringfs::Backend;
use testkit::fuse::Fuse;
use testkit::or_skip;
use tests::{alone, block_on, driver, process};

/// How many calls sleep at a time.
const AT_A_TIME: usize = 64;
/// Spares wait for work for ten seconds; the rest is for a busy machine.
const GONE_WITHIN: Duration = Duration::from_secs(25);

fn blockpool_threads() -> usize {
    let threads = process::threads().into_iter();
    threads.filter(|name| name == "blockpool").count()
}

#[test]
fn threads_of_a_burst_are_gone_soon() {
    alone("threads_of_a_burst_are_gone_soon", || {
        let fuse = or_skip!(Fuse::new(1_000));
        fuse.set_delay(Duration::from_millis(20));
        assert_eq!(blockpool_threads(), 0);
        let driver = driver(Backend::Threads);
        let paths: Vec<_> = (0..1_000).map(|number| fuse.file(number)).collect();
        let mut most = 0;
        block_on(async {
            let mut calls = FuturesUnordered::new();
            for path in &paths {
                if calls.len() == AT_A_TIME {
                    let answer: Option<Result<_, _>> = calls.next().await;
                    answer.unwrap().unwrap();
                    most = most.max(blockpool_threads());
                }
                calls.push(driver.statx(path).into_future());
            }
            while let Some(answer) = calls.next().await {
                answer.unwrap();
            }
        });
        // It was a burst.
        assert!(most >= AT_A_TIME / 2, "{most} threads");
        let over = Instant::now();
        while blockpool_threads() > 0 && over.elapsed() < GONE_WITHIN {
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(blockpool_threads(), 0);
        // The next call has a thread again.
        block_on(driver.statx(&paths[0]).into_future()).unwrap();
    });
}
