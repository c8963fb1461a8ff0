//! Machinery that several crates need and that knows nothing of resources: cache, single flight,
//! backoff, packing of cursors, bounded globs, and a pool for blocking work.

pub mod backoff;
pub mod cache;
pub mod glob;
pub mod memory_budget;
pub mod pack;
pub mod single_flight;
pub mod work_pool;

pub use backoff::Backoff;
pub use cache::{Cache, CacheBounds, CacheLifetime, RequiredFreshness};
pub use glob::{GlobError, PathGlob, PathGlobSet};
pub use memory_budget::{MemoryBudget, MemoryHold, MemoryShares};
pub use pack::{Packer, Unpacker};
pub use single_flight::{Flight, FlightRole, SingleFlight};
pub use work_pool::{FairSemaphore, SharePermit, WorkPool, WorkRefusal, WorkSignal};
