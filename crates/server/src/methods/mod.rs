//! Handlers of the MCP methods, one file per family.

pub(crate) mod baskets;
pub(crate) mod collection_content;
pub(crate) mod completion;
pub(crate) mod components;
pub(crate) mod resources;
pub(crate) mod skills;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
