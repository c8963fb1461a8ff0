//! The content of `refdesk://subscriptions`: watchers and subscriptions, as JSON.

use std::time::SystemTime;

use resource::{ComponentKind, Interest, Uri};
use serde_json::{Value, json};

/// What the resource shows of one watcher.
#[derive(Debug)]
pub struct WatcherStatus {
    /// The beginning of its handle, too short to use.
    pub handle_prefix: String,
    /// The owner: `session` or `handle`.
    pub kind: &'static str,
    /// The watched URIs, each with whether its subscription is active.
    pub watching: Vec<(Uri, bool)>,
    /// The last error.
    pub last_error: Option<String>,
}

/// What the resource shows of the subscriptions to one interest.
#[derive(Debug)]
pub struct SubscriptionStatus {
    /// What is subscribed to.
    pub interest: Interest,
    /// How many subscribers there are.
    pub subscribers: usize,
    /// When they were last told of a change.
    pub last_change: Option<SystemTime>,
}

/// Encodes the content of the resource.
pub fn encode_watchers(watchers: &[WatcherStatus], subscriptions: &[SubscriptionStatus]) -> String {
    let watched =
        |(uri, is_active): &(Uri, bool)| json!({ "uri": uri.as_str(), "active": is_active });
    let one = |watcher: &WatcherStatus| {
        json!({
            "handle": watcher.handle_prefix,
            "kind": watcher.kind,
            "watching": watcher.watching.iter().map(watched).collect::<Value>(),
            "last_error": watcher.last_error,
        })
    };
    let watchers: Value = watchers.iter().map(one).collect();
    let subscriptions: Value = subscriptions.iter().map(subscription_json).collect();
    format!("{:#}\n", json!({ "watchers": watchers, "subscriptions": subscriptions }))
}

fn subscription_json(status: &SubscriptionStatus) -> Value {
    let last_change = status.last_change;
    let last_change = last_change.map(|time| humantime::format_rfc3339_millis(time).to_string());
    let mut json = json!({ "subscribers": status.subscribers, "last_change": last_change });
    let list = match &status.interest {
        Interest::Resource(uri) => {
            json["uri"] = uri.as_str().into();
            return json;
        }
        Interest::Listing => "resources",
        Interest::Components(ComponentKind::Tool) => "tools",
        Interest::Components(ComponentKind::Prompt) => "prompts",
        Interest::Everything => "everything",
    };
    json["list"] = list.into();
    json
}
