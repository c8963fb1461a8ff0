//! Notifications from the server to a client.

use std::sync::Arc;

use resource::{Extra, Offer, Place, Step, Uri};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::frame::Id;
use crate::member::members;
use crate::outgoing::Outgoing;
use crate::relay::one_line;
use crate::shape::extra::Members;
use crate::wish::Wishes;

/// A notification to a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// Progress of a request.
    Progress {
        /// The progress token of the request.
        token: Id,
        /// The progress so far.
        step: Step,
    },
    /// The changes that this subscription reports.
    Acknowledged(Wishes),
    /// Another notification, with additional members from an upstream server.
    Worded(Box<Self>, Arc<Extra>),
    /// A resource changed.
    Updated(Uri),
    /// The list of resources changed.
    ListChanged,
    /// The list of tools or prompts changed.
    OffersChanged(Offer),
}

#[derive(Serialize)]
struct Notification<P> {
    jsonrpc: &'static str,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

/// Valid on one connection only, so it is never relayed.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The members of an upstream notification that we relay as they are: all but `uri` and the
/// subscription id.
///
/// MCP, all revisions: parameters of a notification and their `_meta` may hold any members.
pub fn extra(params: &RawValue) -> Extra {
    let mut extra = Extra::default();
    for (name, raw) in members(Some(params), "parameters").unwrap_or_default() {
        match &*name {
            "uri" => {}
            "_meta" => {
                for (name, raw) in members(Some(raw), "_meta").unwrap_or_default() {
                    if name != SUBSCRIPTION {
                        extra.put(Place::Meta, name, one_line(raw.get()));
                    }
                }
            }
            _ => extra.put(Place::Beside, name, one_line(raw.get())),
        }
    }
    extra
}

/// `_meta` of a notification: the id of its subscription, as the client wrote it, and members
/// from an upstream server.
#[derive(Default, Serialize)]
struct Tag<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription: Option<&'a Id>,
    #[serde(flatten)]
    words: Members<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    progress_token: &'a Id,
    progress: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// A number, written as an integer if it is one.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Below 2^53, f64 represents every integer exactly.
        let is_whole = self.0.fract() == 0.0 && self.0.abs() < 9e15;
        if is_whole {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

#[derive(Default, Serialize)]
struct Told<'a> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    tag: Option<Tag<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notifications: Option<&'a Wishes>,
    #[serde(flatten)]
    words: Members<'a>,
}

impl Notice {
    /// Encodes the notification without a subscription id: for a session, or for progress.
    pub fn encode(&self) -> Outgoing {
        self.tagged(None, None)
    }

    /// Encodes the notification for the subscription that the request `id` opened.
    pub fn on(&self, id: &Id) -> Outgoing {
        self.tagged(Some(id), None)
    }

    fn tagged(&self, subscription: Option<&Id>, words: Option<&Extra>) -> Outgoing {
        let of = |place| words.map(|words| Members::all(words, place)).unwrap_or_default();
        let (meta, words) = (of(Place::Meta), of(Place::Beside));
        let is_tagged = subscription.is_some() || !meta.is_empty();
        let tag = is_tagged.then_some(Tag { subscription, words: meta });
        let (method, told) = match self {
            Self::Worded(notice, words) => return notice.tagged(subscription, Some(words)),
            Self::Progress { token, step } => {
                let params = Progress {
                    progress_token: token,
                    progress: Number(step.done),
                    total: step.total.map(Number),
                    message: step.message.as_deref(),
                };
                return message("notifications/progress", Some(params));
            }
            Self::Acknowledged(granted) => {
                let told = Told { tag, notifications: Some(granted), ..Told::default() };
                ("notifications/subscriptions/acknowledged", told)
            }
            Self::Updated(uri) => {
                let told = Told { tag, uri: Some(uri.as_str()), words, notifications: None };
                ("notifications/resources/updated", told)
            }
            Self::OffersChanged(Offer::Tool) => {
                ("notifications/tools/list_changed", Told { tag, words, ..Told::default() })
            }
            Self::OffersChanged(Offer::Prompt) => {
                ("notifications/prompts/list_changed", Told { tag, words, ..Told::default() })
            }
            Self::ListChanged => {
                ("notifications/resources/list_changed", Told { tag, words, ..Told::default() })
            }
        };
        let says_something = told.tag.is_some() || told.uri.is_some() || !told.words.is_empty();
        message(method, says_something.then_some(told))
    }
}

fn message(method: &'static str, params: Option<impl Serialize>) -> Outgoing {
    Outgoing::json(&Notification { jsonrpc: "2.0", method, params })
}
