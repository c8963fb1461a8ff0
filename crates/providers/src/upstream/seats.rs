//! Shared subscriptions: one per resource at the server, for any number of local listeners.
//!
//! The first listener subscribes (or starts polling), the last one unsubscribes. A lock per
//! resource keeps the two in order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use client::Error as Failure;
use resource::{Result, Uri};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::Inner;
use super::fault::fault_of;
use super::poll;
use super::watch::silent;

/// All subscriptions by URI.
#[derive(Default)]
pub(super) struct Seats(Mutex<HashMap<Uri, Row>>);

struct Row {
    count: usize,
    hold: Arc<tokio::sync::Mutex<Option<Hold>>>,
}

/// How changes of one resource are found.
enum Hold {
    /// The server sends notifications.
    Told,
    /// A task polls the resource.
    Looked(AbortHandle),
}

/// One listener's share in a subscription. Dropping the last one unsubscribes.
pub(super) struct Seat {
    inner: Weak<Inner>,
    uri: Uri,
    runtime: Handle,
}

impl Seats {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uri, Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of resources with a subscription.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl Inner {
    /// Subscribes to `uri` until the returned guard is dropped.
    pub(super) async fn sit(self: &Arc<Self>, uri: &Uri) -> Result<Seat> {
        let hold = {
            let mut seats = self.seats.lock();
            let row = seats.entry(uri.clone());
            let row = row.or_insert_with(|| Row { count: 0, hold: Arc::default() });
            row.count += 1;
            Arc::clone(&row.hold)
        };
        let (inner, runtime) = (Arc::downgrade(self), Handle::current());
        let seat = Seat { inner, uri: uri.clone(), runtime };
        let mut hold = hold.lock().await;
        if hold.is_none() {
            *hold = Some(self.hold(uri).await?);
        }
        Ok(seat)
    }

    async fn hold(self: &Arc<Self>, uri: &Uri) -> Result<Hold> {
        let abilities = self.greeted().await.map_err(|failure| fault_of(failure, uri))?;
        if abilities.subscribes {
            match self.client.subscribe(uri.as_str()).await {
                Ok(true) => return Ok(Hold::Told),
                Ok(false) | Err(Failure::Refused(_)) => {}
                Err(failure) => return Err(fault_of(failure, uri)),
            }
        }
        // Servers refuse in many ways, so check separately whether the resource exists.
        match self.poll {
            Some(every) => Ok(Hold::Looked(poll::begin(self, uri, every).await?)),
            None => {
                self.stat(uri).await?;
                Err(silent(uri))
            }
        }
    }

    /// Ends the subscription to `uri`, unless a new listener came meanwhile.
    async fn leave(self: Arc<Self>, uri: Uri) {
        let row = self.seats.lock().get(&uri).map(|row| Arc::clone(&row.hold));
        let Some(hold) = row else { return };
        let mut hold = hold.lock().await;
        if self.seats.lock().get(&uri).is_none_or(|row| row.count > 0) {
            return;
        }
        if let Some(Hold::Looked(task)) = hold.take() {
            task.abort();
        } else if let Err(error) = self.client.unsubscribe(uri.as_str()).await {
            tracing::debug!(%error, "unsubscribing from a resource failed");
        }
        let mut seats = self.seats.lock();
        if seats.get(&uri).is_some_and(|row| row.count == 0) {
            seats.remove(&uri);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(inner) = self.inner.upgrade() else { return };
        let is_last = {
            let mut seats = inner.seats.lock();
            seats.get_mut(&self.uri).is_some_and(|row| {
                row.count = row.count.saturating_sub(1);
                row.count == 0
            })
        };
        if is_last {
            self.runtime.spawn(inner.leave(self.uri.clone()));
        }
    }
}
