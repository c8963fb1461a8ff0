//! What waits for one subscriber?
//!
//! A set, not a queue: a notice is a hint to read again, so ten changes of one resource are one
//! letter, with what was said of the last. A subscriber that does not read costs one for each resource it asked for, and for each
//! collection a bounded number of what lies in it.
//! Whoever puts something in never waits. What came first is given first, so that a busy
//! resource does not keep the others back.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use resource::{Extra, Offer, Uri};
use tokio::sync::Notify;

/// So many children of one collection are told one by one; more are told as the collection.
const CROWD: usize = 1024;

/// A subscriber's end: what has changed since it last looked.
#[derive(Clone, Default)]
pub struct Mailbox {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    /// This resource is to be read again.
    Resource(Uri),
    /// Lists are to be fetched again.
    Lists,
    /// The list of tools or of prompts is to be fetched again.
    Offers(Offer),
    /// More has changed than can be told one by one.
    Everything,
}

/// What else was said of a change, in the words of whoever told of it.
pub type Words = Option<Arc<Extra>>;

/// On account of which subscription something is put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    /// What to tell instead, once too much has changed.
    pub(crate) sum: Letter,
}

#[derive(Default)]
struct Waiting {
    order: VecDeque<Letter>,
    /// Each letter in `order`, and the subscriptions on whose account it lies there.
    tickets: HashMap<Letter, Vec<u64>>,
    /// What was said last of a letter in `order`, if anything was.
    words: HashMap<Letter, Arc<Extra>>,
    /// How much lies there on account of a subscription.
    crowds: HashMap<u64, Crowd>,
}

#[derive(Default)]
struct Crowd {
    letters: usize,
    /// Whether all of it is told by one letter.
    summed: bool,
}

impl Mailbox {
    /// The next thing to tell; waits until there is something.
    pub async fn next(&self) -> (Letter, Words) {
        loop {
            let arrived = self.shared.arrived.notified();
            if let Some(next) = self.take() {
                return next;
            }
            arrived.await;
        }
    }

    /// Waits until there is something to tell.
    pub async fn ready(&self) {
        loop {
            let arrived = self.shared.arrived.notified();
            if !self.is_empty() {
                return;
            }
            arrived.await;
        }
    }

    /// Throws away what waits.
    pub fn clear(&self) {
        let waiting = std::mem::take(&mut *self.waiting());
        drop(waiting);
    }

    /// The next thing to tell, if there is any.
    pub fn take(&self) -> Option<(Letter, Words)> {
        self.waiting().take()
    }

    /// What waits, the first `most` of it; it goes on to wait.
    pub fn peek(&self, most: usize) -> Vec<Letter> {
        self.waiting().order.iter().take(most).cloned().collect()
    }

    /// How much waits.
    pub fn len(&self) -> usize {
        self.waiting().order.len()
    }

    /// Whether nothing waits.
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
        // Everybody: one that only looks must not keep it from one that takes.
        self.shared.arrived.notify_waiters();
    }

    /// Takes out what lies there on account of `ticket` alone.
    pub(crate) fn forget(&self, ticket: &Ticket) {
        self.waiting().forget(ticket.number);
    }

    /// What tells it from others: the same for all that share what is put in.
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

    /// Keeps what was said last of a letter, if it waits as itself.
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
