//! End-to-end tests of the `refdesk` program.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod actor;
mod actor_http;
mod codes;
mod compositor;
mod eras;
mod faults;
mod front;
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
mod walks;
mod watching;
mod windows;
