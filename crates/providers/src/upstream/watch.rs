//! Who hears of what the server tells?
//!
//! One task listens to the server. What it hears first takes back what was kept, and is then told
//! to everybody whom it touches: whoever reads on hearing of a change gets the new content.

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

/// How long to wait before a server is tried again: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// How many bytes of a notice are kept besides what it is about.
const WORDS: usize = 16 << 10;

/// Everybody who listens.
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

/// A change of what lies in a resource is one of that resource (`updated` may name either).
fn touches(change: &Change, interest: &Interest) -> bool {
    match (interest, change.plain()) {
        (Interest::Everything, _) | (Interest::Listing, Change::Listing) => true,
        (Interest::Resource(wanted), Change::Updated(uri) | Change::Removed(uri)) => {
            is_within(uri, wanted)
        }
        // Those are heard of by whoever passes them on.
        (Interest::Listing | Interest::Resource(_) | Interest::Offers(_), _) => false,
    }
}

impl Inner {
    /// Listens to the server from the first time on that anybody asks anything.
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

    /// Takes back what was kept, and tells.
    fn heard(&self, notice: &Notice) {
        match &notice.about {
            About::Updated(text) => {
                let Ok(uri) = Uri::parse(text) else { return };
                self.changed(&Change::Updated(uri).worded(words(notice)));
            }
            About::ListChanged if notice.method == verb::LIST_CHANGED => {
                if !notice.is_heard {
                    // Nobody knows what happened while the server was away.
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

    /// Takes back what `change` touches, then tells of it.
    pub(super) fn changed(&self, change: &Change) {
        match change.plain() {
            Change::Updated(uri) | Change::Removed(uri) => {
                // What was read of a collection may hold what lies in it.
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

    /// Enters an interest; what happens from now on waits in the stream.
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

/// The one who listens to the server.
struct Ear {
    notices: Notices,
    standing: Receiver<Standing>,
    arrived: Arc<Notify>,
    inner: Weak<Inner>,
    /// How long to wait before the server is tried again.
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

    /// Whether the server is away and somebody wants to hear from it; nothing at the very end.
    fn is_missed(&mut self) -> Option<bool> {
        let inner = self.inner.upgrade()?;
        let is_there = matches!(self.standing.borrow_and_update().state, State::Ready(_));
        if is_there {
            self.wait = Duration::ZERO;
        }
        Some(!is_there && !inner.roster.lock().is_empty())
    }

    /// Tries the server. The client brings back by itself only what single resources need.
    async fn reach(&mut self) {
        self.wait = (self.wait * 2).clamp(RETRY.0, RETRY.1);
        let Some(client) = self.inner.upgrade().map(|inner| inner.client.clone()) else { return };
        if let Err(error) = client.peer().await {
            tracing::debug!(%error, "a server that somebody listens to is still away");
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

/// What a notice says besides what it is about, if that is not too much to be kept.
pub(super) fn words(notice: &Notice) -> Option<Arc<Extra>> {
    let length = notice.params.as_ref().map_or(0, |raw| raw.get().len());
    (length <= WORDS).then(|| Arc::new(notice.extra()))
}

/// Says that nobody tells of this resource.
pub(super) fn silent(uri: &Uri) -> Error {
    let words = "the server behind this mount does not tell of changes of this resource";
    Error::new(ErrorKind::Unsupported, words).about(uri)
}
