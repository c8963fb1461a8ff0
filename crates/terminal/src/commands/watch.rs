//! `refdesk watch`: a line for each change, until Ctrl-C.

use std::time::SystemTime;

use client::NotificationKind;
use serde_json::json;
use tokio::process::Command;

use crate::args::WatchArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::output::{Output, one_line, tell};
use crate::tools::is_about_resources;

pub(super) async fn run(
    args: &WatchArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let mut notifications = connection.client.notifications();
    let mut uris = Vec::new();
    for written in &args.uris {
        let uri = connection.resolve_uri(written).await?;
        let about = |error| CommandError::about(uri.as_str(), error);
        if !connection.client.subscribe(uri.as_str()).await.map_err(about)? {
            let words = "the server does not tell of changes of this resource";
            return Err(CommandError::Failed(format!("{uri}: {words}")));
        }
        uris.push(uri.as_str().to_owned());
    }
    if uris.is_empty() && !connection.peer.capabilities.has_list_changed {
        let words = "the server does not tell when its list changes; name a resource";
        return Err(CommandError::Failed(words.to_owned()));
    }
    tell("watching; Ctrl-C ends");
    let mut told = 0;
    while args.count.is_none_or(|count| told < count) {
        let Some(notification) = notifications.next().await else {
            return Err(CommandError::Unreachable("the connection ended".to_owned()));
        };
        let uri = match &notification.kind {
            NotificationKind::Updated(uri) => Some(uri.clone()),
            kind if uris.is_empty() && is_about_resources(kind) => None,
            _ => continue,
        };
        told += 1;
        print_change(args, output, uri.as_deref(), notification.from_server)?;
        if let Some(command) = &args.exec {
            run_command(command, uri.as_deref().unwrap_or_default()).await;
        }
    }
    Ok(())
}

fn print_change(
    args: &WatchArgs,
    output: &mut Output,
    uri: Option<&str>,
    from_server: bool,
) -> Result<(), CommandError> {
    let at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    // After a gap in the connection nobody knows; the resource may have changed meanwhile.
    let kind = match (uri, from_server) {
        (None, _) => "list changed",
        (Some(_), true) => "updated",
        (Some(_), false) => "reconnected",
    };
    if args.server.json {
        let line = json!({ "at": at, "kind": kind, "uri": uri }).to_string();
        return output.line_now(&line);
    }
    output.line_now(format!("{at}  {kind}  {}", one_line(uri.unwrap_or_default())).trim_end())
}

/// Runs a command of the person; the next change waits for it.
async fn run_command(command: &str, uri: &str) {
    let mut child = Command::new("sh");
    child.args(["-c", command]).env("REFDESK_URI", uri).kill_on_drop(true);
    match child.status().await {
        Ok(status) if status.success() => {}
        Ok(status) => tell(&format!("the command ended with {status}")),
        Err(error) => tell(&format!("the command did not start: {error}")),
    }
}
