//! The tools `resources_watch`, `resources_unwatch` and `resources_changes`: change polling.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use protocol::inbound::tool::arguments::{ChangesArguments, UnwatchArguments, WatchArguments};
use protocol::inbound::tool::output::{ChangesOutput, WatchOutput};
use protocol::inbound::tool::{TextLines, ToolOutput, ToolResult};
use resource::{Error, Result, Uri};

use super::UriFailures;
use super::resolve::{resolve_all, resolve_uri};
use crate::exchange::Exchange;
use crate::server::Server;
use crate::watchers::{Watcher, WatcherOwner};

/// How many URIs one call subscribes to concurrently, so that a slow source does not delay others.
const CONCURRENCY: usize = 100;
/// How many changes one call returns; the rest stay for the next call.
const MAX_CHANGES: usize = 10_000;

/// Starts watching the URIs; creates the watcher of the session or a new handle if needed.
pub(super) async fn watch_resources(
    server: &Server,
    exchange: &Exchange,
    watch: WatchArguments,
) -> Result<ToolResult> {
    let known = find_watcher(server, exchange, watch.handle.as_deref())?;
    let principal = exchange.ctx.principal();
    let watcher = match (&known, &exchange.client_session) {
        (Some(watcher), _) => Arc::clone(watcher),
        (None, Some(session)) => {
            session.watcher_or_begin(|| server.watchers.create(WatcherOwner::Session, principal))?
        }
        (None, None) => server.watchers.create(WatcherOwner::Handle, principal)?,
    };
    let (most, begun) = (server.limits.subscriptions, &watcher);
    let asked = stream::iter(watch.uris)
        .map(|text| async move {
            let added = match resolve_uri(server, &exchange.ctx, &text).await {
                Ok(uri) => begun.subscribe((&server.hub, principal), &uri, most).await,
                Err(error) => Err(error),
            };
            (text, added)
        })
        .buffered(CONCURRENCY);
    let answers: Vec<(String, Result<()>)> = asked.collect().await;
    let (mut added, mut failed) = (false, UriFailures::new());
    for (uri, answer) in answers {
        match answer {
            Ok(()) => added = true,
            Err(error) => failed.add(server, &uri, &error),
        }
    }
    if let Some(last) = failed.0.last() {
        watcher.set_last_error(format!("{}: {}", last.uri, last.message));
    }
    if !added {
        return Ok(failed.into_result());
    }
    if known.is_none() && exchange.client_session.is_none() {
        server.watchers.register(&watcher)?;
    }
    let (handle, watching) = (watcher.handle.clone(), uri_texts(&watcher.watched_uris()));
    let words = format!(
        "{} watched; call resources_changes with handle {handle} to get the changes",
        count_phrase(watching.len())
    );
    let failures = failed.text_blocks();
    let output = ToolOutput::Watch(WatchOutput { handle, watching, failed: failed.0 });
    let mut given = ToolResult::with_text(words, output);
    given.blocks.extend(failures);
    Ok(given)
}

/// Stops watching the given URIs, or all of them.
pub(super) async fn unwatch_resources(
    server: &Server,
    exchange: &Exchange,
    unwatch: &UnwatchArguments,
) -> Result<ToolResult> {
    let resolved = match &unwatch.uris {
        Some(uris) => Some(resolve_all(server, &exchange.ctx, uris).await),
        None => None,
    };
    let uris = resolved.map(|uris| uris.into_iter().collect::<Result<Vec<Uri>>>()).transpose()?;
    let watching = match find_watcher(server, exchange, unwatch.handle.as_deref())? {
        Some(watcher) => {
            watcher.unsubscribe(uris.as_deref());
            watcher.watched_uris()
        }
        None => missing_handle(exchange).map_or(Ok(Vec::new()), Err)?,
    };
    let words = format!("{} still watched", count_phrase(watching.len()));
    let watching = uri_texts(&watching);
    Ok(ToolResult::with_text(words, ToolOutput::Unwatch { watching }))
}

/// Returns the URIs that changed since the last call.
pub(super) async fn list_changes(
    server: &Server,
    exchange: &Exchange,
    changes: ChangesArguments,
) -> Result<ToolResult> {
    let Some(watcher) = find_watcher(server, exchange, changes.handle.as_deref())? else {
        let nothing = || Error::invalid("nothing is watched yet; call resources_watch first");
        return Err(missing_handle(exchange).unwrap_or_else(nothing));
    };
    if changes.wait_ms > 0 {
        watcher.wait_for_change(Duration::from_millis(changes.wait_ms)).await;
    }
    // No await from here on: a cancelled call must not lose changes it has already taken.
    let changed = if changes.peek {
        watcher.peek_changes(MAX_CHANGES)
    } else {
        watcher.take_changes(MAX_CHANGES)
    };
    let mut lines = TextLines::default();
    for uri in &changed.uris {
        lines.push(uri.as_str());
    }
    if changed.uris.is_empty() {
        lines.push("nothing has changed");
    }
    if changed.more {
        lines.push("there is more: call again");
    }
    let output = ToolOutput::Changes(ChangesOutput {
        changed: uri_texts(&changed.uris),
        watching: watcher.watched_uris().len(),
        more: changed.more,
    });
    Ok(ToolResult::with_text(lines, output))
}

/// The watcher of this session, or the one with this handle. A session may use only its own handle.
fn find_watcher(
    server: &Server,
    exchange: &Exchange,
    handle: Option<&str>,
) -> Result<Option<Arc<Watcher>>> {
    let known = match (&exchange.client_session, handle) {
        (Some(session), None) => return Ok(session.current_watcher()),
        (Some(session), Some(handle)) => {
            session.current_watcher().filter(|known| known.handle == handle)
        }
        (None, Some(handle)) => server.watchers.find_by_handle(handle, exchange.ctx.principal()),
        (None, None) => return Ok(None),
    };
    // A handle of another caller must look like one that does not exist.
    let unknown = || Error::invalid("no such handle; call resources_watch again");
    known.map(Some).ok_or_else(unknown)
}

/// The error for a request without a session that passes no handle.
fn missing_handle(exchange: &Exchange) -> Option<Error> {
    let words = "pass the handle that resources_watch returned";
    exchange.client_session.is_none().then(|| Error::invalid(words))
}

fn uri_texts(uris: &[Uri]) -> Vec<String> {
    uris.iter().map(ToString::to_string).collect()
}

fn count_phrase(count: usize) -> String {
    match count {
        0 => "nothing is".to_owned(),
        1 => "1 resource is".to_owned(),
        _ => format!("{count} resources are"),
    }
}
