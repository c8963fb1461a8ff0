//! Many providers as one, and what stands around each of them.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod catalog;
mod changes;
mod layers;
mod offers;
