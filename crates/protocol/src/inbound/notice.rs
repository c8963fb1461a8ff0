//! Notifications from the server to a client.

use std::sync::Arc;

use resource::{ComponentKind, Json, MemberPlace, ProgressStep, UnknownMembers, Uri};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::inbound::listen_filter::ListenFilter;
use crate::inbound::shape::unknown_members::UnknownMembersShape;
use crate::json::frame::RequestId;
use crate::json::outgoing::Outgoing;
use crate::json::raw_object::{ObjectWriter, members_of, parse_members};
use crate::json::sanitize::sanitize_json;

/// A notification to a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// Progress of a request.
    Progress {
        /// The progress token of the request.
        token: RequestId,
        /// The progress so far.
        step: ProgressStep,
    },
    /// The changes that this subscription reports.
    Acknowledged(ListenFilter),
    /// Another notification, with additional members from an upstream server.
    WithMembers(Box<Self>, Arc<UnknownMembers>),
    /// A resource changed.
    Updated(Uri),
    /// The list of resources changed.
    ListChanged,
    /// The list of tools or prompts changed.
    ComponentsChanged(ComponentKind),
    /// The state of a task, as `tasks/get` returns it (SEP-2663).
    Task(Json),
}

#[derive(Serialize)]
struct NotificationEnvelope<P> {
    jsonrpc: &'static str,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

/// Valid on one connection only, so it is never relayed.
const META_SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The members of an upstream notification that we relay as they are: all but `uri` and the
/// subscription id.
///
/// MCP, all revisions: parameters of a notification and their `_meta` may hold any members.
pub fn relayed_members(params: &RawValue) -> UnknownMembers {
    let mut extra = UnknownMembers::default();
    for (name, raw) in parse_members(Some(params), "parameters").unwrap_or_default() {
        match &*name {
            "uri" => {}
            "_meta" => {
                for (name, raw) in parse_members(Some(raw), "_meta").unwrap_or_default() {
                    if name != META_SUBSCRIPTION_ID {
                        extra.set(MemberPlace::Meta, name, sanitize_json(raw.get()));
                    }
                }
            }
            _ => extra.set(MemberPlace::TopLevel, name, sanitize_json(raw.get())),
        }
    }
    extra
}

/// `_meta` of a notification: the id of its subscription, as the client wrote it, and members
/// from an upstream server.
#[derive(Default, Serialize)]
struct NoticeMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    #[serde(skip_serializing_if = "Option::is_none")]
    subscription: Option<&'a RequestId>,
    #[serde(flatten)]
    members: UnknownMembersShape<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressParams<'a> {
    progress_token: &'a RequestId,
    progress: JsonNumber,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<JsonNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// A number, written as an integer if it is one.
struct JsonNumber(f64);

impl Serialize for JsonNumber {
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
struct NoticeParams<'a> {
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<NoticeMeta<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notifications: Option<&'a ListenFilter>,
    #[serde(flatten)]
    members: UnknownMembersShape<'a>,
}

impl Notice {
    /// Encodes the notification without a subscription id: for a session, or for progress.
    pub fn encode(&self) -> Outgoing {
        self.encode_with(None, None)
    }

    /// Encodes the notification for the subscription that the request `id` opened.
    pub fn encode_for_subscription(&self, id: &RequestId) -> Outgoing {
        self.encode_with(Some(id), None)
    }

    fn encode_with(
        &self,
        subscription: Option<&RequestId>,
        extra: Option<&UnknownMembers>,
    ) -> Outgoing {
        let of =
            |place| extra.map(|words| UnknownMembersShape::all(words, place)).unwrap_or_default();
        let (meta, words) = (of(MemberPlace::Meta), of(MemberPlace::TopLevel));
        let is_tagged = subscription.is_some() || !meta.is_empty();
        let tag = is_tagged.then_some(NoticeMeta { subscription, members: meta });
        let (method, told) = match self {
            Self::WithMembers(notice, words) => {
                return notice.encode_with(subscription, Some(words));
            }
            Self::Progress { token, step } => {
                let params = ProgressParams {
                    progress_token: token,
                    progress: JsonNumber(step.done),
                    total: step.total.map(JsonNumber),
                    message: step.message.as_deref(),
                };
                return encode_notification("notifications/progress", Some(params));
            }
            Self::Acknowledged(granted) => {
                let told = NoticeParams {
                    meta: tag,
                    notifications: Some(granted),
                    ..NoticeParams::default()
                };
                ("notifications/subscriptions/acknowledged", told)
            }
            Self::Updated(uri) => {
                let told = NoticeParams {
                    meta: tag,
                    uri: Some(uri.as_str()),
                    members: words,
                    notifications: None,
                };
                ("notifications/resources/updated", told)
            }
            Self::Task(state) => return encode_task_notice(state, subscription),
            Self::ComponentsChanged(ComponentKind::Tool) => (
                "notifications/tools/list_changed",
                NoticeParams { meta: tag, members: words, ..NoticeParams::default() },
            ),
            Self::ComponentsChanged(ComponentKind::Prompt) => (
                "notifications/prompts/list_changed",
                NoticeParams { meta: tag, members: words, ..NoticeParams::default() },
            ),
            Self::ListChanged => (
                "notifications/resources/list_changed",
                NoticeParams { meta: tag, members: words, ..NoticeParams::default() },
            ),
        };
        let says_something = told.meta.is_some() || told.uri.is_some() || !told.members.is_empty();
        encode_notification(method, says_something.then_some(told))
    }
}

/// The state of a task as a notification: without the members that make it a result.
fn encode_task_notice(state: &Json, subscription: Option<&RequestId>) -> Outgoing {
    let state = sanitize_json(state.as_str());
    let mut params = ObjectWriter::new();
    for (name, raw) in members_of(&state) {
        if !matches!(&*name, "resultType" | "_meta") {
            params.put_raw(&name, raw.get());
        }
    }
    if let Some(id) = subscription {
        let mut written = Vec::new();
        id.write(&mut written);
        let mut meta = ObjectWriter::new();
        meta.put_raw(META_SUBSCRIPTION_ID, &String::from_utf8_lossy(&written));
        params.put_raw("_meta", &meta.finish());
    }
    let mut out = ObjectWriter::new();
    out.put_string("jsonrpc", "2.0");
    out.put_string("method", "notifications/tasks");
    out.put_raw("params", &params.finish());
    Outgoing::from_bytes(out.finish())
}

fn encode_notification(method: &'static str, params: Option<impl Serialize>) -> Outgoing {
    Outgoing::from_json(&NotificationEnvelope { jsonrpc: "2.0", method, params })
}
