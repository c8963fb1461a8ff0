//! The content of `refdesk://subscriptions`: the watchers and their URIs, as JSON.

use resource::Uri;
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

/// Encodes the content of the resource.
pub fn encode_watchers(watchers: &[WatcherStatus]) -> String {
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
    format!("{:#}\n", json!({ "watchers": watchers }))
}
