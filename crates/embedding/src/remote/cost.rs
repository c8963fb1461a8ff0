//! Cost bound: how many characters may be sent to a server that is paid by length.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::error::EmbedError;

/// How much may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostBound {
    /// Most characters.
    pub max_characters: u64,
    /// After how long the count begins anew; never if this is not given.
    pub period: Option<Duration>,
}

/// What was sent, since the embedder was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbedCost {
    /// Requests, without those sent again.
    pub requests: u64,
    /// Characters of their texts.
    pub characters: u64,
    /// Tokens that the server counted; 0 if it counts none.
    pub tokens: u64,
}

/// Counts what is sent, and refuses what is above the bound.
pub(super) struct EmbedCostMeter {
    bound: Option<CostBound>,
    count: Mutex<CostCount>,
}

struct CostCount {
    total: EmbedCost,
    since: Instant,
    characters: u64,
}

impl EmbedCostMeter {
    pub(super) fn new(bound: Option<CostBound>) -> Self {
        let total = EmbedCost::default();
        let count = CostCount { total, since: Instant::now(), characters: 0 };
        Self { bound, count: Mutex::new(count) }
    }

    /// Counts texts before they are sent. An error means: do not send them.
    pub(super) fn charge(&self, texts: &[&str]) -> Result<(), EmbedError> {
        let wanted = texts.iter().map(|text| text.chars().count() as u64).sum::<u64>();
        let mut count = self.count.lock();
        if let Some(bound) = self.bound {
            if bound.period.is_some_and(|period| count.since.elapsed() >= period) {
                (count.since, count.characters) = (Instant::now(), 0);
            }
            let (used, max) = (count.characters, bound.max_characters);
            if used.saturating_add(wanted) > max {
                return Err(EmbedError::CostBound { used, max, wanted });
            }
        }
        count.characters = count.characters.saturating_add(wanted);
        count.total.characters = count.total.characters.saturating_add(wanted);
        count.total.requests += 1;
        Ok(())
    }

    pub(super) fn add_tokens(&self, tokens: u64) {
        let total = &mut self.count.lock().total;
        total.tokens = total.tokens.saturating_add(tokens);
    }

    pub(super) fn cost(&self) -> EmbedCost {
        self.count.lock().total
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CostBound, EmbedCostMeter};
    use crate::error::EmbedError;

    #[tokio::test(start_paused = true)]
    async fn the_bound_holds_until_its_period_ends_and_counts_characters() {
        let period = Some(Duration::from_secs(60));
        let meter = EmbedCostMeter::new(Some(CostBound { max_characters: 5, period }));
        meter.charge(&["日本", "a"]).unwrap();
        let refused = meter.charge(&["abc"]);
        assert!(
            matches!(refused, Err(EmbedError::CostBound { used: 3, max: 5, wanted: 3 })),
            "{refused:?}"
        );
        meter.charge(&["ab"]).unwrap();
        tokio::time::advance(Duration::from_secs(60)).await;
        meter.charge(&["abcde"]).unwrap();
        assert_eq!(meter.cost().characters, 10);
        assert_eq!(meter.cost().requests, 3);
    }

    #[tokio::test]
    async fn a_bound_without_a_period_and_no_bound_at_all() {
        let meter = EmbedCostMeter::new(Some(CostBound { max_characters: 1, period: None }));
        meter.charge(&["a"]).unwrap();
        assert!(meter.charge(&["b"]).is_err());
        EmbedCostMeter::new(None).charge(&[&"a".repeat(100_000)]).unwrap();
    }
}
