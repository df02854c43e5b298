//! System calls that answer as they do in a sandbox.
//!
//! A filter stays for the life of a process, so it is given to a child:
//! see [`Rerun::filter`](crate::child::Rerun::filter), or [`Filter::install`] for any command.

use std::collections::BTreeMap;
use std::io;
use std::process::Command;
use std::sync::Arc;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::start::before_exec;

/// What happens to chosen system calls; all others work.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    denied: BTreeMap<i64, u32>,
    deadly: Vec<i64>,
    /// Call, argument, bits and errno.
    flagged: Vec<(i64, u8, u64, u32)>,
}

impl Filter {
    /// Nothing is filtered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The call with this number fails with `errno`.
    ///
    /// `prctl` and `seccomp` cannot be filtered: installing the filter needs them.
    ///
    /// # Panics
    /// `errno` is no positive number.
    #[must_use]
    pub fn errno(mut self, syscall: libc::c_long, errno: i32) -> Self {
        self.denied
            .insert(syscall, u32::try_from(errno).expect("an errno is positive"));
        self
    }

    /// The call with this number fails with `errno` if its argument `index`, counted from 0, has all
    /// of these bits, as a kernel fails that does not know a flag.
    ///
    /// # Panics
    /// `errno` is no positive number.
    #[must_use]
    pub fn errno_if_flagged(
        mut self,
        syscall: libc::c_long,
        index: u8,
        bits: u64,
        errno: i32,
    ) -> Self {
        let errno = u32::try_from(errno).expect("an errno is positive");
        self.flagged.push((syscall, index, bits, errno));
        self
    }

    /// The call with this number kills the process by SIGSYS: proof that it is not made.
    #[must_use]
    pub fn kill(mut self, syscall: libc::c_long) -> Self {
        self.deadly.push(syscall);
        self
    }

    /// [`Filter::errno`] for all that `io_uring` is made of.
    #[must_use]
    pub fn io_uring_errno(self, errno: i32) -> Self {
        IO_URING
            .into_iter()
            .fold(self, |filter, syscall| filter.errno(syscall, errno))
    }

    /// [`Filter::kill`] for all that `io_uring` is made of.
    #[must_use]
    pub fn io_uring_kill(self) -> Self {
        IO_URING.into_iter().fold(self, Self::kill)
    }

    /// Makes `command` start its program under this filter.
    pub fn install<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let programs = self.compile();
        before_exec(command, move || programs.apply());
        command
    }

    /// The filter as the kernel takes it, ready for use after a fork.
    ///
    /// # Panics
    /// The processor is none that seccompiler knows.
    pub fn compile(&self) -> Programs {
        let mut by_action: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for (&syscall, &errno) in &self.denied {
            by_action.entry(errno).or_default().push(syscall);
        }
        // One program has one answer; the kernel takes the sternest of all programs.
        let mut programs: Vec<BpfProgram> = by_action
            .into_iter()
            .map(|(errno, syscalls)| program(&syscalls, &[], SeccompAction::Errno(errno)))
            .collect();
        for &(syscall, index, bits, errno) in &self.flagged {
            let flagged = SeccompCondition::new(
                index,
                SeccompCmpArgLen::Qword,
                SeccompCmpOp::MaskedEq(bits),
                bits,
            );
            let rule = flagged.and_then(|flagged| SeccompRule::new(vec![flagged]));
            let rule = rule.expect("a call has six arguments");
            programs.push(program(&[syscall], &[rule], SeccompAction::Errno(errno)));
        }
        if !self.deadly.is_empty() {
            programs.push(program(&self.deadly, &[], SeccompAction::KillProcess));
        }
        Programs(programs.into())
    }
}

const IO_URING: [libc::c_long; 3] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// A compiled [`Filter`].
#[derive(Debug, Clone)]
pub struct Programs(Arc<[BpfProgram]>);

impl Programs {
    /// Puts the calling thread under the filter, for good. System calls only: may be used after a fork.
    ///
    /// # Errors
    /// The kernel has no seccomp filters, or an outer filter forbids to set one.
    pub fn apply(&self) -> io::Result<()> {
        for program in &*self.0 {
            seccompiler::apply_filter(program).map_err(|error| match error {
                seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => error,
                _ => io::Error::from_raw_os_error(libc::EINVAL),
            })?;
        }
        Ok(())
    }
}

/// Without rules a call always meets `action`.
fn program(syscalls: &[i64], rules: &[SeccompRule], action: SeccompAction) -> BpfProgram {
    let arch = TargetArch::try_from(std::env::consts::ARCH).expect("a processor with seccomp");
    let rules = syscalls
        .iter()
        .map(|&syscall| (syscall, rules.to_vec()))
        .collect();
    SeccompFilter::new(rules, SeccompAction::Allow, action, arch)
        .and_then(TryInto::try_into)
        .expect("so few rules always compile")
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::child::{self, Rerun};

    const DENIED: &str = "seccomp::tests::calls_answer_the_errno_of_their_own";

    #[allow(unsafe_code)]
    fn errno_of(syscall: libc::c_long) -> Option<i32> {
        // SAFETY: without valid arguments these calls fail; they write nothing.
        let result = unsafe { libc::syscall(syscall, -1, 0, 0, 0, 0, 0) };
        (result < 0)
            .then(|| io::Error::last_os_error().raw_os_error())
            .flatten()
    }

    #[test]
    fn calls_answer_the_errno_of_their_own() {
        if child::is_child(DENIED) {
            assert_eq!(errno_of(libc::SYS_io_uring_setup), Some(libc::EPERM));
            assert_eq!(errno_of(libc::SYS_openat2), Some(libc::ENOSYS));
            assert_eq!(
                errno_of(libc::SYS_close),
                Some(libc::EBADF),
                "the rest works"
            );
            return;
        }
        let filter = Filter::new()
            .errno(libc::SYS_openat2, libc::ENOSYS)
            .io_uring_errno(libc::EPERM);
        Rerun::new(DENIED).filter(&filter).run().assert_passed();
    }

    const FLAGGED: &str = "seccomp::tests::a_flag_can_be_refused";

    #[test]
    #[allow(unsafe_code)]
    fn a_flag_can_be_refused() {
        if child::is_child(FLAGGED) {
            let dup = |flags| {
                // SAFETY: no descriptor is open there, so that none is duplicated.
                let result = unsafe { libc::dup3(100_000, 100_001, flags) };
                assert_eq!(result, -1);
                io::Error::last_os_error().raw_os_error()
            };
            assert_eq!(dup(0), Some(libc::EBADF));
            assert_eq!(dup(libc::O_CLOEXEC), Some(libc::EDOM));
            return;
        }
        let flag = u64::try_from(libc::O_CLOEXEC).unwrap();
        let filter = Filter::new().errno_if_flagged(libc::SYS_dup3, 2, flag, libc::EDOM);
        Rerun::new(FLAGGED).filter(&filter).run().assert_passed();
    }

    const DEADLY: &str = "seccomp::tests::a_deadly_call_kills";

    #[test]
    fn a_deadly_call_kills() {
        if child::is_child(DEADLY) {
            if std::env::var_os("DO_IT").is_some() {
                errno_of(libc::SYS_io_uring_setup);
            }
            return;
        }
        let filter = Filter::new().io_uring_kill();
        let killed = Rerun::new(DEADLY).filter(&filter).env("DO_IT", "1").run();
        assert_eq!(killed.status.signal(), Some(libc::SIGSYS));
        Rerun::new(DEADLY).filter(&filter).run().assert_passed();
    }

    #[test]
    fn any_command_can_be_filtered() {
        let mut command = Command::new("sh");
        command.args(["-c", "kill -0 $$"]);
        assert!(command.status().unwrap().success());
        Filter::new()
            .errno(libc::SYS_kill, libc::EPERM)
            .install(&mut command);
        assert!(!command.status().unwrap().success());
    }
}
