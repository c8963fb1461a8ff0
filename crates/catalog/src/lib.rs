//! How do many providers become one?
//!
//! The catalog is itself a provider, so nobody above it asks whether there is one or twenty.
//! It knows no concrete provider, no JSON and no sockets.

#![warn(missing_docs)]

pub mod address;
mod ahead;
mod catalog;
mod changes;
mod label;
pub mod layers;
mod memo;
mod merge;
mod mount;
mod offers;

pub use address::Address;
pub use catalog::Catalog;
pub use layers::ruled::{Effect, Rule, Rules};
pub use mount::{Mount, Terms};
