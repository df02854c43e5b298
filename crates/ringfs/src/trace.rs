//! Events for those who look into a running program (feature `tracing`); nothing without it.
//!
//! They are told where something changes or falls short, never for each call.

macro_rules! event {
    ($(#[$doc:meta])* $name:ident ( $($field:ident : $type:ty),* ) $level:ident $text:literal) => {
        $(#[$doc])*
        #[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::needless_pass_by_value))]
        pub(crate) fn $name($($field: $type),*) {
            #[cfg(feature = "tracing")]
            tracing::$level!(target: "ringfs", $($field = %$field,)* $text);
        }
    };
}

event!(
    /// A ring was made.
    ring_ready(completions: usize) debug "ring ready"
);
event!(
    /// The system grants no ring.
    ring_refused(reason: &crate::ring::SetupError) info "no ring: workers take its place"
);
event!(
    /// A ring that worked does no longer.
    ring_broken(error: &std::io::Error) warn "the ring has broken down: workers take its place"
);
event!(
    /// A path can't be looked up inline.
    inline_refused() info "openat2 with RESOLVE_CACHED is refused: paths are not looked up inline"
);
event!(
    /// An inline open slept.
    inline_open_slept(micros: u128) info "an open that should not have slept has: no more are made inline"
);
event!(
    /// Too many operations lead to one mount.
    held_back(mount: u64) debug "operations wait for others of the same mount"
);
event!(
    /// A driver was shut down.
    shut_down(left: usize) debug "driver shut down"
);
