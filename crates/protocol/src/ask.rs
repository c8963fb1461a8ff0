//! Encoder for our requests, notifications and responses to upstream servers.
//!
//! Passes the caller's parameters on byte for byte. In `_meta` it sets the members that belong to
//! our own connection and drops the caller's values for them.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use resource::Question as Completing;

use crate::answer::{Denial, Malformed};
use crate::frame::Id;
use crate::member::{Object, members};
use crate::revision::Revision;

/// Names of the methods that we send to servers or receive from them.
pub mod verb {
    /// Returns a page of resources.
    pub const LIST: &str = "resources/list";
    /// Returns a page of resource templates.
    pub const TEMPLATES: &str = "resources/templates/list";
    /// Returns the content of a resource.
    pub const READ: &str = "resources/read";
    /// Returns the description of a resource (SEP-2093).
    pub const METADATA: &str = "resources/metadata";
    /// Returns a page of a directory (skills extension, and ours).
    pub const DIRECTORY: &str = "resources/directory/read";
    /// Returns completions for a template variable or a prompt argument.
    pub const COMPLETE: &str = "completion/complete";
    /// Returns a page of tools.
    pub const TOOLS: &str = "tools/list";
    /// Runs a tool.
    pub const CALL: &str = "tools/call";
    /// Returns a page of prompts.
    pub const PROMPTS: &str = "prompts/list";
    /// Returns one prompt, filled in.
    pub const PROMPT: &str = "prompts/get";
    /// Returns the server's capabilities, from 2026-07-28 on.
    pub const DISCOVER: &str = "server/discover";
    /// Opens a stream of change notifications, from 2026-07-28 on.
    pub const LISTEN: &str = "subscriptions/listen";
    /// Subscribes to changes of one resource, through 2025-11-25.
    pub const SUBSCRIBE: &str = "resources/subscribe";
    /// Ends such a subscription, through 2025-11-25.
    pub const UNSUBSCRIBE: &str = "resources/unsubscribe";
    /// Starts the handshake, through 2025-11-25.
    pub const INITIALIZE: &str = "initialize";
    /// Sets the minimum level of log messages, through 2025-11-25.
    pub const LEVEL: &str = "logging/setLevel";
    /// A log message from the server.
    pub const MESSAGE: &str = "notifications/message";
    /// Checks that the other side responds, through 2025-11-25.
    pub const PING: &str = "ping";
    /// The server reports that a resource changed.
    pub const UPDATED: &str = "notifications/resources/updated";
    /// The server reports that its list of resources changed.
    pub const LIST_CHANGED: &str = "notifications/resources/list_changed";
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LEVEL: &str = "io.modelcontextprotocol/logLevel";
const TOKEN: &str = "progressToken";

/// True if sending the request twice has the same effect as sending it once.
pub fn is_idempotent(method: &str) -> bool {
    method != verb::CALL
        && (method.starts_with("resources/")
            || method.starts_with("prompts/")
            || method.starts_with("completion/")
            || method.ends_with("/list")
            || matches!(method, verb::DISCOVER | verb::PING))
}

/// Our name, version and capabilities as an MCP client. Encodes our requests.
#[derive(Debug, Clone)]
pub struct Asker {
    name: String,
    version: String,
    capabilities: Box<RawValue>,
}

/// How the server learns the protocol revision of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// From the handshake of the session.
    Opened,
    /// From `_meta` of the request itself (stateless).
    Alone(Revision),
}

/// A request to encode.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The id that the response will carry.
    pub id: u64,
    /// The method.
    pub method: &'a str,
    /// The parameters, as the caller wrote them.
    pub params: Option<&'a RawValue>,
    /// True to request progress notifications. The request's id is the progress token.
    pub progress: bool,
}

impl Asker {
    /// Creates a client called `name`. The handshake declares `capabilities`, an object; a
    /// stateless request declares its own in `_meta`.
    pub fn new(name: &str, version: &str, capabilities: Option<Box<RawValue>>) -> Self {
        let capabilities = capabilities.unwrap_or_else(nothing);
        Self { name: name.to_owned(), version: version.to_owned(), capabilities }
    }

    /// Encodes a request. Fails if the parameters or their `_meta` are not objects.
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
                // The caller may declare capabilities for each request.
                CAPABILITIES if raw.get().starts_with('{') => capabilities = Some(raw),
                CAPABILITIES => return Err(Malformed::new("clientCapabilities must be an object")),
                VERSION | CLIENT | TOKEN => {}
                _ => meta.raw(&name, raw.get()),
            }
        }
        if let Manner::Alone(revision) = manner {
            meta.text(VERSION, revision.as_str());
            meta.raw(CLIENT, &self.info());
            // Without capabilities from the caller, the server cannot ask for input.
            meta.raw(CAPABILITIES, capabilities.map_or("{}", RawValue::get));
        }
        if question.progress {
            meta.raw(TOKEN, &question.id.to_string());
        }
        Ok((!meta.is_empty()).then(|| meta.end()))
    }

    /// Encodes `initialize` with the newest revision that has a handshake.
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

/// Encodes the notification that ends the handshake.
pub fn initialized() -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string().into_bytes()
}

/// Encodes the notification that cancels our request `id`.
pub fn cancelled(id: u64, reason: &str) -> Vec<u8> {
    let params = json!({ "requestId": id, "reason": reason });
    let method = "notifications/cancelled";
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().into_bytes()
}

/// Encodes the result of a request that the server sent.
pub fn answered(id: &Id, result: &RawValue) -> Vec<u8> {
    let mut out = addressed(id);
    out.raw("result", result.get());
    out.end().into_bytes()
}

/// Encodes an error as the response to a request that the server sent.
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

/// The value of the `Mcp-Name` header for a request, from 2026-07-28 on.
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

/// Parameters with the `uri` of one resource.
pub fn about(uri: &str) -> Box<RawValue> {
    raw(&json!({ "uri": uri }))
}

/// Parameters of a completion request for a template variable.
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

/// Parameters of the next page: those of the first page, with `cursor` set.
pub fn going_on(params: Option<&RawValue>, cursor: &str) -> Result<Box<RawValue>, Malformed> {
    let mut out = Object::begin();
    let first = members(params, "params")?;
    first.iter().filter(|(name, _)| name != "cursor").for_each(|(name, raw)| {
        out.raw(name, raw.get());
    });
    out.text("cursor", cursor);
    RawValue::from_string(out.end()).map_err(|_| Malformed::new("invalid params"))
}

/// Parameters of `subscriptions/listen`: changes of all lists and of these resources.
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

/// An empty JSON object.
pub fn nothing() -> Box<RawValue> {
    raw(&json!({}))
}

fn raw(value: &serde_json::Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a JSON value is JSON")
}

#[cfg(test)]
mod tests;
