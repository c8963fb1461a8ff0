//! What MCP clients send this server, and what it sends back.

pub mod call;
pub(crate) mod common_members;
pub(crate) mod escaped_texts;
pub mod listen_filter;
pub mod notice;
pub mod prompt;
pub mod refusal;
pub mod reply;
pub mod request_meta;
pub mod row_cache;
pub mod shape;
pub mod tool;
