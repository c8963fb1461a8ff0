//! What do the tests of every room share? Never a part of the program.

pub mod contract;
pub mod house;
pub mod memory;

pub use contract::{Known, contract};
pub use memory::Memory;
