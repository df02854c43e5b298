//! Which route each operation takes on this kernel, and why.

use std::fmt;

use crate::backend::Backend;
use crate::ring::{Features, SetupError};

/// How an operation is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// At once, on the thread that polls the future, where the call cannot sleep.
    Inline,
    /// By a plain call on a worker thread.
    Worker,
    /// By the kernel, through io_uring.
    Ring,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Inline => "inline",
            Self::Worker => "worker",
            Self::Ring => "ring",
        })
    }
}

/// An operation of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OperationKind {
    /// `statx(2)` of an open descriptor.
    StatxFd,
    /// `statx(2)` of a path.
    StatxPath,
    /// `openat2(2)`.
    Open,
    /// `openat2(2)` with `RESOLVE_BENEATH`, and `statx(2)` of what it opened.
    OpenBeneath,
    /// `getdents64(2)`.
    ReadDir,
    /// `close(2)`.
    Close,
    /// `readlinkat(2)`.
    ReadLink,
    /// `realpath(3)`.
    Canonicalize,
    /// `statfs(2)`.
    StatFs,
}

impl OperationKind {
    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; 9] = [
        Self::StatxFd,
        Self::StatxPath,
        Self::Open,
        Self::OpenBeneath,
        Self::ReadDir,
        Self::Close,
        Self::ReadLink,
        Self::Canonicalize,
        Self::StatFs,
    ];

    /// Whether mainline kernels have a ring operation for it.
    pub(crate) const fn has_ring_operation(self) -> bool {
        match self {
            Self::StatxFd | Self::StatxPath | Self::Open | Self::OpenBeneath | Self::Close => true,
            Self::ReadDir | Self::ReadLink | Self::Canonicalize | Self::StatFs => false,
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::StatxFd => "statx, descriptor",
            Self::StatxPath => "statx, path",
            Self::Open => "open",
            Self::OpenBeneath => "open, beneath",
            Self::ReadDir => "getdents64",
            Self::Close => "close",
            Self::ReadLink => "readlink",
            Self::Canonicalize => "realpath",
            Self::StatFs => "statfs",
        })
    }
}

/// The routes that one operation takes, the preferred first, and why not the others.
#[derive(Clone, Debug)]
pub struct Support {
    /// What it is about.
    pub operation: OperationKind,
    /// The routes in the order in which they are tried.
    pub routes: Vec<Route>,
    /// Why these.
    pub reason: String,
}

/// What a driver found out about its process and kernel.
///
/// ```
/// # futures::executor::block_on(async {
/// let capabilities = ringfs::Driver::global().capabilities().await;
/// println!("{capabilities}");
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Capabilities {
    backend: Backend,
    ring: Result<Features, RingUnavailable>,
    operations: Vec<Support>,
}

/// Why a driver has no ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RingUnavailable {
    Threads,
    ThisThread,
    Refused(SetupError),
}

impl fmt::Display for RingUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads => f.write_str("worker threads were asked for"),
            Self::ThisThread => f.write_str("no other thread than the caller's was asked for"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

/// What the inline route may do with paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlinePaths {
    pub(crate) lookups: bool,
    /// Not if one has slept.
    pub(crate) opens: bool,
}

impl Capabilities {
    pub(crate) fn new(
        backend: Backend,
        inline_paths: InlinePaths,
        ring: Result<Features, RingUnavailable>,
    ) -> Self {
        let operations = OperationKind::ALL
            .map(|operation| support(operation, backend, inline_paths, &ring))
            .into();
        Self {
            backend,
            ring,
            operations,
        }
    }

    /// The back end that was asked for.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Whether there is a ring.
    pub fn has_ring(&self) -> bool {
        self.ring.is_ok()
    }

    /// Why there is no ring: the call that was refused and the system's reason, or that none was
    /// wanted. `None` if there is one.
    pub fn ring_unavailable(&self) -> Option<String> {
        self.ring.as_ref().err().map(ToString::to_string)
    }

    /// The set-up flags that the kernel granted, without `IORING_SETUP_`.
    pub fn ring_flags(&self) -> &[&'static str] {
        self.ring.as_ref().map_or(&[], |features| &features.flags)
    }

    /// Every operation with its routes and the reason for them.
    pub fn operations(&self) -> &[Support] {
        &self.operations
    }

    /// One operation's routes.
    pub fn operation(&self, operation: OperationKind) -> &Support {
        self.operations
            .iter()
            .find(|support| support.operation == operation)
            .unwrap_or(&self.operations[0])
    }
}

fn support(
    operation: OperationKind,
    backend: Backend,
    inline_paths: InlinePaths,
    ring: &Result<Features, RingUnavailable>,
) -> Support {
    if backend == Backend::ThisThread {
        return Support {
            operation,
            routes: vec![Route::Inline],
            reason: "inline, even if it sleeps: no other thread was asked for".to_owned(),
        };
    }
    let inline = match (operation, backend) {
        (_, Backend::Ring) => Err("the ring was asked for, so nothing is inline"),
        (OperationKind::StatxPath | OperationKind::OpenBeneath, Backend::Threads) => {
            Err("openat2 must not be called, so paths are not looked up inline")
        }
        (OperationKind::StatxPath | OperationKind::OpenBeneath, _) if !inline_paths.lookups => {
            Err("openat2 with RESOLVE_CACHED is refused")
        }
        (OperationKind::OpenBeneath, _) if !inline_paths.opens => {
            Err("an open that should not have slept has")
        }
        (OperationKind::StatxFd | OperationKind::StatxPath | OperationKind::OpenBeneath, _) => {
            Ok(())
        }
        (_, _) => Err("may sleep"),
    };
    let on_ring = match (operation, ring) {
        _ if !operation.has_ring_operation() => {
            Err("mainline kernels have no such ring operation".to_owned())
        }
        (_, Err(reason)) => Err(reason.to_string()),
        (_, Ok(features)) if features.supports(operation) => Ok(()),
        (_, Ok(_)) => Err("this kernel's ring lacks the operation".to_owned()),
    };
    let mut routes = Vec::new();
    routes.extend(inline.is_ok().then_some(Route::Inline));
    match (&on_ring, backend) {
        (Ok(()), Backend::Ring) => routes.push(Route::Ring),
        (Ok(()), _) => routes.extend([Route::Worker, Route::Ring]),
        (Err(_), _) => routes.push(Route::Worker),
    }
    let mut reasons = Vec::new();
    reasons.push(match inline {
        Ok(()) => "inline: cannot sleep".to_owned(),
        Err(reason) => format!("not inline: {reason}"),
    });
    reasons.push(match on_ring {
        Ok(()) => "ring: available".to_owned(),
        Err(reason) => format!("not on the ring: {reason}"),
    });
    Support {
        operation,
        routes,
        reason: reasons.join("; "),
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "back end: {}", self.backend)?;
        match &self.ring {
            Ok(features) => {
                let flags = features.flags.join(" ");
                writeln!(f, "ring: {} completions, {flags}", features.completions)?;
            }
            Err(reason) => writeln!(f, "ring: none ({reason})")?,
        }
        for Support {
            operation,
            routes,
            reason,
        } in &self.operations
        {
            let routes: Vec<String> = routes.iter().map(ToString::to_string).collect();
            writeln!(f, "{operation:<18} {:<20} {reason}", routes.join(", "))?;
        }
        Ok(())
    }
}
