//! Providers: the sources of resources, one module each.

mod change_channel;
mod file_watch;
pub mod fs;
pub mod git;
pub mod statics;
pub mod upstream;
