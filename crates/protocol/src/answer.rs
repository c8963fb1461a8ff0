//! Parser for messages from upstream servers: responses, errors, requests, notifications.
//!
//! Keeps results, parameters and the `data` of errors byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;

use crate::ask::verb;
use crate::frame::{Id, present};
use crate::revision::Revision;

/// One message from an upstream server.
#[derive(Debug)]
pub enum Heard {
    /// A response to a request that we sent.
    Answer {
        /// The id of that request; `None` if it is missing or invalid.
        id: Option<Id>,
        /// The result, or the error.
        outcome: Result<Box<RawValue>, Denial>,
    },
    /// A request: the server expects a response.
    Request {
        /// The id that the response must carry.
        id: Id,
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Box<RawValue>>,
    },
    /// A notification: no response is expected.
    Notification {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Box<RawValue>>,
    },
}

/// A JSON-RPC error object, as a peer sends it.
#[derive(Debug, Clone)]
pub struct Denial {
    /// The error code.
    pub code: i64,
    /// The error message.
    pub message: String,
    /// The `data` member.
    pub data: Option<Box<RawValue>>,
}

/// Explains why a message could not be parsed or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(String);

impl Malformed {
    pub(crate) fn new(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Denial {
    /// -32601: we do not support this method.
    pub fn unknown(words: &str) -> Self {
        Self { code: -32601, message: words.to_owned(), data: None }
    }

    /// -32603: we could not handle the request.
    pub fn failed(words: &str) -> Self {
        Self { code: -32603, message: words.to_owned(), data: None }
    }

    /// True if only servers of 2026-07-28 or later use this code.
    pub fn is_modern(&self) -> bool {
        (-32022..=-32020).contains(&self.code)
    }

    /// True if the server does not support our protocol revision.
    pub fn is_about_revision(&self) -> bool {
        self.code == -32022
    }

    /// True if the server found an HTTP header that does not match the body.
    pub fn is_about_headers(&self) -> bool {
        self.code == -32020
    }

    /// True if the request needs a capability that the client did not declare.
    pub fn is_about_capability(&self) -> bool {
        self.code == -32021
    }

    /// True if the server does not know the method.
    pub fn is_about_method(&self) -> bool {
        self.code == -32601
    }

    /// True if the error means that a resource does not exist. Servers use several codes for
    /// this, and some tell it only in the message.
    pub fn is_about_missing(&self) -> bool {
        let says = |words: &str| self.message.to_lowercase().contains(words);
        match self.code {
            -32002 | -32602 => true,
            0 | -32603 => says("not found") || says("unknown resource"),
            _ => false,
        }
    }

    /// True if the server rejects the parameters, such as a cursor.
    pub fn is_about_params(&self) -> bool {
        self.code == -32602
    }

    /// True if the code is the server's own: outside the range that JSON-RPC reserves.
    pub fn is_application(&self) -> bool {
        !(-32768..=-32000).contains(&self.code)
    }

    /// True if the server does not know our session. Judged by the message: no code exists.
    pub fn is_about_session(&self) -> bool {
        (-32019..=-32000).contains(&self.code) && self.message.to_lowercase().contains("session")
    }

    /// The revisions that the server supports instead of ours.
    pub fn supported(&self) -> Vec<String> {
        #[derive(Deserialize)]
        struct Offer {
            supported: Vec<String>,
        }
        let raw = self.data.as_deref().map_or("null", RawValue::get);
        serde_json::from_str::<Offer>(raw).map(|offer| offer.supported).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Parses one line, HTTP body or SSE event: a single message, or a batch.
pub fn hear(bytes: &[u8]) -> Result<Vec<Heard>, Malformed> {
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| Malformed::new("not UTF-8"))?;
    if !text.trim_start().starts_with('[') {
        return Ok(vec![message(text)?]);
    }
    let each: Vec<&RawValue> = serde_json::from_str(text).map_err(|flaw| unread(&flaw))?;
    each.into_iter().map(|raw| message(raw.get())).collect()
}

fn message(text: &str) -> Result<Heard, Malformed> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|flaw| unread(&flaw))?;
    let id = envelope.id.and_then(Id::parse);
    let params = envelope.params.map(ToOwned::to_owned);
    match (envelope.method, id, envelope.result, envelope.error) {
        (Some(method), Some(id), ..) => {
            Ok(Heard::Request { id, method: method.into_owned(), params })
        }
        (Some(method), None, ..) => Ok(Heard::Notification { method: method.into_owned(), params }),
        (None, id, _, Some(error)) => Ok(Heard::Answer { id, outcome: Err(denial(error)) }),
        (None, id, Some(result), None) => Ok(Heard::Answer { id, outcome: Ok(result.to_owned()) }),
        (None, ..) => Err(Malformed::new("the message has no method, result or error")),
    }
}

/// The kind of a message, judged by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A response to this request.
    Answer(u64),
    /// A request or notification from the server.
    Unasked,
    /// The first bytes do not tell.
    Unknown,
}

/// Classifies a message that is too long to parse, by its first bytes.
pub fn start(bytes: &[u8]) -> Start {
    struct Seek<'a>(&'a mut Start);
    impl<'de> Visitor<'de> for Seek<'_> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(name) = map.next_key::<String>()? {
                match (&*name, &*self.0) {
                    ("method", _) => *self.0 = Start::Unasked,
                    ("id", Start::Unknown) => {
                        *self.0 = Start::Answer(map.next_value()?);
                        continue;
                    }
                    _ => {}
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }
    let mut found = Start::Unknown;
    // The message is cut off, so parsing fails; the members found before that are valid.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(Seek(&mut found));
    found
}

/// Parses an error object. Never fails: an error in the wrong shape is still an error.
fn denial(raw: &RawValue) -> Denial {
    #[derive(Deserialize)]
    struct Told<'a> {
        code: Option<i64>,
        #[serde(borrow)]
        message: Option<Cow<'a, str>>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    match serde_json::from_str::<Told<'_>>(raw.get()) {
        Ok(told) => Denial {
            code: told.code.unwrap_or_default(),
            message: told.message.map(Cow::into_owned).unwrap_or_default(),
            data: told.data.map(ToOwned::to_owned),
        },
        Err(_) => Denial { code: 0, message: String::new(), data: Some(raw.to_owned()) },
    }
}

fn unread(flaw: &serde_json::Error) -> Malformed {
    // The parser's error names a position and quotes at most the value that has a wrong type.
    Malformed(format!("not a JSON-RPC message: {flaw}"))
}

/// A notification from an upstream server, as far as our client acts on it.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A resource changed.
    Updated(String),
    /// A list of resources, tools or prompts changed.
    ListChanged,
    /// Progress of a request that we sent.
    Progress(Progress),
    /// The server opened a subscription, for these resources.
    Acknowledged {
        /// The id of the `subscriptions/listen` request.
        listen: Id,
        /// The resources whose changes the server will report.
        uris: Vec<String>,
    },
    /// The server ended a subscription, or cancelled a request of its own.
    Cancelled(Id),
    /// Anything else.
    Other,
}

/// Progress of a request, as an upstream server reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The progress token that we sent with the request.
    pub token: Id,
    /// The amount done so far.
    pub done: f64,
    /// The total amount, if known.
    pub total: Option<f64>,
    /// A message for people.
    pub message: Option<String>,
}

impl News {
    /// Parses a notification. Returns [`News::Other`] if it is malformed or unknown.
    pub fn of(method: &str, params: Option<&RawValue>) -> Self {
        match method {
            verb::UPDATED => updated(params),
            "notifications/progress" => progress(params),
            "notifications/cancelled" => cancelled(params),
            "notifications/subscriptions/acknowledged" => acknowledged(params),
            _ if method.ends_with("/list_changed") => Some(Self::ListChanged),
            _ => None,
        }
        .unwrap_or(Self::Other)
    }
}

fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(params?.get()).ok()
}

fn updated(params: Option<&RawValue>) -> Option<News> {
    #[derive(Deserialize)]
    struct Updated {
        uri: String,
    }
    read::<Updated>(params).map(|updated| News::Updated(updated.uri))
}

fn progress(params: Option<&RawValue>) -> Option<News> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    }
    let Told { progress_token, progress: done, total, message } = read(params)?;
    Some(News::Progress(Progress { token: Id::parse(progress_token)?, done, total, message }))
}

fn cancelled(params: Option<&RawValue>) -> Option<News> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    Id::parse(read::<Told<'_>>(params)?.request_id).map(News::Cancelled)
}

fn acknowledged(params: Option<&RawValue>) -> Option<News> {
    #[derive(Deserialize)]
    struct Told<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Meta<'a>,
        #[serde(default)]
        notifications: Accepted,
    }
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
        id: &'a RawValue,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase")]
    struct Accepted {
        resource_subscriptions: Option<Vec<String>>,
    }
    let told: Told<'_> = read(params)?;
    let uris = told.notifications.resource_subscriptions.unwrap_or_default();
    Some(News::Acknowledged { listen: Id::parse(told.meta.id)?, uris })
}

/// The `nextCursor` of a page; `None` on the last page. An empty string is a valid cursor.
pub fn next_cursor(result: &RawValue) -> Result<Option<String>, Malformed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Listed {
        next_cursor: Option<String>,
    }
    serde_json::from_str::<Listed>(result.get())
        .map(|listed| listed.next_cursor)
        .map_err(|_| Malformed::new("the page is no object, or its nextCursor is no string"))
}

/// The stateless revision (no handshake) in `dates` that we also support.
pub fn common<'a>(dates: impl IntoIterator<Item = &'a str>) -> Option<Revision> {
    let dates: Vec<&str> = dates.into_iter().collect();
    Revision::stateless().find(|revision| dates.contains(&revision.as_str()))
}

#[cfg(test)]
mod tests;
