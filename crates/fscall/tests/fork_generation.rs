//! Forked children. In a program of its own, so that no other test's threads are forked.

use std::io;

use fscall::thread::ForkGeneration;

/// Runs `child` in a forked child and answers the status that it ends with.
fn in_child(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child does nothing but call `child` and end.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1, "{}", io::Error::last_os_error());
    if pid == 0 {
        let status = child();
        // SAFETY: ends the child without running what the parent has registered.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: waits for this test's own child.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert!(libc::WIFEXITED(status), "{status:#x}");
    libc::WEXITSTATUS(status)
}

fn status(generation: u64) -> i32 {
    i32::try_from(generation).unwrap_or(99)
}

#[test]
fn every_fork_counts_one() {
    let generation = ForkGeneration::new().unwrap();
    // Not asked before the fork, in any of them.
    let grandchild = in_child(|| in_child(|| status(generation.generation())));
    assert_eq!(
        grandchild, 2,
        "a generation that nobody was told counts for nobody"
    );

    let asked = in_child(|| {
        let own = status(generation.generation());
        let child = in_child(|| {
            let own = status(generation.generation());
            own * 10 + in_child(|| status(generation.generation()))
        });
        own * 100 + child
    });
    assert_eq!(asked, 234);
    assert_eq!(generation.generation(), 1);
    assert!(!generation.is_child());
    assert_eq!(in_child(|| i32::from(generation.is_child())), 1);
}

#[test]
fn racing_threads_agree() {
    let generation = ForkGeneration::new().unwrap();
    for _ in 0..50 {
        let wrong = in_child(|| {
            let answers = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| scope.spawn(|| generation.generation()))
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or(0))
                    .collect::<Vec<_>>()
            });
            status(answers.iter().filter(|&&answer| answer != 2).count() as u64)
        });
        assert_eq!(wrong, 0);
    }
}

#[test]
fn two_of_them_do_not_mix() {
    let outer = ForkGeneration::new().unwrap();
    let answers = in_child(|| {
        let Ok(inner) = ForkGeneration::new() else {
            return 0;
        };
        status(outer.generation() * 10 + inner.generation())
    });
    assert_eq!(answers, 21);
}
