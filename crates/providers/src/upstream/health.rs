//! Health of an upstream server: connection state, last failure, capabilities and counts.
//!
//! It reports what is already known and sends no request.

use std::error::Error as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use client::{Peer, State as Reached};
use resource::{Condition, Error, ErrorKind, Fact, Health, State};
use tokio::time::Instant;

use super::Upstream;

/// How many characters of a server's name and version are reported.
const NAME: usize = 100;

/// Failed requests while the server was connected.
#[derive(Default)]
pub(super) struct Trouble(Mutex<Record>);

#[derive(Default)]
struct Record {
    /// The failure since the last success, and the start of the connection that it belongs to.
    now: Option<(Instant, String)>,
    /// When failing began or ended, and the start of the connection that it belongs to.
    turned: Option<(Instant, SystemTime)>,
    /// The last failure, even if requests succeed again.
    last: Option<(String, SystemTime)>,
}

/// How many instants keep their wall-clock time; one health report shows two.
const DATES: usize = 4;

/// Wall-clock times of the client's instants, most recently used last. An instant keeps its first
/// wall-clock time, even if the system clock is adjusted later.
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

    /// Records a successful response.
    pub(super) fn is_over(&self) {
        let mut record = self.lock();
        if let Some((standing, _)) = record.now.take() {
            record.turned = Some((standing, SystemTime::now()));
        }
    }

    /// Records a failure, if `error` comes from the server. A size limit of our own has no source
    /// error and does not count.
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
        record.now = Some((standing, format!("the last request failed: {error}")));
        record.last = Some((error.to_string(), at));
    }

    /// The current failure, if it belongs to the connection that began at `standing`.
    fn words(&self, standing: Instant) -> Option<String> {
        let record = self.lock();
        record.now.as_ref().filter(|(then, _)| *then == standing).map(|(_, words)| words.clone())
    }

    /// When failing began or ended, if on the connection that began at `standing`.
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

/// The public part of a failure message. The text after the colon may contain a command, an
/// address or the server's own text, so it is removed.
fn spoken(why: &str) -> String {
    why.split(':').next().unwrap_or_default().trim().to_owned()
}

/// Facts from the server's introduction: era, revision, capabilities, name and version.
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

/// The declared capabilities that refdesk uses.
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
    /// Records a failed request while the server is connected. The client itself reports why a
    /// server is not connected.
    pub(super) fn failed(&self, error: &Error) {
        let standing = self.inner.standing.borrow();
        if matches!(standing.state, Reached::Ready(_)) {
            self.inner.trouble.begins(error, standing.since);
        }
    }

    /// Numbers of resources and templates, if all pages of the list are cached. Sends no request.
    fn counts(&self) -> Option<Fact> {
        let counts = [
            ("resources", self.inner.resources.count()),
            ("templates", self.inner.patterns.count()),
        ];
        let known = counts.into_iter().filter_map(|(name, count)| Some((name, count?)));
        let known: Vec<_> = known.map(|(name, count)| (name, Fact::Count(count))).collect();
        (!known.is_empty()).then_some(Fact::Group(known))
    }

    /// The condition of a connected server.
    fn served(&self, standing: Instant) -> Condition {
        let usual = self.usual();
        let trouble = &self.inner.trouble;
        // A server that is degraded even without failures does not change its state by one.
        let since = trouble.turned(standing).filter(|_| usual.state == State::Ready);
        let condition = trouble.words(standing).map_or(usual, Condition::degraded);
        Condition { since, ..condition }
    }

    /// The condition without failures: ready, or degraded by missing capabilities.
    fn usual(&self) -> Condition {
        let abilities = self.inner.abilities();
        if !abilities.has_resources {
            return Condition::degraded("the server does not declare the resources capability");
        }
        match self.inner.poll {
            Some(every) if !abilities.subscribes => Condition::degraded(format!(
                "changes are found by polling every {every:?}: the server supports no subscriptions"
            )),
            _ => Condition::ready(),
        }
    }
}
