//! How do messages reach us and leave us?

pub(crate) mod caller;
mod conversation;
pub(crate) mod guest;
pub mod http;
pub mod stdio;

use tokio::sync::watch;

/// Waits until `signal` is true, or can no longer become so.
async fn over(signal: &mut watch::Receiver<bool>) {
    let _ = signal.wait_for(|over| *over).await;
}
