//! Log of the servers behind mounts: when each connects, fails and connects again.

use std::borrow::Cow;
use std::sync::Arc;

use client::{ConnectionStatus, State};
use redaction::{Redaction, RedactionScope, Redactor, Syntax};
use tokio::sync::watch;

use crate::output::one_line;

/// The log of one connection.
pub(super) struct ConnectionLog {
    /// The name of the mount.
    name: String,
    status: watch::Receiver<ConnectionStatus>,
    /// Masks what the server says of itself, where its mount masks something.
    redactor: Option<Arc<Redactor>>,
}

impl ConnectionLog {
    pub(super) fn new(
        name: &str,
        status: watch::Receiver<ConnectionStatus>,
        redaction: &Redaction,
    ) -> Self {
        let masks = redaction.scope() != RedactionScope::Off;
        let redactor = masks.then(|| Arc::clone(redaction.redactor()));
        Self { name: name.to_owned(), status, redactor }
    }

    /// Logs the changes of the connection until the mount is dropped.
    pub(super) async fn follow(mut self) {
        let name = self.name.clone();
        let mut failure: Option<String> = None;
        loop {
            let state = self.status.borrow_and_update().state.clone();
            match state {
                State::Starting => {}
                State::Ready(server) => {
                    let said = server.name.as_deref().unwrap_or("a server without a name");
                    let server = format!("{} (revision {})", self.shown(said), server.revision());
                    match failure.take() {
                        None => tracing::info!("mount {name}: connected to {server}"),
                        Some(_) => tracing::warn!("mount {name}: connected again to {server}"),
                    }
                }
                // Each attempt fails for the same reason; one line is enough.
                State::Failed(error) => {
                    let why = error.to_string();
                    if failure.as_ref() != Some(&why) {
                        let told = self.shown(&why);
                        tracing::warn!(
                            "mount {name}: {told}; refdesk tries again when it is needed"
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

    /// A text of the server, masked if need be, on one line.
    fn shown(&self, text: &str) -> String {
        let masked = match &self.redactor {
            Some(redactor) => redactor.mask(text, Syntax::Text),
            None => Cow::Borrowed(text),
        };
        one_line(&masked)
    }
}
