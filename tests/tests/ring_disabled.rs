//! `io_uring` switched off for the whole system: `kernel.io_uring_disabled`, Linux 6.6.
//!
//! It is switched off for all others as well, so this is a test binary of its own, in which there
//! is no other test.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ringfs::{Backend, OperationKind, Route};
use testkit::skip::needs_root;
use testkit::{Skip, child, or_skip, strace};
use tests::everything::{check_everything, tree};
use tests::process::{self, place, rerun};
use tests::{block_on, driver};

const SWITCH: &str = "/proc/sys/kernel/io_uring_disabled";

/// Restores the switch when dropped, and also if this process dies before.
struct Restores {
    shell: Child,
}

impl Restores {
    fn new() -> io::Result<Self> {
        let before = fs::read_to_string(SWITCH)?;
        // It ends with the pipe, whose other end is here, and gets no signal from a terminal.
        let shell = Command::new("sh")
            .args(["-c", "read -r _; echo \"$1\" > \"$2\"", "sh"])
            .args([before.trim(), SWITCH])
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()?;
        Ok(Self { shell })
    }
}

impl Drop for Restores {
    fn drop(&mut self) {
        // Closes the pipe first.
        let _ = self.shell.wait();
    }
}

/// Everything is answered, and the reason is told.
fn check_without_ring(place: &Path) {
    for backend in [Backend::Auto, Backend::Ring] {
        let driver = driver(backend);
        check_everything(&driver, place);
        let capabilities = block_on(driver.capabilities());
        assert!(!capabilities.has_ring());
        let reason = capabilities.ring_unavailable().unwrap();
        assert!(
            reason.starts_with("io_uring_setup: Operation not permitted"),
            "{reason}"
        );
        for _ in 0..100 {
            let insists = block_on(driver.statx(place).route(Route::Ring).into_future());
            assert_eq!(insists.unwrap_err().raw_os_error(), Some(libc::EPERM));
        }
        let on_ring = |operation| driver.metrics().calls(operation, Route::Ring);
        assert_eq!(on_ring(OperationKind::StatxPath), 0);
        assert_eq!(on_ring(OperationKind::Open), 0);
    }
}

#[test]
fn a_ring_that_is_switched_off_is_replaced() {
    const NAME: &str = "a_ring_that_is_switched_off_is_replaced";
    if child::is_child(NAME) {
        return check_without_ring(&place());
    }
    if let Some(place) = std::env::var_os("COUNTED") {
        return check_without_ring(place.as_ref());
    }
    or_skip!(needs_root("switch io_uring off"));
    if !Path::new(SWITCH).exists() {
        let skip = Skip::not_possible_here("switch io_uring off", "this kernel has no such switch");
        return skip.report();
    }
    let tree = tree();
    let _restores = Restores::new().unwrap();
    // For all.
    if let Err(error) = fs::write(SWITCH, "2") {
        // In containers it is read-only.
        testkit::skip!("switch io_uring off", "{error}");
    }
    rerun(NAME, tree.path()).run().assert_passed();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", NAME, "--nocapture"]);
    command.env("COUNTED", tree.path());
    let trace = strace::trace(&command, &["io_uring_setup"]);
    // For those without rights.
    fs::write(SWITCH, "1").unwrap();
    let ordinary = rerun(NAME, tree.path()).before_exec(process::become_nobody);
    ordinary.run().assert_passed();

    let trace = or_skip!(trace);
    assert!(trace.status().success(), "{:?}", trace.finished);
    assert_eq!(trace.count("io_uring_setup"), 2, "once for each driver");
}
