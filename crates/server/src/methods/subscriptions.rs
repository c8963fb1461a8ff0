//! Hearing of changes: for as long as a session lasts, or for as long as one answer does.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt, stream};
use protocol::{Id, Notice, Outgoing, Reply, Wishes};
use resource::{Error, ErrorKind, Interest, Offer, Result, Uri};
use watch::{Hub, Letter, Mailbox, Subscription, Words};

use crate::server::Server;

/// How much is asked for at once, so that one source that does not answer holds nothing up.
const AT_ONCE: usize = 1024;

/// What one session has asked to hear of (through 2025-11-25).
pub(crate) struct Subscriber {
    hub: Hub,
    mailbox: Mailbox,
    held: Mutex<Held>,
    most: usize,
    /// What may be offered besides resources.
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

    /// From now on changes of `uri` are told. To ask twice changes nothing.
    pub(crate) async fn subscribe(&self, uri: Uri) -> Result<Reply> {
        let full = {
            let held = self.held();
            if held.resources.contains_key(&uri) {
                return Ok(Reply::Done);
            }
            held.resources.len() >= self.most
        };
        if full {
            let why = format!("a session subscribes to at most {} resources", self.most);
            return Err(Error::new(ErrorKind::Unavailable, why).about(&uri));
        }
        let interest = Interest::Resource(uri.clone());
        let subscription = self.hub.subscribe(interest, &self.mailbox).await;
        let subscription = subscription.map_err(|error| error.about(&uri))?;
        self.held().resources.insert(uri, subscription);
        Ok(Reply::Done)
    }

    /// From now on they are not. It need not have been asked for.
    pub(crate) fn unsubscribe(&self, uri: &Uri) -> Reply {
        let ended = self.held().resources.remove(uri);
        drop(ended);
        Reply::Done
    }

    /// From now on changes of lists are told, if they can be heard of.
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
                Err(error) => tracing::warn!(cause = ?error, "lists cannot be heard of"),
            }
        }
        self.held().lists = lists;
    }

    /// Tells of everything that was asked for, whether or not it changed.
    pub(crate) fn recall(&self) {
        let held = self.held();
        held.resources.values().chain(&held.lists).for_each(Subscription::recall);
    }

    /// Waits until there is something to tell.
    pub(crate) async fn ready(&self) {
        self.mailbox.ready().await;
    }

    /// The next thing to tell, if there is any.
    pub(crate) fn take(&self) -> Option<Notice> {
        self.mailbox.take().map(notice)
    }

    /// The next thing to tell; waits until there is something.
    pub(crate) async fn next(&self) -> Notice {
        notice(self.mailbox.next().await)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        // Each subscription looks for what waits on its account; there is nothing to find.
        self.mailbox.clear();
    }
}

/// What one request hears of, until it is dropped (2026-07-28).
pub(crate) struct Listening {
    id: Id,
    mailbox: Mailbox,
    granted: Option<Wishes>,
    /// What is let go of at the end.
    _held: Vec<Subscription>,
}

impl Listening {
    /// Asks for as many of the `wishes` as can be granted.
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
                Err(error) => tracing::debug!(?interest, cause = ?error, "not granted"),
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

/// Those of `wanted` that there may be.
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
