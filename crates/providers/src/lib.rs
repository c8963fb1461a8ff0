//! Where do resources come from? A folder each.

pub mod fs;
pub mod statics;
pub mod upstream;
mod vigil;
