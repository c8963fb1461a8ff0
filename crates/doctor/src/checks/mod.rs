//! Checks, one file for each family of rules: each sends probes and records what it sees.

mod collections;
mod completion;
mod entries;
mod errors;
mod http;
mod http_sse;
mod http_stateless;
mod lists;
mod opening;
mod paths;
mod reads;
mod safety;
mod schema;
mod stateless;
mod subscriptions;
mod tools;
mod values;

use serde_json::{Value, json};

pub(crate) use opening::{check_negotiation, open};

use crate::plain_text::plain_json;
use crate::recorder::Recorder;
use crate::revision::DoctorRevision;
use crate::target::DoctorOptions;
use crate::transport::{Conversation, HttpFacts};

/// A URI that no server has.
pub(crate) const MISSING_URI: &str = "refdesk-doctor://nowhere/no-such-resource";
/// A name that no tool or prompt has.
pub(crate) const MISSING_NAME: &str = "refdesk_doctor_no_such_name";

/// The examination of one revision.
pub(crate) struct Visit<'a> {
    talk: &'a mut Conversation,
    log: &'a mut Recorder,
    options: &'a DoctorOptions,
    revision: DoctorRevision,
    capabilities: Value,
    /// The versions that `server/discover` names.
    versions: Vec<String>,
    resources: Vec<Value>,
    templates: Vec<Value>,
    tools: Vec<Value>,
    prompts: Vec<Value>,
    /// What GET got, if a stream was asked for.
    get_facts: Option<HttpFacts>,
}

impl<'a> Visit<'a> {
    pub(crate) fn new(
        talk: &'a mut Conversation,
        log: &'a mut Recorder,
        options: &'a DoctorOptions,
        opened: opening::OpenedServer,
    ) -> Self {
        let revision = talk.revision;
        let (resources, templates, tools, prompts) = Default::default();
        let opening::OpenedServer { capabilities, versions } = opened;
        Self {
            talk,
            log,
            options,
            revision,
            capabilities,
            versions,
            resources,
            templates,
            tools,
            prompts,
            get_facts: None,
        }
    }

    /// Runs every check of this revision. What may end the session comes last.
    pub(crate) async fn run(&mut self, step: &mut (dyn FnMut(&'static str) + Send)) {
        step("general");
        self.check_capabilities();
        self.set_declared_lists();
        self.check_errors().await;
        step("lists");
        self.check_lists().await;
        self.check_safety();
        self.start_watching().await;
        step("reads");
        self.check_reads().await;
        self.check_missing().await;
        self.check_paths().await;
        self.check_completion().await;
        step("collections");
        self.check_collections().await;
        step("tools");
        self.check_tools().await;
        self.end_watching().await;
        if !self.revision.has_handshake() {
            step("stateless");
            self.check_stateless().await;
        }
        self.check_batches().await;
        self.check_broken_line().await;
        self.talk.close_side_stream().await;
        if self.talk.is_http() {
            step("HTTP");
            self.check_http().await;
        } else if self.talk.http_sse().is_some() {
            step("HTTP+SSE");
            self.check_http_sse().await;
        }
    }

    /// A member of the capabilities, if it is declared.
    fn capability(&self, name: &str) -> Option<&Value> {
        self.capabilities.get(name).filter(|value| !value.is_null())
    }

    /// Whether a capability has a flag that is true.
    fn has_flag(&self, name: &str, flag: &str) -> bool {
        self.capability(name).is_some_and(|value| value[flag] == json!(true))
    }

    fn check_capabilities(&mut self) {
        let mut broken = Vec::new();
        for (name, value) in self.capabilities.as_object().into_iter().flatten() {
            if !value.is_object() {
                broken.push(format!("{name} is {}", plain_json(value)));
                continue;
            }
            for flag in ["subscribe", "listChanged"] {
                if value.get(flag).is_some_and(|flag| !flag.is_boolean()) {
                    broken.push(format!("{flag} of {name} is {}", plain_json(&value[flag])));
                }
            }
        }
        self.log.judge("capability-shape", broken.is_empty(), || {
            crate::plain_text::plain(&broken.join(", "))
        });
    }
}

/// Rules that every message may break: those that none broke are kept.
const MESSAGE_RULES: [&str; 11] = [
    "answer-in-time",
    "connection-kept",
    "message-json",
    "message-version",
    "message-size",
    "message-flood",
    "response-shape",
    "error-shape",
    "id-echoed",
    "stray-response",
    "progress-unasked",
];

/// Rules that every message over HTTP+SSE may break.
const HTTP_SSE_RULES: [&str; 5] = [
    "sse-endpoint-first",
    "sse-endpoint-origin",
    "sse-message-event",
    "sse-answer-stream",
    "sse-post-accepted",
];

/// Moves what the messages of a conversation broke into the log.
pub(crate) fn record_faults(talk: &mut Conversation, log: &mut Recorder, is_reached: bool) {
    for id in std::mem::take(&mut talk.strays) {
        talk.note("stray-response", format!("its id is {}", plain_json(&id)));
    }
    let faults = talk.take_faults();
    if is_reached {
        let era: &[&str] = match talk.revision.has_handshake() {
            true => &["server-request-capability", "before-initialized"],
            false => &[
                "server-request-forbidden",
                "log-unasked",
                "result-type",
                "input-required",
                "cache-hints",
                "server-info-meta",
            ],
        };
        let http: &[&str] = match (talk.is_http(), talk.is_http_sse()) {
            (true, _) => &["http-answer", "http-content-type"],
            (false, true) => &HTTP_SSE_RULES,
            (false, false) => &[],
        };
        let is_kept = |id: &str| faults.iter().all(|(broken, _)| *broken != id);
        for id in MESSAGE_RULES.iter().chain(era).chain(http).filter(|id| is_kept(id)) {
            log.passed(id);
        }
        for (id, has_come) in talk.watch.tried(talk.revision.has_handshake()) {
            if !has_come {
                log.skipped(id, "no such notification came during the check");
            } else if is_kept(id) {
                log.passed(id);
            }
        }
    }
    for (id, evidence) in faults {
        log.found(id, evidence);
    }
}
