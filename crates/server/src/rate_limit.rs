//! Token-bucket rate limit. Time that passes unused never saves up more than one second.

use parking_lot::Mutex;
use tokio::time::Instant;

/// Admits `rate` requests per second, in bursts of at most `rate`.
pub(crate) struct RateLimit {
    rate: f64,
    state: Mutex<State>,
}

struct State {
    tokens: f64,
    refilled_at: Instant,
}

impl RateLimit {
    pub(crate) fn new(rate: u32) -> Self {
        let rate = f64::from(rate);
        Self { rate, state: Mutex::new(State { tokens: rate, refilled_at: Instant::now() }) }
    }

    /// Takes one token; false if none is left.
    pub(crate) fn try_take(&self) -> bool {
        let mut state = self.state.lock();
        let now = Instant::now();
        let since = now.duration_since(state.refilled_at).as_secs_f64();
        state.tokens = self.rate.min(state.tokens + since * self.rate);
        state.refilled_at = now;
        let admits = state.tokens >= 1.0;
        if admits {
            state.tokens -= 1.0;
        }
        admits
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::RateLimit;

    #[tokio::test(start_paused = true)]
    async fn a_second_brings_as_many_again() {
        let pace = RateLimit::new(3);
        let admitted = |tries: usize| (0..tries).filter(|_| pace.try_take()).count();
        assert_eq!(admitted(5), 3);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(admitted(5), 3);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(admitted(5), 3, "patience is not saved up");
    }
}
