//! Benchmarks of refdesk: against a minimal rmcp server and nginx, against itself, and as a gateway.

pub mod command_bench;
pub mod document_bench;
pub mod gateway_bench;
pub mod git_bench;
pub mod index_bench;
pub mod notification_bench;
pub mod options;
pub mod peer_bench;
pub mod report;
pub mod scaling_bench;
pub mod search_bench;
pub mod soak;
pub mod test_data;

mod dirwatch;
mod document_set;
mod fastmcp;
mod fixture;
mod http;
mod load_client;
mod measure;
mod message;
mod nginx;
mod process_usage;
mod server_process;
mod soak_attackers;
mod soak_clients;
mod soak_setup;
mod sse;
mod stdio_pipe;
mod verify;
