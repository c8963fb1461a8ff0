//! JSON-RPC error responses: codes, messages and data.
//!
//! Every error response to a client's request is made in this file; the codes stand in
//! `json/error_code`.

use resource::{Error, ErrorKind, Json, UpstreamError, Uri};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::json::error_code::ErrorCode;
use crate::json::frame::RequestId;
use crate::json::outgoing::Outgoing;
use crate::json::sanitize::sanitize_json;
use crate::outbound::task::TASKS_EXTENSION;
use crate::outbound::uri_rewrite::{UriLocation, rewrite_uris};
use crate::revision::{Dialect, Revision};

/// A JSON-RPC error as the client receives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    code: ErrorCode,
    message: String,
    data: Option<ErrorData>,
    /// The id of a malformed request, if it could still be read.
    id: Option<RequestId>,
}

impl Refusal {
    /// Converts an [`Error`] into what a client may see. Every error takes this way out.
    ///
    /// `trace` is the id of the failure in the log. Only internal errors include it, because their
    /// message says nothing else.
    pub fn from_error(error: &Error, dialect: Dialect, trace: &str) -> Self {
        if let Some(said) = &error.upstream {
            return Self::from_upstream(said, error.uri.as_ref(), dialect);
        }
        let code = match error.kind {
            ErrorKind::NotFound | ErrorKind::Denied => not_found_code(dialect),
            ErrorKind::Invalid
            | ErrorKind::Unsupported
            | ErrorKind::TooLarge
            | ErrorKind::Changed => ErrorCode::INVALID_PARAMS,
            ErrorKind::Unavailable | ErrorKind::NeedsInput | ErrorKind::Internal => {
                ErrorCode::INTERNAL_ERROR
            }
        };
        let message = match error.kind {
            // A denied resource must look like a missing one.
            ErrorKind::NotFound | ErrorKind::Denied => "Resource not found".to_owned(),
            ErrorKind::Internal => format!("internal error; see the server log for {trace}"),
            _ => error.message.to_string(),
        };
        let mut data = Map::new();
        if let Some(uri) = &error.uri {
            data.insert("uri".to_owned(), uri.as_str().into());
        }
        for (name, value) in &error.facts {
            data.insert((*name).to_owned(), value.as_str().into());
        }
        if !error.formats.is_empty() {
            data.insert("formats".to_owned(), error.formats.to_vec().into());
        }
        let data = (!data.is_empty()).then_some(ErrorData::Own(Value::Object(data)));
        Self { data, ..Self::new(code, message) }
    }

    /// Relays an upstream server's error, with a code that the client's revision defines. A `uri`
    /// in its data becomes `uri`, under which the client knows the resource.
    fn from_upstream(upstream: &UpstreamError, uri: Option<&Uri>, dialect: Dialect) -> Self {
        let code = match ErrorCode(upstream.code) {
            ErrorCode::RESOURCE_NOT_FOUND => not_found_code(dialect),
            ErrorCode::MISSING_CAPABILITY if !dialect.revision.asks_back() => {
                let words = "needs input, but this client did not declare the capability for it";
                return Self::new(ErrorCode::INTERNAL_ERROR, words.to_owned());
            }
            ErrorCode::URL_ELICITATION_REQUIRED if !dialect.revision.has_page_code() => {
                let words = "needs input: the upstream server asks the user to open a web page, \
                             which this protocol revision cannot relay";
                return Self::new(ErrorCode::INTERNAL_ERROR, words.to_owned());
            }
            code => code,
        };
        let public = |_: &str| uri.map(|uri| uri.as_str().to_owned());
        let data = upstream
            .data
            .as_ref()
            .map(|data| rewrite_uris(data.as_str(), UriLocation::ErrorData, &public))
            .map(ErrorData::FromUpstream);
        Self { data, ..Self::new(code, upstream.message.clone()) }
    }

    fn new(code: ErrorCode, message: String) -> Self {
        Self { code, message, data: None, id: None }
    }

    /// Sets the id of the request that it answers.
    #[must_use]
    pub(crate) fn with_id(self, id: Option<RequestId>) -> Self {
        Self { id, ..self }
    }

    /// -32700: the bytes are not JSON, or not JSON that refdesk accepts.
    pub fn parse_error(why: String) -> Self {
        Self::new(ErrorCode::PARSE_ERROR, why)
    }

    /// -32600: JSON that is not a valid message, or not valid at this point.
    pub fn invalid_request(what: &str) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, format!("invalid request: {what}"))
    }

    /// -32601: refdesk does not serve this method, or not in this revision.
    pub fn method_not_found(method: &str) -> Self {
        let shown: String = method.chars().take(100).collect();
        Self::new(ErrorCode::METHOD_NOT_FOUND, format!("method not found: {shown}"))
    }

    /// A request outside a session that does not name its protocol version.
    pub fn missing_version() -> Self {
        Self::invalid_params(
            "missing protocol version: send initialize first, or set \
             io.modelcontextprotocol/protocolVersion and \
             io.modelcontextprotocol/clientCapabilities in _meta of every request"
                .to_owned(),
        )
    }

    /// -32602: parameters that do not fit the method.
    pub fn invalid_params(why: String) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, why)
    }

    /// The memory limit is reached. The client may send the same request again later.
    pub fn out_of_memory() -> Self {
        Self::busy(resource::Error::out_of_memory().message.into_owned())
    }

    /// Too many requests at once. The client may send the same request again later.
    pub fn busy(why: String) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, why)
    }

    /// -32020: an HTTP header contradicts the body.
    pub fn header_mismatch(why: String) -> Self {
        Self::new(ErrorCode::HEADER_MISMATCH, why)
    }

    /// -32021: the client must declare tasks for a request about one (SEP-2663).
    pub fn missing_tasks() -> Self {
        let required = json!({ "extensions": { TASKS_EXTENSION: {} } });
        let data = Some(ErrorData::Own(json!({ "requiredCapabilities": required })));
        let words = "requests about tasks need the client capability for tasks".to_owned();
        Self { data, ..Self::new(ErrorCode::MISSING_CAPABILITY, words) }
    }

    /// -32022: refdesk does not speak this revision without a handshake.
    pub fn unsupported_revision(requested: &str) -> Self {
        let supported: Vec<_> = Revision::stateless().map(Revision::as_str).collect();
        let data = json!({ "supported": supported, "requested": requested });
        let words = "unsupported protocol version".to_owned();
        Self {
            data: Some(ErrorData::Own(data)),
            ..Self::new(ErrorCode::UNSUPPORTED_REVISION, words)
        }
    }

    /// The error message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error code.
    pub fn code(&self) -> i64 {
        self.code.0
    }

    /// Whether the error says that the method is unknown.
    pub fn is_method_not_found(&self) -> bool {
        self.code == ErrorCode::METHOD_NOT_FOUND
    }

    /// Encodes the error response to `id`. Without one it uses the id of the malformed request, or
    /// leaves the id out.
    pub fn encode(&self, id: Option<&RequestId>) -> Outgoing {
        #[derive(Serialize)]
        struct ErrorResponse<'a> {
            jsonrpc: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a RequestId>,
            error: ErrorObject<'a>,
        }
        #[derive(Serialize)]
        struct ErrorObject<'a> {
            code: i64,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a ErrorData>,
        }
        let error =
            ErrorObject { code: self.code(), message: &self.message, data: self.data.as_ref() };
        let message = Outgoing::from_json(&ErrorResponse {
            jsonrpc: "2.0",
            id: id.or(self.id.as_ref()),
            error,
        })
        .with_error_code(self.code());
        // MCP 2026-07-28, transports: over HTTP this error also sets the status code.
        if self.code == ErrorCode::MISSING_CAPABILITY { message.rejected() } else { message }
    }
}

/// The `data` member of an error.
#[derive(Debug, Clone, PartialEq)]
enum ErrorData {
    Own(Value),
    /// JSON exactly as an upstream server wrote it.
    FromUpstream(Json),
}

impl Serialize for ErrorData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(value) => value.serialize(serializer),
            Self::FromUpstream(json) => {
                let raw = RawValue::from_string(sanitize_json(json.as_str()).into_owned());
                raw.map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
        }
    }
}

/// The code for a missing resource: -32602 since SEP-2164 and for clients that declare SEP-2093,
/// -32002 for the others.
fn not_found_code(dialect: Dialect) -> ErrorCode {
    if dialect.revision.has_not_found_code() && !dialect.knows_sep2093 {
        ErrorCode::RESOURCE_NOT_FOUND
    } else {
        ErrorCode::INVALID_PARAMS
    }
}

#[cfg(test)]
mod tests {
    use resource::{Error, ErrorKind, UpstreamError, Uri};

    use super::Refusal;
    use crate::revision::{Dialect, Revision};

    /// B-16, R-24-09, R-26-06.
    #[test]
    fn a_missing_resource_has_the_code_of_its_revision() {
        let error = Error::not_found(&Uri::parse("x:y").unwrap());
        for revision in Revision::ALL {
            let code = |aware| {
                Refusal::from_error(
                    &error,
                    Dialect { revision, knows_sep2093: aware, full_metadata: true },
                    "",
                )
                .code()
            };
            assert_eq!(code(false), if revision.has_handshake() { -32002 } else { -32602 });
            assert_eq!(code(true), -32602);
        }
    }

    #[test]
    fn what_is_denied_looks_like_what_is_missing() {
        let uri = Uri::parse("x:y").unwrap();
        let terms = Dialect::full(Revision::V2026_07_28);
        let denied = Error::new(ErrorKind::Denied, "not for you").about(&uri);
        let missing = Error::not_found(&uri);
        assert_eq!(
            Refusal::from_error(&denied, terms, ""),
            Refusal::from_error(&missing, terms, "")
        );
    }

    #[test]
    fn a_cause_is_never_told_to_a_stranger() {
        let error = Error::internal("it broke in /etc/secret").caused_by("/etc/secret");
        let refusal = Refusal::from_error(&error, Dialect::full(Revision::V2025_06_18), "t1");
        let told = String::from_utf8(refusal.encode(None).into_bytes().unwrap().to_vec()).unwrap();
        assert!(!told.contains("secret") && told.contains("t1"), "{told}");
    }

    /// 1.5, 9.7.
    #[test]
    fn what_another_server_said_is_passed_on_in_codes_that_the_revision_has() {
        let told = |code, revision| {
            let said =
                UpstreamError { code, message: "no".to_owned(), data: Some("{ \"x\":1.0}".into()) };
            Refusal::from_error(&Error::from_upstream(said), Dialect::full(revision), "t")
        };
        for revision in Revision::ALL {
            let refusal = told(-7, revision);
            let bytes = refusal.encode(None).into_bytes().unwrap();
            let expected = r#""error":{"code":-7,"message":"no","data":{ "x":1.0}}}"#;
            assert!(std::str::from_utf8(&bytes).unwrap().ends_with(expected));
            let missing = if revision.has_handshake() { -32002 } else { -32602 };
            assert_eq!(told(-32002, revision).code(), missing);
            let visit = if revision.as_str() == "2025-11-25" { -32042 } else { -32603 };
            assert_eq!(told(-32042, revision).code(), visit);
            let able = if revision.asks_back() { -32021 } else { -32603 };
            assert_eq!(told(-32021, revision).code(), able);
            assert_eq!(told(-32021, revision).encode(None).is_rejected(), able == -32021);
        }
    }
}
