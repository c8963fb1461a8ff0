//! The catalog: a composite provider that merges many mounted providers into one.
//!
//! The catalog is itself a provider, so the server need not know how many there are. It knows no
//! concrete provider, no JSON and no sockets.

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
