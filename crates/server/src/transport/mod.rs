//! Transports: stdio and HTTP, and the client-facing side of a request.

pub(crate) mod caller;
mod conversation;
pub(crate) mod guest;
pub mod http;
pub mod stdio;

use tokio::sync::watch;

/// Waits until `signal` is true or its sender is dropped.
async fn over(signal: &mut watch::Receiver<bool>) {
    let _ = signal.wait_for(|over| *over).await;
}
