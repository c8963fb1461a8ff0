//! The catalog: a composite provider that merges many mounted providers into one.
//!
//! The catalog is itself a provider, so the server need not know how many there are. It knows no
//! concrete provider, no JSON and no sockets.

#![warn(missing_docs)]

mod access;
pub mod address;
mod catalog;
mod changes;
mod components;
pub mod layers;
mod memo;
mod merge;
mod mount;
mod prefetch;
mod search;
mod skills;
mod tool_name;

pub use access::{AccessRule, AccessRules, MethodClass};
pub use address::Address;
pub use catalog::Catalog;
pub use layers::ruled::{MetadataRule, MetadataRules, RuleEffect};
pub use layers::selected::ToolSelection;
pub use mount::{Mount, MountOptions};
