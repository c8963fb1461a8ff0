//! Probe: one request as the doctor sends it, with what is left out or wrong on purpose.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::revision::DoctorRevision;

/// The key of the protocol version in `_meta`.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key of the client's capabilities in `_meta`.
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key of the client's name in `_meta`.
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The key that ties messages of a stream to its request.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// A request, with deviations.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    pub(crate) method: String,
    pub(crate) params: Value,
    /// Whether there are no `params` at all.
    pub(crate) is_bare: bool,
    /// Members of `_meta` that are left out.
    pub(crate) without_meta: Vec<&'static str>,
    /// The version in `_meta` and header, if not the revision's own.
    pub(crate) version: Option<&'static str>,
    /// Headers that differ: a value, or `None` for one that is left out.
    pub(crate) headers: Vec<(&'static str, Option<String>)>,
    /// How long to wait, if not as usual.
    pub(crate) wait: Option<Duration>,
    /// Whether silence is an answer that the caller judges itself.
    pub(crate) may_be_silent: bool,
}

impl Probe {
    pub(crate) fn new(method: &str, params: Value) -> Self {
        Self {
            method: method.to_owned(),
            params,
            is_bare: false,
            without_meta: Vec::new(),
            version: None,
            headers: Vec::new(),
            wait: None,
            may_be_silent: false,
        }
    }

    pub(crate) fn without(mut self, member: &'static str) -> Self {
        self.without_meta.push(member);
        self
    }

    pub(crate) fn version(mut self, version: &'static str) -> Self {
        self.version = Some(version);
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.headers.push((name, value.map(str::to_owned)));
        self
    }

    pub(crate) fn quiet(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self.may_be_silent = true;
        self
    }

    /// The message in a revision.
    pub(crate) fn message(&self, id: &Value, revision: DoctorRevision) -> Value {
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": self.method });
        if self.is_bare && revision.has_handshake() {
            return message;
        }
        let mut params = self.params.as_object().cloned().unwrap_or_default();
        if !revision.has_handshake() {
            params.insert("_meta".to_owned(), self.meta(revision));
        }
        if !params.is_empty() {
            message["params"] = Value::Object(params);
        }
        message
    }

    fn meta(&self, revision: DoctorRevision) -> Value {
        let version = self.version.unwrap_or(revision.name());
        let mut meta = Map::new();
        meta.insert(PROTOCOL_VERSION.to_owned(), json!(version));
        meta.insert(CLIENT_INFO.to_owned(), client_info());
        meta.insert(CLIENT_CAPABILITIES.to_owned(), json!({}));
        for member in &self.without_meta {
            meta.remove(*member);
        }
        Value::Object(meta)
    }

    /// The HTTP headers in a revision; `session` is that of the handshake.
    pub(crate) fn heading(
        &self,
        revision: DoctorRevision,
        session: Option<&str>,
    ) -> Vec<(String, String)> {
        let mut headers: Vec<(&str, String)> = Vec::new();
        if revision.has_handshake() {
            if revision.has_version_header() && self.method != "initialize" {
                headers.push(("mcp-protocol-version", revision.name().to_owned()));
            }
            headers.extend(session.map(|session| ("mcp-session-id", session.to_owned())));
        } else {
            let version = self.version.unwrap_or(revision.name());
            headers.push(("mcp-protocol-version", version.to_owned()));
            headers.push(("mcp-method", self.method.clone()));
            let named = match self.method.as_str() {
                "tools/call" | "prompts/get" => self.params.get("name"),
                "resources/read" => self.params.get("uri"),
                _ => None,
            };
            let named = named.and_then(Value::as_str);
            headers.extend(named.map(|name| ("mcp-name", header_value(name))));
        }
        for (name, value) in &self.headers {
            headers.retain(|(known, _)| known != name);
            headers.extend(value.iter().map(|value| (*name, value.clone())));
        }
        headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// The name that the doctor gives itself.
pub(crate) fn client_info() -> Value {
    json!({ "name": "refdesk-doctor", "version": env!("CARGO_PKG_VERSION") })
}

/// A value for `Mcp-Name`: as it is where a header may hold it, else in the base64 form.
fn header_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    if is_plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", encode_base64(text.as_bytes()))
    }
}

fn encode_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::header_value;

    #[test]
    fn a_name_that_no_header_holds_is_sent_as_base64() {
        assert_eq!(header_value("mem://a"), "mem://a");
        assert_eq!(header_value("mem://café"), "=?base64?bWVtOi8vY2Fmw6k=?=");
        assert_eq!(header_value(" a"), "=?base64?IGE=?=");
    }
}
