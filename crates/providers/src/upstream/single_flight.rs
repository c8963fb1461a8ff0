//! Single flight: concurrent requests for the same key share one request to the server.

use std::collections::HashMap;
use std::hash::Hash;

use client::Error;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;

/// Above this many entries, those without waiters are removed.
const SWEEP_THRESHOLD: usize = 256;

type FlightFuture<V> = BoxFuture<'static, Result<V, Error>>;

/// Requests in flight, by key. Each is cancelled when its last waiter is dropped.
pub(super) struct SingleFlightMap<K, V>(Mutex<HashMap<K, WeakShared<FlightFuture<V>>>>);

impl<K, V> Default for SingleFlightMap<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> SingleFlightMap<K, V> {
    /// Waits for the request in flight for `key`, or starts `ask`.
    pub(super) async fn join(
        &self,
        key: K,
        ask: impl Future<Output = Result<V, Error>> + Send + 'static,
    ) -> Result<V, Error> {
        self.join_or_start(key, ask).await
    }

    fn join_or_start(
        &self,
        key: K,
        ask: impl Future<Output = Result<V, Error>> + Send + 'static,
    ) -> Shared<FlightFuture<V>> {
        let mut flights = self.0.lock();
        let under_way = flights.get(&key).and_then(WeakShared::upgrade);
        // A finished request is too old: it was sent before this call.
        if let Some(asking) = under_way.filter(|asking| asking.peek().is_none()) {
            return asking;
        }
        if flights.len() > SWEEP_THRESHOLD {
            flights.retain(|_, asking| asking.upgrade().is_some());
        }
        let asking = ask.boxed().shared();
        if let Some(weak) = asking.downgrade() {
            flights.insert(key, weak);
        }
        asking
    }

    /// Forgets all requests in flight, so that later callers start new ones: the responses to
    /// the old ones may be out of date.
    pub(super) fn forget_all(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::SingleFlightMap;

    #[tokio::test]
    async fn equal_questions_are_asked_once_and_again_after_a_parting() {
        let flights: SingleFlightMap<&str, usize> = SingleFlightMap::default();
        let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let ask = || {
            let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
            async move {
                let turn = asked.fetch_add(1, Ordering::SeqCst);
                answer.notified().await;
                Ok(turn)
            }
        };
        let both = async { tokio::join!(flights.join("a", ask()), flights.join("a", ask())) };
        let later = async {
            tokio::task::yield_now().await;
            flights.forget_all();
            let third = flights.join("a", ask());
            let wake = async {
                tokio::task::yield_now().await;
                answer.notify_waiters();
            };
            tokio::join!(third, wake).0
        };
        let ((one, two), three) = tokio::join!(both, later);
        assert_eq!((one.unwrap(), two.unwrap(), three.unwrap()), (0, 0, 1));
    }
}
