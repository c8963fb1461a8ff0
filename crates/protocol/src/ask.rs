//! How do we ask somebody else's server?
//!
//! What the caller put into its parameters is passed on as it was written; only `_meta` gains what
//! the revision demands, and loses what was meant for somebody else.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use resource::Question as Completing;

use crate::answer::{Denial, Malformed};
use crate::frame::Id;
use crate::member::{Object, members};
use crate::revision::Revision;

/// The methods that a server may be asked for, by what they do.
pub mod verb {
    /// A page of resources.
    pub const LIST: &str = "resources/list";
    /// A page of templates.
    pub const TEMPLATES: &str = "resources/templates/list";
    /// The content of a resource.
    pub const READ: &str = "resources/read";
    /// The description of a resource (SEP-2093).
    pub const METADATA: &str = "resources/metadata";
    /// A page of a directory (the skills extension, and ours).
    pub const DIRECTORY: &str = "resources/directory/read";
    /// Values for a variable.
    pub const COMPLETE: &str = "completion/complete";
    /// A page of tools.
    pub const TOOLS: &str = "tools/list";
    /// Running a tool.
    pub const CALL: &str = "tools/call";
    /// A page of prompts.
    pub const PROMPTS: &str = "prompts/list";
    /// One prompt.
    pub const PROMPT: &str = "prompts/get";
    /// What the server can do, from 2026-07-28 on.
    pub const DISCOVER: &str = "server/discover";
    /// Changes as they happen, from 2026-07-28 on.
    pub const LISTEN: &str = "subscriptions/listen";
    /// Changes of one resource, through 2025-11-25.
    pub const SUBSCRIBE: &str = "resources/subscribe";
    /// No more changes of one resource, through 2025-11-25.
    pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
    /// The opening, through 2025-11-25.
    pub const INITIALIZE: &str = "initialize";
    /// How important log messages must be, through 2025-11-25.
    pub const LEVEL: &str = "logging/setLevel";
    /// What a server says while it works.
    pub const MESSAGE: &str = "notifications/message";
    /// Whether somebody is there, through 2025-11-25.
    pub const PING: &str = "ping";
    /// What is told when a resource changed.
    pub const UPDATED: &str = "notifications/resources/updated";
    /// What is told when the list of resources changed.
    pub const LIST_CHANGED: &str = "notifications/resources/list_changed";
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LEVEL: &str = "io.modelcontextprotocol/logLevel";
const TOKEN: &str = "progressToken";

/// Whether asking twice does no more than asking once.
pub fn is_idempotent(method: &str) -> bool {
    method != verb::CALL
        && (method.starts_with("resources/")
            || method.starts_with("prompts/")
            || method.starts_with("completion/")
            || method.ends_with("/list")
            || matches!(method, verb::DISCOVER | verb::PING))
}

/// Who asks, and what it can do.
#[derive(Debug, Clone)]
pub struct Asker {
    name: String,
    version: String,
    capabilities: Box<RawValue>,
}

/// How a request says which revision it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// A handshake has said it.
    Opened,
    /// It says so itself.
    Alone(Revision),
}

/// One request that is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// What the answer will carry.
    pub id: u64,
    /// The method.
    pub method: &'a str,
    /// The parameters as the caller wrote them.
    pub params: Option<&'a RawValue>,
    /// Whether progress is to be told, under the id of the request.
    pub progress: bool,
}

impl Asker {
    /// A client called `name` whose opening says that it can do `capabilities`, an object. A
    /// request that stands alone says it itself.
    pub fn new(name: &str, version: &str, capabilities: Option<Box<RawValue>>) -> Self {
        let capabilities = capabilities.unwrap_or_else(nothing);
        Self { name: name.to_owned(), version: version.to_owned(), capabilities }
    }

    /// Writes a request.
    pub fn request(&self, question: Question<'_>, manner: Manner) -> Result<Vec<u8>, Malformed> {
        let params = members(question.params, "params")?;
        let told = params.iter().find(|(name, _)| name == "_meta").map(|(_, raw)| *raw);
        let meta = self.meta(members(told, "_meta")?, question, manner)?;
        let mut out = Object::begin();
        out.text("jsonrpc", "2.0");
        out.raw("id", &question.id.to_string());
        out.text("method", question.method);
        let rest = params.iter().filter(|(name, _)| name != "_meta");
        let mut inner = Object::begin();
        rest.for_each(|(name, raw)| inner.raw(name, raw.get()));
        if let Some(meta) = meta {
            inner.raw("_meta", &meta);
        }
        if !inner.is_empty() || question.params.is_some() {
            out.raw("params", &inner.end());
        }
        Ok(out.end().into_bytes())
    }

    fn meta(
        &self,
        told: Vec<(Cow<'_, str>, &RawValue)>,
        question: Question<'_>,
        manner: Manner,
    ) -> Result<Option<String>, Malformed> {
        let mut meta = Object::begin();
        let mut capabilities = None;
        for (name, raw) in told {
            match &*name {
                // Capabilities may be narrowed request by request: they are the caller's to say.
                CAPABILITIES if raw.get().starts_with('{') => capabilities = Some(raw),
                CAPABILITIES => return Err(Malformed::new("capabilities that are no object")),
                VERSION | CLIENT | TOKEN => {}
                _ => meta.raw(&name, raw.get()),
            }
        }
        if let Manner::Alone(revision) = manner {
            meta.text(VERSION, revision.as_str());
            meta.raw(CLIENT, &self.info());
            // Nobody is there to be asked, unless the request says so.
            meta.raw(CAPABILITIES, capabilities.map_or("{}", RawValue::get));
        }
        if question.progress {
            meta.raw(TOKEN, &question.id.to_string());
        }
        Ok((!meta.is_empty()).then(|| meta.end()))
    }

    /// Writes the opening that asks for the newest revision that has one.
    pub fn initialize(&self, id: u64) -> Vec<u8> {
        let mut params = Object::begin();
        params.text("protocolVersion", Revision::negotiated("").as_str());
        params.raw("capabilities", self.capabilities.get());
        params.raw("clientInfo", &self.info());
        let mut out = Object::begin();
        out.text("jsonrpc", "2.0");
        out.raw("id", &id.to_string());
        out.text("method", verb::INITIALIZE);
        out.raw("params", &params.end());
        out.end().into_bytes()
    }

    fn info(&self) -> String {
        json!({ "name": self.name, "version": self.version }).to_string()
    }
}

/// Says that the opening is over.
pub fn initialized() -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string().into_bytes()
}

/// Says that nobody waits for `id` any more.
pub fn cancelled(id: u64, reason: &str) -> Vec<u8> {
    let params = json!({ "requestId": id, "reason": reason });
    let method = "notifications/cancelled";
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().into_bytes()
}

/// Answers a request of the peer.
pub fn answered(id: &Id, result: &RawValue) -> Vec<u8> {
    let mut out = addressed(id);
    out.raw("result", result.get());
    out.end().into_bytes()
}

/// Answers a request of the peer with an error.
pub fn denied(id: &Id, denial: &Denial) -> Vec<u8> {
    let mut error = Object::begin();
    error.raw("code", &denial.code.to_string());
    error.text("message", &denial.message);
    if let Some(more) = &denial.data {
        error.raw("data", more.get());
    }
    let mut out = addressed(id);
    out.raw("error", &error.end());
    out.end().into_bytes()
}

fn addressed(id: &Id) -> Object {
    let mut out = Object::begin();
    out.text("jsonrpc", "2.0");
    let mut written = Vec::new();
    id.write(&mut written);
    out.raw("id", &String::from_utf8_lossy(&written));
    out
}

/// What a header must repeat of the parameters, from 2026-07-28 on.
pub fn name(method: &str, params: Option<&RawValue>) -> Option<String> {
    let member = match method {
        verb::READ => "uri",
        verb::CALL | verb::PROMPT => "name",
        _ if method.starts_with("tasks/") => "taskId",
        _ => return None,
    };
    let members = members(params, "params").ok()?;
    let (_, raw) = members.iter().rfind(|(name, _)| name == member)?;
    serde_json::from_str(raw.get()).ok()
}

/// Parameters that name one resource.
pub fn about(uri: &str) -> Box<RawValue> {
    raw(&json!({ "uri": uri }))
}

/// Parameters that ask for values of one variable.
pub fn completing(question: &Completing<'_>) -> Box<RawValue> {
    let mut params = json!({
        "ref": { "type": "ref/resource", "uri": question.template },
        "argument": { "name": question.variable, "value": question.typed },
    });
    if !question.settled.is_empty() {
        params["context"] = json!({ "arguments": question.settled });
    }
    raw(&params)
}

/// Parameters of a list that goes on at `cursor`, besides those that it began with.
pub fn going_on(params: Option<&RawValue>, cursor: &str) -> Result<Box<RawValue>, Malformed> {
    let mut out = Object::begin();
    let first = members(params, "params")?;
    first.iter().filter(|(name, _)| name != "cursor").for_each(|(name, raw)| {
        out.raw(name, raw.get());
    });
    out.text("cursor", cursor);
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("params"))
}

/// Parameters that ask for every change of a list, and for changes of these resources.
pub fn listening<'a>(uris: impl IntoIterator<Item = &'a str>) -> Box<RawValue> {
    let uris: Vec<&str> = uris.into_iter().collect();
    let mut wanted = json!({
        "resourcesListChanged": true, "toolsListChanged": true, "promptsListChanged": true,
    });
    if !uris.is_empty() {
        wanted["resourceSubscriptions"] = uris.into();
    }
    raw(&json!({ "notifications": wanted }))
}

/// An object without members.
pub fn nothing() -> Box<RawValue> {
    raw(&json!({}))
}

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a JSON value is JSON")
}

#[cfg(test)]
mod tests;
