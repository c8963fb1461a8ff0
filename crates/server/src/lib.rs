//! How does a provider answer strangers?
//!
//! It is handed a provider and serves it; whether that is one source or twenty it cannot tell.
//! It reads no settings and no environment.

mod dispatch;
mod exchange;
mod lifecycle;
mod limits;
mod methods;
mod mirrored;
mod pace;
mod progress;
mod reminder;
mod server;
mod tools;
pub mod transport;
mod watchers;
pub mod window;

pub use limits::Limits;
pub use server::{Collections, Server};
pub use watchers::Watchers;
