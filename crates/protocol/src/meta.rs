//! What does a request say about itself in `_meta`, and what do its parameters name?
//!
//! Parameters are read once for both, since nearly every request is asked for both.

use std::borrow::Cow;
use std::collections::BTreeMap;

use resource::{Json, Uri};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::frame::{Id, present};
use crate::level::Level;
use crate::refusal::Refusal;
use crate::revision::Revision;

/// The extension that SEP-2093 is served under until it has a name of its own.
pub const EXTENSION: &str = "dev.refdesk/resource-metadata";

/// The members of `_meta` that we act on, each as it was written.
#[derive(Debug, Default, Deserialize)]
pub struct Meta<'a> {
    #[serde(
        borrow,
        default,
        rename = "io.modelcontextprotocol/protocolVersion",
        deserialize_with = "present"
    )]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "dev.refdesk/window")]
    pub(crate) window: Option<&'a RawValue>,
    /// `uri` of the parameters, whatever it is.
    #[serde(skip)]
    uri: Option<&'a RawValue>,
    /// `name` of the parameters, whatever it is.
    #[serde(skip)]
    name: Option<&'a RawValue>,
    /// `cursor` of the parameters, whatever it is.
    #[serde(skip)]
    cursor: Option<&'a RawValue>,
    /// Whether the parameters answer a question.
    #[serde(skip)]
    replies: bool,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'a>>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cursor: Option<&'a RawValue>,
    #[serde(default, rename = "inputResponses")]
    responses: Option<IgnoredAny>,
    #[serde(default, rename = "requestState")]
    state: Option<IgnoredAny>,
}

impl<'a> Meta<'a> {
    /// Reads a request's parameters.
    pub fn of(params: Option<&'a RawValue>) -> Result<Self, Refusal> {
        let Some(raw) = params.filter(|raw| raw.get().starts_with('{')) else {
            return Ok(Self::default());
        };
        let params: Params<'_> = serde_json::from_str(raw.get())
            .map_err(|flaw| Refusal::bad_params(format!("params: {flaw}")))?;
        let Params { meta, uri, name, cursor, responses, state } = params;
        let replies = responses.is_some() || state.is_some();
        Ok(Self { uri, name, cursor, replies, ..meta.unwrap_or_default() })
    }

    /// The URI that the parameters name, if they name one.
    pub fn uri(&self) -> Option<Cow<'a, str>> {
        text(self.uri?)
    }

    /// The name of a tool or a prompt that the parameters hold, if they do.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        text(self.name?)
    }

    /// The name that the parameters must hold.
    pub(crate) fn offered(&self, most: usize) -> Result<String, Refusal> {
        let name = self.name().filter(|name| name.len() <= most);
        let bad = || Refusal::bad_params("name: missing, or not one that anything has".to_owned());
        name.map(Cow::into_owned).ok_or_else(bad)
    }

    /// The URI that the parameters must name, or may.
    pub(crate) fn resource(&self, most: usize) -> Result<Option<Uri>, Refusal> {
        let Some(raw) = self.uri else { return Ok(None) };
        let bad = |why: &str| Refusal::bad_params(format!("uri: {why}"));
        let uri = text(raw).ok_or_else(|| bad("not a string"))?;
        if uri.len() > most {
            return Err(bad(&format!("longer than {most} bytes")));
        }
        Uri::parse(&uri).map(Some).map_err(|error| bad(&error.to_string()))
    }

    /// Where a list is to go on.
    pub(crate) fn cursor(&self) -> Result<Option<String>, Refusal> {
        let bad = || Refusal::bad_params("cursor: not a string".to_owned());
        self.cursor.map(|raw| text(raw).map(Cow::into_owned).ok_or_else(bad)).transpose()
    }

    /// Whether the parameters answer a question that the request was answered by before.
    pub(crate) fn replies(&self) -> bool {
        self.replies
    }

    /// Whether the request names its own revision, and so stands alone.
    pub fn names_revision(&self) -> bool {
        self.version.is_some()
    }

    /// The revision's date as it was written.
    pub fn date(&self) -> Result<Cow<'a, str>, Refusal> {
        let missing = "_meta must name io.modelcontextprotocol/protocolVersion as a string";
        let raw = self.version.ok_or_else(|| Refusal::bad_params(missing.to_owned()))?;
        text(raw).ok_or_else(|| Refusal::bad_params(missing.to_owned()))
    }

    /// The revision of a request that stands alone.
    pub fn revision(&self) -> Result<Revision, Refusal> {
        let date = self.date()?;
        let known = Revision::named(&date).filter(|revision| !revision.has_handshake());
        known.ok_or_else(|| Refusal::unsupported_revision(&date))
    }

    /// Whether the client of a request that stands alone knows SEP-2093.
    pub fn is_aware(&self) -> Result<bool, Refusal> {
        let missing = "_meta must hold io.modelcontextprotocol/clientCapabilities as an object";
        let raw = self.capabilities.filter(|raw| raw.get().starts_with('{'));
        let raw = raw.ok_or_else(|| Refusal::bad_params(missing.to_owned()))?;
        Ok(is_aware(raw))
    }

    /// What progress of this request is to be reported under.
    pub fn progress_token(&self) -> Result<Option<Id>, Refusal> {
        let bad = || Refusal::bad_params("progressToken must be a string or a whole number".into());
        self.token.map(|raw| Id::parse(raw).ok_or_else(bad)).transpose()
    }

    /// How important a log message must be for the client to hear of it, if it says so.
    pub fn level(&self) -> Result<Option<Level>, Refusal> {
        let level = self.level.map(|raw| text(raw).and_then(|name| Level::named(&name)));
        let bad = || {
            let names = Level::names();
            let why = format!("io.modelcontextprotocol/logLevel must be one of {names}");
            Refusal::bad_params(why)
        };
        level.map(|level| level.ok_or_else(bad)).transpose()
    }

    /// What the client of a request that stands alone says it can be asked for, an object.
    pub fn can(&self) -> Json {
        self.capabilities.map_or("{}", RawValue::get).into()
    }
}

/// Whether these client capabilities declare SEP-2093.
pub(crate) fn is_aware(capabilities: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Declared<'a> {
        #[serde(borrow)]
        extensions: Option<&'a RawValue>,
        #[serde(borrow)]
        experimental: Option<&'a RawValue>,
    }
    let names = |raw: &RawValue| {
        serde_json::from_str::<BTreeMap<Cow<'_, str>, IgnoredAny>>(raw.get())
            .is_ok_and(|declared| declared.contains_key(EXTENSION))
    };
    serde_json::from_str::<Declared<'_>>(capabilities.get()).is_ok_and(|declared| {
        [declared.extensions, declared.experimental].into_iter().flatten().any(names)
    })
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}
