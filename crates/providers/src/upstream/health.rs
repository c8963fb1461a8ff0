//! How is the server?

use std::error::Error as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use client::{Peer, State as Reached};
use resource::{Condition, Error, ErrorKind, Fact, Health, State};
use tokio::time::Instant;

use super::Upstream;

/// How many characters are told of what a server calls itself.
const NAME: usize = 100;

/// What went wrong while the server could be reached.
#[derive(Default)]
pub(super) struct Trouble(Mutex<Record>);

#[derive(Default)]
struct Record {
    /// What went wrong since the server answered last, on the connection of that time.
    now: Option<(Instant, String)>,
    /// When that began, or ended, on the connection of that time.
    turned: Option<(Instant, SystemTime)>,
    /// What went wrong last, however long it is over.
    last: Option<(String, SystemTime)>,
}

/// How many moments are remembered by their dates; one condition tells of two.
const DATES: usize = 4;

/// The dates of the client's moments that were told of, the last one at the end. A moment has one
/// date, however often it is told of and whatever becomes of the clock.
#[derive(Default)]
pub(super) struct Dates(Mutex<Vec<(Instant, SystemTime)>>);

impl Dates {
    fn of(&self, moment: Instant) -> SystemTime {
        let mut dates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = dates.iter().position(|(known, _)| *known == moment);
        let date = match known {
            Some(at) => dates.remove(at).1,
            None => {
                let now = SystemTime::now();
                now.checked_sub(moment.elapsed()).unwrap_or(now)
            }
        };
        if dates.len() == DATES {
            dates.remove(0);
        }
        dates.push((moment, date));
        date
    }
}

impl Trouble {
    fn lock(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It answered as it should.
    pub(super) fn is_over(&self) {
        let mut record = self.lock();
        if let Some((standing, _)) = record.now.take() {
            record.turned = Some((standing, SystemTime::now()));
        }
    }

    /// It did not, if that is what `error` says. What we refuse ourselves has no cause.
    fn begins(&self, error: &Error, standing: Instant) {
        let is_its_own = match error.kind {
            ErrorKind::Unavailable => true,
            ErrorKind::TooLarge => error.source().is_some(),
            _ => false,
        };
        if !is_its_own {
            return;
        }
        let (mut record, at) = (self.lock(), SystemTime::now());
        if record.now.as_ref().is_none_or(|(then, _)| *then != standing) {
            record.turned = Some((standing, at));
        }
        record.now = Some((standing, format!("the last answer failed: {error}")));
        record.last = Some((error.to_string(), at));
    }

    /// What is wrong, unless the server was reached anew.
    fn words(&self, standing: Instant) -> Option<String> {
        let record = self.lock();
        record.now.as_ref().filter(|(then, _)| *then == standing).map(|(_, words)| words.clone())
    }

    /// When something began to be wrong, or ceased to, unless the server was reached anew.
    fn turned(&self, standing: Instant) -> Option<SystemTime> {
        self.lock().turned.filter(|(then, _)| *then == standing).map(|(_, at)| at)
    }

    fn last(&self) -> Option<(String, SystemTime)> {
        self.lock().last.clone()
    }
}

impl Health for Upstream {
    fn health(&self) -> Condition {
        let standing = self.inner.standing.borrow().clone();
        let dates = &self.inner.dates;
        let mut condition = match &standing.state {
            Reached::Starting => Condition::new(State::Starting, None),
            Reached::Ready(_) => self.served(standing.since),
            Reached::Failed(why) => Condition::new(State::Failed, Some(spoken(why))),
        };
        condition.since.get_or_insert_with(|| dates.of(standing.since));
        if let Some(peer) = self.inner.peer() {
            condition.facts = introduction(&peer);
        }
        condition.facts.extend(self.counts().map(|counts| ("counts", counts)));
        let unreached = standing.failure.map(|(why, at)| (spoken(&why), dates.of(at)));
        let failures = [unreached, self.inner.trouble.last()].into_iter().flatten();
        if let Some((words, at)) = failures.max_by_key(|(_, at)| *at) {
            let failure = vec![("words", Fact::Text(words)), ("at", Fact::Time(at))];
            condition.facts.push(("last_error", Fact::Group(failure)));
        }
        condition
    }

    fn is_there(&self) -> bool {
        matches!(self.inner.standing.borrow().state, Reached::Ready(_))
    }
}

/// What a stranger may read of why a server cannot be asked: what stands behind the colon may be
/// a command, an address or somebody else's words.
fn spoken(why: &str) -> String {
    why.split(':').next().unwrap_or_default().trim().to_owned()
}

/// What a server said of itself.
fn introduction(peer: &Peer) -> Vec<(&'static str, Fact)> {
    let era = if peer.revision.has_handshake() { "legacy" } else { "modern" };
    let said = [("name", &peer.name), ("version", &peer.version)];
    let said = said.into_iter().filter_map(|(name, said)| {
        let plain = said.as_ref()?.chars().filter(|letter| !letter.is_control());
        Some((name, Fact::Text(plain.take(NAME).collect())))
    });
    let server: Vec<_> = said.collect();
    let mut told = vec![
        ("era", Fact::Text(era.to_owned())),
        ("revision", Fact::Text(peer.revision.as_str().to_owned())),
        ("capabilities", capabilities(peer)),
    ];
    if !server.is_empty() {
        told.push(("server", Fact::Group(server)));
    }
    told
}

/// What a server said that it can do, as far as it is of use here.
fn capabilities(peer: &Peer) -> Fact {
    let all = |named: &[(&'static str, bool)]| {
        let had = named.iter().filter(|(_, has)| *has);
        Fact::Group(had.map(|(name, _)| (*name, Fact::Truth(true))).collect())
    };
    let tells = [("subscribe", peer.has_subscribe()), ("listChanged", peer.has_list_changed())];
    let kinds = [
        ("resources", peer.has_resources(), all(&tells)),
        ("tools", peer.has_tools(), all(&[])),
        ("prompts", peer.has_prompts(), all(&[])),
        ("completions", peer.has_completions(), all(&[])),
        ("logging", peer.has_logging(), all(&[])),
    ];
    let had = kinds.into_iter().filter(|(_, has, _)| *has);
    Fact::Group(had.map(|(name, _, fact)| (name, fact)).collect())
}

impl Upstream {
    /// Remembers that the server failed to answer, if that is what `error` says. Why it cannot be
    /// reached is known without that.
    pub(super) fn failed(&self, error: &Error) {
        let standing = self.inner.standing.borrow();
        if matches!(standing.state, Reached::Ready(_)) {
            self.inner.trouble.begins(error, standing.since);
        }
    }

    /// How much it has, by the lists that are kept. Asks for nothing.
    fn counts(&self) -> Option<Fact> {
        let counts = [
            ("resources", self.inner.resources.count()),
            ("templates", self.inner.patterns.count()),
        ];
        let known = counts.into_iter().filter_map(|(name, count)| Some((name, count?)));
        let known: Vec<_> = known.map(|(name, count)| (name, Fact::Count(count))).collect();
        (!known.is_empty()).then_some(Fact::Group(known))
    }

    /// How a server is that can be asked.
    fn served(&self, standing: Instant) -> Condition {
        let usual = self.usual();
        let trouble = &self.inner.trouble;
        // A server that is never quite well does not come into another state by this.
        let since = trouble.turned(standing).filter(|_| usual.state == State::Ready);
        let condition = trouble.words(standing).map_or(usual, Condition::degraded);
        Condition { since, ..condition }
    }

    /// How it is at its best.
    fn usual(&self) -> Condition {
        let abilities = self.inner.abilities();
        if !abilities.has_resources {
            return Condition::degraded("the server says that it has no resources");
        }
        match self.inner.poll {
            Some(every) if !abilities.subscribes => Condition::degraded(format!(
                "changes are found by polling every {every:?}: the server does not tell of them"
            )),
            _ => Condition::ready(),
        }
    }
}
