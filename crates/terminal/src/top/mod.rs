//! `refdesk top`: a live view of a running refdesk.

mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod view;

use std::time::{Duration, SystemTime};

use client::NotificationReceiver;
use tokio::time::{MissedTickBehavior, interval};

use crate::args::TopArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::full_screen::FullScreen;
use crate::output::{Output, one_line};
use crate::theme::ViewTheme;
use crate::tools::is_about_resources;
use crate::top::snapshot::{CLIENTS, MOUNTS, SUBSCRIPTIONS, TopSnapshot};
use crate::top::state::{TopAction, TopEvent, TopState};

pub(crate) use view::index_words;

const TICK: Duration = Duration::from_millis(500);
/// The width of what is printed where no terminal has one.
const USUAL_WIDTH: usize = 120;

pub(crate) async fn run(
    args: &TopArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    if !connection.is_refdesk() {
        let name = one_line(connection.peer.name.as_deref().unwrap_or("another server"));
        return Err(CommandError::Failed(format!(
            "`refdesk top` shows a refdesk, and this server is {name}; start one with \
             `refdesk serve`, or name one with --server"
        )));
    }
    if connection.is_started_here {
        return Err(CommandError::Failed(match &connection.locked {
            None => "no refdesk runs for this folder; start one with `refdesk serve --daemon`, or \
                     name one with --server"
                .to_owned(),
            Some(url) => format!(
                "the refdesk at {url} wants a token: pass --header \"Authorization: Bearer TOKEN\""
            ),
        }));
    }
    if args.server.json {
        let snapshot = TopSnapshot::read(connection).await?;
        return output.json(&snapshot.to_json());
    }
    let theme = ViewTheme { colors: args.server.color.applies(true) };
    if args.once {
        let snapshot = TopSnapshot::read(connection).await?;
        let width = output.width.unwrap_or(USUAL_WIDTH);
        let lines = view::snapshot_lines(&snapshot, width, theme, SystemTime::now());
        return lines.iter().try_for_each(|line| output.line(line.to_string().trim_end()));
    }
    let screen = FullScreen::open("top", "`refdesk top --once` or `--json`")?;
    watch(screen, theme, connection).await
}

async fn watch(
    mut screen: FullScreen,
    theme: ViewTheme,
    connection: &ServerConnection,
) -> Result<(), CommandError> {
    let mut notifications = connection.client.notifications();
    let mut state = TopState::new(screen.size());
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let subscribing = subscribe(connection);
    let reading = TopSnapshot::read(connection);
    tokio::pin!(subscribing);
    let mut reading = Some(Box::pin(reading));
    let mut is_subscribed = false;
    loop {
        screen.draw(|frame| view::draw_top(&state, theme, SystemTime::now(), frame))?;
        let event = tokio::select! {
            biased;
            event = screen.next_event() => {
                TopEvent::Input(event.ok_or(CommandError::Interrupted)?)
            }
            read = async { reading.as_mut()?.await.into() }, if reading.is_some() => {
                reading = None;
                match read {
                    Some(read) => TopEvent::Snapshot(read.map_err(|error| error.to_string())),
                    None => continue,
                }
            }
            () = &mut subscribing, if !is_subscribed => {
                is_subscribed = true;
                TopEvent::Changed
            }
            () = changed(&mut notifications) => TopEvent::Changed,
            _ = ticks.tick() => TopEvent::Tick,
        };
        match state.update(event) {
            TopAction::Draw => {}
            TopAction::Refresh => reading = Some(Box::pin(TopSnapshot::read(connection))),
            TopAction::Redraw => screen.clear()?,
            TopAction::Leave => return Ok(()),
            TopAction::Interrupt => return Err(CommandError::Interrupted),
        }
    }
}

/// Subscribes to what the view shows. Without subscriptions it still refreshes by the clock.
async fn subscribe(connection: &ServerConnection) {
    for uri in [MOUNTS, CLIENTS, SUBSCRIPTIONS] {
        if let Err(error) = connection.client.subscribe(uri).await {
            tracing::debug!("no subscription to {uri}: {error}");
        }
    }
}

/// Waits for a change of a resource; for ever once the connection is closed.
async fn changed(notifications: &mut NotificationReceiver) {
    while let Some(notification) = notifications.next().await {
        if is_about_resources(&notification.kind) {
            return;
        }
    }
    std::future::pending().await
}
