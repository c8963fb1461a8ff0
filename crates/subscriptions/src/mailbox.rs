//! Pending changes of one subscriber: a coalescing FIFO.
//!
//! Each change is pending at most once, since a notification is only a hint to read again: ten
//! changes of one resource are one entry, with the unknown members of the last. A subscriber that
//! does not read costs one entry per subscribed resource, and a bounded number per collection:
//! beyond it one entry for the whole collection replaces them. Putting a change in never waits.
//! The oldest entry comes out first, so that a busy resource does not hold back the others.

use std::collections::hash_map::{Entry, HashMap};
use std::sync::Arc;

use hashlink::LinkedHashMap;
use parking_lot::Mutex;
use resource::{ComponentKind, UnknownMembers, Uri};
use tokio::sync::Notify;

/// The maximum number of entries per subscription; beyond it one entry replaces them all.
const MAX_PENDING: usize = 1024;

/// The changes that one subscriber has not taken yet. Clones share them.
#[derive(Clone, Default)]
pub struct Mailbox {
    shared: Arc<MailboxState>,
}

#[derive(Default)]
struct MailboxState {
    pending: Mutex<PendingSet>,
    arrived: Notify,
}

/// A change to notify a subscriber of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PendingChange {
    /// The client should read this resource again.
    Resource(Uri),
    /// The client should fetch the lists of resources and templates again.
    Listing,
    /// The client should fetch the list of tools or of prompts again.
    Components(ComponentKind),
    /// Too much has changed to name each resource.
    Everything,
}

/// The unknown members that the source sent with a change, if any.
pub type ExtraFields = Option<Arc<UnknownMembers>>;

/// The subscription that a change belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubscriptionId {
    pub(crate) number: u64,
    /// The entry that replaces all others once there are too many.
    pub(crate) overflow: PendingChange,
}

#[derive(Default)]
struct PendingSet {
    /// In the order in which they became pending.
    changes: LinkedHashMap<PendingChange, PendingEntry>,
    /// The number of entries per subscription.
    counts: HashMap<u64, PendingCount>,
}

#[derive(Default)]
struct PendingEntry {
    /// The subscriptions that it belongs to.
    subscriptions: Vec<u64>,
    /// The latest unknown members.
    extra: ExtraFields,
}

#[derive(Default)]
struct PendingCount {
    entries: usize,
    /// Whether one entry replaces them all.
    overflowed: bool,
}

impl Mailbox {
    /// Takes the oldest change; waits until there is one.
    pub async fn next(&self) -> (PendingChange, ExtraFields) {
        loop {
            let arrived = self.shared.arrived.notified();
            if let Some(next) = self.take() {
                return next;
            }
            arrived.await;
        }
    }

    /// Waits until a change is pending.
    pub async fn ready(&self) {
        loop {
            let arrived = self.shared.arrived.notified();
            if !self.is_empty() {
                return;
            }
            arrived.await;
        }
    }

    /// Discards all pending changes.
    pub fn clear(&self) {
        let waiting = std::mem::take(&mut *self.shared.pending.lock());
        drop(waiting);
    }

    /// Takes the oldest change, if there is one.
    pub fn take(&self) -> Option<(PendingChange, ExtraFields)> {
        self.shared.pending.lock().pop_oldest()
    }

    /// Copies the oldest `most` changes; they stay pending.
    pub fn peek(&self, most: usize) -> Vec<PendingChange> {
        self.shared.pending.lock().changes.keys().take(most).cloned().collect()
    }

    /// The number of pending changes.
    pub fn len(&self) -> usize {
        self.shared.pending.lock().changes.len()
    }

    /// Whether no change is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn put<'a>(
        &self,
        change: &PendingChange,
        extra: &ExtraFields,
        tickets: impl Iterator<Item = &'a SubscriptionId>,
    ) {
        let mut waiting = self.shared.pending.lock();
        for ticket in tickets {
            waiting.insert(change, ticket);
        }
        if let Some(entry) = waiting.changes.get_mut(change) {
            entry.extra.clone_from(extra);
        }
        drop(waiting);
        // All waiters: one that only peeks must not take the wake-up from one that takes.
        self.shared.arrived.notify_waiters();
    }

    /// Removes the changes that belong only to the subscription of `ticket`.
    pub(crate) fn remove_subscription(&self, id: &SubscriptionId) {
        self.shared.pending.lock().remove_entries_of(id.number);
    }

    /// Identifies the mailbox; clones have the same id.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }
}

impl PendingSet {
    fn insert(&mut self, change: &PendingChange, id: &SubscriptionId) {
        let number = id.number;
        let crowd = self.counts.entry(number).or_default();
        if !crowd.overflowed && crowd.entries >= MAX_PENDING {
            self.remove_entries_of(number);
            self.counts.entry(number).or_default().overflowed = true;
        }
        let summed = self.counts.get(&number).is_some_and(|crowd| crowd.overflowed);
        let letter = if summed { &id.overflow } else { change };
        match self.changes.get_mut(letter) {
            Some(entry) if entry.subscriptions.contains(&number) => return,
            Some(entry) => entry.subscriptions.push(number),
            None => {
                let entry = PendingEntry { subscriptions: vec![number], extra: None };
                self.changes.insert(letter.clone(), entry);
            }
        }
        self.counts.entry(number).or_default().entries += 1;
    }

    fn pop_oldest(&mut self) -> Option<(PendingChange, ExtraFields)> {
        let (letter, entry) = self.changes.pop_front()?;
        for number in entry.subscriptions {
            if let Entry::Occupied(mut crowd) = self.counts.entry(number) {
                crowd.get_mut().entries -= 1;
                if crowd.get().entries == 0 {
                    crowd.remove();
                }
            }
        }
        Some((letter, entry.extra))
    }

    fn remove_entries_of(&mut self, number: u64) {
        if self.counts.remove(&number).is_none() {
            return;
        }
        self.changes.retain(|_, entry| {
            entry.subscriptions.retain(|other| *other != number);
            !entry.subscriptions.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{MemberPlace, UnknownMembers, Uri};

    use super::{MAX_PENDING, Mailbox, PendingChange, SubscriptionId};

    fn uri(text: &str) -> Uri {
        Uri::parse(text).unwrap()
    }

    fn letter(text: &str) -> PendingChange {
        PendingChange::Resource(uri(text))
    }

    fn ticket(number: u64) -> SubscriptionId {
        SubscriptionId { number, overflow: letter("a:folder") }
    }

    fn all(mailbox: &Mailbox) -> Vec<PendingChange> {
        std::iter::from_fn(|| mailbox.take()).map(|(letter, _)| letter).collect()
    }

    #[tokio::test]
    async fn many_changes_of_one_resource_are_one_letter() {
        let mailbox = Mailbox::default();
        for _ in 0..10_000 {
            for letter in [letter("a:2"), letter("a:1"), PendingChange::Listing] {
                mailbox.put(&letter, &None, [ticket(1), ticket(2)].iter());
            }
        }
        assert_eq!(all(&mailbox), [letter("a:2"), letter("a:1"), PendingChange::Listing]);
    }

    #[tokio::test]
    async fn whoever_waits_is_woken_by_the_next_change() {
        let mailbox = Mailbox::default();
        let reader = mailbox.clone();
        let waiting = tokio::spawn(async move { reader.next().await });
        tokio::task::yield_now().await;
        mailbox.put(&letter("a:1"), &None, [ticket(1)].iter());
        assert_eq!(waiting.await.unwrap(), (letter("a:1"), None));
    }

    #[tokio::test]
    async fn whoever_only_looks_keeps_nothing_from_others() {
        let mailbox = Mailbox::default();
        let waiting = [mailbox.clone(), mailbox.clone()].map(|reader| {
            tokio::spawn(async move {
                reader.ready().await;
                reader.peek(2)
            })
        });
        tokio::task::yield_now().await;
        for name in ["a:1", "a:2", "a:3"] {
            mailbox.put(&letter(name), &None, [ticket(1)].iter());
        }
        for looked in waiting {
            assert_eq!(looked.await.unwrap(), [letter("a:1"), letter("a:2")]);
        }
        assert_eq!(mailbox.len(), 3);
    }

    #[test]
    fn a_busy_resource_does_not_keep_the_others_back() {
        let mailbox = Mailbox::default();
        for other in ["a:x", "a:y", "a:z"] {
            mailbox.put(&letter("a:busy"), &None, [ticket(1)].iter());
            mailbox.put(&letter(other), &None, [ticket(1)].iter());
            assert_eq!(mailbox.take(), Some((letter("a:busy"), None)));
            mailbox.put(&letter("a:busy"), &None, [ticket(1)].iter());
            assert_eq!(mailbox.take(), Some((letter(other), None)));
            assert_eq!(mailbox.take(), Some((letter("a:busy"), None)));
        }
    }

    #[test]
    fn what_only_an_ended_subscription_asked_for_is_taken_out() {
        let mailbox = Mailbox::default();
        mailbox.put(&letter("a:1"), &None, [ticket(1)].iter());
        mailbox.put(&letter("a:2"), &None, [ticket(1), ticket(2)].iter());
        mailbox.remove_subscription(&ticket(1));
        assert_eq!(all(&mailbox), [letter("a:2")]);
    }

    #[test]
    fn a_crowd_of_children_is_told_as_their_collection() {
        let mailbox = Mailbox::default();
        mailbox.put(&letter("a:own"), &None, [ticket(2)].iter());
        for child in 0..100_000 {
            mailbox.put(&letter(&format!("a:folder/{child}")), &None, [ticket(1)].iter());
        }
        assert_eq!(all(&mailbox), [letter("a:own"), letter("a:folder")]);
        for child in 0..MAX_PENDING {
            mailbox.put(&letter(&format!("a:folder/{child}")), &None, [ticket(1)].iter());
        }
        assert_eq!(all(&mailbox).len(), MAX_PENDING, "one by one again, once it was told");
    }

    #[test]
    fn what_was_said_last_is_told_and_nothing_is_left_of_it() {
        let mailbox = Mailbox::default();
        let said = |json: &str| {
            let mut extra = UnknownMembers::default();
            extra.set(MemberPlace::TopLevel, "by", json);
            Some(Arc::new(extra))
        };
        for words in ["1", "2"] {
            mailbox.put(&letter("a:1"), &said(words), [ticket(1), ticket(2)].iter());
        }
        mailbox.put(&letter("a:2"), &said("3"), [ticket(1)].iter());
        mailbox.put(&letter("a:2"), &None, [ticket(1)].iter());
        assert_eq!(mailbox.take(), Some((letter("a:1"), said("2"))));
        assert_eq!(mailbox.take(), Some((letter("a:2"), None)));
        mailbox.put(&letter("a:1"), &said("4"), [ticket(1)].iter());
        mailbox.remove_subscription(&ticket(1));
        assert!(mailbox.take().is_none() && mailbox.shared.pending.lock().counts.is_empty());
    }
}
