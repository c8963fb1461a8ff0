//! Test support shared by all crates: provider contract, in-memory provider, small documents,
//! repository lints, fuzzing.
//!
//! Never part of the program.

pub mod contract;
pub mod documents;
pub mod fuzz;
pub mod house;
pub mod memory;

pub use contract::{Expectations, contract};
pub use fuzz::FuzzTarget;
pub use memory::MemoryProvider;

/// The context of a request that the local principal makes.
pub fn local_context() -> resource::Context {
    resource::Context::new(resource::Principal::local())
}

/// The contexts of two principals, for what must hold whoever asks.
pub fn two_contexts() -> [resource::Context; 2] {
    let others = resource::Principal::authenticated("other");
    [local_context(), resource::Context::new(others)]
}
