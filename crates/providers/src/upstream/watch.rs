//! Receives the server's notifications, invalidates the caches and informs the subscribers.
//!
//! One task per server. It invalidates first and informs then, so that a client that reads after a
//! notification gets the new content.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use client::{ConnectionStatus, NotificationKind, NotificationReceiver, ServerNotification, State};
use futures_core::Stream;
use machinery::Backoff;
use parking_lot::Mutex;
use resource::{
    Change, ComponentKind, Context, Error, ErrorKind, Interest, Result, UnknownMembers, Uri, Watch,
};
use tokio::sync::Notify;
use tokio::sync::watch::Receiver;
use tokio::time;

use super::full_listing::is_within;
use super::shared_subscription::UpstreamSubscription;
use super::{Inner, Upstream};
use crate::change_channel::ChangeSender;

/// Delays between reconnects. The first attempt comes at once.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };

/// Notifications with larger params lose their extra fields.
const MAX_EXTRA_BYTES: usize = 16 << 10;

/// All subscribers with their interests.
#[derive(Default)]
pub(super) struct ChangeSubscribers {
    subscriber_added: Arc<Notify>,
    senders: Mutex<Vec<(u64, Interest, ChangeSender)>>,
    next_id: AtomicU64,
}

impl ChangeSubscribers {
    pub(super) fn broadcast(&self, change: &Change) {
        for (_, interest, feed) in self.senders.lock().iter() {
            if matches_interest(change, interest) {
                feed.send(change.clone());
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.senders.lock().len()
    }
}

/// True if `change` concerns `interest`. A change below a resource is a change of that resource
/// (`updated` may name either).
fn matches_interest(change: &Change, interest: &Interest) -> bool {
    match (interest, change.without_extra()) {
        (Interest::Listing, Change::Listing) => true,
        (Interest::Resource(wanted), Change::Updated(uri) | Change::Removed(uri)) => {
            is_within(uri, wanted)
        }
        (Interest::Components(wanted), Change::Components(kind)) => kind == wanted,
        (
            Interest::Listing
            | Interest::Resource(_)
            | Interest::Components(_)
            | Interest::Everything,
            _,
        ) => false,
    }
}

impl Inner {
    /// Starts the listening task on the first request.
    pub(super) fn start_listener(self: &Arc<Self>) {
        self.listen_task.get_or_init(|| {
            let ear = NotificationListener {
                notifications: self.client.notifications(),
                connection_status: self.connection_status.clone(),
                subscriber_added: Arc::clone(&self.subscribers.subscriber_added),
                inner: Arc::downgrade(self),
                attempts: 0,
            };
            tokio::spawn(ear.run()).abort_handle()
        });
    }

    /// Invalidates the caches and informs the subscribers, as the notification demands.
    fn handle_notice(&self, notice: &ServerNotification) {
        match &notice.kind {
            NotificationKind::Updated(text) => {
                let Ok(uri) = Uri::parse(text) else { return };
                self.apply_change(&Change::Updated(uri).with_extra(notice_extra(notice)));
            }
            NotificationKind::ResourceListChanged => {
                if !notice.from_server {
                    // Anything may have changed during the disconnect.
                    for view in self.all_views() {
                        view.invalidate_content(|_| true);
                    }
                    for kind in ComponentKind::ALL {
                        self.subscribers.broadcast(&Change::Components(kind));
                    }
                }
                self.apply_change(&Change::Listing.with_extra(notice_extra(notice)));
            }
            NotificationKind::ComponentListChanged(kind) => {
                let change = Change::Components(*kind).with_extra(notice_extra(notice));
                self.subscribers.broadcast(&change);
            }
            NotificationKind::Other => {}
        }
    }

    /// Invalidates what `change` affects in every view, then sends it to the subscribers.
    pub(super) fn apply_change(&self, change: &Change) {
        for view in self.all_views() {
            match change.without_extra() {
                // A read of a collection may contain its children.
                Change::Updated(uri) | Change::Removed(uri) => {
                    view.invalidate_content(|kept| is_within(uri, kept));
                }
                Change::Listing => {
                    view.resource_pages.invalidate();
                    view.template_pages.invalidate();
                    view.metadata_cache.invalidate(|_| true);
                }
                Change::Components(_) | Change::WithExtra(..) => return,
            }
            // A changed file changes the digests of its skill.
            view.skill_pages.invalidate();
            view.full_listing_cache.invalidate(|()| true);
            view.full_listing_flight.forget_all();
        }
        self.subscribers.broadcast(change);
    }

    fn all_views(&self) -> Vec<Arc<Self>> {
        self.views.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Drops the cached reads and descriptions that are meant, and lets no one join a request for
    /// one.
    fn invalidate_content(&self, is_meant: impl Fn(&Uri) -> bool) {
        self.read_cache.invalidate(&is_meant);
        self.metadata_cache.invalidate(&is_meant);
        self.read_flight.forget_all();
        self.metadata_flight.forget_all();
    }

    /// Adds a subscriber. The stream holds all matching changes from now on.
    fn add_subscriber(
        self: &Arc<Self>,
        interest: Interest,
        seat: Arc<Mutex<Option<UpstreamSubscription>>>,
    ) -> UpstreamChangeStream {
        let id = self.subscribers.next_id.fetch_add(1, Ordering::Relaxed);
        let inner = Arc::downgrade(self);
        let (feed, stories) = ChangeSender::channel(move || {
            if let Some(inner) = inner.upgrade() {
                inner.subscribers.senders.lock().retain(|(known, ..)| *known != id);
            }
            drop(seat);
        });
        self.subscribers.senders.lock().push((id, interest, feed));
        self.subscribers.subscriber_added.notify_one();
        Box::pin(stories)
    }
}

type UpstreamChangeStream = Pin<Box<dyn Stream<Item = Change> + Send>>;

/// The listening task of one server.
struct NotificationListener {
    notifications: NotificationReceiver,
    connection_status: Receiver<ConnectionStatus>,
    subscriber_added: Arc<Notify>,
    inner: Weak<Inner>,
    /// Reconnects since the server was last connected.
    attempts: u32,
}

impl NotificationListener {
    async fn run(mut self) {
        loop {
            let Some(is_missed) = self.needs_reconnect() else { return };
            tokio::select! {
                notice = self.notifications.next() => {
                    let (Some(notice), Some(inner)) = (notice, self.inner.upgrade()) else { return };
                    inner.handle_notice(&notice);
                }
                changed = self.connection_status.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = self.subscriber_added.notified() => {}
                () = time::sleep(BACKOFF.delay(self.attempts)), if is_missed => self.reconnect().await,
            }
        }
    }

    /// True if the server is disconnected and there are subscribers; `None` once the provider is
    /// dropped.
    fn needs_reconnect(&mut self) -> Option<bool> {
        let inner = self.inner.upgrade()?;
        let is_there = matches!(self.connection_status.borrow_and_update().state, State::Ready(_));
        if is_there {
            self.attempts = 0;
        }
        Some(!is_there && !inner.subscribers.senders.lock().is_empty())
    }

    /// Reconnects. The client reconnects by itself only for subscriptions to single resources.
    async fn reconnect(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
        let Some(client) = self.inner.upgrade().map(|inner| inner.client.clone()) else { return };
        if let Err(error) = client.peer().await {
            tracing::debug!(%error, "reconnecting to a watched server failed");
        }
    }
}

#[async_trait]
impl Watch for Upstream {
    async fn watch(&self, ctx: &Context, interest: Interest) -> Result<UpstreamChangeStream> {
        self.inner.start_listener();
        let inner = self.view(ctx);
        if inner.known_capabilities().is_none() {
            inner.client.announce_first_connection();
        }
        if interest == Interest::Everything {
            let why = "the server behind this mount reports changes only of single resources";
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        let place = Arc::new(Mutex::new(None));
        let stories = inner.add_subscriber(interest.clone(), Arc::clone(&place));
        if let Interest::Resource(uri) = &interest {
            let seat = inner.subscribe(uri).await?;
            *place.lock() = Some(seat);
        }
        Ok(stories)
    }

    /// The client presents one identity to the server, whoever asks here.
    fn is_shared(&self, _: &Interest) -> bool {
        true
    }
}

/// The extra fields of a notification, unless its params are too large.
fn notice_extra(notice: &ServerNotification) -> Option<Arc<UnknownMembers>> {
    let length = notice.params.as_ref().map_or(0, |raw| raw.get().len());
    (length <= MAX_EXTRA_BYTES).then(|| Arc::new(notice.unknown_members()))
}

/// The error for a resource without notifications and without polling.
pub(super) fn not_watchable(uri: &Uri) -> Error {
    let words = "the server behind this mount does not support subscriptions to this resource";
    Error::new(ErrorKind::Unsupported, words).about(uri)
}
