//! Shared subscriptions: one per resource at the server, for any number of local listeners.
//!
//! The first listener subscribes (or starts polling), the last one unsubscribes. A lock per
//! resource keeps the two in order.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use client::Error as Failure;
use parking_lot::Mutex;
use resource::{Result, Uri};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::Inner;
use super::error_mapping::resource_error;
use super::poll;
use super::watch::not_watchable;

/// All subscriptions by URI.
#[derive(Default)]
pub(super) struct SharedSubscriptions(Mutex<HashMap<Uri, SubscriptionEntry>>);

struct SubscriptionEntry {
    listeners: usize,
    source: Arc<tokio::sync::Mutex<Option<ChangeSource>>>,
}

/// How changes of one resource are found.
enum ChangeSource {
    /// The server sends notifications.
    Notifications,
    /// A task polls the resource.
    Polling(AbortHandle),
}

/// One listener's share in a subscription. Dropping the last one unsubscribes.
pub(super) struct UpstreamSubscription {
    inner: Weak<Inner>,
    uri: Uri,
    runtime: Handle,
}

impl SharedSubscriptions {
    /// Number of resources with a subscription.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl Inner {
    /// Subscribes to `uri` until the returned guard is dropped.
    pub(super) async fn subscribe(self: &Arc<Self>, uri: &Uri) -> Result<UpstreamSubscription> {
        let hold = {
            let mut seats = self.subscriptions.0.lock();
            let row = seats.entry(uri.clone());
            let row =
                row.or_insert_with(|| SubscriptionEntry { listeners: 0, source: Arc::default() });
            row.listeners += 1;
            Arc::clone(&row.source)
        };
        let (inner, runtime) = (Arc::downgrade(self), Handle::current());
        let seat = UpstreamSubscription { inner, uri: uri.clone(), runtime };
        let mut hold = hold.lock().await;
        if hold.is_none() {
            *hold = Some(self.start_change_source(uri).await?);
        }
        Ok(seat)
    }

    async fn start_change_source(self: &Arc<Self>, uri: &Uri) -> Result<ChangeSource> {
        let abilities =
            self.capabilities().await.map_err(|failure| resource_error(failure, uri))?;
        if abilities.has_subscribe {
            match self.client.subscribe(uri.as_str()).await {
                Ok(true) => return Ok(ChangeSource::Notifications),
                Ok(false) | Err(Failure::Refused(_)) => {}
                Err(failure) => return Err(resource_error(failure, uri)),
            }
        }
        // Servers refuse in many ways, so check separately whether the resource exists.
        match self.poll_interval {
            Some(every) => Ok(ChangeSource::Polling(poll::start_polling(self, uri, every).await?)),
            None => {
                self.describe(uri).await?;
                Err(not_watchable(uri))
            }
        }
    }

    /// Ends the subscription to `uri`, unless a new listener came meanwhile.
    async fn unsubscribe_if_unused(self: Arc<Self>, uri: Uri) {
        let row = self.subscriptions.0.lock().get(&uri).map(|row| Arc::clone(&row.source));
        let Some(hold) = row else { return };
        let mut hold = hold.lock().await;
        if self.subscriptions.0.lock().get(&uri).is_none_or(|row| row.listeners > 0) {
            return;
        }
        if let Some(ChangeSource::Polling(task)) = hold.take() {
            task.abort();
        } else if let Err(error) = self.client.unsubscribe(uri.as_str()).await {
            tracing::debug!(%error, "unsubscribing from a resource failed");
        }
        let mut seats = self.subscriptions.0.lock();
        if seats.get(&uri).is_some_and(|row| row.listeners == 0) {
            seats.remove(&uri);
        }
    }
}

impl Drop for UpstreamSubscription {
    fn drop(&mut self) {
        let Some(inner) = self.inner.upgrade() else { return };
        let is_last = {
            let mut seats = inner.subscriptions.0.lock();
            seats.get_mut(&self.uri).is_some_and(|row| {
                row.listeners = row.listeners.saturating_sub(1);
                row.listeners == 0
            })
        };
        if is_last {
            self.runtime.spawn(inner.unsubscribe_if_unused(self.uri.clone()));
        }
    }
}
