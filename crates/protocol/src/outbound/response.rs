//! Errors and notifications from upstream servers, and the start of a message too long to parse.
//!
//! Keeps the `data` of errors byte for byte.

use std::borrow::Cow;
use std::fmt;

use resource::{ComponentKind, ProgressStep};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;

use crate::json::error_code::ErrorCode;
use crate::json::frame::RequestId;
use crate::json::raw_object::{members_of, parse_object, parse_string};
use crate::outbound::request::methods;
use crate::revision::Revision;

/// A JSON-RPC error object, as a peer sends it.
#[derive(Debug, Clone)]
pub struct RpcError {
    /// The error code.
    pub code: i64,
    /// The error message.
    pub message: String,
    /// The `data` member.
    pub data: Option<Box<RawValue>>,
}

/// Explains why a message could not be parsed or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedMessage(String);

impl MalformedMessage {
    pub(crate) fn new(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl fmt::Display for MalformedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl RpcError {
    /// Parses an error object. Never fails: an error in the wrong shape is still an error.
    pub fn decode(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct RawErrorObject<'a> {
            code: Option<i64>,
            #[serde(borrow)]
            message: Option<Cow<'a, str>>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        match parse_object::<RawErrorObject<'_>>(raw.get()) {
            Ok(told) => Self {
                code: told.code.unwrap_or_default(),
                message: told.message.map(Cow::into_owned).unwrap_or_default(),
                data: told.data.map(ToOwned::to_owned),
            },
            Err(_) => Self { code: 0, message: String::new(), data: Some(raw.to_owned()) },
        }
    }

    /// -32601: we do not support this method.
    pub fn method_not_found(words: &str) -> Self {
        Self { code: ErrorCode::METHOD_NOT_FOUND.0, message: words.to_owned(), data: None }
    }

    /// -32603: we could not handle the request.
    pub fn internal(words: &str) -> Self {
        Self { code: ErrorCode::INTERNAL_ERROR.0, message: words.to_owned(), data: None }
    }

    pub(crate) fn error_code(&self) -> ErrorCode {
        ErrorCode(self.code)
    }

    /// True if only servers of 2026-07-28 or later use this code.
    pub fn is_stateless_era(&self) -> bool {
        let codes = [
            ErrorCode::HEADER_MISMATCH,
            ErrorCode::MISSING_CAPABILITY,
            ErrorCode::UNSUPPORTED_REVISION,
        ];
        codes.contains(&self.error_code())
    }

    /// True if the server does not support our protocol revision.
    pub fn is_unsupported_revision(&self) -> bool {
        self.error_code() == ErrorCode::UNSUPPORTED_REVISION
    }

    /// True if the server found an HTTP header that does not match the body.
    pub fn is_header_mismatch(&self) -> bool {
        self.error_code() == ErrorCode::HEADER_MISMATCH
    }

    /// True if the request needs a capability that the client did not declare.
    pub fn is_missing_capability(&self) -> bool {
        self.error_code() == ErrorCode::MISSING_CAPABILITY
    }

    /// True if the server does not know the method.
    pub fn is_method_not_found(&self) -> bool {
        self.error_code() == ErrorCode::METHOD_NOT_FOUND
    }

    /// True if the error means that a resource does not exist. Servers use several codes for
    /// this, and some tell it only in the message.
    ///
    /// SEP-2164 has a code that all invalid parameters share, so the words decide, or the `uri` in
    /// the data if the words say nothing else.
    pub fn is_resource_not_found(&self) -> bool {
        let message = self.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
        let is_said = says(&["not found", "not_found", "notfound", "unknown resource"]);
        match self.error_code() {
            ErrorCode::RESOURCE_NOT_FOUND => true,
            ErrorCode::INVALID_PARAMS => {
                is_said
                    || says(&["no such", "not exist"])
                    || (self.names_uri() && (message.is_empty() || says(&["invalid param"])))
            }
            ErrorCode(0) | ErrorCode::INTERNAL_ERROR => is_said,
            _ => false,
        }
    }

    /// The current etag, if the error is that a resource is no longer the requested version.
    pub fn changed_etag(&self) -> Option<String> {
        let data = self.data.as_deref().filter(|_| self.is_invalid_params())?;
        let members = members_of(data.get());
        let (_, etag) = members.iter().find(|(name, _)| name == "etag")?;
        parse_string(etag).map(Cow::into_owned)
    }

    /// True if the `data` member has a `uri`.
    fn names_uri(&self) -> bool {
        let data = self.data.as_deref().map_or("null", RawValue::get);
        members_of(data).iter().any(|(name, raw)| name == "uri" && raw.get().starts_with('"'))
    }

    /// True if the server words the error for whoever made the request: parameters that it
    /// rejects, or a code of its own.
    pub fn is_for_caller(&self) -> bool {
        let code = self.error_code();
        let is_own = !code.is_reserved() || code.is_server_defined();
        is_own || matches!(code, ErrorCode::INVALID_PARAMS | ErrorCode::URL_ELICITATION_REQUIRED)
    }

    /// True if the server rejects the parameters, such as a cursor.
    pub fn is_invalid_params(&self) -> bool {
        self.error_code() == ErrorCode::INVALID_PARAMS
    }

    /// True if the code is the server's own: outside the range that JSON-RPC reserves.
    pub fn is_application_error(&self) -> bool {
        !self.error_code().is_reserved()
    }

    /// True if the server does not know our session. Judged by the message: no code exists.
    pub fn is_unknown_session(&self) -> bool {
        let says_session = self.message.to_lowercase().contains("session");
        self.error_code().is_server_defined() && says_session
    }

    /// The revisions that the server supports instead of ours.
    pub fn supported_revisions(&self) -> Vec<String> {
        #[derive(Deserialize)]
        struct SupportedRevisions {
            supported: Vec<String>,
        }
        let raw = self.data.as_deref().map_or("null", RawValue::get);
        serde_json::from_str::<SupportedRevisions>(raw)
            .map(|offer| offer.supported)
            .unwrap_or_default()
    }
}

/// The kind of a message, judged by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageStart {
    /// A response to this request.
    Response(u64),
    /// A request or notification from the server.
    Unsolicited,
    /// The first bytes do not tell.
    Unknown,
}

/// Classifies a message that is too long to parse, by its first bytes.
pub fn classify_start(bytes: &[u8]) -> MessageStart {
    struct StartVisitor<'a>(&'a mut MessageStart);
    impl<'de> Visitor<'de> for StartVisitor<'_> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            let mut id = None;
            while let Some(name) = map.next_key::<String>()? {
                // A member follows, so that the id is not cut off between two digits.
                if let Some(id) = id.take() {
                    *self.0 = MessageStart::Response(id);
                }
                match (&*name, &*self.0) {
                    ("method", _) => *self.0 = MessageStart::Unsolicited,
                    ("id", MessageStart::Unknown) => {
                        id = Some(map.next_value()?);
                        continue;
                    }
                    _ => {}
                }
                map.next_value::<IgnoredAny>()?;
            }
            if let Some(id) = id {
                *self.0 = MessageStart::Response(id);
            }
            Ok(())
        }
    }
    let mut found = MessageStart::Unknown;
    // The message is cut off, so parsing fails; the members found before that are valid.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(StartVisitor(&mut found));
    found
}

/// A notification from an upstream server, as far as our client acts on it.
#[derive(Debug, Clone, PartialEq)]
pub enum UpstreamNotification {
    /// A resource changed.
    ResourceUpdated(String),
    /// The list of resources changed.
    ResourceListChanged,
    /// The list of tools or prompts changed.
    ComponentListChanged(ComponentKind),
    /// Progress of a request that we sent.
    Progress {
        /// The progress token that we sent with the request.
        token: RequestId,
        /// The progress.
        step: ProgressStep,
    },
    /// The server opened a subscription, for these resources.
    Acknowledged {
        /// The id of the `subscriptions/listen` request.
        listen_id: RequestId,
        /// The resources whose changes the server will report.
        uris: Vec<String>,
    },
    /// The server ended a subscription, or cancelled a request of its own.
    Cancelled(RequestId),
    /// Anything else.
    Other,
}

impl UpstreamNotification {
    /// Parses a notification. Returns [`Self::Other`] if it is malformed or unknown.
    pub fn decode(method: &str, params: Option<&RawValue>) -> Self {
        match method {
            methods::RESOURCE_UPDATED => decode_updated(params),
            "notifications/progress" => decode_progress(params),
            "notifications/cancelled" => decode_cancelled(params),
            "notifications/subscriptions/acknowledged" => decode_acknowledged(params),
            methods::RESOURCE_LIST_CHANGED => Some(Self::ResourceListChanged),
            "notifications/tools/list_changed" => {
                Some(Self::ComponentListChanged(ComponentKind::Tool))
            }
            "notifications/prompts/list_changed" => {
                Some(Self::ComponentListChanged(ComponentKind::Prompt))
            }
            _ => None,
        }
        .unwrap_or(Self::Other)
    }
}

fn deserialize_params<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Option<T> {
    parse_object(params?.get()).ok()
}

fn decode_updated(params: Option<&RawValue>) -> Option<UpstreamNotification> {
    #[derive(Deserialize)]
    struct RawUpdated {
        uri: String,
    }
    deserialize_params::<RawUpdated>(params)
        .map(|updated| UpstreamNotification::ResourceUpdated(updated.uri))
}

fn decode_progress(params: Option<&RawValue>) -> Option<UpstreamNotification> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RawProgress<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    }
    let RawProgress { progress_token, progress: done, total, message } =
        deserialize_params(params)?;
    let token = RequestId::parse(progress_token)?;
    Some(UpstreamNotification::Progress { token, step: ProgressStep { done, total, message } })
}

fn decode_cancelled(params: Option<&RawValue>) -> Option<UpstreamNotification> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RawCancelled<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    RequestId::parse(deserialize_params::<RawCancelled<'_>>(params)?.request_id)
        .map(UpstreamNotification::Cancelled)
}

fn decode_acknowledged(params: Option<&RawValue>) -> Option<UpstreamNotification> {
    #[derive(Deserialize)]
    struct RawAcknowledged<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: AcknowledgedMeta<'a>,
        #[serde(default)]
        notifications: AcceptedSubscriptions,
    }
    #[derive(Deserialize)]
    struct AcknowledgedMeta<'a> {
        #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
        id: &'a RawValue,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase")]
    struct AcceptedSubscriptions {
        resource_subscriptions: Option<Vec<String>>,
    }
    let told: RawAcknowledged<'_> = deserialize_params(params)?;
    let uris = told.notifications.resource_subscriptions.unwrap_or_default();
    Some(UpstreamNotification::Acknowledged { listen_id: RequestId::parse(told.meta.id)?, uris })
}

/// The stateless revision (no handshake) in `dates` that we also support.
pub fn common_revision<'a>(dates: impl IntoIterator<Item = &'a str>) -> Option<Revision> {
    let dates: Vec<&str> = dates.into_iter().collect();
    Revision::stateless().find(|revision| dates.contains(&revision.as_str()))
}

#[cfg(test)]
mod tests;
