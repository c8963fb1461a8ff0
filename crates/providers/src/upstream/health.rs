//! Health of an upstream server: connection state, last failure, capabilities and counts.
//!
//! It reports what is already known and sends no request.

use std::error::Error as _;
use std::time::SystemTime;

use client::{RemoteCapabilities, RemoteServer, State as Reached};
use parking_lot::Mutex;
use resource::{
    Context, Error, ErrorKind, Health, HealthFact, HealthState, HealthStatus, one_line,
};
use tokio::time::Instant;

use super::Upstream;

/// How many bytes of a server's name, version and instructions are passed on. The mount cuts them
/// shorter, after their secrets were masked.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Failed requests while the server was connected.
#[derive(Default)]
pub(super) struct FailureLog(Mutex<FailureState>);

#[derive(Default)]
struct FailureState {
    /// The start of the connection that has failed since its last success.
    current: Option<Instant>,
    /// When failing began or ended, and the start of the connection that it belongs to.
    changed_at: Option<(Instant, SystemTime)>,
    /// The last failure, even if requests succeed again.
    last: Option<(String, SystemTime)>,
}

/// How many instants keep their wall-clock time; one health report shows two.
const MAX_TIMES: usize = 4;

/// Wall-clock times of the client's instants, most recently used last. An instant keeps its first
/// wall-clock time, even if the system clock is adjusted later.
#[derive(Default)]
pub(super) struct WallClockTimes(Mutex<Vec<(Instant, SystemTime)>>);

impl WallClockTimes {
    fn time_of(&self, moment: Instant) -> SystemTime {
        let mut dates = self.0.lock();
        let known = dates.iter().position(|(known, _)| *known == moment);
        let date = match known {
            Some(at) => dates.remove(at).1,
            None => {
                let now = SystemTime::now();
                now.checked_sub(moment.elapsed()).unwrap_or(now)
            }
        };
        if dates.len() == MAX_TIMES {
            dates.remove(0);
        }
        dates.push((moment, date));
        date
    }
}

impl FailureLog {
    /// Records a successful response.
    pub(super) fn record_success(&self) {
        let mut record = self.0.lock();
        if let Some(standing) = record.current.take() {
            record.changed_at = Some((standing, SystemTime::now()));
        }
    }

    /// Records a failure, if `error` comes from the server. A size limit of our own has no source
    /// error and does not count.
    fn record_failure(&self, error: &Error, standing: Instant) {
        let is_its_own = match error.kind {
            ErrorKind::Unavailable => true,
            ErrorKind::TooLarge => error.source().is_some(),
            _ => false,
        };
        if !is_its_own {
            return;
        }
        let (mut record, at) = (self.0.lock(), SystemTime::now());
        if record.current.replace(standing) != Some(standing) {
            record.changed_at = Some((standing, at));
        }
        record.last = Some((error.to_string(), at));
    }

    /// Why the last request failed, if one did on the connection that began at `standing`.
    fn current_cause(&self, standing: Instant) -> Option<String> {
        let record = self.0.lock();
        let last = record.last.as_ref().filter(|_| record.current == Some(standing));
        last.map(|(words, _)| words.clone())
    }

    /// When failing began or ended, if on the connection that began at `standing`.
    fn changed_at(&self, standing: Instant) -> Option<SystemTime> {
        self.0.lock().changed_at.filter(|(then, _)| *then == standing).map(|(_, at)| at)
    }

    fn last_failure(&self) -> Option<(String, SystemTime)> {
        self.0.lock().last.clone()
    }
}

impl Health for Upstream {
    fn health(&self, _: &Context) -> HealthStatus {
        let standing = self.inner.connection_status.borrow().clone();
        let dates = &self.inner.wall_clock_times;
        let mut condition = match &standing.state {
            Reached::Starting => HealthStatus::new(HealthState::Starting, None),
            Reached::Ready(_) => self.ready_condition(standing.since),
            Reached::Failed(error) => {
                let why = public_reason(&error.to_string());
                HealthStatus::new(HealthState::Failed, Some(why))
            }
        };
        condition.since.get_or_insert_with(|| dates.time_of(standing.since));
        if let Some(server) = self.inner.known_server() {
            condition.facts = server_facts(&server);
        }
        condition.facts.extend(self.counts().map(|counts| ("counts", counts)));
        let unreached =
            standing.last_failure.map(|(why, at)| (public_reason(&why), dates.time_of(at)));
        let failures = [unreached, self.inner.failure_log.last_failure()].into_iter().flatten();
        if let Some((words, at)) = failures.max_by_key(|(_, at)| *at) {
            let failure = vec![("words", HealthFact::Text(words)), ("at", HealthFact::Time(at))];
            condition.facts.push(("last_error", HealthFact::Group(failure)));
        }
        condition
    }

    fn is_available(&self, _: &Context) -> bool {
        matches!(self.inner.connection_status.borrow().state, Reached::Ready(_))
    }
}

/// The public part of a failure message. The text after the colon may contain a command, an
/// address or the server's own text, so it is removed.
fn public_reason(why: &str) -> String {
    why.split(':').next().unwrap_or_default().trim().to_owned()
}

/// Facts from the server's introduction: era, revision, capabilities, name and version.
fn server_facts(info: &RemoteServer) -> Vec<(&'static str, HealthFact)> {
    let era = if info.has_handshake() { "legacy" } else { "modern" };
    let said = [("name", &info.name), ("title", &info.title), ("version", &info.version)];
    let said = said.into_iter().filter_map(|(name, said)| {
        Some((name, HealthFact::Text(one_line(bounded(said.as_ref()?)).into_owned())))
    });
    let server: Vec<_> = said.collect();
    let mut told = vec![
        ("era", HealthFact::Text(era.to_owned())),
        ("revision", HealthFact::Text(info.revision().to_owned())),
        ("capabilities", capability_facts(info.capabilities)),
    ];
    if !server.is_empty() {
        told.push(("server", HealthFact::Group(server)));
    }
    if let Some(words) = &info.instructions {
        told.push(("instructions", HealthFact::Text(bounded(words).to_owned())));
    }
    told
}

/// The start of `text`, up to a word that is whole: half a secret would not be recognized.
fn bounded(text: &str) -> &str {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let start = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    start.trim_end_matches(|letter: char| !letter.is_whitespace())
}

/// The declared capabilities that refdesk uses.
fn capability_facts(declared: RemoteCapabilities) -> HealthFact {
    let all = |named: &[(&'static str, bool)]| {
        let had = named.iter().filter(|(_, has)| *has);
        HealthFact::Group(had.map(|(name, _)| (*name, HealthFact::Flag(true))).collect())
    };
    let tells = [("subscribe", declared.has_subscribe), ("listChanged", declared.has_list_changed)];
    let kinds = [
        ("resources", declared.has_resources, all(&tells)),
        ("tools", declared.has_tools, all(&[])),
        ("prompts", declared.has_prompts, all(&[])),
        ("completions", declared.has_completions, all(&[])),
        ("logging", declared.has_logging, all(&[])),
    ];
    let had = kinds.into_iter().filter(|(_, has, _)| *has);
    HealthFact::Group(had.map(|(name, _, fact)| (name, fact)).collect())
}

impl Upstream {
    /// Records a failed request while the server is connected. The client itself reports why a
    /// server is not connected.
    pub(super) fn record_error(&self, error: &Error) {
        let standing = self.inner.connection_status.borrow();
        if matches!(standing.state, Reached::Ready(_)) {
            self.inner.failure_log.record_failure(error, standing.since);
        }
    }

    /// Numbers of resources and templates, if all pages of the list are cached. Sends no request.
    fn counts(&self) -> Option<HealthFact> {
        let counts = [
            ("resources", self.inner.resource_pages.cached_count()),
            ("templates", self.inner.template_pages.cached_count()),
        ];
        let known = counts.into_iter().filter_map(|(name, count)| Some((name, count?)));
        let known: Vec<_> = known.map(|(name, count)| (name, HealthFact::Count(count))).collect();
        (!known.is_empty()).then_some(HealthFact::Group(known))
    }

    /// The condition of a connected server.
    fn ready_condition(&self, standing: Instant) -> HealthStatus {
        let usual = self.baseline_condition();
        let trouble = &self.inner.failure_log;
        // A server that is degraded even without failures does not change its state by one.
        let since = trouble.changed_at(standing).filter(|_| usual.state == HealthState::Ready);
        let condition = match trouble.current_cause(standing) {
            Some(cause) => {
                let failing = HealthStatus::degraded("the last request failed");
                HealthStatus { cause: Some(cause), ..failing }
            }
            None => usual,
        };
        HealthStatus { since, ..condition }
    }

    /// The condition without failures: ready, or degraded by missing capabilities.
    fn baseline_condition(&self) -> HealthStatus {
        let abilities = self.inner.capabilities_or_none();
        if !(abilities.has_resources || abilities.has_tools || abilities.has_prompts) {
            let message = "the server declares neither resources nor tools nor prompts";
            return HealthStatus::degraded(message);
        }
        match self.inner.poll_interval {
            Some(every) if !abilities.has_subscribe => HealthStatus::degraded(format!(
                "changes are found by polling every {every:?}: the server supports no subscriptions"
            )),
            _ => HealthStatus::ready(),
        }
    }
}
