//! End-to-end tests of the `refdesk` program.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod access;
mod codes;
mod compositor;
mod eras;
mod fake_server;
mod fake_server_http;
mod faults;
mod grep;
mod hostile;
mod live;
mod lossless;
mod memory;
mod person;
mod program;
mod rmcp;
mod rmcp_changes;
mod served;
mod states;
mod test_client;
mod walks;
mod watching;
mod windows;
