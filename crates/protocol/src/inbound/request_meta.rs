//! Decoder for `_meta` of a request and the parameters that most methods share.
//!
//! Parses the parameters once for both, because nearly every request needs both.

use std::borrow::Cow;
use std::collections::BTreeMap;

use resource::{Json, TraceContext, Uri};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::inbound::refusal::Refusal;
use crate::json::frame::{RequestId, present};
use crate::json::raw_object::{JsonString, unescaped};
use crate::log_level::LogLevel;
use crate::outbound::input_request::NO_CAPABILITIES;
use crate::outbound::task::TASKS_EXTENSION;
use crate::revision::Revision;

/// Name of the extension for SEP-2093, until the SEP has an official one.
pub const SEP2093_EXTENSION: &str = "dev.refdesk/resource-metadata";

/// The members of `_meta` that the server acts on, and some parameters, not parsed yet.
#[derive(Debug, Default, Deserialize)]
pub struct RequestMeta<'a> {
    #[serde(
        borrow,
        default,
        rename = "io.modelcontextprotocol/protocolVersion",
        deserialize_with = "present"
    )]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    level: Option<&'a RawValue>,
    #[serde(borrow, default)]
    traceparent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tracestate: Option<&'a RawValue>,
    #[serde(borrow, default)]
    baggage: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "dev.refdesk/window")]
    pub(crate) window: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "dev.refdesk/accept")]
    pub(crate) accept: Option<&'a RawValue>,
    /// `uri` of the parameters, of any type.
    #[serde(skip)]
    uri: Option<&'a RawValue>,
    /// `name` of the parameters, of any type.
    #[serde(skip)]
    name: Option<&'a RawValue>,
    /// `taskId` of the parameters, of any type.
    #[serde(skip)]
    task: Option<&'a RawValue>,
    /// `cursor` of the parameters, of any type.
    #[serde(skip)]
    cursor: Option<&'a RawValue>,
    /// True if the parameters hold `inputResponses` or `requestState`.
    #[serde(skip)]
    has_input_response: bool,
}

#[derive(Default, Deserialize)]
struct RequestParams<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<RequestMeta<'a>>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "taskId")]
    task: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cursor: Option<&'a RawValue>,
    #[serde(default, rename = "inputResponses")]
    responses: Option<IgnoredAny>,
    #[serde(default, rename = "requestState")]
    state: Option<IgnoredAny>,
}

impl<'a> RequestMeta<'a> {
    /// Decodes a request's parameters. Parameters that are not an object count as absent.
    pub fn decode(params: Option<&'a RawValue>) -> Result<Self, Refusal> {
        let Some(raw) = params.filter(|raw| raw.get().starts_with('{')) else {
            return Ok(Self::default());
        };
        let params: RequestParams<'_> = serde_json::from_str(raw.get())
            .map_err(|flaw| Refusal::invalid_params(format!("params: {flaw}")))?;
        let RequestParams { meta, uri, name, task, cursor, responses, state } = params;
        let has_input_response = responses.is_some() || state.is_some();
        Ok(Self { uri, name, task, cursor, has_input_response, ..meta.unwrap_or_default() })
    }

    /// `uri` of the parameters, if it is a string.
    pub fn uri(&self) -> Option<Cow<'a, str>> {
        parse_text(self.uri?)
    }

    /// `name` of the parameters (a tool or prompt), if it is a string.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        parse_text(self.name?)
    }

    /// `taskId` of the parameters, if it is a string.
    pub fn task_id(&self) -> Option<Cow<'a, str>> {
        parse_text(self.task?)
    }

    /// `taskId` of the parameters, required.
    pub(crate) fn required_task_id(&self) -> Result<String, Refusal> {
        let missing = || Refusal::invalid_params("taskId: missing, or not a string".to_owned());
        self.task_id().map(Cow::into_owned).ok_or_else(missing)
    }

    /// Refuses a client that does not declare tasks for this request (SEP-2663).
    pub(crate) fn require_tasks(&self) -> Result<(), Refusal> {
        let declares = self.capabilities.is_some_and(|raw| declares(raw, TASKS_EXTENSION));
        declares.then_some(()).ok_or_else(Refusal::missing_tasks)
    }

    /// `name` of the parameters, required, of at most `most` bytes.
    pub(crate) fn component_name(&self, most: usize) -> Result<String, Refusal> {
        let name = self.name().filter(|name| name.len() <= most);
        let bad = || Refusal::invalid_params("name: missing, not a string, or too long".to_owned());
        name.map(Cow::into_owned).ok_or_else(bad)
    }

    /// `uri` of the parameters, parsed, of at most `most` bytes; `None` if absent.
    pub(crate) fn target_uri(&self, most: usize) -> Result<Option<Uri>, Refusal> {
        let Some(raw) = self.uri else { return Ok(None) };
        let bad = |why: &str| Refusal::invalid_params(format!("uri: {why}"));
        let uri = parse_text(raw).ok_or_else(|| bad("not a string"))?;
        if uri.len() > most {
            return Err(bad(&format!("longer than {most} bytes")));
        }
        Uri::parse(&uri).map(Some).map_err(|error| bad(&error.to_string()))
    }

    /// `cursor` of the parameters; `None` if absent.
    pub(crate) fn cursor(&self) -> Result<Option<String>, Refusal> {
        let bad = || Refusal::invalid_params("cursor: not a string".to_owned());
        self.cursor.map(|raw| parse_text(raw).map(Cow::into_owned).ok_or_else(bad)).transpose()
    }

    /// True if the parameters hold `inputResponses` or `requestState`: the client repeats a
    /// request after an `input_required` result.
    pub(crate) fn has_input_response(&self) -> bool {
        self.has_input_response
    }

    /// True if the request names its protocol version, and so is stateless.
    pub fn names_revision(&self) -> bool {
        self.version.is_some()
    }

    /// The protocol version, as the client wrote it.
    pub fn protocol_version(&self) -> Result<Cow<'a, str>, Refusal> {
        let missing = "_meta must hold io.modelcontextprotocol/protocolVersion as a string";
        let raw = self.version.ok_or_else(|| Refusal::invalid_params(missing.to_owned()))?;
        parse_text(raw).ok_or_else(|| Refusal::invalid_params(missing.to_owned()))
    }

    /// The revision of a stateless request. Refuses unknown revisions and those with a handshake.
    pub fn revision(date: &str) -> Result<Revision, Refusal> {
        let known = Revision::from_date(date).filter(|revision| !revision.has_handshake());
        known.ok_or_else(|| Refusal::unsupported_revision(date))
    }

    /// True if the client of a stateless request declares SEP-2093. Refuses a request without
    /// client capabilities.
    pub fn knows_sep2093(&self) -> Result<bool, Refusal> {
        let missing = "_meta must hold io.modelcontextprotocol/clientCapabilities as an object";
        let raw = self.capabilities.filter(|raw| raw.get().starts_with('{'));
        let raw = raw.ok_or_else(|| Refusal::invalid_params(missing.to_owned()))?;
        Ok(declares_sep2093(raw))
    }

    /// The token for progress notifications, if the client wants them.
    pub fn progress_token(&self) -> Result<Option<RequestId>, Refusal> {
        let bad = || Refusal::invalid_params("progressToken must be a string or an integer".into());
        self.token.map(|raw| RequestId::parse(raw).ok_or_else(bad)).transpose()
    }

    /// The minimum level of log messages for this request, if the client names one.
    pub fn log_level(&self) -> Result<Option<LogLevel>, Refusal> {
        let level =
            self.level.map(|raw| parse_text(raw).and_then(|name| LogLevel::from_name(&name)));
        let bad = || {
            let names = LogLevel::all_names();
            let why = format!("io.modelcontextprotocol/logLevel must be one of {names}");
            Refusal::invalid_params(why)
        };
        level.map(|level| level.ok_or_else(bad)).transpose()
    }

    /// The trace that the request belongs to, in any revision.
    pub fn trace(&self) -> Option<TraceContext> {
        TraceContext::read(|field| {
            let raw = match field {
                "traceparent" => self.traceparent,
                "tracestate" => self.tracestate,
                _ => self.baggage,
            };
            raw.and_then(parse_text).map(Cow::into_owned)
        })
    }

    /// The name and version that the client of a stateless request gives itself.
    pub fn client_label(&self) -> ClientLabel<'a> {
        self.client_info.map(ClientLabel::decode).unwrap_or_default()
    }

    /// The client capabilities of a stateless request, an object.
    pub fn client_capabilities(&self) -> Json {
        self.capabilities.map_or(NO_CAPABILITIES, RawValue::get).into()
    }
}

/// The name and version that a client gives itself in `clientInfo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ClientLabel<'a> {
    /// Its name.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub name: Option<Cow<'a, str>>,
    /// Its version.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub version: Option<Cow<'a, str>>,
}

impl<'a> ClientLabel<'a> {
    /// Decodes `clientInfo`. What is no text counts as absent.
    pub(crate) fn decode(client_info: &'a RawValue) -> Self {
        serde_json::from_str(client_info.get()).unwrap_or_default()
    }

    /// The same label, which borrows nothing.
    pub fn into_owned(self) -> ClientLabel<'static> {
        let own = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        ClientLabel { name: self.name.map(own), version: self.version.map(own) }
    }
}

/// A string; `None` for a value of any other type.
fn text_or_none<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cow<'a, str>>, D::Error> {
    let raw: &'de RawValue = Deserialize::deserialize(deserializer)?;
    Ok(parse_text(raw))
}

/// True if these client capabilities declare SEP-2093.
pub(crate) fn declares_sep2093(capabilities: &RawValue) -> bool {
    declares(capabilities, SEP2093_EXTENSION)
}

/// True if these client capabilities declare `extension`.
fn declares(capabilities: &RawValue, extension: &str) -> bool {
    if capabilities.get() == NO_CAPABILITIES {
        return false;
    }
    #[derive(Deserialize)]
    struct DeclaredExtensions<'a> {
        #[serde(borrow)]
        extensions: Option<&'a RawValue>,
        #[serde(borrow)]
        experimental: Option<&'a RawValue>,
    }
    let names = |raw: &RawValue| {
        serde_json::from_str::<BTreeMap<Cow<'_, str>, IgnoredAny>>(raw.get())
            .is_ok_and(|declared| declared.contains_key(extension))
    };
    serde_json::from_str::<DeclaredExtensions<'_>>(capabilities.get()).is_ok_and(|declared| {
        [declared.extensions, declared.experimental].into_iter().flatten().any(names)
    })
}

fn parse_text(raw: &RawValue) -> Option<Cow<'_, str>> {
    if let Some(text) = unescaped(raw.get()) {
        return Some(Cow::Borrowed(text));
    }
    serde_json::from_str::<JsonString<'_>>(raw.get()).ok().map(|text| text.0)
}
