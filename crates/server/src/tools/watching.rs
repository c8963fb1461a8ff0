//! The tools `resources_watch`, `resources_unwatch` and `resources_changes`: change polling.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use protocol::tool::Given;
use protocol::tool::arguments::{Changes, Unwatch, Watch};
use resource::{Error, Result, Uri};
use serde_json::{Value, json};

use super::Failed;
use crate::exchange::Exchange;
use crate::server::Server;
use crate::watchers::{Party, Watcher};

/// How many URIs one call subscribes to concurrently, so that a slow source does not delay others.
const AT_ONCE: usize = 100;
/// How many changes one call returns; the rest stay for the next call.
const TOLD: usize = 10_000;
/// Upper bound of `wait_ms`.
const WAIT: Duration = Duration::from_secs(60);

/// Starts watching the URIs; creates the watcher of the session or a new handle if needed.
pub(super) async fn watch(server: &Server, exchange: &Exchange, watch: Watch) -> Result<Given> {
    let known = find(server, exchange, watch.handle.as_deref())?;
    let watcher = match (&known, &exchange.guest) {
        (Some(watcher), _) => Arc::clone(watcher),
        (None, Some(guest)) => guest.watcher(|| server.watchers.begin(Party::Session))?,
        (None, None) => server.watchers.begin(Party::Handle)?,
    };
    let (most, begun) = (server.limits.subscriptions, &watcher);
    let asked = stream::iter(watch.uris.0)
        .map(|uri| async move {
            let added = begun.add(&server.hub, &uri, most).await;
            (uri, added)
        })
        .buffered(AT_ONCE);
    let answers: Vec<(Uri, Result<()>)> = asked.collect().await;
    let (mut added, mut failed) = (false, Failed::new());
    for (uri, answer) in answers {
        match answer {
            Ok(()) => added = true,
            Err(error) => failed.add(server, &uri, &error),
        }
    }
    if let Some((uri, words)) = failed.0.last() {
        watcher.failed(format!("{uri}: {words}"));
    }
    if !added {
        return Ok(Given { blocks: failed.words().collect(), is_error: true, ..Given::default() });
    }
    if known.is_none() && exchange.guest.is_none() {
        server.watchers.keep(&watcher)?;
    }
    let (handle, watching) = (&watcher.handle, watcher.watching());
    let words = format!(
        "{} watched; call resources_changes with handle {handle} to get the changes",
        counted(watching.len())
    );
    let mut structured = json!({ "handle": handle, "watching": array(&watching) });
    let more: Vec<_> = failed.words().collect();
    if !more.is_empty() {
        structured["failed"] = failed.into_json();
    }
    let mut given = Given::said(words, structured);
    given.blocks.extend(more);
    Ok(given)
}

/// Stops watching the given URIs, or all of them.
pub(super) fn unwatch(server: &Server, exchange: &Exchange, unwatch: &Unwatch) -> Result<Given> {
    let watching = match find(server, exchange, unwatch.handle.as_deref())? {
        Some(watcher) => {
            watcher.remove(unwatch.uris.as_ref().map(|uris| &uris.0[..]));
            watcher.watching()
        }
        None => unnamed(exchange).map_or(Ok(Vec::new()), Err)?,
    };
    let words = format!("{} still watched", counted(watching.len()));
    Ok(Given::said(words, json!({ "watching": array(&watching) })))
}

/// Returns the URIs that changed since the last call.
pub(super) async fn changes(
    server: &Server,
    exchange: &Exchange,
    changes: Changes,
) -> Result<Given> {
    let Some(watcher) = find(server, exchange, changes.handle.as_deref())? else {
        let nothing = || Error::invalid("nothing is watched yet; call resources_watch first");
        return Err(unnamed(exchange).unwrap_or_else(nothing));
    };
    if changes.wait_ms > 0 {
        watcher.wait(Duration::from_millis(changes.wait_ms).min(WAIT)).await;
    }
    // No await from here on: a cancelled call must not lose changes it has already taken.
    let changed = if changes.peek { watcher.peek(TOLD) } else { watcher.take(TOLD) };
    let mut words = String::new();
    for uri in &changed.uris {
        let _ = writeln!(words, "{uri}");
    }
    if changed.uris.is_empty() {
        words.push_str("nothing has changed");
    }
    let mut structured =
        json!({ "changed": array(&changed.uris), "watching": watcher.watching().len() });
    if changed.more {
        structured["more"] = true.into();
        words.push_str("there is more: call again");
    }
    Ok(Given::said(words.trim_end(), structured))
}

/// The watcher of this session, or the one with this handle. A session may use only its own handle.
fn find(
    server: &Server,
    exchange: &Exchange,
    handle: Option<&str>,
) -> Result<Option<Arc<Watcher>>> {
    let known = match (&exchange.guest, handle) {
        (Some(guest), None) => return Ok(guest.watches()),
        (Some(guest), Some(handle)) => guest.watches().filter(|known| known.handle == handle),
        (None, Some(handle)) => server.watchers.find(handle),
        (None, None) => return Ok(None),
    };
    // A handle of another caller must look like one that does not exist.
    let unknown = || Error::invalid("no such handle; call resources_watch again");
    known.map(Some).ok_or_else(unknown)
}

/// The error for a request without a session that passes no handle.
fn unnamed(exchange: &Exchange) -> Option<Error> {
    let words = "pass the handle that resources_watch returned";
    exchange.guest.is_none().then(|| Error::invalid(words))
}

fn counted(count: usize) -> String {
    match count {
        0 => "nothing is".to_owned(),
        1 => "1 resource is".to_owned(),
        _ => format!("{count} resources are"),
    }
}

fn array(uris: &[Uri]) -> Value {
    uris.iter().map(|uri| uri.as_str()).collect()
}
