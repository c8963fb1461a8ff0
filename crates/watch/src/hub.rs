//! Subscription hub: one provider stream per interest, shared by all its subscribers.
//!
//! The first subscriber opens the stream, and the last one closes it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use resource::{Change, Context, Error, ErrorKind, Interest, Provider, Result};
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;
use tokio::time::{self, Instant};

use crate::mailbox::{Letter, Mailbox, Ticket, Words};
use crate::settle::{Calm, Settle};

/// How long a source may take to open a change stream.
const PATIENCE: Duration = Duration::from_secs(5);

/// Distributes the changes of one provider to its subscribers.
#[derive(Clone)]
pub struct Hub {
    shared: Arc<Shared>,
}

struct Shared {
    provider: Arc<dyn Provider>,
    lines: Mutex<HashMap<Interest, Weak<Line>>>,
    open: Mutex<Settle<Letter, Open>>,
    tickets: AtomicU64,
    held: AtomicUsize,
    most: usize,
}

/// A debounced change: the interests that it belongs to, and its latest unknown members.
#[derive(Default)]
struct Open {
    lines: Vec<Weak<Line>>,
    words: Words,
}

/// One interest and its subscribers.
struct Line {
    interest: Interest,
    boxes: Mutex<Vec<(Ticket, Mailbox)>>,
    listening: OnceCell<Listening>,
    hub: Weak<Shared>,
}

/// The task that reads a provider's change stream. Dropping this aborts it.
struct Listening(AbortHandle);

/// One subscriber's subscription to an interest. Dropping it unsubscribes.
pub struct Subscription {
    line: Arc<Line>,
    ticket: Ticket,
    mailbox: Mailbox,
}

impl Hub {
    /// Creates a hub for the changes of `provider`, debounced by `calm`, for at most `most`
    /// subscriptions at once.
    pub fn new(provider: Arc<dyn Provider>, calm: Calm, most: usize) -> Self {
        let (lines, open) = (Mutex::default(), Mutex::new(Settle::new(calm)));
        let (tickets, held) = (AtomicU64::new(0), AtomicUsize::new(0));
        Self { shared: Arc::new(Shared { provider, lines, open, tickets, held, most }) }
    }

    /// Whether the provider reports changes at all.
    pub fn has_changes(&self) -> bool {
        self.shared.provider.facets().watch.is_some()
    }

    /// Subscribes `mailbox` to `interest`. It receives every change from when this returns.
    pub async fn subscribe(&self, interest: Interest, mailbox: &Mailbox) -> Result<Subscription> {
        if self.shared.held.fetch_add(1, Ordering::Relaxed) >= self.shared.most {
            self.shared.held.fetch_sub(1, Ordering::Relaxed);
            let why = "too many subscriptions; try again later";
            return Err(Error::unavailable(why.to_owned()));
        }
        let line = self.shared.line(&interest);
        let number = self.shared.tickets.fetch_add(1, Ordering::Relaxed);
        let sum = match interest {
            Interest::Resource(uri) => Letter::Resource(uri),
            Interest::Listing => Letter::Lists,
            Interest::Offers(offer) => Letter::Offers(offer),
            Interest::Everything => Letter::Everything,
        };
        let ticket = Ticket { number, sum };
        lock(&line.boxes).push((ticket.clone(), mailbox.clone()));
        let subscription = Subscription { line, ticket, mailbox: mailbox.clone() };
        let line = &subscription.line;
        let opened = line.listening.get_or_try_init(|| self.shared.listen(line));
        time::timeout(PATIENCE, opened).await.unwrap_or_else(|_| {
            let why = format!("the source did not accept the subscription within {PATIENCE:?}");
            Err(Error::unavailable(why))
        })?;
        Ok(subscription)
    }

    /// The number of interests with subscribers.
    pub fn interests(&self) -> usize {
        lock(&self.shared.lines).len()
    }
}

impl Shared {
    fn line(self: &Arc<Self>, interest: &Interest) -> Arc<Line> {
        let mut lines = lock(&self.lines);
        if let Some(line) = lines.get(interest).and_then(Weak::upgrade) {
            return line;
        }
        let line = Arc::new(Line {
            interest: interest.clone(),
            boxes: Mutex::default(),
            listening: OnceCell::new(),
            hub: Arc::downgrade(self),
        });
        lines.insert(interest.clone(), Arc::downgrade(&line));
        line
    }

    async fn listen(self: &Arc<Self>, line: &Arc<Line>) -> Result<Listening> {
        let silent = || Error::new(ErrorKind::Unsupported, "the source does not report changes");
        let watch = self.provider.facets().watch.ok_or_else(silent)?;
        let mut changes = watch.watch(&Context::default(), line.interest.clone()).await?;
        let (hub, line) = (Arc::downgrade(self), Arc::downgrade(line));
        let task = tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                let Some(hub) = hub.upgrade() else { return };
                hub.note(change, &line);
            }
            // The stream has ended. The next subscriber opens a new one.
            if let (Some(hub), Some(line)) = (hub.upgrade(), line.upgrade()) {
                hub.forget(&line);
            }
        });
        Ok(Listening(task.abort_handle()))
    }

    /// Records a change in the debouncer, and starts the delivery task if it does not run.
    fn note(self: &Arc<Self>, change: Change, line: &Weak<Line>) {
        let (change, words) = change.parts();
        let letter = match change {
            Change::Updated(uri) | Change::Removed(uri) => Letter::Resource(uri),
            Change::Listing => Letter::Lists,
            Change::Offers(offer) => Letter::Offers(offer),
            Change::Worded(..) => return,
        };
        let mut open = lock(&self.open);
        let idle = open.due().is_none();
        let burst = open.note(letter, Instant::now());
        burst.words = words;
        if !burst.lines.iter().any(|known| known.ptr_eq(line)) {
            burst.lines.push(line.clone());
        }
        drop(open);
        if idle {
            tokio::spawn(Arc::clone(self).tell());
        }
    }

    /// Delivers changes whose burst is over, until the debouncer is empty.
    async fn tell(self: Arc<Self>) {
        loop {
            // A change that arrives during the sleep may be due earlier. It waits until the sleep
            // ends, which is still within the longest delay that the debounce allows.
            let Some(due) = lock(&self.open).due() else { return };
            time::sleep_until(due).await;
            let now = Instant::now();
            loop {
                let settled = lock(&self.open).take(now);
                let Some((letter, burst)) = settled else { break };
                deliver(&letter, &burst);
            }
        }
    }

    fn forget(&self, line: &Line) {
        let mut lines = lock(&self.lines);
        let ours = |known: &Weak<Line>| std::ptr::eq(known.as_ptr(), line);
        if lines.get(&line.interest).is_some_and(ours) {
            lines.remove(&line.interest);
        }
    }
}

/// Puts a change into the mailbox of every subscriber, once into each.
fn deliver(letter: &Letter, burst: &Open) {
    let words = &burst.words;
    let lines: Vec<_> = burst.lines.iter().filter_map(Weak::upgrade).collect();
    if let [line] = &lines[..] {
        for (ticket, mailbox) in lock(&line.boxes).iter() {
            mailbox.put(letter, words, [ticket].into_iter());
        }
        return;
    }
    let mut boxes: HashMap<usize, (Mailbox, Vec<Ticket>)> = HashMap::new();
    for line in &lines {
        for (ticket, mailbox) in lock(&line.boxes).iter() {
            let known = boxes.entry(mailbox.id());
            let (_, tickets) = known.or_insert_with(|| (mailbox.clone(), Vec::new()));
            tickets.push(ticket.clone());
        }
    }
    for (mailbox, tickets) in boxes.values() {
        mailbox.put(letter, words, tickets.iter());
    }
}

impl Subscription {
    /// Whether its change stream is still open.
    pub fn is_active(&self) -> bool {
        self.line.listening.get().is_some_and(|listening| !listening.0.is_finished())
    }

    /// Notifies the subscriber of its interest, whether or not anything changed.
    pub fn recall(&self) {
        self.mailbox.put(&self.ticket.sum, &None, [&self.ticket].into_iter());
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let number = self.ticket.number;
        lock(&self.line.boxes).retain(|(ticket, _)| ticket.number != number);
        self.mailbox.forget(&self.ticket);
        if let Some(hub) = self.line.hub.upgrade() {
            hub.held.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(hub) = self.hub.upgrade() {
            hub.forget(self);
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
