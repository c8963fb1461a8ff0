//! The content of `refdesk://clients`: who is connected and what they requested lately, as JSON.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::revision::Revision;

/// What the resource shows of one client.
#[derive(Debug)]
pub struct ClientStatus {
    /// Its id, which the requests name.
    pub id: String,
    /// The name that it gives itself.
    pub name: Option<String>,
    /// The version that it gives itself.
    pub version: Option<String>,
    /// The revision that it speaks.
    pub revision: Revision,
    /// The transport: `http`, `stdio` or `sse`.
    pub transport: &'static str,
    /// The key of its principal.
    pub principal: String,
    /// When it connected.
    pub connected: SystemTime,
    /// When it last sent a request.
    pub last_seen: SystemTime,
    /// How many requests it sent.
    pub requests: u64,
    /// How many of them failed.
    pub errors: u64,
    /// How many subscriptions it has now.
    pub subscriptions: usize,
}

/// What the resource shows of one request.
#[derive(Debug)]
pub struct RequestStatus {
    /// When it ended.
    pub at: SystemTime,
    /// The id of its client.
    pub client: String,
    /// The name of its client, which may have left since.
    pub name: Option<String>,
    /// Its method.
    pub method: String,
    /// The URI that it is about.
    pub uri: Option<String>,
    /// The tool that it calls.
    pub tool: Option<String>,
    /// `ok`, or a short error.
    pub outcome: &'static str,
    /// How long it took.
    pub elapsed: Duration,
}

/// Encodes the content of the resource.
pub fn encode_clients(clients: &[ClientStatus], recent: &[RequestStatus]) -> String {
    let clients: Value = clients.iter().map(client_json).collect();
    let recent: Value = recent.iter().map(request_json).collect();
    format!("{:#}\n", json!({ "clients": clients, "recent": recent }))
}

fn client_json(client: &ClientStatus) -> Value {
    json!({
        "id": client.id,
        "name": client.name,
        "version": client.version,
        "revision": client.revision.as_str(),
        "transport": client.transport,
        "principal": client.principal,
        "connected": format_time(client.connected),
        "lastSeen": format_time(client.last_seen),
        "requests": client.requests,
        "errors": client.errors,
        "subscriptions": client.subscriptions,
    })
}

fn request_json(request: &RequestStatus) -> Value {
    let mut json = Map::new();
    json.insert("at".to_owned(), format_time(request.at).into());
    json.insert("client".to_owned(), request.client.as_str().into());
    let texts = [("name", &request.name), ("uri", &request.uri), ("tool", &request.tool)];
    for (member, text) in texts {
        if let Some(text) = text {
            json.insert(member.to_owned(), text.as_str().into());
        }
    }
    json.insert("method".to_owned(), request.method.as_str().into());
    json.insert("outcome".to_owned(), request.outcome.into());
    let elapsed = u64::try_from(request.elapsed.as_millis()).unwrap_or(u64::MAX);
    json.insert("milliseconds".to_owned(), elapsed.into());
    json.into()
}

fn format_time(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use serde_json::{Value, json};

    use super::{ClientStatus, RequestStatus, encode_clients};
    use crate::revision::Revision;

    #[test]
    fn clients_and_requests_have_the_members_that_programs_read() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let client = ClientStatus {
            id: "c1".to_owned(),
            name: Some("host".to_owned()),
            version: None,
            revision: Revision::V2025_11_25,
            transport: "stdio",
            principal: "local".to_owned(),
            connected: at,
            last_seen: at,
            requests: 12,
            errors: 1,
            subscriptions: 2,
        };
        let request = RequestStatus {
            at,
            client: "c1".to_owned(),
            name: None,
            method: "tools/call".to_owned(),
            uri: None,
            tool: Some("resources_read".to_owned()),
            outcome: "ok",
            elapsed: Duration::from_micros(3900),
        };
        let told: Value = serde_json::from_str(&encode_clients(&[client], &[request])).unwrap();
        let time = "2023-11-14T22:13:20.000Z";
        let expected = json!({
            "clients": [{
                "id": "c1", "name": "host", "version": null, "revision": "2025-11-25",
                "transport": "stdio", "principal": "local", "connected": time, "lastSeen": time,
                "requests": 12, "errors": 1, "subscriptions": 2,
            }],
            "recent": [{
                "at": time, "client": "c1", "method": "tools/call", "tool": "resources_read",
                "outcome": "ok", "milliseconds": 3,
            }],
        });
        assert_eq!(told, expected);
    }
}
