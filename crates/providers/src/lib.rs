//! Providers: the sources of resources, one module each.

mod feed;
pub mod fs;
pub mod statics;
pub mod upstream;
mod vigil;
