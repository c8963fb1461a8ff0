//! What does somebody else's server say?
//!
//! Results, errors' data and parameters are kept as the peer wrote them, byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;

use crate::ask::verb;
use crate::frame::{Id, present};
use crate::revision::Revision;

/// One message of a peer.
#[derive(Debug)]
pub enum Heard {
    /// It answers a request, which it may fail to name.
    Answer {
        /// The request.
        id: Option<Id>,
        /// The result, or why there is none.
        outcome: Result<Box<RawValue>, Denial>,
    },
    /// It wants an answer.
    Request {
        /// What the answer must carry.
        id: Id,
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Box<RawValue>>,
    },
    /// It wants none.
    Notification {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Box<RawValue>>,
    },
}

/// An error as a peer words it.
#[derive(Debug, Clone)]
pub struct Denial {
    /// Its code.
    pub code: i64,
    /// Its words.
    pub message: String,
    /// Whatever else it says.
    pub data: Option<Box<RawValue>>,
}

/// Why something could not be read or written as a message.
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
    /// What was asked for is not done here.
    pub fn unknown(words: &str) -> Self {
        Self { code: -32601, message: words.to_owned(), data: None }
    }

    /// What was asked for could not be done.
    pub fn failed(words: &str) -> Self {
        Self { code: -32603, message: words.to_owned(), data: None }
    }

    /// Whether only a server of 2026-07-28 or later would say so.
    pub fn is_modern(&self) -> bool {
        (-32022..=-32020).contains(&self.code)
    }

    /// Whether it is our revision that is not spoken there.
    pub fn is_about_revision(&self) -> bool {
        self.code == -32022
    }

    /// Whether it is a header that does not say what the body says.
    pub fn is_about_headers(&self) -> bool {
        self.code == -32020
    }

    /// Whether it is what the client can do that is too little.
    pub fn is_about_capability(&self) -> bool {
        self.code == -32021
    }

    /// Whether the method is unknown there.
    pub fn is_about_method(&self) -> bool {
        self.code == -32601
    }

    /// Whether a resource is missing, in the words of any server there is.
    pub fn is_about_missing(&self) -> bool {
        let says = |words: &str| self.message.to_lowercase().contains(words);
        match self.code {
            -32002 | -32602 => true,
            0 | -32603 => says("not found") || says("unknown resource"),
            _ => false,
        }
    }

    /// Whether it is what was asked that makes no sense there, such as a cursor.
    pub fn is_about_params(&self) -> bool {
        self.code == -32602
    }

    /// Whether it is of the server's own making, and none that the protocol knows.
    pub fn is_application(&self) -> bool {
        !(-32768..=-32000).contains(&self.code)
    }

    /// Whether it is the session that is unknown, in words that servers use for it.
    pub fn is_about_session(&self) -> bool {
        (-32019..=-32000).contains(&self.code) && self.message.to_lowercase().contains("session")
    }

    /// The revisions that a server offers instead of ours.
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

/// Reads what one line, one body or one event holds: one message, or several in an array.
pub fn hear(bytes: &[u8]) -> Result<Vec<Heard>, Malformed> {
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| Malformed::new("it is not UTF-8"))?;
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
        (None, ..) => Err(Malformed::new("it has neither a method nor a result nor an error")),
    }
}

/// What a message is, of which only the beginning is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// An answer to this request.
    Answer(u64),
    /// Something that nobody waits for.
    Unasked,
    /// Nobody can tell.
    Unknown,
}

/// Reads the beginning of a message that is too long to be read.
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
    // It ends in the middle, so reading it fails; what was found by then is good.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(Seek(&mut found));
    found
}

/// Reads an error, however poor it is: one that cannot be understood is still an error.
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
    // The words of the parser quote nothing of the message but its place.
    Malformed(format!("not a message: {flaw}"))
}

/// What a notification is about, as far as a client acts on it.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A resource changed.
    Updated(String),
    /// A list changed.
    ListChanged,
    /// A request has come this far.
    Progress(Progress),
    /// A subscription began, for these resources.
    Acknowledged {
        /// The request that asked for it.
        listen: Id,
        /// What will be told of.
        uris: Vec<String>,
    },
    /// A subscription, or a request of the peer, is over.
    Cancelled(Id),
    /// Anything else.
    Other,
}

/// How far a request has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What it was asked to be told under.
    pub token: Id,
    /// How much is done.
    pub done: f64,
    /// Of how much.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

impl News {
    /// Reads a notification. One that cannot be read is like one that is not known.
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

/// Where a list goes on, if it does. A cursor that is empty is a cursor.
pub fn next_cursor(result: &RawValue) -> Result<Option<String>, Malformed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Listed {
        next_cursor: Option<String>,
    }
    serde_json::from_str::<Listed>(result.get())
        .map(|listed| listed.next_cursor)
        .map_err(|_| Malformed::new("a page whose nextCursor is no string"))
}

/// The revision of `dates` that stands alone and that we speak.
pub fn common<'a>(dates: impl IntoIterator<Item = &'a str>) -> Option<Revision> {
    let dates: Vec<&str> = dates.into_iter().collect();
    Revision::stateless().find(|revision| dates.contains(&revision.as_str()))
}

#[cfg(test)]
mod tests;
