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
mod git_history;
mod grep;
mod host_config;
mod hostile;
mod import;
mod live;
mod lossless;
mod memory;
mod mount_faults;
mod mount_names;
mod own_server;
mod person;
mod program;
mod program_life;
mod request_log;
mod rmcp;
mod rmcp_changes;
mod served;
mod slow_start;
mod spoilers;
mod state_files;
mod states;
mod tasks;
mod test_client;
mod tool_selection;
mod torn_reads;
mod trace;
mod troubleshooting;
mod walks;
mod watching;
mod web_pages;
mod windows;
