//! `refdesk pick`: a full-screen picker with tree, search, filters and preview.
//!
//! `state` decides, `view` draws, `requests` asks the server; the loop here joins them.

mod changes;
mod events;
mod filter;
mod keys;
mod list_view;
mod matching;
mod node;
mod placement;
mod preview;
mod preview_view;
mod refresh;
mod requests;
mod result;
mod state;
#[cfg(test)]
mod tests;
mod tree;
mod view;

use std::sync::Arc;

#[cfg(test)]
pub(crate) use result::give;
pub(crate) use view::{draw_keys, grouped};

use client::{NotificationKind, NotificationReceiver};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::args::PickArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::full_screen::FullScreen;
use crate::output::Output;
use crate::pick::events::{PickEvent, PickOptions, PickOutcome, PickRequest, TreeSource};
use crate::pick::state::PickState;
use crate::theme::ViewTheme;

pub(crate) async fn run(
    args: &PickArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    result::check(args, connection)?;
    let scope = match &args.uri {
        Some(written) => Some(connection.resolve_uri(written).await?),
        None => None,
    };
    let source = match &scope {
        Some(uri) if connection.peer.capabilities.child_list(uri).is_none() => TreeSource::Implied,
        None if connection.is_refdesk() => TreeSource::Mounts,
        None if connection.lists_collections() => TreeSource::Listed,
        None => TreeSource::Implied,
        Some(_) => TreeSource::Listed,
    };
    let screen = FullScreen::open("pick", "`refdesk find` or `refdesk ls --all`")?;
    let options = PickOptions {
        scope: scope.map(|uri| uri.to_string()),
        source,
        // A server that does not list its tools can still be picked from.
        has_search: connection.has_tool(requests::SEARCH_TOOL).await.unwrap_or(false),
        can_watch: connection.peer.capabilities.has_subscribe,
        budget: args.budget,
        size: screen.size(),
    };
    let theme = ViewTheme { colors: args.server.color.applies(true) };
    // The screen is dropped before anything is printed.
    let uris = pick(screen, PickState::new(options), theme, connection).await?;
    result::give(args, connection, output, &uris).await
}

/// Lets the person pick, until they end or leave.
async fn pick(
    mut screen: FullScreen,
    mut state: PickState,
    theme: ViewTheme,
    connection: &ServerConnection,
) -> Result<Vec<Arc<str>>, CommandError> {
    let mut answers = FuturesUnordered::new();
    let mut changes = connection.client.notifications();
    let mut requests = state.start();
    loop {
        for request in requests {
            match request {
                PickRequest::Redraw => screen.clear()?,
                request => answers.push(requests::perform(connection, request)),
            }
        }
        match state.outcome.take() {
            Some(PickOutcome::Chosen(uris)) => return Ok(uris),
            Some(PickOutcome::Left) => return Err(CommandError::Interrupted),
            Some(PickOutcome::Failed(words)) => return Err(CommandError::Failed(words)),
            None => {}
        }
        // Keys that came meanwhile are taken before the next frame.
        requests = match screen.waiting_event() {
            Some(event) => state.update(PickEvent::Input(event)),
            None => {
                screen.draw(|frame| view::draw_picker(&state, theme, frame))?;
                let event =
                    next_event(&mut screen, &mut answers, &mut changes, state.has_work()).await;
                state.update(event.ok_or(CommandError::Interrupted)?)
            }
        };
    }
}

/// The next key, answer, or chance to work.
async fn next_event<F: Future<Output = PickEvent>>(
    screen: &mut FullScreen,
    answers: &mut FuturesUnordered<F>,
    changes: &mut NotificationReceiver,
    has_work: bool,
) -> Option<PickEvent> {
    tokio::select! {
        biased;
        event = screen.next_event() => event.map(PickEvent::Input),
        Some(answer) = answers.next(), if !answers.is_empty() => Some(answer),
        Some(change) = next_change(changes) => Some(change),
        // Gives way to the connection first.
        () = tokio::task::yield_now(), if has_work => Some(PickEvent::Step),
    }
}

/// The next change that the server tells; `None` once the connection is closed.
async fn next_change(changes: &mut NotificationReceiver) -> Option<PickEvent> {
    loop {
        match changes.next().await?.kind {
            NotificationKind::Updated(uri) => return Some(PickEvent::Changed(Some(uri))),
            NotificationKind::ResourceListChanged => return Some(PickEvent::Changed(None)),
            _ => {}
        }
    }
}
