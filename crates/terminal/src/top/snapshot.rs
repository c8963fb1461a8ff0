//! A snapshot of a refdesk: mounts, clients, requests and subscriptions, as its resources tell them.

use std::time::SystemTime;

use protocol::outbound::request::methods;
use serde_json::{Value, json};

use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::output::one_line;

pub(super) const MOUNTS: &str = "refdesk://mounts";
pub(super) const CLIENTS: &str = "refdesk://clients";
pub(super) const SUBSCRIPTIONS: &str = "refdesk://subscriptions";
/// How many rows of each kind are shown.
const MAX_ROWS: usize = 200;

/// What a refdesk told of itself at one time.
#[derive(Debug, Clone, Default)]
pub(crate) struct TopSnapshot {
    /// Name, version and revision.
    pub(crate) server: Value,
    pub(crate) mounts: Vec<Value>,
    /// `None` if the server does not tell of its clients.
    pub(crate) clients: Option<Vec<Value>>,
    pub(crate) recent: Vec<Value>,
    pub(crate) watchers: Vec<Value>,
    pub(crate) subscriptions: Vec<Value>,
}

impl TopSnapshot {
    /// Reads everything anew.
    pub(super) async fn read(connection: &ServerConnection) -> Result<Self, CommandError> {
        let (mounts, clients, subscriptions) = tokio::join!(
            connection.mounts(),
            read_json(connection, CLIENTS),
            read_json(connection, SUBSCRIPTIONS),
        );
        let clients = clients?;
        let subscriptions = subscriptions?.unwrap_or_default();
        let peer = &connection.peer;
        Ok(Self {
            server: json!({
                "name": peer.name,
                "version": peer.version,
                "revision": peer.revision(),
            }),
            mounts: mounts?.into_iter().take(MAX_ROWS).collect(),
            recent: clients.as_ref().map(|told| rows(&told["recent"])).unwrap_or_default(),
            clients: clients.map(|told| rows(&told["clients"])),
            watchers: rows(&subscriptions["watchers"]),
            subscriptions: rows(&subscriptions["subscriptions"]),
        })
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "server": self.server,
            "mounts": self.mounts,
            "clients": self.clients,
            "recent": self.recent,
            "watchers": self.watchers,
            "subscriptions": self.subscriptions,
        })
    }
}

fn rows(list: &Value) -> Vec<Value> {
    list.as_array().map(|list| list.iter().take(MAX_ROWS).cloned().collect()).unwrap_or_default()
}

/// The JSON of a resource; `None` if the server does not have it.
async fn read_json(
    connection: &ServerConnection,
    uri: &str,
) -> Result<Option<Value>, CommandError> {
    match connection.ask(methods::READ_RESOURCE, &json!({ "uri": uri })).await {
        Ok(answer) => {
            let text = answer["contents"][0]["text"].as_str().unwrap_or_default();
            Ok(serde_json::from_str(text).ok())
        }
        Err(CommandError::Unreachable(words)) => Err(CommandError::Unreachable(words)),
        Err(_) => Ok(None),
    }
}

/// A member as text on one line; nothing if it is absent.
pub(super) fn text(row: &Value, name: &str) -> String {
    match &row[name] {
        Value::String(text) => one_line(text).chars().take(300).collect(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A member as a time.
pub(super) fn time(row: &Value, name: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339(row[name].as_str()?).ok()
}
