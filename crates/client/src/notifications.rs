//! Server notifications: one mailbox per receiver, and the set of subscribed resources.
//!
//! Changes are a set: repeated changes collapse into one, and none is lost. All other notifications
//! are a short queue that drops its oldest. Both are bounded in number and bytes.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Weak};

use hashlink::LinkedHashMap;
use parking_lot::Mutex;
use protocol::inbound::notice;
use protocol::outbound::request::{methods, uri_params};
use resource::{ComponentKind, UnknownMembers};
use serde_json::value::RawValue;
use tokio::sync::Notify;

/// Capacity of the queue of notifications other than changes.
const QUEUE_CAPACITY: usize = 256;
/// How many single changes may wait. Beyond that, every subscribed resource counts as changed.
const MAX_CHANGES: usize = 65_536;
/// How many bytes of changes may wait, and as many of the others.
const MAX_BYTES: usize = 16 << 20;

/// One notification of a server.
#[derive(Debug, Clone)]
pub struct ServerNotification {
    /// What kind it is.
    pub kind: NotificationKind,
    /// The method, as the server wrote it.
    pub method: String,
    /// The parameters, as the server wrote them.
    pub params: Option<Box<RawValue>>,
    /// Whether the server sent it. If not, the client reports a change it may have missed.
    pub from_server: bool,
}

impl ServerNotification {
    /// The members of its parameters that the client does not know.
    pub fn unknown_members(&self) -> UnknownMembers {
        self.params.as_deref().map_or_else(UnknownMembers::default, notice::relayed_members)
    }

    fn size(&self) -> usize {
        let uri = if let NotificationKind::Updated(uri) = &self.kind { uri.len() } else { 0 };
        // Twice, because the key of a change repeats the URI.
        2 * uri + self.method.len() + self.params.as_ref().map_or(0, |raw| raw.get().len())
    }
}

/// The kind of a notification.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NotificationKind {
    /// A resource changed.
    Updated(String),
    /// The list of resources changed.
    ResourceListChanged,
    /// The list of tools or prompts changed.
    ComponentListChanged(ComponentKind),
    /// Anything else.
    Other,
}

/// The notifications of a server, for one receiver.
#[derive(Debug)]
pub struct NotificationReceiver(Arc<NotificationMailbox>);

impl NotificationReceiver {
    /// Waits for the next notification; changes come first. `None` once the client is dropped.
    pub async fn next(&mut self) -> Option<ServerNotification> {
        loop {
            if let Some(notice) = self.take() {
                return Some(notice);
            }
            if self.0.queue.lock().closed {
                return None;
            }
            // `Notify` stores a permit, so an arrival since `take` wakes this at once.
            self.0.arrived.notified().await;
        }
    }

    /// The next notification that has already arrived.
    pub fn take(&mut self) -> Option<ServerNotification> {
        self.0.queue.lock().take()
    }

    /// How many notifications the queue dropped; changes are never among them.
    pub fn dropped(&self) -> u64 {
        self.0.queue.lock().dropped
    }
}

#[derive(Debug, Default)]
struct NotificationMailbox {
    queue: Mutex<NotificationQueue>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct NotificationQueue {
    /// The latest of each, in the order of the first.
    changes: LinkedHashMap<NotificationKind, ServerNotification>,
    others: VecDeque<ServerNotification>,
    /// Bytes of the waiting changes, and of the others.
    sizes: (usize, usize),
    dropped: u64,
    closed: bool,
}

impl NotificationQueue {
    fn push(&mut self, notice: ServerNotification) {
        if notice.kind == NotificationKind::Other {
            self.sizes.1 += notice.size();
            self.others.push_back(notice);
            while self.others.len() > QUEUE_CAPACITY || self.sizes.1 > MAX_BYTES {
                let Some(oldest) = self.others.pop_front() else { return };
                self.sizes.1 -= oldest.size();
                self.dropped += 1;
            }
            return;
        }
        let key = notice.kind.clone();
        self.sizes.0 += notice.size();
        let replaced = self.changes.replace(key, notice);
        self.sizes.0 -= replaced.map_or(0, |last| last.size());
    }

    fn take(&mut self) -> Option<ServerNotification> {
        if let Some((_, changed)) = self.changes.pop_front() {
            self.sizes.0 -= changed.size();
            return Some(changed);
        }
        let other = self.others.pop_front()?;
        self.sizes.1 -= other.size();
        Some(other)
    }

    /// Drops all single changes when there are too many. The caller then reports every subscribed
    /// resource as changed.
    fn clear_if_full(&mut self) -> bool {
        let overflows = self.changes.len() > MAX_CHANGES || self.sizes.0 > MAX_BYTES;
        if overflows {
            self.changes = LinkedHashMap::new();
            self.sizes.0 = 0;
        }
        overflows
    }
}

/// Distributes notifications to all mailboxes, and holds the set of subscribed URIs.
#[derive(Debug, Default)]
pub(crate) struct NotificationDispatcher {
    mailboxes: Mutex<Vec<Weak<NotificationMailbox>>>,
    subscribed: Mutex<BTreeSet<String>>,
}

impl NotificationDispatcher {
    pub(crate) fn receiver(&self) -> NotificationReceiver {
        let mailbox = Arc::new(NotificationMailbox::default());
        self.mailboxes.lock().push(Arc::downgrade(&mailbox));
        NotificationReceiver(mailbox)
    }

    pub(crate) fn broadcast(&self, notice: &ServerNotification) {
        self.for_each_mailbox(|waiting| {
            waiting.push(notice.clone());
            if waiting.clear_if_full() {
                self.gap_notifications().for_each(|notice| waiting.push(notice));
            }
        });
    }

    /// Reports every subscribed resource and the list as changed, after a gap in the connection.
    pub(crate) fn report_gap(&self) {
        self.for_each_mailbox(|waiting| {
            self.gap_notifications().for_each(|notice| waiting.push(notice))
        });
    }

    fn gap_notifications(&self) -> impl Iterator<Item = ServerNotification> {
        let updated = self.subscribed_uris().into_iter().map(|uri| ServerNotification {
            method: methods::RESOURCE_UPDATED.to_owned(),
            params: Some(uri_params(&uri)),
            kind: NotificationKind::Updated(uri),
            from_server: false,
        });
        let listed = ServerNotification {
            kind: NotificationKind::ResourceListChanged,
            method: methods::RESOURCE_LIST_CHANGED.to_owned(),
            params: None,
            from_server: false,
        };
        updated.chain([listed])
    }

    fn for_each_mailbox(&self, act: impl Fn(&mut NotificationQueue)) {
        self.mailboxes.lock().retain(|mailbox| {
            let Some(mailbox) = mailbox.upgrade() else { return false };
            act(&mut mailbox.queue.lock());
            // At most one receiver waits for a mailbox; the permit also reaches one about to wait.
            mailbox.arrived.notify_one();
            true
        });
    }

    /// Adds a URI to the set. Returns whether it is new.
    pub(crate) fn add_uri(&self, uri: &str) -> bool {
        self.subscribed.lock().insert(uri.to_owned())
    }

    /// Removes a URI from the set. Returns whether it was in it.
    pub(crate) fn remove_uri(&self, uri: &str) -> bool {
        self.subscribed.lock().remove(uri)
    }

    pub(crate) fn subscribed_uris(&self) -> BTreeSet<String> {
        self.subscribed.lock().clone()
    }
}

impl Drop for NotificationDispatcher {
    fn drop(&mut self) {
        self.for_each_mailbox(|waiting| waiting.closed = true);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{
        MAX_CHANGES, NotificationDispatcher, NotificationKind, QUEUE_CAPACITY, ServerNotification,
    };

    fn notice(kind: NotificationKind) -> ServerNotification {
        ServerNotification { kind, method: "m".to_owned(), params: None, from_server: true }
    }

    #[test]
    fn a_change_told_often_waits_once_and_is_never_forgotten() {
        let herald = NotificationDispatcher::default();
        let mut notices = herald.receiver();
        for index in 0..QUEUE_CAPACITY * 4 {
            herald.broadcast(&notice(NotificationKind::Updated(format!("a:{}", index % 3))));
            herald.broadcast(&notice(NotificationKind::ResourceListChanged));
            herald.broadcast(&notice(NotificationKind::Other));
        }
        let heard: Vec<NotificationKind> =
            std::iter::from_fn(|| notices.take()).map(|notice| notice.kind).collect();
        assert_eq!(heard.iter().filter(|about| **about != NotificationKind::Other).count(), 4);
        assert_eq!(heard.len(), 4 + QUEUE_CAPACITY);
        assert_eq!(notices.dropped(), (QUEUE_CAPACITY * 3) as u64);
    }

    #[test]
    fn a_flood_of_changes_becomes_one_for_everything_that_is_watched() {
        let herald = NotificationDispatcher::default();
        let mut notices = herald.receiver();
        herald.add_uri("a:watched");
        for index in 0..=MAX_CHANGES {
            herald.broadcast(&notice(NotificationKind::Updated(format!("a:{index}"))));
        }
        let heard: Vec<NotificationKind> =
            std::iter::from_fn(|| notices.take()).map(|notice| notice.kind).collect();
        assert_eq!(
            heard,
            [
                NotificationKind::Updated("a:watched".to_owned()),
                NotificationKind::ResourceListChanged
            ]
        );
    }

    #[test]
    fn what_waits_is_bounded_by_its_weight_too() {
        let herald = NotificationDispatcher::default();
        let mut notices = herald.receiver();
        herald.add_uri("a:watched");
        let heavy = Some(RawValue::from_string(format!("\"{}\"", "x".repeat(1 << 20))).unwrap());
        for index in 0..40 {
            let about = NotificationKind::Updated(format!("a:{index}"));
            herald.broadcast(&ServerNotification { params: heavy.clone(), ..notice(about) });
            herald.broadcast(&ServerNotification {
                params: heavy.clone(),
                ..notice(NotificationKind::Other)
            });
        }
        let heard: Vec<NotificationKind> =
            std::iter::from_fn(|| notices.take()).map(|notice| notice.kind).collect();
        assert!(heard.contains(&NotificationKind::Updated("a:watched".to_owned())));
        assert!(heard.len() < 40, "{}", heard.len());
        assert_eq!(notices.0.queue.lock().sizes, (0, 0));
        assert!(notices.dropped() > 20);
    }

    #[tokio::test]
    async fn nothing_more_comes_when_the_client_is_gone() {
        let herald = NotificationDispatcher::default();
        let mut notices = herald.receiver();
        herald.broadcast(&notice(NotificationKind::ResourceListChanged));
        drop(herald);
        assert!(notices.next().await.is_some());
        assert!(notices.next().await.is_none());
    }
}
