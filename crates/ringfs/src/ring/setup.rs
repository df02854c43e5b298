//! Making a ring, and finding out what this kernel's can do.

use std::fmt;
use std::io;

use io_uring::{IoUring, Probe, opcode};

use crate::capabilities::OperationKind;

/// What a driver's ring is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    /// Entries of the submission queue, a power of two.
    pub(crate) entries: u32,
    /// The most kernel workers (io-wq) to ask the process's budget for.
    pub(crate) workers: usize,
}

/// What was found when the ring was made.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) operations: Vec<OperationKind>,
    /// Whether what is on the ring can be cancelled.
    pub(crate) cancel: bool,
    pub(crate) flags: Vec<&'static str>,
    pub(crate) completions: usize,
    /// Entries of the submission queue.
    pub(crate) entries: usize,
}

impl Config {
    /// How many operations fit on the ring that this asks for, at least, as far as workers are there
    /// for them.
    pub(crate) fn least_capacity(&self) -> usize {
        capacity(completions(self.entries) as usize).min(self.workers)
    }
}

/// How many operations fit on a ring with so many completions: one completion is the event's, some
/// are for cancelling, and with the rest the queue can never overflow.
fn capacity(completions: usize) -> usize {
    completions - 1 - most_cancelling(completions)
}

fn most_cancelling(completions: usize) -> usize {
    (completions / 8).max(1)
}

impl Features {
    /// How many operations fit on the ring.
    pub(crate) fn capacity(&self) -> usize {
        capacity(self.completions)
    }

    /// How many requests to cancel may be on the ring at a time, beside the operations.
    pub(crate) fn most_cancelling(&self) -> usize {
        most_cancelling(self.completions)
    }

    /// How many operations the kernel executes at the same time where the limit can't be set;
    /// `io_uring_register(2)`.
    pub(crate) fn default_workers(&self) -> usize {
        self.entries.min(4 * fscall::limits::usable_cores())
    }

    pub(crate) fn supports(&self, kind: OperationKind) -> bool {
        self.operations.contains(&kind)
    }
}

/// Why there is no ring: the call that failed, and its errno.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetupError {
    call: &'static str,
    kind: io::ErrorKind,
    errno: Option<i32>,
}

impl SetupError {
    /// Whether what stands against a ring now may be gone in a while: something has been used up.
    pub(crate) fn may_pass(&self) -> bool {
        use libc::{EAGAIN, EINTR, EMFILE, ENFILE, ENOMEM};
        matches!(self.errno, Some(EAGAIN | EINTR | EMFILE | ENFILE | ENOMEM))
    }

    pub(crate) fn new(call: &'static str, error: &io::Error) -> Self {
        Self {
            call,
            kind: error.kind(),
            errno: error.raw_os_error(),
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, io::Error::from(self.clone()))
    }
}

impl std::error::Error for SetupError {}

impl From<SetupError> for io::Error {
    fn from(error: SetupError) -> Self {
        error
            .errno
            .map_or_else(|| error.kind.into(), io::Error::from_raw_os_error)
    }
}

/// Set-up flags, best first; each attempt leaves out what the one before it may have stumbled
/// over. EINVAL is the kernel's word for a flag that it does not know; anything else is final.
///
/// `SUBMIT_ALL` 5.18, `COOP_TASKRUN` and `TASKRUN_FLAG` 5.19, `SINGLE_ISSUER` 6.0, `DEFER_TASKRUN` 6.1.
pub(super) fn make(config: Config) -> Result<(IoUring, Features), SetupError> {
    const ATTEMPTS: [&[&str]; 4] = [
        &[
            "SUBMIT_ALL",
            "SINGLE_ISSUER",
            "DEFER_TASKRUN",
            "TASKRUN_FLAG",
        ],
        &["SUBMIT_ALL", "COOP_TASKRUN", "TASKRUN_FLAG"],
        &["SUBMIT_ALL"],
        &[],
    ];
    let mut refused = None;
    for flags in ATTEMPTS {
        let mut builder = IoUring::builder();
        builder
            .setup_cqsize(completions(config.entries))
            .setup_clamp()
            .dontfork();
        for flag in flags {
            match *flag {
                "SUBMIT_ALL" => builder.setup_submit_all(),
                "COOP_TASKRUN" => builder.setup_coop_taskrun(),
                "SINGLE_ISSUER" => builder.setup_single_issuer(),
                // So that each entry fetches what has completed, and not only those that wait.
                "TASKRUN_FLAG" => builder.setup_taskrun_flag(),
                _ => builder.setup_defer_taskrun(),
            };
        }
        match builder.build(config.entries) {
            Ok(ring) => {
                let features = probe(&ring, flags)?;
                // A sandbox may grant the ring and not its use. Nothing is queued yet.
                ring.submit()
                    .map_err(|error| SetupError::new("io_uring_enter", &error))?;
                return Ok((ring, features));
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => refused = Some(error),
            Err(error) => return Err(SetupError::new("io_uring_setup", &error)),
        }
    }
    let error = refused.unwrap_or_else(|| io::ErrorKind::Unsupported.into());
    Err(SetupError::new("io_uring_setup", &error))
}

/// Completions come late when the thread is busy, so there is room for many more than are
/// submitted at a time.
fn completions(entries: u32) -> u32 {
    entries.saturating_mul(8)
}

fn probe(ring: &IoUring, flags: &[&'static str]) -> Result<Features, SetupError> {
    let mut probe = Probe::new();
    ring.submitter()
        .register_probe(&mut probe)
        .map_err(|error| SetupError::new("io_uring_register", &error))?;
    Ok(Features {
        operations: OperationKind::ALL
            .into_iter()
            .filter(|operation| opcode_of(*operation).is_some_and(|code| probe.is_supported(code)))
            .collect(),
        cancel: probe.is_supported(opcode::AsyncCancel::CODE),
        flags: flags.to_vec(),
        completions: ring.params().cq_entries() as usize,
        entries: ring.params().sq_entries() as usize,
    })
}

/// The opcode of an operation, if mainline kernels have one.
fn opcode_of(operation: OperationKind) -> Option<u8> {
    match operation {
        OperationKind::StatxFd | OperationKind::StatxPath => Some(opcode::Statx::CODE),
        OperationKind::Open | OperationKind::OpenBeneath => Some(opcode::OpenAt2::CODE),
        OperationKind::Close => Some(opcode::Close::CODE),
        OperationKind::ReadDir
        | OperationKind::ReadLink
        | OperationKind::Canonicalize
        | OperationKind::StatFs => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setup_error_keeps_the_errno() {
        let error = SetupError::new("io_uring_setup", &io::Error::from_raw_os_error(1));
        assert_eq!(io::Error::from(error.clone()).raw_os_error(), Some(1));
        assert!(
            error
                .to_string()
                .starts_with("io_uring_setup: Operation not permitted")
        );
    }
}
