//! Change subscriptions, per session (`resources/subscribe`) or stream (`subscriptions/listen`).

use std::collections::HashMap;

use futures_util::stream::SelectAll;
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use protocol::{ListenFilter, Notice, Outgoing, Reply, RequestId};
use resource::{ComponentKind, Context, Error, ErrorKind, Interest, Principal, Result, Uri};
use subscriptions::{ExtraFields, Hub, Mailbox, PendingChange, Subscription};

use crate::clients::{ClientSubscriptions, RequestRecord};
use crate::exchange::Exchange;
use crate::server::Server;
use crate::watchers::task_states::{TaskStates, follow_task};

/// How many subscriptions are opened concurrently, so that a source that hangs delays no other.
const CONCURRENCY: usize = 1024;

/// The subscriptions of one session (protocol revisions through 2025-11-25).
pub(crate) struct SessionSubscriptions {
    hub: Hub,
    principal: Principal,
    mailbox: Mailbox,
    subscriptions: Mutex<SubscriptionSet>,
    max_resources: usize,
    /// The component kinds (tools, prompts) whose list changes are sent.
    components: Vec<ComponentKind>,
}

#[derive(Default)]
struct SubscriptionSet {
    resources: HashMap<Uri, Subscription>,
    lists: Vec<Subscription>,
}

impl SessionSubscriptions {
    pub(crate) fn new(server: &Server, principal: Principal) -> Self {
        let max_resources = server.limits.subscriptions;
        let components = available_components(server, &principal, ComponentKind::ALL);
        let (hub, mailbox) = (server.hub.clone(), Mailbox::default());
        let subscriptions = Mutex::default();
        Self { hub, principal, mailbox, subscriptions, max_resources, components }
    }

    /// Subscribes to changes of `uri`. Repeating it has no effect.
    pub(crate) async fn subscribe(&self, uri: Uri) -> Result<Reply> {
        if !self.needs_subscription(&self.subscriptions.lock(), &uri)? {
            return Ok(Reply::Empty);
        }
        let interest = Interest::Resource(uri.clone());
        let subscription = self.hub.subscribe(&self.principal, interest, &self.mailbox).await;
        let subscription = subscription.map_err(|error| error.about(&uri))?;
        // Checked again, because concurrent requests may have subscribed meanwhile.
        let mut held = self.subscriptions.lock();
        if self.needs_subscription(&held, &uri)? {
            held.resources.insert(uri, subscription);
        }
        Ok(Reply::Empty)
    }

    /// False if `uri` is in `set` already; an error if `set` is full.
    fn needs_subscription(&self, set: &SubscriptionSet, uri: &Uri) -> Result<bool> {
        if set.resources.contains_key(uri) {
            return Ok(false);
        }
        if set.resources.len() >= self.max_resources {
            let why =
                format!("a session can subscribe to at most {} resources", self.max_resources);
            return Err(Error::new(ErrorKind::Unavailable, why).about(uri));
        }
        Ok(true)
    }

    /// Unsubscribes; no error if there was no subscription.
    pub(crate) fn unsubscribe(&self, uri: &Uri) -> Reply {
        let ended = self.subscriptions.lock().resources.remove(uri);
        drop(ended);
        Reply::Empty
    }

    /// How many resources the session subscribes to.
    pub(crate) fn count(&self) -> usize {
        self.subscriptions.lock().resources.len()
    }

    /// Subscribes to list changes, if the provider reports any.
    pub(crate) async fn subscribe_to_lists(&self) {
        if !self.hub.has_changes() || !self.subscriptions.lock().lists.is_empty() {
            return;
        }
        let offers = self.components.iter().copied().map(Interest::Components);
        let interests = [Interest::Listing].into_iter().chain(offers);
        let asked =
            interests.map(|interest| self.hub.subscribe(&self.principal, interest, &self.mailbox));
        let mut lists = Vec::new();
        for answer in futures_util::future::join_all(asked).await {
            match answer {
                Ok(subscription) => lists.push(subscription),
                Err(error) => {
                    tracing::warn!("changes of lists cannot be watched: {}", error.with_causes());
                }
            }
        }
        self.subscriptions.lock().lists = lists;
    }

    /// Queues a notification for every subscription, whether or not anything changed.
    pub(crate) fn resend_all(&self) {
        let held = self.subscriptions.lock();
        held.resources.values().chain(&held.lists).for_each(Subscription::notify_now);
    }

    /// Waits until a notification is pending.
    pub(crate) async fn ready(&self) {
        self.mailbox.ready().await;
    }

    /// The next notification, if one is pending.
    pub(crate) fn try_next(&self) -> Option<Notice> {
        self.mailbox.take().map(to_notice)
    }

    /// Waits for the next notification.
    pub(crate) async fn next(&self) -> Notice {
        to_notice(self.mailbox.next().await)
    }
}

impl Drop for SessionSubscriptions {
    fn drop(&mut self) {
        // Cheaper than letting each dropped subscription search the mailbox for its entries.
        self.mailbox.clear();
    }
}

/// The subscriptions of one `subscriptions/listen` request (from 2026-07-28), until dropped.
pub(crate) struct ListenSubscriptions {
    id: RequestId,
    mailbox: Mailbox,
    granted: Option<ListenFilter>,
    /// Kept alive until the stream ends.
    _subscriptions: Vec<Subscription>,
    /// Counts them for the client.
    _count: Option<ClientSubscriptions>,
    task_states: SelectAll<TaskStates>,
}

impl ListenSubscriptions {
    /// Opens as many of the requested subscriptions as possible; the rest is not granted.
    pub(crate) async fn open(server: &Server, exchange: &Exchange, filter: ListenFilter) -> Self {
        let (id, principal) = (exchange.id.clone(), exchange.ctx.principal());
        let client = exchange.client.as_ref();
        let record = client.map(|client| RequestRecord::begin_listening(client, &filter.resources));
        let mailbox = Mailbox::default();
        let resources = filter.resources.into_iter().take(server.limits.subscriptions);
        let lists = filter.resource_list.then_some(Interest::Listing).into_iter();
        let lists = lists.chain(
            available_components(server, exchange.ctx.principal(), filter.component_lists)
                .into_iter()
                .map(Interest::Components),
        );
        let interests = lists.chain(resources.map(Interest::Resource)).enumerate();
        let (hub, post) = (&server.hub, &mailbox);
        let mut asked = stream::iter(interests)
            .map(|(at, interest)| async move {
                (at, interest.clone(), hub.subscribe(principal, interest, post).await)
            })
            .buffer_unordered(CONCURRENCY);
        let mut granted = Vec::new();
        while let Some((at, interest, answer)) = asked.next().await {
            match answer {
                Ok(subscription) => granted.push((at, interest, subscription)),
                Err(error) => {
                    tracing::debug!("{interest:?} cannot be watched: {}", error.with_causes());
                }
            }
        }
        drop(asked);
        granted.sort_unstable_by_key(|(at, ..)| *at);
        let (tasks, task_states) = follow_tasks(server, exchange, filter.tasks).await;
        let mut told = ListenFilter { tasks, ..ListenFilter::default() };
        let mut held = Vec::with_capacity(granted.len());
        for (_, interest, subscription) in granted {
            held.push(subscription);
            match interest {
                Interest::Resource(uri) => told.resources.push(uri),
                Interest::Components(component) => told.component_lists.push(component),
                Interest::Listing | Interest::Everything => told.resource_list = true,
            }
        }
        let count = client.map(|client| client.hold_subscriptions(held.len()));
        if let Some(record) = record {
            record.finish_ok();
        }
        let granted = Some(told);
        Self { id, mailbox, granted, _subscriptions: held, _count: count, task_states }
    }

    /// The next message. The first is the acknowledgement.
    pub(crate) async fn next(&mut self) -> Outgoing {
        // MCP 2026-07-28, subscriptions: the acknowledgement comes first.
        let told = match self.granted.take() {
            Some(granted) => Notice::Acknowledged(granted),
            None => tokio::select! {
                change = self.mailbox.next() => to_notice(change),
                Some(state) = self.task_states.next() => Notice::Task(state),
            },
        };
        told.encode_for_subscription(&self.id)
    }
}

impl Drop for ListenSubscriptions {
    fn drop(&mut self) {
        self.mailbox.clear();
    }
}

/// Follows as many of the tasks as possible; returns their ids.
async fn follow_tasks(
    server: &Server,
    exchange: &Exchange,
    ids: Vec<String>,
) -> (Vec<String>, SelectAll<TaskStates>) {
    let asked = ids.into_iter().map(|id| async move {
        let states = follow_task(server, exchange, &id).await;
        states
            .inspect_err(|error| tracing::debug!("{}", error.cause_first("a task is not followed")))
            .map(|states| (id, states))
    });
    let followed = futures_util::future::join_all(asked).await;
    let (ids, states): (Vec<_>, Vec<_>) = followed.into_iter().flatten().unzip();
    (ids, stream::select_all(states))
}

/// The component kinds among `wanted` that this server can have for `principal`.
fn available_components(
    server: &Server,
    principal: &Principal,
    wanted: impl IntoIterator<Item = ComponentKind>,
) -> Vec<ComponentKind> {
    let ctx = Context::new(principal.clone());
    wanted.into_iter().filter(|component| server.has_component(&ctx, *component)).collect()
}

fn to_notice((letter, words): (PendingChange, ExtraFields)) -> Notice {
    let notice = match letter {
        PendingChange::Components(component) => Notice::ComponentsChanged(component),
        PendingChange::Resource(uri) => Notice::Updated(uri),
        PendingChange::Listing | PendingChange::Everything => Notice::ListChanged,
    };
    match words {
        Some(words) => Notice::WithMembers(Box::new(notice), words),
        None => notice,
    }
}
