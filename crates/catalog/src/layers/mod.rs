//! Layers (middleware): providers that wrap a provider.
//!
//! Policy belongs here, never as an `if` in a provider.

pub mod bounded;
pub mod ruled;
pub mod timed;
