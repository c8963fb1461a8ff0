//! Exponential backoff: delays that double up to a cap, with or without jitter.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// The delays between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Delay after the first failure.
    pub first: Duration,
    /// Longest delay.
    pub max: Duration,
}

impl Backoff {
    /// The delay after this many failures in a row: none after none, then doubled each time.
    pub fn delay(&self, failures: u32) -> Duration {
        let Some(doublings) = failures.checked_sub(1) else { return Duration::ZERO };
        self.first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.max)
    }

    /// The same delay, reduced by up to a quarter, so that many clients of one server do not
    /// return all at once.
    pub fn jittered_delay(&self, failures: u32) -> Duration {
        // Every `RandomState` has keys of its own.
        let random = RandomState::new().hash_one(0) % 1024;
        self.delay(failures).mul_f64(0.75 + random as f64 / 4096.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    const BACKOFF: Backoff =
        Backoff { first: Duration::from_secs(1), max: Duration::from_secs(10) };

    #[test]
    fn the_delay_doubles_up_to_a_cap_and_varies_by_a_quarter() {
        for (failures, seconds) in [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (4_000, 10)] {
            let delay = Duration::from_secs(seconds);
            assert_eq!(BACKOFF.delay(failures), delay);
            let jittered = BACKOFF.jittered_delay(failures);
            assert!(jittered >= delay.mul_f64(0.74) && jittered <= delay, "{jittered:?}");
        }
    }

    #[test]
    fn two_delays_with_jitter_differ() {
        let delays = [(); 20].map(|()| BACKOFF.jittered_delay(9));
        assert!(delays.iter().any(|delay| *delay != delays[0]));
    }
}
