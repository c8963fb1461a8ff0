//! Tests of the doctor against a correct server, and against servers with one fault each.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod base_server;
mod broken_lists;
mod broken_messages;
mod broken_reads;
mod broken_stateless;
mod broken_tools;
mod broken_wire_http;
mod broken_wire_sse;
mod cases;
mod change;
mod docs;
mod faults;
mod hostile;
mod http_server;
mod pipe_server;
mod rendering;
mod sse_server;
mod tolerated;
