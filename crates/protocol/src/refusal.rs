//! JSON-RPC error responses: codes, messages and data.
//!
//! Every error code that refdesk sends is defined in this file.

use resource::{Error, ErrorKind, Json, Said};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::frame::Id;
use crate::outgoing::Outgoing;
use crate::relay::one_line;
use crate::revision::{Revision, Terms};

/// A JSON-RPC error as the client receives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    code: Code,
    message: String,
    data: Option<Data>,
    /// The id of a malformed request, if it could still be read.
    id: Option<Id>,
}

/// A JSON-RPC error code. The constants are the codes refdesk sends itself; an upstream server's
/// codes pass through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Code(i64);

impl Code {
    const UNREADABLE: Self = Self(-32700);
    const NOT_A_MESSAGE: Self = Self(-32600);
    const NO_SUCH_METHOD: Self = Self(-32601);
    const BAD_PARAMS: Self = Self(-32602);
    const INTERNAL: Self = Self(-32603);
    const NOT_FOUND: Self = Self(-32002);
    const HEADER_MISMATCH: Self = Self(-32020);
    /// The client lacks a capability that the request needs.
    const TOO_FEW_ABILITIES: Self = Self(-32021);
    const UNSUPPORTED_REVISION: Self = Self(-32022);
    /// URL elicitation: the user must open a web page first (2025-11-25 only).
    const VISIT: Self = Self(-32042);
}

impl Refusal {
    /// Converts an [`Error`] into what a client may see. Every error takes this way out.
    ///
    /// `trace` is the id of the failure in the log. Only internal errors include it, because their
    /// message says nothing else.
    pub fn of(error: &Error, terms: Terms, trace: &str) -> Self {
        if let Some(said) = &error.said {
            return Self::passed_on(said, terms);
        }
        let code = match error.kind {
            ErrorKind::NotFound | ErrorKind::Denied => not_found(terms),
            ErrorKind::Invalid
            | ErrorKind::Unsupported
            | ErrorKind::TooLarge
            | ErrorKind::Changed => Code::BAD_PARAMS,
            ErrorKind::Unavailable | ErrorKind::NeedsInput | ErrorKind::Internal => Code::INTERNAL,
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
        let data = (!data.is_empty()).then_some(Data::Ours(Value::Object(data)));
        Self { data, ..Self::new(code, message) }
    }

    /// Relays an upstream server's error, with a code that the client's revision defines.
    fn passed_on(said: &Said, terms: Terms) -> Self {
        let code = match Code(said.code) {
            Code::NOT_FOUND => not_found(terms),
            Code::TOO_FEW_ABILITIES if !terms.revision.asks_back() => {
                let words = "needs input, but this client did not declare the capability for it";
                return Self::new(Code::INTERNAL, words.to_owned());
            }
            Code::VISIT if !terms.revision.has_page_code() => {
                let words = "needs input: the upstream server asks the user to open a web page, \
                             which this protocol revision cannot relay";
                return Self::new(Code::INTERNAL, words.to_owned());
            }
            code => code,
        };
        let data = said.data.clone().map(Data::Theirs);
        Self { data, ..Self::new(code, said.message.clone()) }
    }

    fn new(code: Code, message: String) -> Self {
        Self { code, message, data: None, id: None }
    }

    /// Sets the id of the request that it answers.
    #[must_use]
    pub(crate) fn to(self, id: Option<Id>) -> Self {
        Self { id, ..self }
    }

    /// -32700: the bytes are not JSON, or not JSON that refdesk accepts.
    pub fn unreadable(why: String) -> Self {
        Self::new(Code::UNREADABLE, why)
    }

    /// -32600: JSON that is not a valid message, or not valid at this point.
    pub fn not_a_message(what: &str) -> Self {
        Self::new(Code::NOT_A_MESSAGE, format!("invalid request: {what}"))
    }

    /// -32601: refdesk does not serve this method, or not in this revision.
    pub fn no_such_method(method: &str) -> Self {
        let shown: String = method.chars().take(100).collect();
        Self::new(Code::NO_SUCH_METHOD, format!("method not found: {shown}"))
    }

    /// A request outside a session that does not name its protocol version.
    pub fn unopened() -> Self {
        Self::bad_params(
            "missing protocol version: send initialize first, or set \
             io.modelcontextprotocol/protocolVersion and \
             io.modelcontextprotocol/clientCapabilities in _meta of every request"
                .to_owned(),
        )
    }

    /// -32602: parameters that do not fit the method.
    pub fn bad_params(why: String) -> Self {
        Self::new(Code::BAD_PARAMS, why)
    }

    /// Too many requests at once. The client may send the same request again later.
    pub fn busy(why: String) -> Self {
        Self::new(Code::INTERNAL, why)
    }

    /// -32020: an HTTP header contradicts the body.
    pub fn header_mismatch(why: String) -> Self {
        Self::new(Code::HEADER_MISMATCH, why)
    }

    /// -32022: refdesk does not speak this revision without a handshake.
    pub fn unsupported_revision(requested: &str) -> Self {
        let supported: Vec<_> = Revision::stateless().map(Revision::as_str).collect();
        let data = json!({ "supported": supported, "requested": requested });
        let words = "unsupported protocol version".to_owned();
        Self { data: Some(Data::Ours(data)), ..Self::new(Code::UNSUPPORTED_REVISION, words) }
    }

    /// The error message.
    pub fn words(&self) -> &str {
        &self.message
    }

    /// The error code.
    pub fn code(&self) -> i64 {
        self.code.0
    }

    /// Whether the error says that the method is unknown.
    pub fn is_about_method(&self) -> bool {
        self.code == Code::NO_SUCH_METHOD
    }

    /// Encodes the error response to `id`. Without one it uses the id of the malformed request, or
    /// leaves the id out.
    pub fn encode(&self, id: Option<&Id>) -> Outgoing {
        #[derive(Serialize)]
        struct Response<'a> {
            jsonrpc: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a Id>,
            error: Body<'a>,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            code: i64,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a Data>,
        }
        let error = Body { code: self.code(), message: &self.message, data: self.data.as_ref() };
        let message =
            Outgoing::json(&Response { jsonrpc: "2.0", id: id.or(self.id.as_ref()), error });
        // MCP 2026-07-28, transports: over HTTP this error also sets the status code.
        if self.code == Code::TOO_FEW_ABILITIES { message.turned_away() } else { message }
    }
}

/// The `data` member of an error.
#[derive(Debug, Clone, PartialEq)]
enum Data {
    Ours(Value),
    /// JSON exactly as an upstream server wrote it.
    Theirs(Json),
}

impl Serialize for Data {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ours(value) => value.serialize(serializer),
            Self::Theirs(json) => {
                let raw = RawValue::from_string(one_line(json.as_str()).into_owned());
                raw.map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
        }
    }
}

/// The code for a missing resource: -32602 since SEP-2164 and for clients that declare SEP-2093,
/// -32002 for the others.
fn not_found(terms: Terms) -> Code {
    if terms.revision.has_not_found_code() && !terms.aware {
        Code::NOT_FOUND
    } else {
        Code::BAD_PARAMS
    }
}

#[cfg(test)]
mod tests {
    use resource::{Error, ErrorKind, Said, Uri};

    use super::Refusal;
    use crate::revision::{Revision, Terms};

    /// B-16, R-24-09, R-26-06.
    #[test]
    fn a_missing_resource_has_the_code_of_its_revision() {
        let error = Error::not_found(&Uri::parse("x:y").unwrap());
        for revision in Revision::ALL {
            let code =
                |aware| Refusal::of(&error, Terms { revision, aware, full: true }, "").code();
            assert_eq!(code(false), if revision.has_handshake() { -32002 } else { -32602 });
            assert_eq!(code(true), -32602);
        }
    }

    #[test]
    fn what_is_denied_looks_like_what_is_missing() {
        let uri = Uri::parse("x:y").unwrap();
        let terms = Terms::full(Revision::V2026_07_28);
        let denied = Error::new(ErrorKind::Denied, "not for you").about(&uri);
        let missing = Error::not_found(&uri);
        assert_eq!(Refusal::of(&denied, terms, ""), Refusal::of(&missing, terms, ""));
    }

    #[test]
    fn a_cause_is_never_told_to_a_stranger() {
        let error = Error::internal("it broke in /etc/secret").caused_by("/etc/secret");
        let refusal = Refusal::of(&error, Terms::full(Revision::V2025_06_18), "t1");
        let told = String::from_utf8(refusal.encode(None).into_bytes().unwrap().to_vec()).unwrap();
        assert!(!told.contains("secret") && told.contains("t1"), "{told}");
    }

    /// 1.5, 9.7.
    #[test]
    fn what_another_server_said_is_passed_on_in_codes_that_the_revision_has() {
        let told = |code, revision| {
            let said = Said { code, message: "no".to_owned(), data: Some("{ \"x\":1.0}".into()) };
            Refusal::of(&Error::said(said), Terms::full(revision), "t")
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
            assert_eq!(told(-32021, revision).encode(None).is_turned_away(), able == -32021);
        }
    }
}
