//! Requests of protocol revision 2026-07-28, for HTTP and stdio.

use serde_json::{Value, json};

/// The protocol revision of every request.
pub(crate) const REVISION: &str = "2026-07-28";

/// The revision of sessions.
const SESSION_REVISION: &str = "2025-11-25";

/// A whole HTTP request of a session; without one it is `initialize`.
pub(crate) fn session_request(host: &str, session: Option<&str>, uri: &str) -> Vec<u8> {
    let (method, params) = match session {
        Some(_) => ("resources/read", json!({ "uri": uri })),
        None => (
            "initialize",
            json!({
                "protocolVersion": SESSION_REVISION,
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1.0.0" },
            }),
        ),
    };
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let session = session.map_or_else(String::new, |id| format!("Mcp-Session-Id: {id}\r\n"));
    format!(
        "POST /mcp HTTP/1.1\r\n\
         Host: {host}\r\n\
         Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: {SESSION_REVISION}\r\n\
         {session}Content-Length: {length}\r\n\r\n{body}",
        length = body.len(),
    )
    .into_bytes()
}

/// A request over HTTP with an access token.
pub(crate) fn with_token(request: &[u8], token: &str) -> Vec<u8> {
    let line = memchr::memmem::find(request, b"\r\n").map_or(0, |end| end + 2);
    let header = format!("Authorization: Bearer {token}\r\n");
    [&request[..line], header.as_bytes(), &request[line..]].concat()
}

/// One request, not yet bound to a transport.
#[derive(Clone, Debug)]
pub(crate) struct BenchRequest {
    method: &'static str,
    name: Option<String>,
    params: Value,
}

impl BenchRequest {
    /// `server/discover`.
    pub(crate) fn discover() -> Self {
        Self::new("server/discover", None, json!({}))
    }

    /// `resources/list` for one page.
    pub(crate) fn list(cursor: Option<&str>) -> Self {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        Self::new("resources/list", None, params)
    }

    /// `resources/read` of a whole resource.
    pub(crate) fn read(uri: &str) -> Self {
        Self::new("resources/read", Some(uri.to_owned()), json!({ "uri": uri }))
    }

    /// `resources/read` of a whole resource in one format.
    pub(crate) fn read_as(uri: &str, format: &str) -> Self {
        let mut message = Self::read(uri);
        message.params["_meta"]["dev.refdesk/accept"] = json!([format]);
        message
    }

    /// `resources/read` of `length` bytes from `offset`.
    pub(crate) fn window(uri: &str, offset: u64, length: u64) -> Self {
        let mut message = Self::read(uri);
        message.params["_meta"]["dev.refdesk/window"] =
            json!({ "offset": offset, "length": length });
        message
    }

    /// `tools/call`.
    pub(crate) fn call(tool: &str, arguments: &Value) -> Self {
        let params = json!({ "name": tool, "arguments": arguments });
        Self::new("tools/call", Some(tool.to_owned()), params)
    }

    /// `subscriptions/listen` for these resources.
    pub(crate) fn listen(uris: &[String]) -> Self {
        let notifications = json!({ "resourceSubscriptions": uris });
        Self::new("subscriptions/listen", None, json!({ "notifications": notifications }))
    }

    fn new(method: &'static str, name: Option<String>, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        Self { method, name, params }
    }

    /// The body, under an id of the caller's choice.
    pub(crate) fn body(&self, id: usize) -> String {
        json!({ "jsonrpc": "2.0", "id": id, "method": self.method, "params": self.params })
            .to_string()
    }

    /// The body as one line for a pipe.
    pub(crate) fn line(&self, id: usize) -> Vec<u8> {
        let mut line = self.body(id).into_bytes();
        line.push(b'\n');
        line
    }

    /// The whole HTTP request, headers included.
    pub(crate) fn over_http(&self, host: &str) -> Vec<u8> {
        let body = self.body(1);
        // Every URI of the bench is plain ASCII, so none needs the header's base64 form.
        let name =
            self.name.as_ref().map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
        format!(
            "POST /mcp HTTP/1.1\r\n\
             Host: {host}\r\n\
             Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: {REVISION}\r\n\
             Mcp-Method: {method}\r\n\
             {name}Content-Length: {length}\r\n\r\n{body}",
            method = self.method,
            length = body.len(),
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{BenchRequest, with_token};

    #[test]
    fn a_token_is_a_header_behind_the_request_line() {
        let request = with_token(b"POST /mcp HTTP/1.1\r\nHost: a\r\n\r\nx", "t");
        let expected = b"POST /mcp HTTP/1.1\r\nAuthorization: Bearer t\r\nHost: a\r\n\r\nx";
        assert_eq!(request, expected);
    }

    #[test]
    fn a_window_keeps_the_metadata_every_request_needs() {
        let body = BenchRequest::window("file:///a/b", 7, 4096).body(1);
        assert!(body.contains("io.modelcontextprotocol/protocolVersion"));
        assert!(body.contains(r#""dev.refdesk/window":{"length":4096,"offset":7}"#));
    }

    #[test]
    fn a_read_names_its_resource_in_the_header() {
        let request = String::from_utf8(BenchRequest::read("note://a").over_http("127.0.0.1:1"));
        assert!(request.unwrap().contains("\r\nMcp-Name: note://a\r\n"));
    }
}
