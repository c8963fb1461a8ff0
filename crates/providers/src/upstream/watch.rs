//! Receives the server's notifications, invalidates the caches and informs the subscribers.
//!
//! One task per server. It invalidates first and informs then, so that a client that reads after a
//! notification gets the new content.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use client::{About, Notice, Notices, Standing, State, verb};
use futures_core::Stream;
use resource::{Change, Context, Error, ErrorKind, Extra, Interest, Result, Uri, Watch};
use tokio::sync::Notify;
use tokio::sync::watch::Receiver;
use tokio::time;

use super::seats::Seat;
use super::whole::is_within;
use super::{Inner, Upstream};
use crate::feed::Feed;

/// Delay between reconnects, doubling from the first value up to the second. The first attempt
/// comes at once.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Notifications with larger params lose their extra fields.
const WORDS: usize = 16 << 10;

/// All subscribers with their interests.
#[derive(Default)]
pub(super) struct Roster {
    arrived: Arc<Notify>,
    feeds: Mutex<Vec<(u64, Interest, Feed)>>,
    ids: AtomicU64,
}

impl Roster {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Interest, Feed)>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, change: &Change) {
        for (_, interest, feed) in self.lock().iter() {
            if touches(change, interest) {
                feed.tell(change.clone());
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }
}

/// True if `change` concerns `interest`. A change below a resource is a change of that resource
/// (`updated` may name either).
fn touches(change: &Change, interest: &Interest) -> bool {
    match (interest, change.plain()) {
        (Interest::Everything, _) | (Interest::Listing, Change::Listing) => true,
        (Interest::Resource(wanted), Change::Updated(uri) | Change::Removed(uri)) => {
            is_within(uri, wanted)
        }
        // Subscribers to tools and prompts get their changes from the relay.
        (Interest::Listing | Interest::Resource(_) | Interest::Offers(_), _) => false,
    }
}

impl Inner {
    /// Starts the listening task on the first request.
    pub(super) fn listen(self: &Arc<Self>) {
        self.listening.get_or_init(|| {
            let ear = Ear {
                notices: self.client.notices(),
                standing: self.standing.clone(),
                arrived: Arc::clone(&self.roster.arrived),
                inner: Arc::downgrade(self),
                wait: Duration::ZERO,
            };
            tokio::spawn(ear.listen()).abort_handle()
        });
    }

    /// Invalidates the caches and informs the subscribers, as the notification demands.
    fn heard(&self, notice: &Notice) {
        match &notice.about {
            About::Updated(text) => {
                let Ok(uri) = Uri::parse(text) else { return };
                self.changed(&Change::Updated(uri).worded(words(notice)));
            }
            About::ListChanged if notice.method == verb::LIST_CHANGED => {
                if !notice.is_heard {
                    // Anything may have changed during the disconnect.
                    self.reads.forget(|_| true);
                    self.stats.forget(|_| true);
                    self.opening.part();
                    self.asked.part();
                }
                self.changed(&Change::Listing.worded(words(notice)));
            }
            About::ListChanged | About::Other => {}
        }
    }

    /// Invalidates what `change` affects, then sends it to the subscribers.
    pub(super) fn changed(&self, change: &Change) {
        match change.plain() {
            Change::Updated(uri) | Change::Removed(uri) => {
                // A read of a collection may contain its children.
                self.reads.forget(|kept| is_within(uri, kept));
                self.stats.forget(|kept| is_within(uri, kept));
                self.opening.part();
                self.asked.part();
            }
            Change::Listing => {
                self.resources.forget();
                self.patterns.forget();
                self.stats.forget(|_| true);
            }
            Change::Offers(_) | Change::Worded(..) => return,
        }
        self.whole.forget(|()| true);
        self.walks.part();
        self.roster.tell(change);
    }

    /// Adds a subscriber. The stream holds all matching changes from now on.
    fn enter(self: &Arc<Self>, interest: Interest, seat: Arc<Mutex<Option<Seat>>>) -> Changes {
        let id = self.roster.ids.fetch_add(1, Ordering::Relaxed);
        let inner = Arc::downgrade(self);
        let (feed, stories) = Feed::new(move || {
            if let Some(inner) = inner.upgrade() {
                inner.roster.lock().retain(|(known, ..)| *known != id);
            }
            drop(seat);
        });
        self.roster.lock().push((id, interest, feed));
        self.roster.arrived.notify_one();
        Box::pin(stories)
    }
}

type Changes = Pin<Box<dyn Stream<Item = Change> + Send>>;

/// The listening task of one server.
struct Ear {
    notices: Notices,
    standing: Receiver<Standing>,
    arrived: Arc<Notify>,
    inner: Weak<Inner>,
    /// Delay before the next reconnect.
    wait: Duration,
}

impl Ear {
    async fn listen(mut self) {
        loop {
            let Some(is_missed) = self.is_missed() else { return };
            tokio::select! {
                notice = self.notices.next() => {
                    let (Some(notice), Some(inner)) = (notice, self.inner.upgrade()) else { return };
                    inner.heard(&notice);
                }
                changed = self.standing.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = self.arrived.notified() => {}
                () = time::sleep(self.wait), if is_missed => self.reach().await,
            }
        }
    }

    /// True if the server is disconnected and there are subscribers; `None` once the provider is
    /// dropped.
    fn is_missed(&mut self) -> Option<bool> {
        let inner = self.inner.upgrade()?;
        let is_there = matches!(self.standing.borrow_and_update().state, State::Ready(_));
        if is_there {
            self.wait = Duration::ZERO;
        }
        Some(!is_there && !inner.roster.lock().is_empty())
    }

    /// Reconnects. The client reconnects by itself only for subscriptions to single resources.
    async fn reach(&mut self) {
        self.wait = (self.wait * 2).clamp(RETRY.0, RETRY.1);
        let Some(client) = self.inner.upgrade().map(|inner| inner.client.clone()) else { return };
        if let Err(error) = client.peer().await {
            tracing::debug!(%error, "reconnecting to a watched server failed");
        }
    }
}

#[async_trait]
impl Watch for Upstream {
    async fn watch(&self, _: &Context, interest: Interest) -> Result<Changes> {
        let inner = &self.inner;
        inner.listen();
        if let Interest::Offers(offer) = interest {
            return Ok(inner.relayed.changes(offer));
        }
        let place = Arc::new(Mutex::new(None));
        let stories = inner.enter(interest.clone(), Arc::clone(&place));
        if let Interest::Resource(uri) = &interest {
            let seat = inner.sit(uri).await?;
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(seat);
        }
        Ok(stories)
    }
}

/// The extra fields of a notification, unless its params are too large.
pub(super) fn words(notice: &Notice) -> Option<Arc<Extra>> {
    let length = notice.params.as_ref().map_or(0, |raw| raw.get().len());
    (length <= WORDS).then(|| Arc::new(notice.extra()))
}

/// The error for a resource without notifications and without polling.
pub(super) fn silent(uri: &Uri) -> Error {
    let words = "the server behind this mount does not support subscriptions to this resource";
    Error::new(ErrorKind::Unsupported, words).about(uri)
}
