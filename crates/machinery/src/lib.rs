//! Machinery that several crates need and that knows nothing of resources: cache, single flight,
//! backoff, packing of cursors.

pub mod backoff;
pub mod cache;
pub mod memory_budget;
pub mod pack;
pub mod single_flight;

pub use backoff::Backoff;
pub use cache::{Cache, CacheBounds, CacheLifetime, RequiredFreshness};
pub use memory_budget::{MemoryBudget, MemoryHold, MemoryShares};
pub use pack::{Packer, Unpacker};
pub use single_flight::{Flight, FlightRole, SingleFlight};
