//! Single flight: concurrent callers with the same key share one piece of work.

use std::collections::HashMap;
use std::hash::Hash;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;

/// Above this many entries, those without waiters are removed.
const SWEEP_THRESHOLD: usize = 256;

/// A shared piece of work. All who wait for it get a clone of its output, errors included.
pub type Flight<V> = Shared<BoxFuture<'static, V>>;

/// Work in flight, by key. Each is cancelled when its last waiter is dropped.
pub struct SingleFlight<K, V>(Mutex<HashMap<K, WeakShared<BoxFuture<'static, V>>>>);

/// Whose work a flight is.
pub enum FlightRole<V> {
    /// The caller's own.
    Leader(Flight<V>),
    /// An earlier caller's.
    Follower(Flight<V>),
}

impl<K, V> Default for SingleFlight<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> SingleFlight<K, V> {
    /// Waits for the work in flight for `key`, or starts `work`.
    pub async fn join(&self, key: K, work: impl Future<Output = V> + Send + 'static) -> V {
        match self.enter(key, work) {
            FlightRole::Leader(flight) | FlightRole::Follower(flight) => flight.await,
        }
    }

    /// The work in flight for `key`, or else `work`, which becomes the one in flight.
    pub fn enter(&self, key: K, work: impl Future<Output = V> + Send + 'static) -> FlightRole<V> {
        let mut flights = self.0.lock();
        let under_way = flights.get(&key).and_then(WeakShared::upgrade);
        // Finished work is too old: it began before this call.
        if let Some(flight) = under_way.filter(|flight| flight.peek().is_none()) {
            return FlightRole::Follower(flight);
        }
        if flights.len() > SWEEP_THRESHOLD {
            flights.retain(|_, flight| flight.upgrade().is_some());
        }
        let flight = work.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            flights.insert(key, weak);
        }
        FlightRole::Leader(flight)
    }

    /// Forgets all work in flight, so that later callers start anew: its results may be out of
    /// date. Those who wait for it still get them.
    pub fn forget_all(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;
    use tokio::sync::oneshot;

    use super::{FlightRole, SingleFlight};

    #[tokio::test]
    async fn equal_questions_are_asked_once_and_again_after_a_parting() {
        let flights: SingleFlight<&str, Result<usize, String>> = SingleFlight::default();
        let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let ask = || {
            let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
            async move {
                let turn = asked.fetch_add(1, Ordering::SeqCst);
                answer.notified().await;
                if turn == 0 { Err("first".to_owned()) } else { Ok(turn) }
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
        assert_eq!((one, two, three), (Err("first".to_owned()), Err("first".to_owned()), Ok(1)));
    }

    #[tokio::test]
    async fn work_is_dropped_with_its_last_waiter() {
        let flights: SingleFlight<(), ()> = SingleFlight::default();
        let (held, mut dropped) = oneshot::channel::<()>();
        let work = async move {
            let _held = held;
            std::future::pending().await
        };
        let FlightRole::Leader(one) = flights.enter((), work) else { panic!("nothing flew") };
        let FlightRole::Follower(two) = flights.enter((), async {}) else { panic!("it flies") };
        drop(one);
        assert_eq!(dropped.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        drop(two);
        assert_eq!(dropped.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        flights.join((), async {}).await;
    }
}
