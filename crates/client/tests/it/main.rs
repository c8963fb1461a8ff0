//! Integration tests of the client: scripted servers, child processes, refdesk, rmcp.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod children;
mod http;
mod http_sse;
mod lossless;
mod memory;
mod negotiation_http;
mod negotiation_pipes;
mod refdesk;
mod requests;
mod rmcp;
mod scripted_http;
mod scripted_pipe;
mod status;
mod subscriptions;
mod subscriptions_http;
mod trace;
