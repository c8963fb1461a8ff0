//! Server notifications: one mailbox per receiver, and the set of subscribed resources.
//!
//! Changes are a set: repeated changes collapse into one, and none is lost. All other notifications
//! are a short queue that drops its oldest. Both are bounded in number and bytes.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use protocol::ask::{about, verb};
use protocol::notice;
use resource::Extra;
use serde_json::value::RawValue;
use tokio::sync::Notify;

/// Capacity of the queue of notifications other than changes.
const OTHERS: usize = 256;
/// How many single changes may wait. Beyond that, every subscribed resource counts as changed.
const CHANGES: usize = 65_536;
/// How many bytes of changes may wait, and as many of the others.
const BYTES: usize = 16 << 20;

/// One notification of a server.
#[derive(Debug, Clone)]
pub struct Notice {
    /// What kind it is.
    pub about: About,
    /// The method, as the server wrote it.
    pub method: String,
    /// The parameters, as the server wrote them.
    pub params: Option<Box<RawValue>>,
    /// Whether the server sent it. If not, the client reports a change it may have missed.
    pub is_heard: bool,
}

impl Notice {
    /// The members of its parameters that the client does not know.
    pub fn extra(&self) -> Extra {
        self.params.as_deref().map_or_else(Extra::default, notice::extra)
    }

    fn weight(&self) -> usize {
        let uri = if let About::Updated(uri) = &self.about { uri.len() } else { 0 };
        // Twice, because the key of a change repeats the URI and the method.
        2 * (uri + self.method.len()) + self.params.as_ref().map_or(0, |raw| raw.get().len())
    }
}

/// The kind of a notification.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum About {
    /// A resource changed.
    Updated(String),
    /// The list that the method names changed.
    ListChanged,
    /// Anything else.
    Other,
}

/// The notifications of a server, for one receiver.
#[derive(Debug)]
pub struct Notices(Arc<Mailbox>);

impl Notices {
    /// Waits for the next notification; changes come first. `None` once the client is dropped.
    pub async fn next(&mut self) -> Option<Notice> {
        loop {
            if let Some(notice) = self.take() {
                return Some(notice);
            }
            if lock(&self.0.waiting).over {
                return None;
            }
            // `Notify` stores a permit, so an arrival since `take` wakes this at once.
            self.0.arrived.notified().await;
        }
    }

    /// The next notification that has already arrived.
    pub fn take(&mut self) -> Option<Notice> {
        lock(&self.0.waiting).take()
    }

    /// How many notifications the queue dropped; changes are never among them.
    pub fn forgotten(&self) -> u64 {
        lock(&self.0.waiting).forgotten
    }
}

#[derive(Debug, Default)]
struct Mailbox {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    changes: HashMap<Key, Notice>,
    order: VecDeque<Key>,
    others: VecDeque<Notice>,
    /// Bytes of the waiting changes, and of the others.
    weight: (usize, usize),
    forgotten: u64,
    over: bool,
}

type Key = (About, String);

impl Waiting {
    fn put(&mut self, notice: Notice) {
        if notice.about == About::Other {
            self.weight.1 += notice.weight();
            self.others.push_back(notice);
            while self.others.len() > OTHERS || self.weight.1 > BYTES {
                let Some(oldest) = self.others.pop_front() else { return };
                self.weight.1 -= oldest.weight();
                self.forgotten += 1;
            }
            return;
        }
        let key = (notice.about.clone(), notice.method.clone());
        self.weight.0 += notice.weight();
        match self.changes.insert(key.clone(), notice) {
            Some(last) => self.weight.0 -= last.weight(),
            None => self.order.push_back(key),
        }
    }

    fn take(&mut self) -> Option<Notice> {
        if let Some(changed) = self.order.pop_front().and_then(|key| self.changes.remove(&key)) {
            self.weight.0 -= changed.weight();
            return Some(changed);
        }
        let other = self.others.pop_front()?;
        self.weight.1 -= other.weight();
        Some(other)
    }

    /// Drops all single changes when there are too many. The caller then reports every subscribed
    /// resource as changed.
    fn overflows(&mut self) -> bool {
        let overflows = self.changes.len() > CHANGES || self.weight.0 > BYTES;
        if overflows {
            self.changes = HashMap::new();
            self.order = VecDeque::new();
            self.weight.0 = 0;
        }
        overflows
    }
}

/// Distributes notifications to all mailboxes, and holds the set of subscribed URIs.
#[derive(Debug, Default)]
pub(crate) struct Herald {
    boxes: Mutex<Vec<Weak<Mailbox>>>,
    wanted: Mutex<BTreeSet<String>>,
}

impl Herald {
    pub(crate) fn listen(&self) -> Notices {
        let mailbox = Arc::new(Mailbox::default());
        lock(&self.boxes).push(Arc::downgrade(&mailbox));
        Notices(mailbox)
    }

    pub(crate) fn tell(&self, notice: &Notice) {
        self.each(|waiting| {
            waiting.put(notice.clone());
            if waiting.overflows() {
                self.missed().for_each(|notice| waiting.put(notice));
            }
        });
    }

    /// Reports every subscribed resource and the list as changed, after a gap in the connection.
    pub(crate) fn catch_up(&self) {
        self.each(|waiting| self.missed().for_each(|notice| waiting.put(notice)));
    }

    fn missed(&self) -> impl Iterator<Item = Notice> {
        let updated = self.wanted().into_iter().map(|uri| Notice {
            method: verb::UPDATED.to_owned(),
            params: Some(about(&uri)),
            about: About::Updated(uri),
            is_heard: false,
        });
        let listed = Notice {
            about: About::ListChanged,
            method: verb::LIST_CHANGED.to_owned(),
            params: None,
            is_heard: false,
        };
        updated.chain([listed])
    }

    fn each(&self, act: impl Fn(&mut Waiting)) {
        lock(&self.boxes).retain(|mailbox| {
            let Some(mailbox) = mailbox.upgrade() else { return false };
            act(&mut lock(&mailbox.waiting));
            // At most one receiver waits for a mailbox; the permit also reaches one about to wait.
            mailbox.arrived.notify_one();
            true
        });
    }

    /// Adds a URI to the set. Returns whether it is new.
    pub(crate) fn want(&self, uri: &str) -> bool {
        lock(&self.wanted).insert(uri.to_owned())
    }

    /// Removes a URI from the set. Returns whether it was in it.
    pub(crate) fn unwant(&self, uri: &str) -> bool {
        lock(&self.wanted).remove(uri)
    }

    pub(crate) fn wanted(&self) -> BTreeSet<String> {
        lock(&self.wanted).clone()
    }
}

impl Drop for Herald {
    fn drop(&mut self) {
        self.each(|waiting| waiting.over = true);
    }
}

/// Ignores poisoning: after a panic the set and the queue are still valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{About, CHANGES, Herald, Notice, OTHERS, lock};

    fn notice(about: About) -> Notice {
        Notice { about, method: "m".to_owned(), params: None, is_heard: true }
    }

    #[test]
    fn a_change_told_often_waits_once_and_is_never_forgotten() {
        let herald = Herald::default();
        let mut notices = herald.listen();
        for index in 0..OTHERS * 4 {
            herald.tell(&notice(About::Updated(format!("a:{}", index % 3))));
            herald.tell(&notice(About::ListChanged));
            herald.tell(&notice(About::Other));
        }
        let heard: Vec<About> =
            std::iter::from_fn(|| notices.take()).map(|notice| notice.about).collect();
        assert_eq!(heard.iter().filter(|about| **about != About::Other).count(), 4);
        assert_eq!(heard.len(), 4 + OTHERS);
        assert_eq!(notices.forgotten(), (OTHERS * 3) as u64);
    }

    #[test]
    fn a_flood_of_changes_becomes_one_for_everything_that_is_watched() {
        let herald = Herald::default();
        let mut notices = herald.listen();
        herald.want("a:watched");
        for index in 0..=CHANGES {
            herald.tell(&notice(About::Updated(format!("a:{index}"))));
        }
        let heard: Vec<About> =
            std::iter::from_fn(|| notices.take()).map(|notice| notice.about).collect();
        assert_eq!(heard, [About::Updated("a:watched".to_owned()), About::ListChanged]);
    }

    #[test]
    fn what_waits_is_bounded_by_its_weight_too() {
        let herald = Herald::default();
        let mut notices = herald.listen();
        herald.want("a:watched");
        let heavy = Some(RawValue::from_string(format!("\"{}\"", "x".repeat(1 << 20))).unwrap());
        for index in 0..40 {
            let about = About::Updated(format!("a:{index}"));
            herald.tell(&Notice { params: heavy.clone(), ..notice(about) });
            herald.tell(&Notice { params: heavy.clone(), ..notice(About::Other) });
        }
        let heard: Vec<About> =
            std::iter::from_fn(|| notices.take()).map(|notice| notice.about).collect();
        assert!(heard.contains(&About::Updated("a:watched".to_owned())));
        assert!(heard.len() < 40, "{}", heard.len());
        assert_eq!(lock(&notices.0.waiting).weight, (0, 0));
        assert!(notices.forgotten() > 20);
    }

    #[tokio::test]
    async fn nothing_more_comes_when_the_client_is_gone() {
        let herald = Herald::default();
        let mut notices = herald.listen();
        herald.tell(&notice(About::ListChanged));
        drop(herald);
        assert!(notices.next().await.is_some());
        assert!(notices.next().await.is_none());
    }
}
