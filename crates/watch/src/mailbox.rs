//! Pending changes of one subscriber: a coalescing FIFO.
//!
//! Each change is pending at most once, since a notification is only a hint to read again: ten
//! changes of one resource are one entry, with the unknown members of the last. A subscriber that
//! does not read costs one entry per subscribed resource, and a bounded number per collection:
//! beyond it one entry for the whole collection replaces them. Putting a change in never waits.
//! The oldest entry comes out first, so that a busy resource does not hold back the others.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use resource::{Extra, Offer, Uri};
use tokio::sync::Notify;

/// The maximum number of entries per subscription; beyond it one entry replaces them all.
const CROWD: usize = 1024;

/// The changes that one subscriber has not taken yet. Clones share them.
#[derive(Clone, Default)]
pub struct Mailbox {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

/// A change to notify a subscriber of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    /// The client should read this resource again.
    Resource(Uri),
    /// The client should fetch the lists of resources and templates again.
    Lists,
    /// The client should fetch the list of tools or of prompts again.
    Offers(Offer),
    /// Too much has changed to name each resource.
    Everything,
}

/// The unknown members that the source sent with a change, if any.
pub type Words = Option<Arc<Extra>>;

/// The subscription that a change belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// The entry that replaces all others once there are too many.
    pub(crate) sum: Letter,
}

#[derive(Default)]
struct Waiting {
    order: VecDeque<Letter>,
    /// The subscriptions that each entry in `order` belongs to.
    tickets: HashMap<Letter, Vec<u64>>,
    /// The latest unknown members of an entry in `order`, if any.
    words: HashMap<Letter, Arc<Extra>>,
    /// The number of entries per subscription.
    crowds: HashMap<u64, Crowd>,
}

#[derive(Default)]
struct Crowd {
    letters: usize,
    /// Whether one entry replaces them all.
    summed: bool,
}

impl Mailbox {
    /// Takes the oldest change; waits until there is one.
    pub async fn next(&self) -> (Letter, Words) {
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
        let waiting = std::mem::take(&mut *self.waiting());
        drop(waiting);
    }

    /// Takes the oldest change, if there is one.
    pub fn take(&self) -> Option<(Letter, Words)> {
        self.waiting().take()
    }

    /// Copies the oldest `most` changes; they stay pending.
    pub fn peek(&self, most: usize) -> Vec<Letter> {
        self.waiting().order.iter().take(most).cloned().collect()
    }

    /// The number of pending changes.
    pub fn len(&self) -> usize {
        self.waiting().order.len()
    }

    /// Whether no change is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn put<'a>(
        &self,
        letter: &Letter,
        words: &Words,
        tickets: impl Iterator<Item = &'a Ticket>,
    ) {
        let mut waiting = self.waiting();
        for ticket in tickets {
            waiting.put(letter, ticket);
        }
        waiting.say(letter, words);
        drop(waiting);
        // All waiters: one that only peeks must not take the wake-up from one that takes.
        self.shared.arrived.notify_waiters();
    }

    /// Removes the changes that belong only to the subscription of `ticket`.
    pub(crate) fn forget(&self, ticket: &Ticket) {
        self.waiting().forget(ticket.number);
    }

    /// Identifies the mailbox; clones have the same id.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn put(&mut self, letter: &Letter, ticket: &Ticket) {
        let number = ticket.number;
        let crowd = self.crowds.entry(number).or_default();
        if !crowd.summed && crowd.letters >= CROWD {
            self.forget(number);
            self.crowds.entry(number).or_default().summed = true;
        }
        let summed = self.crowds.get(&number).is_some_and(|crowd| crowd.summed);
        let letter = if summed { &ticket.sum } else { letter };
        let numbers = match self.tickets.get_mut(letter) {
            Some(numbers) if numbers.contains(&number) => return,
            Some(numbers) => numbers,
            None => {
                self.order.push_back(letter.clone());
                self.tickets.entry(letter.clone()).or_default()
            }
        };
        numbers.push(number);
        self.crowds.entry(number).or_default().letters += 1;
    }

    /// Stores the latest unknown members of an entry, if it is pending under its own name.
    fn say(&mut self, letter: &Letter, words: &Words) {
        match words {
            Some(words) if self.tickets.contains_key(letter) => {
                self.words.insert(letter.clone(), Arc::clone(words));
            }
            _ => drop(self.words.remove(letter)),
        }
    }

    fn take(&mut self) -> Option<(Letter, Words)> {
        let letter = self.order.pop_front()?;
        let words = self.words.remove(&letter);
        for number in self.tickets.remove(&letter).unwrap_or_default() {
            if let Entry::Occupied(mut crowd) = self.crowds.entry(number) {
                crowd.get_mut().letters -= 1;
                if crowd.get().letters == 0 {
                    crowd.remove();
                }
            }
        }
        Some((letter, words))
    }

    fn forget(&mut self, number: u64) {
        if self.crowds.remove(&number).is_none() {
            return;
        }
        self.tickets.retain(|_, numbers| {
            numbers.retain(|other| *other != number);
            !numbers.is_empty()
        });
        self.order.retain(|letter| self.tickets.contains_key(letter));
        self.words.retain(|letter, _| self.tickets.contains_key(letter));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Extra, Place, Uri};

    use super::{CROWD, Letter, Mailbox, Ticket};

    fn uri(text: &str) -> Uri {
        Uri::parse(text).unwrap()
    }

    fn letter(text: &str) -> Letter {
        Letter::Resource(uri(text))
    }

    fn ticket(number: u64) -> Ticket {
        Ticket { number, sum: letter("a:folder") }
    }

    fn all(mailbox: &Mailbox) -> Vec<Letter> {
        std::iter::from_fn(|| mailbox.take()).map(|(letter, _)| letter).collect()
    }

    #[tokio::test]
    async fn many_changes_of_one_resource_are_one_letter() {
        let mailbox = Mailbox::default();
        for _ in 0..10_000 {
            for letter in [letter("a:2"), letter("a:1"), Letter::Lists] {
                mailbox.put(&letter, &None, [ticket(1), ticket(2)].iter());
            }
        }
        assert_eq!(all(&mailbox), [letter("a:2"), letter("a:1"), Letter::Lists]);
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
        mailbox.forget(&ticket(1));
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
        for child in 0..CROWD {
            mailbox.put(&letter(&format!("a:folder/{child}")), &None, [ticket(1)].iter());
        }
        assert_eq!(all(&mailbox).len(), CROWD, "one by one again, once it was told");
    }

    #[test]
    fn what_was_said_last_is_told_and_nothing_is_left_of_it() {
        let mailbox = Mailbox::default();
        let said = |json: &str| {
            let mut extra = Extra::default();
            extra.put(Place::Beside, "by", json);
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
        mailbox.forget(&ticket(1));
        assert!(mailbox.take().is_none() && mailbox.waiting().words.is_empty());
    }
}
