//! Subscription hub: one provider stream per interest, shared by all its subscribers.
//!
//! The first subscriber opens the stream, and the last one closes it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use machinery::{MemoryHold, MemoryShares};
use parking_lot::Mutex;
use resource::{Change, Context, Error, ErrorKind, Interest, Principal, Provider, Result};
use tokio::sync::{Notify, OnceCell, watch};
use tokio::task::AbortHandle;
use tokio::time::{self, Instant};

use crate::debounce::{DebounceConfig, Debouncer};
use crate::mailbox::{ExtraFields, Mailbox, PendingChange, SubscriptionId};
use crate::monitor::HubMonitor;
use crate::subscription_shares::{SubscriptionPlace, SubscriptionShares};

/// How long a source may take to open a change stream.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Distributes the changes of one provider to its subscribers.
#[derive(Clone)]
pub struct Hub {
    shared: Arc<HubState>,
}

pub(crate) struct HubState {
    provider: Arc<dyn Provider>,
    groups: Mutex<HashMap<GroupKey, Weak<InterestGroup>>>,
    debouncer: Mutex<Debouncer<PendingChange, PendingDelivery>>,
    /// Wakes the delivery task when a change is due earlier than those it sleeps for.
    earlier_due: Notify,
    next_id: AtomicU64,
    places: Arc<SubscriptionShares>,
    memory: Arc<MemoryShares>,
    /// Tells monitors of subscriptions and deliveries.
    activity: watch::Sender<()>,
}

/// A debounced change: the interests that it belongs to, and its latest unknown members.
#[derive(Default)]
struct PendingDelivery {
    groups: Vec<Weak<InterestGroup>>,
    extra: ExtraFields,
}

/// What the subscribers of one change stream share.
#[derive(Clone, PartialEq, Eq, Hash)]
struct GroupKey {
    interest: Interest,
    /// Whom the stream is opened for, unless its changes are the same for all.
    owner: Option<StreamOwner>,
}

/// A principal with its scopes: other scopes may see other changes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct StreamOwner {
    key: Arc<str>,
    scopes: Vec<String>,
}

/// One interest and its subscribers.
pub(crate) struct InterestGroup {
    key: GroupKey,
    /// On whose behalf the stream is opened: the first subscriber's, if all share it.
    principal: Principal,
    subscribers: Mutex<Vec<Subscriber>>,
    last_change: Mutex<Option<SystemTime>>,
    task: OnceCell<WatchTask>,
    hub: Weak<HubState>,
}

/// One subscriber of a group.
struct Subscriber {
    id: SubscriptionId,
    mailbox: Mailbox,
    principal: Arc<str>,
}

/// The task that reads a provider's change stream. Dropping this aborts it.
struct WatchTask(AbortHandle);

/// One subscriber's subscription to an interest. Dropping it unsubscribes.
pub struct Subscription {
    group: Arc<InterestGroup>,
    id: SubscriptionId,
    mailbox: Mailbox,
    _place: SubscriptionPlace,
    _memory: MemoryHold,
}

impl Hub {
    /// Creates a hub for the changes of `provider`, debounced by `debounce`, for at most `most`
    /// subscriptions at once, fairly shared among principals, which hold their URIs in `memory`.
    pub fn new(
        provider: Arc<dyn Provider>,
        debounce: DebounceConfig,
        most: usize,
        memory: Arc<MemoryShares>,
    ) -> Self {
        let (lines, open) = (Mutex::default(), Mutex::new(Debouncer::new(debounce)));
        let (tickets, places) = (AtomicU64::new(0), SubscriptionShares::new(most));
        Self {
            shared: Arc::new(HubState {
                provider,
                groups: lines,
                debouncer: open,
                earlier_due: Notify::new(),
                next_id: tickets,
                places,
                memory,
                activity: watch::Sender::new(()),
            }),
        }
    }

    /// Whether the provider reports changes at all.
    pub fn has_changes(&self) -> bool {
        self.shared.provider.facets().watch.is_some()
    }

    /// Subscribes `mailbox` of `principal` to `interest`. It receives every change from when this
    /// returns.
    pub async fn subscribe(
        &self,
        principal: &Principal,
        interest: Interest,
        mailbox: &Mailbox,
    ) -> Result<Subscription> {
        let full = || Error::unavailable("too many subscriptions; try again later");
        let place = self.shared.places.take(principal.key()).ok_or_else(full)?;
        let memory = self.shared.memory.of(principal.key()).hold(interest_bytes(&interest));
        let memory = memory.ok_or_else(Error::out_of_memory)?;
        let line = self.shared.group_for(principal, &interest);
        let number = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let sum = match interest {
            Interest::Resource(uri) => PendingChange::Resource(uri),
            Interest::Listing => PendingChange::Listing,
            Interest::Components(component) => PendingChange::Components(component),
            Interest::Everything => PendingChange::Everything,
        };
        let ticket = SubscriptionId { number, overflow: sum };
        let mailbox = mailbox.clone();
        line.subscribers.lock().push(Subscriber {
            id: ticket.clone(),
            mailbox: mailbox.clone(),
            principal: Arc::clone(principal.key()),
        });
        let subscription =
            Subscription { group: line, id: ticket, mailbox, _place: place, _memory: memory };
        let line = &subscription.group;
        let opened = line.task.get_or_try_init(|| self.shared.spawn_watch_task(line));
        time::timeout(OPEN_TIMEOUT, opened).await.unwrap_or_else(|_| {
            let why = format!("the source did not accept the subscription within {OPEN_TIMEOUT:?}");
            Err(Error::unavailable(why))
        })?;
        self.shared.activity.send_replace(());
        Ok(subscription)
    }

    /// Looks at the subscriptions without keeping the hub alive.
    pub fn monitor(&self) -> HubMonitor {
        let (hub, activity) = (Arc::downgrade(&self.shared), self.shared.activity.subscribe());
        HubMonitor { hub, activity }
    }

    /// The number of interests with subscribers.
    pub fn interest_count(&self) -> usize {
        self.shared.groups.lock().len()
    }
}

/// What a subscription to `interest` holds: copies of its URI in the subscriber, the group, the
/// watch below it and a pending change; and the structures around them.
fn interest_bytes(interest: &Interest) -> usize {
    let uri = if let Interest::Resource(uri) = interest { uri.as_str().len() } else { 0 };
    4 * uri + 1024
}

impl HubState {
    fn group_for(
        self: &Arc<Self>,
        principal: &Principal,
        interest: &Interest,
    ) -> Arc<InterestGroup> {
        let watch = self.provider.facets().watch;
        let is_shared = watch.is_some_and(|watch| watch.is_shared(interest));
        let owner = (!is_shared).then(|| StreamOwner {
            key: Arc::clone(principal.key()),
            scopes: principal.scopes().to_vec(),
        });
        let key = GroupKey { interest: interest.clone(), owner };
        let mut lines = self.groups.lock();
        if let Some(line) = lines.get(&key).and_then(Weak::upgrade) {
            return line;
        }
        let line = Arc::new(InterestGroup {
            key: key.clone(),
            principal: principal.clone(),
            subscribers: Mutex::default(),
            last_change: Mutex::default(),
            task: OnceCell::new(),
            hub: Arc::downgrade(self),
        });
        lines.insert(key, Arc::downgrade(&line));
        line
    }

    async fn spawn_watch_task(self: &Arc<Self>, group: &Arc<InterestGroup>) -> Result<WatchTask> {
        let silent = || Error::new(ErrorKind::Unsupported, "the source does not report changes");
        let watch = self.provider.facets().watch.ok_or_else(silent)?;
        let mut changes =
            watch.watch(&Context::new(group.principal.clone()), group.key.interest.clone()).await?;
        let (hub, line) = (Arc::downgrade(self), Arc::downgrade(group));
        let task = tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                let Some(hub) = hub.upgrade() else { return };
                hub.record_change(change, &line);
            }
            // The stream has ended. The next subscriber opens a new one.
            if let (Some(hub), Some(line)) = (hub.upgrade(), line.upgrade()) {
                hub.remove_group(&line);
            }
        });
        Ok(WatchTask(task.abort_handle()))
    }

    /// Records a change in the debouncer, and starts the delivery task if it does not run.
    fn record_change(self: &Arc<Self>, change: Change, line: &Weak<InterestGroup>) {
        let (change, words) = change.into_parts();
        let letter = match change {
            Change::Updated(uri) | Change::Removed(uri) => PendingChange::Resource(uri),
            Change::Listing => PendingChange::Listing,
            Change::Components(component) => PendingChange::Components(component),
            Change::WithExtra(..) => return,
        };
        let mut open = self.debouncer.lock();
        let due = open.next_check();
        let burst = open.record(letter, Instant::now());
        burst.extra = words;
        if !burst.groups.iter().any(|known| known.ptr_eq(line)) {
            burst.groups.push(line.clone());
        }
        let is_earlier = open.next_check() < due;
        drop(open);
        if due.is_none() {
            tokio::spawn(Arc::clone(self).run_delivery());
        } else if is_earlier {
            self.earlier_due.notify_one();
        }
    }

    /// Delivers changes whose burst is over, until the debouncer is empty.
    async fn run_delivery(self: Arc<Self>) {
        loop {
            let Some(due) = self.debouncer.lock().next_check() else { return };
            tokio::select! {
                () = time::sleep_until(due) => {}
                () = self.earlier_due.notified() => continue,
            }
            let now = Instant::now();
            loop {
                let settled = self.debouncer.lock().take(now);
                let Some((letter, burst)) = settled else { break };
                deliver(&letter, &burst);
                self.activity.send_replace(());
            }
        }
    }

    /// The interests with subscribers.
    pub(crate) fn groups(&self) -> Vec<Arc<InterestGroup>> {
        self.groups.lock().values().filter_map(Weak::upgrade).collect()
    }

    fn remove_group(&self, group: &InterestGroup) {
        let mut lines = self.groups.lock();
        let ours = |known: &Weak<InterestGroup>| std::ptr::eq(known.as_ptr(), group);
        if lines.get(&group.key).is_some_and(ours) {
            lines.remove(&group.key);
        }
    }
}

/// Puts a change into the mailbox of every subscriber, once into each.
fn deliver(change: &PendingChange, burst: &PendingDelivery) {
    let words = &burst.extra;
    let lines: Vec<_> = burst.groups.iter().filter_map(Weak::upgrade).collect();
    let now = SystemTime::now();
    lines.iter().for_each(|line| *line.last_change.lock() = Some(now));
    if let [line] = &lines[..] {
        for subscriber in line.subscribers.lock().iter() {
            subscriber.mailbox.put(change, words, [&subscriber.id].into_iter());
        }
        return;
    }
    let mut boxes: HashMap<usize, (Mailbox, Vec<SubscriptionId>)> = HashMap::new();
    for line in &lines {
        for subscriber in line.subscribers.lock().iter() {
            let mailbox = &subscriber.mailbox;
            let known = boxes.entry(mailbox.id());
            let (_, tickets) = known.or_insert_with(|| (mailbox.clone(), Vec::new()));
            tickets.push(subscriber.id.clone());
        }
    }
    for (mailbox, tickets) in boxes.values() {
        mailbox.put(change, words, tickets.iter());
    }
}

impl Subscription {
    /// Whether its change stream is still open.
    pub fn is_active(&self) -> bool {
        self.group.task.get().is_some_and(|listening| !listening.0.is_finished())
    }

    /// Notifies the subscriber of its interest, whether or not anything changed.
    pub fn notify_now(&self) {
        self.mailbox.put(&self.id.overflow, &None, [&self.id].into_iter());
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let number = self.id.number;
        self.group.subscribers.lock().retain(|one| one.id.number != number);
        self.mailbox.remove_subscription(&self.id);
        if let Some(hub) = self.group.hub.upgrade() {
            hub.activity.send_replace(());
        }
    }
}

impl InterestGroup {
    pub(crate) fn interest(&self) -> &Interest {
        &self.key.interest
    }

    pub(crate) fn count_of(&self, principal: &Principal) -> usize {
        let subscribers = self.subscribers.lock();
        subscribers.iter().filter(|one| one.principal == *principal.key()).count()
    }

    pub(crate) fn last_change(&self) -> Option<SystemTime> {
        *self.last_change.lock()
    }
}

impl Drop for InterestGroup {
    fn drop(&mut self) {
        if let Some(hub) = self.hub.upgrade() {
            hub.remove_group(self);
        }
    }
}

impl Drop for WatchTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}
