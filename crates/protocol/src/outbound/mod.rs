//! What this server sends to other MCP servers, and what they send back.

pub mod components;
pub mod decode;
pub mod input_request;
pub mod peer;
pub mod request;
pub mod response;
pub mod result_text;
pub mod task;
pub mod uri_rewrite;
