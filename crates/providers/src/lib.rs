//! Where do resources come from? A folder each.

mod feed;
pub mod fs;
pub mod statics;
pub mod upstream;
mod vigil;
