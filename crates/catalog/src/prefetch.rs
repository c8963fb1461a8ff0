//! Ordered concurrent prefetch of futures.
//!
//! Results come in order. Later futures start only while an earlier one is pending: slow sources
//! together cost the time of the slowest one, and fast sources cause no unneeded requests.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Futures that yield their results in order, polled ahead of time while one is pending.
pub(crate) struct Prefetch<Q, F: Future> {
    futures: Q,
    slots: VecDeque<PrefetchSlot<F>>,
}

enum PrefetchSlot<F: Future> {
    Pending(Pin<Box<F>>),
    Ready(F::Output),
}

impl<Q: Iterator<Item = F>, F: Future> Prefetch<Q, F> {
    pub(crate) fn new(futures: Q) -> Self {
        Self { futures, slots: VecDeque::new() }
    }

    /// The result of the next future; `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<F::Output> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The result of the first future, without starting any other. Call it before `next`.
    pub(crate) async fn next_without_prefetch(&mut self) -> Option<F::Output> {
        match self.futures.next() {
            Some(question) => Some(question.await),
            None => None,
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        let mut at = 0;
        loop {
            if at == self.slots.len() {
                let Some(question) = self.futures.next() else { break };
                self.slots.push_back(PrefetchSlot::Pending(Box::pin(question)));
            }
            if let PrefetchSlot::Pending(question) = &mut self.slots[at]
                && let Poll::Ready(answer) = question.as_mut().poll(cx)
            {
                self.slots[at] = PrefetchSlot::Ready(answer);
            }
            if at == 0 && matches!(self.slots[0], PrefetchSlot::Ready(_)) {
                let Some(PrefetchSlot::Ready(answer)) = self.slots.pop_front() else { break };
                return Poll::Ready(Some(answer));
            }
            at += 1;
        }
        if self.slots.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::Prefetch;

    #[tokio::test(start_paused = true)]
    async fn slow_ones_are_waited_for_together_and_quick_ones_asked_only_when_needed() {
        let begun = RefCell::new(Vec::new());
        let ask = |(name, seconds): (&'static str, u64)| {
            let begun = &begun;
            async move {
                begun.borrow_mut().push(name);
                if seconds > 0 {
                    sleep(Duration::from_secs(seconds)).await;
                }
                name
            }
        };
        let questions = [("quick", 0), ("slow", 5), ("slower", 9), ("idle", 0), ("last", 0)];
        let mut ahead = Prefetch::new(questions.into_iter().map(ask));
        assert_eq!(ahead.next().await, Some("quick"));
        assert_eq!(*begun.borrow(), ["quick"], "nobody was asked for nothing");
        let start = Instant::now();
        for name in ["slow", "slower", "idle", "last"] {
            assert_eq!(ahead.next().await, Some(name));
        }
        assert_eq!(start.elapsed(), Duration::from_secs(9));
        assert_eq!(ahead.next().await, None);
        assert_eq!(begun.borrow().len(), 5);
    }
}
