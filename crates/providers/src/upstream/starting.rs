//! Bounds how long a list waits for a server without a connection, so that a slow one holds up no
//! list.

use std::time::Duration;

use client::{Client, State};
use resource::{Error, Result};
use tokio::time;

use super::error_mapping::public_error;

/// A server that may have no connection, and how long a list waits for one.
#[derive(Clone)]
pub(super) struct StartingServer {
    pub(super) client: Client,
    pub(super) wait: Duration,
}

impl StartingServer {
    /// Runs a request for a list. Gives up once the server has had no connection for the time that
    /// a list waits, be it that it starts, that it failed, or that it is lost. The attempt to connect
    /// goes on after that, and the client reports a change of all lists when it succeeds.
    pub(super) async fn limit_wait<T>(
        &self,
        list: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        tokio::select! {
            biased;
            listed = list => listed,
            error = self.wait_in_vain() => Err(error),
        }
    }

    /// Returns once the server has had no connection for the time that a list waits.
    async fn wait_in_vain(&self) -> Error {
        let mut status = self.client.status();
        loop {
            let lost = status.wait_for(|status| !matches!(status.state, State::Ready(_)));
            if lost.await.is_err() {
                return Error::unavailable("the mount of this server is gone");
            }
            let connected = status.wait_for(|status| matches!(status.state, State::Ready(_)));
            if time::timeout(self.wait, connected).await.is_ok() {
                continue;
            }
            self.client.announce_first_connection();
            // It may have connected just before, and then announces nothing.
            match &status.borrow().state {
                State::Ready(_) => {}
                State::Starting => return Error::unavailable("the server is still starting"),
                State::Failed(failure) => return public_error(failure.clone()),
            }
        }
    }
}
