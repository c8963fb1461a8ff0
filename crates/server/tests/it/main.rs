//! Integration tests of the server: whole conversations over stdio and HTTP.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test that fails may say so by panicking"
)]

mod audit;
mod client_requests;
mod clients;
mod components;
mod connection_threads;
mod conversations;
mod explorer;
mod few_places;
mod filters;
mod fixture;
mod grep;
mod half_closed;
mod http_handshake;
mod http_stateless;
mod isolation;
mod lean;
mod limits;
mod listen;
mod memory_limits;
mod schema;
mod sep2093;
mod shares;
mod short_reads;
mod skills;
mod sse_client;
mod stdio;
mod subscribe;
mod tls;
mod tokens;
mod tool_bounds;
mod tool_host;
mod tools;
mod watch_tools;
mod windows;
mod windows_join;
mod work_limits;
