//! JSON encoding of resources, templates, content and capabilities.
//!
//! One file per subject. Members that the client's revision does not define are left out here, and
//! nowhere else.

pub mod capability;
pub mod contents;
pub mod embedded;
pub(crate) mod extra;
pub(crate) mod offer;
pub mod outcome;
pub mod resource;
pub mod template;
