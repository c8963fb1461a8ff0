//! What has the server told unasked, and nobody heard yet?
//!
//! That something changed is kept as a set: it can wait for any time without being lost, and
//! without growing by being told again. Everything else is a short queue that forgets its oldest.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use protocol::ask::{about, verb};
use protocol::notice;
use resource::Extra;
use serde_json::value::RawValue;
use tokio::sync::Notify;

/// How many notices wait that are not about a change.
const OTHERS: usize = 256;
/// How many changes wait one by one; beyond that, everything that is watched has changed.
const CHANGES: usize = 65_536;
/// How many bytes of either wait.
const BYTES: usize = 16 << 20;

/// Something that a server told unasked.
#[derive(Debug, Clone)]
pub struct Notice {
    /// What it is about.
    pub about: About,
    /// The method, as the server wrote it.
    pub method: String,
    /// The parameters, as the server wrote them.
    pub params: Option<Box<RawValue>>,
    /// Whether the server said it; if not, it may have, while nobody could hear.
    pub is_heard: bool,
}

impl Notice {
    /// What it says besides what it is about.
    pub fn extra(&self) -> Extra {
        self.params.as_deref().map_or_else(Extra::default, notice::extra)
    }

    fn weight(&self) -> usize {
        let uri = if let About::Updated(uri) = &self.about { uri.len() } else { 0 };
        // The name is kept twice, as what a change is known by.
        2 * (uri + self.method.len()) + self.params.as_ref().map_or(0, |raw| raw.get().len())
    }
}

/// What a notice is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum About {
    /// A resource changed.
    Updated(String),
    /// The list that the method names changed.
    ListChanged,
    /// Anything else.
    Other,
}

/// What the server tells unasked, for one listener.
#[derive(Debug)]
pub struct Notices(Arc<Mailbox>);

impl Notices {
    /// The next notice; changes come first. None ever comes once the client is gone.
    pub async fn next(&mut self) -> Option<Notice> {
        loop {
            if let Some(notice) = self.take() {
                return Some(notice);
            }
            if lock(&self.0.waiting).over {
                return None;
            }
            // Whatever came since was remembered, so there is nothing to miss here.
            self.0.arrived.notified().await;
        }
    }

    /// A notice that is already here.
    pub fn take(&mut self) -> Option<Notice> {
        lock(&self.0.waiting).take()
    }

    /// How many notices were forgotten, none of which was about a change.
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
    /// How much the changes weigh, and the others.
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

    /// Forgets each change when there are too many. Whoever calls this tells of all of them.
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

/// Who tells all listeners, and knows what is watched.
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

    /// Tells that anything may have changed while nobody could hear of it.
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
            // One listener at most waits for a mailbox, and it may be about to.
            mailbox.arrived.notify_one();
            true
        });
    }

    /// Whether it was not wanted before.
    pub(crate) fn want(&self, uri: &str) -> bool {
        lock(&self.wanted).insert(uri.to_owned())
    }

    /// Whether it was wanted.
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

/// What a panic left behind is still a set and a queue.
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
