//! Tests of W3C trace context: refdesk passes it on to the servers behind it.

use std::fs;

use serde_json::json;

use crate::program::{HttpProgram, meta, project};
use crate::web_pages::send;

/// A server that keeps each line that it is sent in the file `seen`.
const KEEPING: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  printf '%s\n' "$line" >> seen
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
    *server/discover*) say '"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{},"tools":{}}}';;
    *resources/read*) say '"result":{"resultType":"complete","contents":[{"uri":"a:b","text":"x"}]}';;
    *tools/call*) say '"result":{"resultType":"complete","content":[]}';;
    *) say '"result":{"resultType":"complete","resources":[],"resourceTemplates":[],"tools":[]}';;
  esac
done
"#;

fn parent(number: u8) -> String {
    format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b71692033{number:02}-01")
}

#[test]
fn the_trace_of_a_request_reaches_the_server_behind_from_header_and_meta() {
    let folder = project();
    fs::write(folder.path().join("server.sh"), KEEPING).unwrap();
    let desk = HttpProgram::start(folder.path(), &["--mount", "m=sh server.sh"]);
    let request = |method: &str, name: &str, params: serde_json::Value, more: &str| {
        let headers = format!(
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n{more}"
        );
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = send(&desk, "POST", "/mcp", &headers, &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"result\""), "{answer}");
    };
    let header = |number: u8| format!("traceparent: {}\r\n", parent(number));
    let read = |uri: &str, more: serde_json::Value| json!({ "uri": uri, "_meta": meta(&more) });
    request("resources/read", "m+a:1", read("m+a:1", json!({})), &header(1));
    let traced = json!({ "traceparent": parent(2), "baggage": "user=ada" });
    request("resources/read", "m+a:2", read("m+a:2", traced.clone()), &header(3));
    let call = json!({ "name": "m_do", "arguments": {}, "_meta": meta(&json!({})) });
    request("tools/call", "m_do", call, &header(4));
    let seen = fs::read_to_string(folder.path().join("seen")).unwrap();
    let has = |method: &str, text: &str| {
        seen.lines().any(|line| line.contains(method) && line.contains(text))
    };
    assert!(has("resources/read", &parent(1)), "{seen}");
    assert!(has("resources/read", &parent(2)) && has("resources/read", "user=ada"), "{seen}");
    assert!(!seen.contains(&parent(3)), "`_meta` comes before the header: {seen}");
    assert!(has("tools/call", &parent(4)), "{seen}");
}
