//! How does each thing look as JSON?
//!
//! One file a subject. What a revision does not know is left out here, and nowhere else.

pub mod capability;
pub mod contents;
pub mod embedded;
pub(crate) mod extra;
pub(crate) mod offer;
pub mod outcome;
pub mod resource;
pub mod template;
