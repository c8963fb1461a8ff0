//! Log of the servers behind mounts: when each connects, fails and connects again.

use client::{ConnectionStatus, State};
use redaction::{Redaction, RedactionScope, Syntax};
use tokio::sync::watch;

use crate::output::one_line;

/// The log of one connection. It masks what the server says of itself, as the mount does.
pub(super) struct ConnectionLog {
    pub(super) name: String,
    pub(super) redaction: Redaction,
    pub(super) status: watch::Receiver<ConnectionStatus>,
}

impl ConnectionLog {
    /// Logs the changes of the connection until the mount is dropped.
    pub(super) async fn follow(mut self) {
        let mut failure: Option<String> = None;
        loop {
            let state = self.status.borrow_and_update().state.clone();
            let name = &self.name;
            match state {
                State::Starting => {}
                State::Ready(server) => {
                    let said = server.name.as_deref().unwrap_or("a server without a name");
                    let server = format!("{} (revision {})", self.masked(said), server.revision());
                    match failure.take() {
                        None => tracing::info!("mount {name}: connected to {server}"),
                        Some(_) => tracing::warn!("mount {name}: connected again to {server}"),
                    }
                }
                // Each attempt fails for the same reason; one line is enough.
                State::Failed(error) => {
                    let why = self.masked(&error.to_string());
                    if failure.as_ref() != Some(&why) {
                        tracing::warn!(
                            "mount {name}: {why}; refdesk tries again when it is needed"
                        );
                        failure = Some(why);
                    }
                }
            }
            if self.status.changed().await.is_err() {
                return;
            }
        }
    }

    fn masked(&self, text: &str) -> String {
        match self.redaction.scope() {
            RedactionScope::Off => one_line(text),
            // Masked before it is cut: half a secret would not be recognized.
            _ => one_line(&self.redaction.redactor().mask(text, Syntax::Text)),
        }
    }
}
