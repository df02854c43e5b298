//! How a driver is made.

use crate::backend::Backend;
use crate::driver::Driver;
use crate::ring::Config;

/// Settings of a [`Driver`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    pub(crate) backend: Backend,
    pub(crate) ring: Config,
    pub(crate) inline_on_overlay: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            backend: Backend::Auto,
            ring: Config {
                entries: 256,
                workers: 512,
            },
            inline_on_overlay: true,
        }
    }
}

impl Builder {
    /// Which back ends may be used; [`Backend::Auto`] unless said otherwise (the global driver
    /// reads `RINGFS_BACKEND`).
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Entries of the ring's submission queue, rounded up to a power of two by the kernel; 256.
    /// Any number of operations may be waiting, whatever the size.
    pub fn ring_entries(mut self, entries: u32) -> Self {
        self.ring.entries = entries.clamp(1, 4096);
        self
    }

    /// The most operations that the kernel may execute at the same time (io-wq workers); 512, and
    /// at any rate within the process's budget. There are no more than operations in flight.
    ///
    /// Linux 5.15; before it the kernel's own limit applies.
    pub fn ring_workers(mut self, workers: usize) -> Self {
        self.ring.workers = workers;
        self
    }

    /// Whether files on overlayfs may be answered inline; they may unless said otherwise. Over a
    /// network or FUSE layer such an answer can be as stale as `AT_STATX_DONT_SYNC` allows.
    pub fn inline_on_overlay(mut self, inline: bool) -> Self {
        self.inline_on_overlay = inline;
        self
    }

    /// Makes the driver. It starts nothing yet, so it can't fail.
    pub fn build(self) -> Driver {
        Driver::new(&self)
    }
}
