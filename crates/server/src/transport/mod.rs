//! Transports: stdio and HTTP, and the client-facing side of a request.

pub(crate) mod client_session;
mod duplex_connection;
pub(crate) mod fair_share;
pub mod http;
mod pipe_audit;
pub(crate) mod request_caller;
pub mod stdio;

use tokio::sync::watch;

/// Waits until `signal` is true or its sender is dropped.
async fn wait_for_signal(signal: &mut watch::Receiver<bool>) {
    let _ = signal.wait_for(|over| *over).await;
}
