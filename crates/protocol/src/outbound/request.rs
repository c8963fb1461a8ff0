//! Encoder for our requests, notifications and responses to upstream servers.
//!
//! Passes the caller's parameters on byte for byte. In `_meta` it sets the members that belong to
//! our own connection and drops the caller's values for them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use resource::{
    CompletionRequest, PromptCompletionRequest, ReadRequest, SectionChoice, SectionName,
    TraceContext, Window,
};

use crate::inbound::shape::resource_meta::META_WINDOW;
use crate::json::frame::RequestId;
use crate::json::raw_object::{ObjectWriter, parse_members};
use crate::outbound::response::{MalformedMessage, RpcError};
use crate::revision::Revision;

/// Names of the methods that we send to servers or receive from them.
pub mod methods {
    /// Returns a page of resources.
    pub const LIST_RESOURCES: &str = "resources/list";
    /// Returns a page of resource templates.
    pub const LIST_TEMPLATES: &str = "resources/templates/list";
    /// Returns the content of a resource.
    pub const READ_RESOURCE: &str = "resources/read";
    /// Returns the description of a resource (SEP-2093).
    pub const RESOURCE_METADATA: &str = "resources/metadata";
    /// Returns a page of a directory (skills extension, and ours).
    pub const READ_DIRECTORY: &str = "resources/directory/read";
    /// Returns a page of skills (skills extension).
    pub const LIST_SKILLS: &str = "skills/list";
    /// Returns one skill (skills extension).
    pub const GET_SKILL: &str = "skills/get";
    /// Returns completions for a template variable or a prompt argument.
    pub const COMPLETE: &str = "completion/complete";
    /// Returns a page of tools.
    pub const LIST_TOOLS: &str = "tools/list";
    /// Runs a tool.
    pub const CALL_TOOL: &str = "tools/call";
    /// Returns a page of prompts.
    pub const LIST_PROMPTS: &str = "prompts/list";
    /// Returns one prompt, filled in.
    pub const GET_PROMPT: &str = "prompts/get";
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
    pub const SET_LOG_LEVEL: &str = "logging/setLevel";
    /// A log message from the server.
    pub const LOG_MESSAGE: &str = "notifications/message";
    /// The server asks for the client's roots.
    pub const LIST_ROOTS: &str = "roots/list";
    /// The server asks the person at the client.
    pub const ELICIT: &str = "elicitation/create";
    /// Saves a basket (refdesk's own extension).
    pub const SAVE_BASKET: &str = "dev.refdesk/baskets/save";
    /// Checks that the other side responds, through 2025-11-25.
    pub const PING: &str = "ping";
    /// The server reports that a resource changed.
    pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
    /// The server reports that its list of resources changed.
    pub const RESOURCE_LIST_CHANGED: &str = "notifications/resources/list_changed";
}

const META_PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const META_CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LEVEL: &str = "io.modelcontextprotocol/logLevel";
const META_ACCEPT: &str = "dev.refdesk/accept";
const PROGRESS_TOKEN: &str = "progressToken";

/// True if sending the request twice has the same effect as sending it once.
pub fn is_idempotent(method: &str) -> bool {
    method != methods::CALL_TOOL
        && (method.starts_with("resources/")
            || method.starts_with("prompts/")
            || method.starts_with("completion/")
            || method.starts_with("skills/")
            || method.ends_with("/list")
            || matches!(method, methods::DISCOVER | methods::PING | "tasks/get" | "tasks/cancel"))
}

/// Our name, version and capabilities as an MCP client. Encodes our requests.
#[derive(Debug, Clone)]
pub struct ClientIdentity {
    name: String,
    version: String,
    capabilities: Box<RawValue>,
}

/// How the server learns the protocol revision of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestStyle {
    /// From the handshake of the session.
    Session,
    /// From `_meta` of the request itself (stateless).
    Stateless(Revision),
}

/// A request to encode.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamRequest<'a> {
    /// The id that the response will carry.
    pub id: u64,
    /// The method.
    pub method: &'a str,
    /// The parameters, as the caller wrote them.
    pub params: Option<&'a RawValue>,
    /// True to request progress notifications. The request's id is the progress token.
    pub progress: bool,
    /// The trace that the request belongs to. `_meta` of the parameters overrides it.
    pub trace: Option<&'a TraceContext>,
}

impl ClientIdentity {
    /// Creates a client called `name`. The handshake declares `capabilities`, an object; a
    /// stateless request declares its own in `_meta`.
    pub fn new(name: &str, version: &str, capabilities: Option<Box<RawValue>>) -> Self {
        let capabilities = capabilities.unwrap_or_else(empty_object);
        Self { name: name.to_owned(), version: version.to_owned(), capabilities }
    }

    /// Encodes a request. Fails if the parameters or their `_meta` are not objects.
    pub fn encode_request(
        &self,
        request: UpstreamRequest<'_>,
        style: RequestStyle,
    ) -> Result<Vec<u8>, MalformedMessage> {
        let params = parse_members(request.params, "params")?;
        let told = params.iter().find(|(name, _)| name == "_meta").map(|(_, raw)| *raw);
        let meta = self.request_meta(parse_members(told, "_meta")?, request, style)?;
        let mut out = ObjectWriter::new();
        out.put_string("jsonrpc", "2.0");
        out.put_raw("id", &request.id.to_string());
        out.put_string("method", request.method);
        let rest = params.iter().filter(|(name, _)| name != "_meta");
        let mut inner = ObjectWriter::new();
        rest.for_each(|(name, raw)| inner.put_raw(name, raw.get()));
        if let Some(meta) = meta {
            inner.put_raw("_meta", &meta);
        }
        if !inner.is_empty() || request.params.is_some() {
            out.put_raw("params", &inner.finish());
        }
        Ok(out.finish().into_bytes())
    }

    fn request_meta(
        &self,
        told: Vec<(Cow<'_, str>, &RawValue)>,
        request: UpstreamRequest<'_>,
        style: RequestStyle,
    ) -> Result<Option<String>, MalformedMessage> {
        let mut meta = ObjectWriter::new();
        let mut capabilities = None;
        let fields = request.trace.into_iter().flat_map(TraceContext::fields);
        let missing = fields.filter(|(field, _)| !told.iter().any(|(name, _)| name == field));
        missing.for_each(|(field, value)| meta.put_string(field, value));
        for (name, raw) in told {
            match &*name {
                // The caller may declare capabilities for each request.
                META_CLIENT_CAPABILITIES if raw.get().starts_with('{') => capabilities = Some(raw),
                META_CLIENT_CAPABILITIES => {
                    return Err(MalformedMessage::new("clientCapabilities must be an object"));
                }
                META_PROTOCOL_VERSION | META_CLIENT_INFO | PROGRESS_TOKEN => {}
                _ => meta.put_raw(&name, raw.get()),
            }
        }
        if let RequestStyle::Stateless(revision) = style {
            meta.put_string(META_PROTOCOL_VERSION, revision.as_str());
            meta.put_raw(META_CLIENT_INFO, &self.client_info());
            // Without capabilities from the caller, the server cannot ask for input.
            meta.put_raw(META_CLIENT_CAPABILITIES, capabilities.map_or("{}", RawValue::get));
        }
        if request.progress {
            meta.put_raw(PROGRESS_TOKEN, &request.id.to_string());
        }
        Ok((!meta.is_empty()).then(|| meta.finish()))
    }

    /// Encodes `initialize` with a revision that has a handshake.
    pub fn encode_initialize(&self, id: u64, revision: Revision) -> Vec<u8> {
        let mut params = ObjectWriter::new();
        params.put_string("protocolVersion", revision.as_str());
        params.put_raw("capabilities", self.capabilities.get());
        params.put_raw("clientInfo", &self.client_info());
        let mut out = ObjectWriter::new();
        out.put_string("jsonrpc", "2.0");
        out.put_raw("id", &id.to_string());
        out.put_string("method", methods::INITIALIZE);
        out.put_raw("params", &params.finish());
        out.finish().into_bytes()
    }

    fn client_info(&self) -> String {
        json!({ "name": self.name, "version": self.version }).to_string()
    }
}

/// Encodes the notification that ends the handshake.
pub fn encode_initialized() -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string().into_bytes()
}

/// Encodes the notification that cancels our request `id`.
pub fn encode_cancelled(id: u64, reason: &str) -> Vec<u8> {
    let params = json!({ "requestId": id, "reason": reason });
    let method = "notifications/cancelled";
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().into_bytes()
}

/// Encodes the result of a request that the server sent.
pub fn encode_result(id: &RequestId, result: &RawValue) -> Vec<u8> {
    let mut out = begin_response(id);
    out.put_raw("result", result.get());
    out.finish().into_bytes()
}

/// Encodes an error as the response to a request that the server sent.
pub fn encode_error(id: &RequestId, error: &RpcError) -> Vec<u8> {
    let mut object = ObjectWriter::new();
    object.put_raw("code", &error.code.to_string());
    object.put_string("message", &error.message);
    if let Some(data) = &error.data {
        object.put_raw("data", data.get());
    }
    let mut out = begin_response(id);
    out.put_raw("error", &object.finish());
    out.finish().into_bytes()
}

fn begin_response(id: &RequestId) -> ObjectWriter {
    let mut out = ObjectWriter::new();
    out.put_string("jsonrpc", "2.0");
    let mut written = Vec::new();
    id.write(&mut written);
    out.put_raw("id", &String::from_utf8_lossy(&written));
    out
}

/// The value of the `Mcp-Name` header for a request, from 2026-07-28 on.
pub fn mcp_name(method: &str, params: Option<&RawValue>) -> Option<String> {
    let member = match method {
        methods::READ_RESOURCE => "uri",
        methods::CALL_TOOL | methods::GET_PROMPT => "name",
        _ if method.starts_with("tasks/") => "taskId",
        _ => return None,
    };
    let members = parse_members(params, "params").ok()?;
    let (_, raw) = members.iter().rfind(|(name, _)| name == member)?;
    serde_json::from_str(raw.get()).ok()
}

/// Parameters with the `uri` of one resource.
pub fn uri_params(uri: &str) -> Box<RawValue> {
    to_raw(&json!({ "uri": uri }))
}

/// Parameters of a read of what `request` wants of a resource, as another refdesk understands it. A
/// server that does not know windows and formats ignores them.
pub fn window_params(uri: &str, request: &ReadRequest) -> Box<RawValue> {
    let is_whole = matches!(request.window, Window::Whole { .. });
    if let (true, Some(format), None) = (is_whole, &request.format, &request.section) {
        return to_raw(&json!({ "uri": uri, "_meta": { META_ACCEPT: [format] } }));
    }
    let mut window = Map::new();
    if let Window::Part { offset, length, etag } = &request.window {
        window.insert("offset".to_owned(), (*offset).into());
        if *length != u64::MAX {
            // A length of zero is invalid on the wire; a window has at least one character.
            window.insert("length".to_owned(), (*length).max(1).into());
        }
        etag.iter().for_each(|etag| drop(window.insert("etag".to_owned(), etag.as_str().into())));
    }
    let format = request.format.as_ref().map(|format| ("format", Value::from(format.as_str())));
    let part = request.part.map(|part| ("part", Value::from(part)));
    window.extend([format, part].into_iter().flatten().map(|(name, json)| (name.to_owned(), json)));
    window.extend(request.section.as_ref().map(section_member));
    to_raw(&json!({ "uri": uri, "_meta": { META_WINDOW: window } }))
}

/// The member of a window that names sections.
fn section_member(choice: &SectionChoice) -> (String, Value) {
    let unit = choice.unit.word();
    match &choice.name {
        SectionName::Numbers(first, last) if first == last => (unit.to_owned(), (*first).into()),
        SectionName::Numbers(first, last) => (format!("{unit}s"), format!("{first}-{last}").into()),
        SectionName::Title(title) => (unit.to_owned(), title.as_str().into()),
    }
}

/// Parameters of a completion request for a template variable.
pub fn completion_params(request: &CompletionRequest<'_>) -> Box<RawValue> {
    let reference = json!({ "type": "ref/resource", "uri": request.template });
    completion_of(&reference, request.variable, request.typed, request.resolved)
}

/// Parameters of a completion request for an argument of a prompt.
pub fn prompt_completion_params(request: &PromptCompletionRequest<'_>) -> Box<RawValue> {
    let reference = json!({ "type": "ref/prompt", "name": request.prompt });
    completion_of(&reference, request.argument, request.typed, request.resolved)
}

fn completion_of(
    reference: &Value,
    name: &str,
    typed: &str,
    resolved: &BTreeMap<String, String>,
) -> Box<RawValue> {
    let argument = json!({ "name": name, "value": typed });
    let mut params = json!({ "ref": reference, "argument": argument });
    if !resolved.is_empty() {
        params["context"] = json!({ "arguments": resolved });
    }
    to_raw(&params)
}

/// Parameters of the next page: those of the first page, with `cursor` set.
pub fn next_page_params(
    params: Option<&RawValue>,
    cursor: &str,
) -> Result<Box<RawValue>, MalformedMessage> {
    let mut out = ObjectWriter::new();
    let first = parse_members(params, "params")?;
    first.iter().filter(|(name, _)| name != "cursor").for_each(|(name, raw)| {
        out.put_raw(name, raw.get());
    });
    out.put_string("cursor", cursor);
    RawValue::from_string(out.finish()).map_err(|_| MalformedMessage::new("invalid params"))
}

/// Parameters of `subscriptions/listen`: changes of all lists and of these resources.
pub fn listen_params<'a>(uris: impl IntoIterator<Item = &'a str>) -> Box<RawValue> {
    let uris: Vec<&str> = uris.into_iter().collect();
    let mut wanted = json!({
        "resourcesListChanged": true, "toolsListChanged": true, "promptsListChanged": true,
    });
    if !uris.is_empty() {
        wanted["resourceSubscriptions"] = uris.into();
    }
    to_raw(&json!({ "notifications": wanted }))
}

/// An empty JSON object.
pub fn empty_object() -> Box<RawValue> {
    to_raw(&json!({}))
}

fn to_raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a JSON value is JSON")
}

#[cfg(test)]
mod tests;
