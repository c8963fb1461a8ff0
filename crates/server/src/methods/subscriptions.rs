//! Change subscriptions, per session (`resources/subscribe`) or stream (`subscriptions/listen`).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt, stream};
use protocol::{Id, Notice, Outgoing, Reply, Wishes};
use resource::{Error, ErrorKind, Interest, Offer, Result, Uri};
use watch::{Hub, Letter, Mailbox, Subscription, Words};

use crate::server::Server;

/// How many subscriptions are opened concurrently, so that a source that hangs delays no other.
const AT_ONCE: usize = 1024;

/// The subscriptions of one session (protocol revisions through 2025-11-25).
pub(crate) struct Subscriber {
    hub: Hub,
    mailbox: Mailbox,
    held: Mutex<Held>,
    most: usize,
    /// The component kinds (tools, prompts) whose list changes are sent.
    offers: Vec<Offer>,
}

#[derive(Default)]
struct Held {
    resources: HashMap<Uri, Subscription>,
    lists: Vec<Subscription>,
}

impl Subscriber {
    pub(crate) fn new(server: &Server) -> Self {
        let most = server.limits.subscriptions;
        let offers = offers(server, Offer::ALL);
        let (hub, mailbox) = (server.hub.clone(), Mailbox::default());
        Self { hub, mailbox, held: Mutex::default(), most, offers }
    }

    /// Subscribes to changes of `uri`. Repeating it has no effect.
    pub(crate) async fn subscribe(&self, uri: Uri) -> Result<Reply> {
        let full = {
            let held = self.held();
            if held.resources.contains_key(&uri) {
                return Ok(Reply::Done);
            }
            held.resources.len() >= self.most
        };
        if full {
            let why = format!("a session can subscribe to at most {} resources", self.most);
            return Err(Error::new(ErrorKind::Unavailable, why).about(&uri));
        }
        let interest = Interest::Resource(uri.clone());
        let subscription = self.hub.subscribe(interest, &self.mailbox).await;
        let subscription = subscription.map_err(|error| error.about(&uri))?;
        self.held().resources.insert(uri, subscription);
        Ok(Reply::Done)
    }

    /// Unsubscribes; no error if there was no subscription.
    pub(crate) fn unsubscribe(&self, uri: &Uri) -> Reply {
        let ended = self.held().resources.remove(uri);
        drop(ended);
        Reply::Done
    }

    /// Subscribes to list changes, if the provider reports any.
    pub(crate) async fn hear_of_lists(&self) {
        if !self.hub.has_changes() || !self.held().lists.is_empty() {
            return;
        }
        let offers = self.offers.iter().copied().map(Interest::Offers);
        let interests = [Interest::Listing].into_iter().chain(offers);
        let asked = interests.map(|interest| self.hub.subscribe(interest, &self.mailbox));
        let mut lists = Vec::new();
        for answer in futures_util::future::join_all(asked).await {
            match answer {
                Ok(subscription) => lists.push(subscription),
                Err(error) => tracing::warn!(cause = ?error, "cannot subscribe to list changes"),
            }
        }
        self.held().lists = lists;
    }

    /// Queues a notification for every subscription, whether or not anything changed.
    pub(crate) fn recall(&self) {
        let held = self.held();
        held.resources.values().chain(&held.lists).for_each(Subscription::recall);
    }

    /// Waits until a notification is pending.
    pub(crate) async fn ready(&self) {
        self.mailbox.ready().await;
    }

    /// The next notification, if one is pending.
    pub(crate) fn take(&self) -> Option<Notice> {
        self.mailbox.take().map(notice)
    }

    /// Waits for the next notification.
    pub(crate) async fn next(&self) -> Notice {
        notice(self.mailbox.next().await)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        // Cheaper than letting each dropped subscription search the mailbox for its entries.
        self.mailbox.clear();
    }
}

/// The subscriptions of one `subscriptions/listen` request (from 2026-07-28), until dropped.
pub(crate) struct Listening {
    id: Id,
    mailbox: Mailbox,
    granted: Option<Wishes>,
    /// Kept alive until the stream ends.
    _held: Vec<Subscription>,
}

impl Listening {
    /// Opens as many of the requested subscriptions as possible; the rest is not granted.
    pub(crate) async fn begin(server: &Server, id: Id, wishes: Wishes) -> Self {
        let mailbox = Mailbox::default();
        let resources = wishes.resources.into_iter().take(server.limits.subscriptions);
        let lists = wishes.lists.then_some(Interest::Listing).into_iter();
        let lists = lists.chain(offers(server, wishes.offers).into_iter().map(Interest::Offers));
        let interests = lists.chain(resources.map(Interest::Resource)).enumerate();
        let (hub, post) = (&server.hub, &mailbox);
        let mut asked = stream::iter(interests)
            .map(|(at, interest)| async move {
                (at, interest.clone(), hub.subscribe(interest, post).await)
            })
            .buffer_unordered(AT_ONCE);
        let mut granted = Vec::new();
        while let Some((at, interest, answer)) = asked.next().await {
            match answer {
                Ok(subscription) => granted.push((at, interest, subscription)),
                Err(error) => tracing::debug!(?interest, cause = ?error, "cannot subscribe"),
            }
        }
        drop(asked);
        granted.sort_unstable_by_key(|(at, ..)| *at);
        let mut told = Wishes::default();
        let mut held = Vec::with_capacity(granted.len());
        for (_, interest, subscription) in granted {
            held.push(subscription);
            match interest {
                Interest::Resource(uri) => told.resources.push(uri),
                Interest::Offers(offer) => told.offers.push(offer),
                Interest::Listing | Interest::Everything => told.lists = true,
            }
        }
        Self { id, mailbox, granted: Some(told), _held: held }
    }

    /// The next message. The first is the acknowledgement.
    pub(crate) async fn next(&mut self) -> Outgoing {
        // MCP 2026-07-28, subscriptions: the acknowledgement comes first.
        let told = match self.granted.take() {
            Some(granted) => Notice::Acknowledged(granted),
            None => notice(self.mailbox.next().await),
        };
        told.on(&self.id)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.mailbox.clear();
    }
}

/// The component kinds among `wanted` that this server can have.
fn offers(server: &Server, wanted: impl IntoIterator<Item = Offer>) -> Vec<Offer> {
    wanted.into_iter().filter(|offer| server.offers(*offer)).collect()
}

fn notice((letter, words): (Letter, Words)) -> Notice {
    let notice = match letter {
        Letter::Offers(offer) => Notice::OffersChanged(offer),
        Letter::Resource(uri) => Notice::Updated(uri),
        Letter::Lists | Letter::Everything => Notice::ListChanged,
    };
    match words {
        Some(words) => Notice::Worded(Box::new(notice), words),
        None => notice,
    }
}
