//! JSON encoding of resources, templates, content and capabilities.
//!
//! One file per subject. Members that the client's revision does not define are left out here, and
//! nowhere else.

pub mod capabilities;
pub mod client_status;
pub(crate) mod component;
pub mod contents;
pub mod embedded;
pub(crate) mod iso_date;
pub mod relayed_result;
pub mod resource;
pub(crate) mod resource_meta;
pub mod skill;
pub mod template;
pub(crate) mod unknown_members;
