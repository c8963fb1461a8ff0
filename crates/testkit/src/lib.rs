//! Test support shared by all crates: provider contract, in-memory provider, repository lints.
//!
//! Never part of the program.

pub mod contract;
pub mod house;
pub mod memory;

pub use contract::{Expectations, contract};
pub use memory::MemoryProvider;
