//! Integration tests of the server: whole conversations over stdio and HTTP.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test that fails may say so by panicking"
)]

mod apart;
mod asking;
mod conversations;
mod desk;
mod events;
mod filters;
mod grep;
mod http_handshake;
mod http_stateless;
mod limits;
mod listening;
mod offers;
mod pipe;
mod schema;
mod sep2093;
mod subscribing;
mod thrifty;
mod tools;
mod tools_watching;
mod windows;
mod windows_join;
