//! Benchmarks of refdesk: against a minimal rmcp server, against itself, and as a gateway.

pub mod content;
pub mod itself;
pub mod listening;
pub mod options;
pub mod report;
pub mod search;
pub mod through;
pub mod versus;

mod child;
mod dirwatch;
mod events;
mod fixture;
mod gateway;
mod http;
mod load;
mod measure;
mod message;
mod pipe;
mod usage;
mod verify;
