//! A driver's ring: made when it is first wanted, and once more when what stood against it may have
//! passed.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use blockpool::lock;

use super::{Ring, SetupError};

/// How long a refusal that may pass is taken for an answer.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct RingSlot {
    attempt: Mutex<Option<Attempt>>,
}

#[derive(Debug)]
struct Attempt {
    at: Instant,
    ring: Result<Arc<Ring>, SetupError>,
}

impl Attempt {
    /// Why there is no ring, as far as that is known yet.
    fn refusal(&self) -> Option<&SetupError> {
        match &self.ring {
            Ok(ring) => ring.setup()?.as_ref().err(),
            Err(error) => Some(error),
        }
    }

    fn is_worth_another(&self) -> bool {
        self.refusal().is_some_and(SetupError::may_pass) && self.at.elapsed() >= RETRY
    }
}

impl RingSlot {
    /// The ring, which `start` starts if there is none.
    pub(crate) fn get_or_start(
        &self,
        start: impl FnOnce() -> Result<Ring, SetupError>,
    ) -> Result<Arc<Ring>, SetupError> {
        let mut slot = lock(&self.attempt);
        if let Some(attempt) = &mut *slot
            && let Some(refusal) = attempt.refusal().cloned()
        {
            // What was made for the ring is let go of.
            attempt.ring = Err(refusal);
        }
        match &*slot {
            Some(attempt) if !attempt.is_worth_another() => attempt.ring.clone(),
            _ => {
                let ring = start().map(Arc::new);
                *slot = Some(Attempt {
                    at: Instant::now(),
                    ring: ring.clone(),
                });
                ring
            }
        }
    }

    /// The ring, if one was started.
    pub(crate) fn get(&self) -> Option<Arc<Ring>> {
        let slot = lock(&self.attempt);
        slot.as_ref()?.ring.as_ref().ok().cloned()
    }

    /// Lets go of the ring, and makes none any more: its thread ends with its last operation.
    pub(crate) fn close(&self) {
        let error = io::Error::from_raw_os_error(libc::ECANCELED);
        let mut slot = lock(&self.attempt);
        *slot = Some(Attempt {
            at: Instant::now(),
            ring: Err(SetupError::new("shut down", &error)),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for (errno, passes) in [(libc::EPERM, false), (libc::EMFILE, true)] {
            let refused = || {
                let error = io::Error::from_raw_os_error(errno);
                Err(SetupError::new("io_uring_setup", &error))
            };
            let slot = RingSlot::default();
            assert!(slot.get_or_start(refused).is_err());
            // Not at once.
            let again = slot.get_or_start(|| unreachable!());
            assert_eq!(again.err(), refused().err());
            let mut attempt = slot.attempt.lock().unwrap();
            let attempt = attempt.as_mut().unwrap();
            assert!(!attempt.is_worth_another());
            attempt.at -= RETRY;
            assert_eq!(attempt.is_worth_another(), passes);
        }
    }
}
