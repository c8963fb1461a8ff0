//! End-to-end tests of the `refdesk` program.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod access;
mod codes;
mod compositor;
mod descriptors;
mod eras;
mod fake_server;
mod fake_server_http;
mod faults;
mod first_contact;
mod grep;
mod hostile;
mod live;
mod lossless;
mod memory;
mod person;
mod program;
mod program_life;
mod rmcp;
mod rmcp_changes;
mod served;
mod slow_start;
mod spoilers;
mod state_files;
mod states;
mod tasks;
mod test_client;
mod torn_reads;
mod walks;
mod watching;
mod windows;
