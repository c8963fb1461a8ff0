//! Providers: the sources of resources, one module each.

mod change_channel;
pub mod config;
pub mod docs;
pub mod env;
mod file_watch;
pub mod fs;
pub mod git;
mod list_page;
mod memory_content;
mod permits;
mod repeated_text;
pub mod statics;
pub mod upstream;
mod visibility_rule;

pub use visibility_rule::VisibilityRule;
