//! Log of the servers behind mounts: when each connects, fails and connects again.

use client::{ConnectionStatus, State};
use tokio::sync::watch;

use crate::output::one_line;

/// Logs the changes of a connection until the mount is dropped.
pub(super) async fn log_connection(name: String, mut status: watch::Receiver<ConnectionStatus>) {
    let mut failure: Option<String> = None;
    loop {
        let state = status.borrow_and_update().state.clone();
        match state {
            State::Starting => {}
            State::Ready(server) => {
                let said = server.name.as_deref().unwrap_or("a server without a name");
                let server = format!("{} (revision {})", one_line(said), server.revision());
                match failure.take() {
                    None => tracing::info!("mount {name}: connected to {server}"),
                    Some(_) => tracing::warn!("mount {name}: connected again to {server}"),
                }
            }
            // Each attempt fails for the same reason; one line is enough.
            State::Failed(error) => {
                let why = error.to_string();
                if failure.as_ref() != Some(&why) {
                    let told = one_line(&why);
                    tracing::warn!("mount {name}: {told}; refdesk tries again when it is needed");
                    failure = Some(why);
                }
            }
        }
        if status.changed().await.is_err() {
            return;
        }
    }
}
