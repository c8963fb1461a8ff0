//! Waits a short time for a server that is starting, so that a slow one holds up no list.

use std::time::Duration;

use client::{Client, State};
use resource::{Error, Result};
use tokio::time;

/// A server that may not have connected yet, and how long a list waits for it.
#[derive(Clone)]
pub(super) struct StartingServer {
    pub(super) client: Client,
    pub(super) wait: Duration,
}

impl StartingServer {
    /// Connects if there is no connection yet, and waits for it a short time. The attempt goes on
    /// after that, and the client reports a change of all lists when it succeeds.
    pub(super) async fn wait_until_up(&self) -> Result<()> {
        let status = self.client.status();
        if !matches!(status.borrow().state, State::Starting) {
            return Ok(());
        }
        if time::timeout(self.wait, self.client.peer()).await.is_ok() {
            // An error is for the request itself to meet, and to word.
            return Ok(());
        }
        self.client.announce_first_connection();
        // It may have connected just before, and then announces nothing.
        match status.borrow().state {
            State::Ready(_) => Ok(()),
            State::Starting | State::Failed(_) => {
                Err(Error::unavailable("the server is still starting"))
            }
        }
    }
}
