//! A correct MCP server for tests: answers every request in every revision, without a transport.

use serde_json::{Value, json};

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const META: &str = "io.modelcontextprotocol/";

/// Whether a message is of the revision without a handshake.
pub(crate) fn is_modern(message: &Value) -> bool {
    message["params"]["_meta"].get(format!("{META}protocolVersion")).is_some()
}

/// The messages that the server sends for one of the client's.
pub(crate) fn answer(message: &Value) -> Vec<Value> {
    let Some(id) = message.get("id") else { return Vec::new() };
    let method = message["method"].as_str().unwrap_or_default();
    if message.get("method").is_none() {
        return Vec::new();
    }
    let outcome = if is_modern(message) {
        answer_modern(method, &message["params"])
    } else {
        answer_legacy(method, &message["params"])
    };
    if method == "subscriptions/listen" && outcome.is_ok() {
        return vec![acknowledgement(id, &message["params"]["notifications"])];
    }
    vec![match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    }]
}

fn acknowledgement(id: &Value, filter: &Value) -> Value {
    let meta = json!({ (format!("{META}subscriptionId")): id });
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": meta, "notifications": filter },
    })
}

pub(crate) fn error(code: i64, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

fn not_found(code: i64, uri: &Value) -> Value {
    json!({ "code": code, "message": "resource not found", "data": { "uri": uri } })
}

fn answer_legacy(method: &str, params: &Value) -> Result<Value, Value> {
    match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str().unwrap_or_default();
            let version = if LEGACY.contains(&asked) { asked } else { "2025-11-25" };
            Ok(json!({
                "protocolVersion": version,
                "capabilities": capabilities(),
                "serverInfo": { "name": "base", "version": "1" },
                "instructions": "Read the guide.",
            }))
        }
        "ping" => Ok(json!({})),
        "resources/subscribe" | "resources/unsubscribe" => match find(&params["uri"]) {
            Some(_) => Ok(json!({})),
            None => Err(not_found(-32002, &params["uri"])),
        },
        _ => answer_common(method, params, -32002),
    }
}

fn answer_modern(method: &str, params: &Value) -> Result<Value, Value> {
    let meta = &params["_meta"];
    if !meta[format!("{META}clientCapabilities")].is_object() {
        return Err(error(-32602, "no client capabilities"));
    }
    let version = &meta[format!("{META}protocolVersion")];
    if version != MODERN {
        let data = json!({ "supported": [MODERN], "requested": version });
        return Err(json!({ "code": -32022, "message": "unsupported version", "data": data }));
    }
    let mut result = match method {
        "server/discover" => json!({
            "supportedVersions": [MODERN],
            "capabilities": capabilities(),
            "instructions": "Read the guide.",
        }),
        "subscriptions/listen" if params["notifications"].is_object() => json!({}),
        "subscriptions/listen" => return Err(error(-32602, "no filter")),
        _ => answer_common(method, params, -32602)?,
    };
    result["resultType"] = json!("complete");
    result["_meta"] = json!({ (format!("{META}serverInfo")): { "name": "base", "version": "1" } });
    if method.ends_with("/list") || ["server/discover", "resources/read"].contains(&method) {
        result["ttlMs"] = json!(1000);
        result["cacheScope"] = json!("private");
    }
    Ok(result)
}

fn capabilities() -> Value {
    json!({
        "resources": { "subscribe": true, "listChanged": true },
        "tools": { "listChanged": true },
        "prompts": {},
        "completions": {},
        "extensions": { "org.example/resource-metadata": { "sep": 2093 } },
    })
}

fn answer_common(method: &str, params: &Value, missing: i64) -> Result<Value, Value> {
    match method {
        "resources/list" if params.get("uri").is_some() => scoped_list(&params["uri"]),
        "resources/list" => page(params),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [{
            "uriTemplate": "doc:///item/{id}",
            "name": "item",
            "mimeType": "text/plain",
        }] })),
        "resources/metadata" => match find(&params["uri"]) {
            Some(resource) => Ok(json!({ "resource": resource })),
            None => Err(not_found(missing, &params["uri"])),
        },
        "resources/read" => read(params, missing),
        "tools/list" => Ok(json!({ "tools": [tool("echo"), tool("add")] })),
        "tools/call" => Err(error(-32602, "unknown tool")),
        "prompts/list" => Ok(json!({ "prompts": [
            { "name": "greet", "arguments": [{ "name": "who", "required": true }] },
            { "name": "part" },
        ] })),
        "prompts/get" => Err(error(-32602, "unknown prompt")),
        "completion/complete" if params["ref"]["type"] == "ref/resource" => Ok(json!({
            "completion": { "values": ["1", "2"], "total": 2, "hasMore": false },
        })),
        "completion/complete" => Err(error(-32602, "unknown reference")),
        _ => Err(error(-32601, "method not found")),
    }
}

fn page(params: &Value) -> Result<Value, Value> {
    let all = listed();
    match params.get("cursor").map(|cursor| cursor.as_str().unwrap_or_default()) {
        None => Ok(json!({ "resources": all[..2], "nextCursor": "two" })),
        Some("two") => Ok(json!({ "resources": all[2..] })),
        Some(_) => Err(error(-32602, "invalid cursor")),
    }
}

fn scoped_list(uri: &Value) -> Result<Value, Value> {
    match uri == "doc:///guide" {
        true => Ok(json!({ "resources": [child()] })),
        false => Err(not_found(-32602, uri)),
    }
}

fn child() -> Value {
    json!({ "uri": "doc:///guide/1", "name": "1", "isCollection": false })
}

pub(crate) fn listed() -> Vec<Value> {
    let plain = json!({ "list": false });
    vec![
        json!({
            "uri": "doc:///guide",
            "name": "guide",
            "mimeType": "inode/directory",
            "isCollection": true,
            "capabilities": { "list": true },
        }),
        json!({
            "uri": "doc:///a.txt",
            "name": "a.txt",
            "title": "A",
            "description": "A text.\nWith two lines.",
            "mimeType": "text/plain",
            "size": 5,
            "annotations": {
                "audience": ["user", "assistant"],
                "priority": 0.5,
                "lastModified": "2026-01-02T03:04:05Z",
            },
            "icons": [{ "src": "https://example.org/a.png" }],
            "isCollection": false,
            "capabilities": plain,
        }),
        json!({
            "uri": "doc:///b.bin",
            "name": "b.bin",
            "mimeType": "application/octet-stream",
            "size": 3,
            "isCollection": false,
            "capabilities": plain,
        }),
        json!({
            "uri": "file:///files/c.txt",
            "name": "c.txt",
            "isCollection": false,
            "capabilities": plain,
        }),
    ]
}

fn find(uri: &Value) -> Option<Value> {
    listed().into_iter().chain([child()]).find(|resource| resource["uri"] == *uri)
}

fn read(params: &Value, missing: i64) -> Result<Value, Value> {
    let Some(uri) = params["uri"].as_str() else { return Err(error(-32602, "no uri")) };
    let Some(mut element) = find(&params["uri"]) else {
        return Err(not_found(missing, &params["uri"]));
    };
    match uri {
        "doc:///a.txt" => element["text"] = json!("hello"),
        "doc:///b.bin" => element["blob"] = json!("AAEC"),
        _ => element["text"] = json!("1"),
    }
    Ok(json!({ "contents": [element] }))
}

fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Returns its argument.",
        "inputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"],
        },
        "outputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
        "annotations": { "readOnlyHint": true, "title": "Echo" },
    })
}
