//! How do messages reach us and leave us?

mod conversation;
pub mod http;
pub mod stdio;
