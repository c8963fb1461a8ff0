//! What does each method do? A file a family.

pub(crate) mod collection;
pub(crate) mod completion;
pub(crate) mod relay;
pub(crate) mod resources;
pub(crate) mod subscriptions;
