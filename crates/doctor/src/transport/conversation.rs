//! Conversation: requests to one server in one revision, and what its messages break on the way.

use std::time::Duration;

use serde_json::{Value, json};

use super::changes::ChangeWatch;
use super::event_stream::DoctorEventStream;
use super::http::{HttpAsk, HttpFacts, HttpFailure, HttpWire};
use super::message::ShapeFault;
use super::pipe::PipeLine;
use super::{Deadline, MAX_MESSAGES, Probe, ReplyOutcome, RpcFault, Wire};
use crate::plain_text::{plain, plain_json};
use crate::revision::DoctorRevision;
use crate::target::DoctorOptions;

/// How many requests may stay unanswered before the revision is given up.
const MAX_SILENCES: usize = 2;
/// How many messages of others than the awaited answer are kept.
pub(super) const MAX_KEPT: usize = 100;
/// How long a server has to end after its input was closed.
const EXIT_WAIT: Duration = Duration::from_secs(3);

/// One connection, or a series of HTTP requests, in one revision.
pub(crate) struct Conversation {
    pub(super) wire: Wire,
    pub(crate) revision: DoctorRevision,
    pub(crate) session: Option<String>,
    /// Whether the handshake is over.
    pub(crate) is_open: bool,
    /// Answers that no request waits for.
    pub(crate) strays: Vec<Value>,
    /// Whether an error without an id is kept as a stray, and answers no request.
    pub(crate) keeps_null_ids: bool,
    /// What change notifications may come.
    pub(crate) watch: ChangeWatch,
    /// A stream of events beside the requests, over HTTP.
    pub(super) side_stream: Option<DoctorEventStream>,
    /// Whether the answer that is sorted now came with an HTTP status of failure.
    pub(super) is_refused: bool,
    pub(super) faults: Vec<ShapeFault>,
    /// Answers to requests of the server, still to be sent.
    pub(super) owed: Vec<Value>,
    next_id: i64,
    pub(crate) timeout: Duration,
    end: Deadline,
    silences: usize,
    dead: Option<String>,
}

/// The answer to a probe.
#[derive(Debug, Clone)]
pub(crate) struct ProbeReply {
    pub(crate) outcome: ReplyOutcome,
    pub(crate) http: Option<HttpFacts>,
}

impl ProbeReply {
    pub(crate) fn result(&self) -> Option<&Value> {
        match &self.outcome {
            ReplyOutcome::Result(result) => Some(result),
            _ => None,
        }
    }

    pub(crate) fn fault(&self) -> Option<&RpcFault> {
        match &self.outcome {
            ReplyOutcome::Error(fault) => Some(fault),
            _ => None,
        }
    }

    pub(crate) fn code(&self) -> Option<i64> {
        self.fault().map(|fault| fault.code)
    }

    /// Whether no answer came; the reason is recorded elsewhere.
    pub(crate) fn is_nothing(&self) -> bool {
        self.outcome == ReplyOutcome::Nothing
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.http.as_ref().map(|http| http.status)
    }

    /// The answer in words.
    pub(crate) fn describe(&self) -> String {
        let answer = match &self.outcome {
            ReplyOutcome::Result(result) => format!("the result {}", plain_json(result)),
            ReplyOutcome::Error(fault) => format!("error {} \"{}\"", fault.code, fault.message),
            ReplyOutcome::Status => "no JSON-RPC message".to_owned(),
            ReplyOutcome::Nothing => "no answer".to_owned(),
        };
        match self.status() {
            Some(status) if status != 200 => format!("{answer}, HTTP status {status}"),
            _ => answer,
        }
    }
}

impl Conversation {
    pub(crate) fn new(wire: Wire, revision: DoctorRevision, options: &DoctorOptions) -> Self {
        Self {
            wire,
            revision,
            session: None,
            is_open: false,
            strays: Vec::new(),
            keeps_null_ids: false,
            watch: ChangeWatch::default(),
            side_stream: None,
            is_refused: false,
            faults: Vec::new(),
            owed: Vec::new(),
            next_id: 0,
            timeout: options.timeout,
            end: Deadline::after(options.revision_timeout),
            silences: 0,
            dead: None,
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> ProbeReply {
        self.send(&Probe::new(method, params)).await
    }

    /// Sends a probe and waits for its answer.
    pub(crate) async fn send(&mut self, probe: &Probe) -> ProbeReply {
        let id = self.new_id();
        let message = probe.message(&id, self.revision).to_string();
        let headers = probe.heading(self.revision, self.session.as_deref());
        let wait = probe.wait.unwrap_or(self.timeout);
        let reply = self.exchange(&message, headers, &id, wait).await;
        let reply = match reply {
            Ok(reply) => reply,
            Err(WireBreak::Refused(facts)) => {
                ProbeReply { outcome: ReplyOutcome::Status, http: Some(facts) }
            }
            Err(broken) => {
                self.note_break(probe, &broken);
                ProbeReply { outcome: ReplyOutcome::Nothing, http: None }
            }
        };
        self.settle().await;
        if let Some(result) = reply.result().filter(|_| !self.revision.has_handshake()) {
            self.judge_result(&probe.method, result);
        }
        reply
    }

    /// Numbers and texts by turns, since a server must return either as it came.
    pub(super) fn new_id(&mut self) -> Value {
        self.next_id += 1;
        match self.next_id % 2 {
            0 => json!(format!("doctor-{}", self.next_id)),
            _ => json!(self.next_id),
        }
    }

    async fn exchange(
        &mut self,
        message: &str,
        headers: Vec<(String, String)>,
        id: &Value,
        wait: Duration,
    ) -> Result<ProbeReply, WireBreak> {
        let deadline = self.deadline(wait)?;
        if let Wire::Http(http) = &self.wire {
            let ask = HttpAsk::post(message, headers);
            let is_last =
                |value: &Value| value.get("id") == Some(id) && value.get("method").is_none();
            let reply = http.exchange(&ask, deadline, is_last).await.map_err(http_break)?;
            return self.sort_http(reply, id);
        }
        self.send_line(message, deadline).await?;
        let mut count = 0;
        loop {
            let value = self.next_value(deadline, &mut count).await?;
            if let Some(outcome) = value.and_then(|value| self.sort(&value, Some(id))) {
                return Ok(ProbeReply { outcome, http: None });
            }
            self.settle().await;
        }
    }

    pub(super) fn deadline(&self, wait: Duration) -> Result<Deadline, WireBreak> {
        if self.dead.is_some() {
            return Err(WireBreak::Dead);
        }
        if self.end.is_over() {
            return Err(WireBreak::OutOfTime);
        }
        Ok(self.end.or_after(wait))
    }

    pub(super) async fn send_line(
        &mut self,
        line: &str,
        deadline: Deadline,
    ) -> Result<(), WireBreak> {
        match &mut self.wire {
            Wire::Pipe(pipe) => pipe.send(line, deadline).await.map_err(WireBreak::Closed),
            Wire::HttpSse(events) => {
                let sent = events.post(line, deadline).await;
                self.note_wire_faults();
                let facts = sent.map_err(http_break)?;
                if facts.is_success() { Ok(()) } else { Err(WireBreak::Refused(facts)) }
            }
            Wire::Http(_) => Ok(()),
        }
    }

    fn note_wire_faults(&mut self) {
        let Wire::HttpSse(events) = &mut self.wire else { return };
        for (id, evidence) in events.take_faults() {
            self.note(id, evidence);
        }
    }

    /// The next message on the pipe or stream; `None` for one that is no JSON.
    pub(super) async fn next_value(
        &mut self,
        deadline: Deadline,
        count: &mut usize,
    ) -> Result<Option<Value>, WireBreak> {
        *count += 1;
        if *count > MAX_MESSAGES {
            return Err(WireBreak::TooMany);
        }
        let line = match &mut self.wire {
            Wire::Pipe(pipe) => pipe.next_line(deadline).await,
            Wire::HttpSse(events) => events.next_message(deadline).await,
            Wire::Http(_) => return Err(WireBreak::Dead),
        };
        self.note_wire_faults();
        match line {
            PipeLine::Silence => Err(WireBreak::Silence),
            PipeLine::End(why) => Err(WireBreak::Closed(why)),
            PipeLine::TooLong => Err(WireBreak::TooLarge),
            PipeLine::Text(line) => match serde_json::from_slice(&line) {
                Ok(value) => Ok(Some(value)),
                Err(_) => {
                    let text = String::from_utf8_lossy(&line[..line.len().min(1_000)]);
                    self.note("message-json", format!("it wrote the line \"{}\"", plain(&text)));
                    Ok(None)
                }
            },
        }
    }

    /// Sends what the server waits for.
    pub(super) async fn settle(&mut self) {
        for answer in std::mem::take(&mut self.owed) {
            let Ok(deadline) = self.deadline(self.timeout) else { return };
            match &mut self.wire {
                Wire::Pipe(pipe) => {
                    let _ = pipe.send(&answer.to_string(), deadline).await;
                }
                Wire::HttpSse(events) => {
                    let _ = events.post(&answer.to_string(), deadline).await;
                }
                Wire::Http(http) if self.revision.has_handshake() => {
                    let heading = Probe::new("", json!({}));
                    let heading = heading.heading(self.revision, self.session.as_deref());
                    let _ = http.look(&HttpAsk::post(answer.to_string(), heading), deadline).await;
                }
                Wire::Http(_) => {}
            }
        }
    }

    /// The HTTP wire, for probes of its own.
    pub(crate) fn http(&self) -> Option<(&HttpWire, Deadline)> {
        match &self.wire {
            Wire::Http(http) => Some((http, self.deadline(self.timeout).ok()?)),
            Wire::Pipe(_) | Wire::HttpSse(_) => None,
        }
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    /// Why nothing more is sent in this revision.
    pub(crate) fn why_dead(&self) -> Option<&str> {
        self.dead.as_deref()
    }

    /// Whether some request got no answer.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.dead.is_some() || self.silences > 0
    }

    pub(crate) fn note(&mut self, id: &'static str, evidence: String) {
        // The first of a kind says enough; a hostile server may break a rule with every message.
        if self.faults.iter().all(|(known, _)| *known != id) {
            self.faults.push((id, evidence));
        }
    }

    pub(crate) fn take_faults(&mut self) -> Vec<ShapeFault> {
        std::mem::take(&mut self.faults)
    }

    fn note_break(&mut self, probe: &Probe, broken: &WireBreak) {
        let method = plain(&probe.method);
        let why = match broken {
            WireBreak::Dead | WireBreak::Refused(_) => return,
            WireBreak::Silence if probe.may_be_silent => return,
            WireBreak::Closed(why) | WireBreak::NoConnection(why) if probe.may_be_silent => {
                why.clone()
            }
            WireBreak::Silence => {
                self.note("answer-in-time", format!("{method} got no answer"));
                self.silences += 1;
                if self.silences < MAX_SILENCES {
                    return;
                }
                "two requests got no answer".to_owned()
            }
            WireBreak::OutOfTime => "the time for this revision is over".to_owned(),
            WireBreak::NoConnection(why) if !self.is_open => {
                self.note("connect", why.clone());
                why.clone()
            }
            WireBreak::Closed(why) | WireBreak::NoConnection(why) => {
                self.note("connection-kept", format!("after {method}: {why}"));
                why.clone()
            }
            WireBreak::TooLarge => {
                self.note("message-size", format!("the answer to {method} is over the limit"));
                "a message is over the limit".to_owned()
            }
            WireBreak::TooMany => {
                let evidence =
                    format!("{MAX_MESSAGES} messages came before the answer to {method}");
                self.note("message-flood", evidence);
                "it sends too many messages".to_owned()
            }
        };
        self.dead = Some(why);
    }

    /// Closes the connection; whether the server ended with its input. `None` over HTTP.
    pub(crate) async fn close(self) -> Option<bool> {
        match self.wire {
            // One that was given up may flood, or never read its input.
            Wire::Pipe(pipe) if self.dead.is_some() => Some(pipe.close(Duration::ZERO).await),
            Wire::Pipe(pipe) => Some(pipe.close(EXIT_WAIT).await),
            Wire::Http(_) | Wire::HttpSse(_) => None,
        }
    }
}

/// Why a request has no answer.
pub(super) enum WireBreak {
    Silence,
    Closed(String),
    /// Nothing accepts connections at the address.
    NoConnection(String),
    TooLarge,
    TooMany,
    /// An HTTP status of failure came for the message.
    Refused(HttpFacts),
    /// The revision's time is over.
    OutOfTime,
    /// An earlier request broke the connection.
    Dead,
}

pub(super) fn http_break(failure: HttpFailure) -> WireBreak {
    match failure {
        HttpFailure::TimedOut => WireBreak::Silence,
        HttpFailure::NoConnection(why) => WireBreak::NoConnection(why),
        HttpFailure::Broken(why) => WireBreak::Closed(why),
    }
}
