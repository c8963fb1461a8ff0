//! Handlers of the MCP methods, one file per family.

pub(crate) mod collection;
pub(crate) mod completion;
pub(crate) mod relay;
pub(crate) mod resources;
pub(crate) mod subscriptions;
