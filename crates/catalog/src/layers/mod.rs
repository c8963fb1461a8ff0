//! What stands between a provider and whoever asks it?
//!
//! A layer is a provider around a provider. Policy lives here, never as an `if` in a provider.

pub mod bounded;
pub mod ruled;
pub mod timed;
