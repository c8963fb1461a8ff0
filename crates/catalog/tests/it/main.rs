//! Many providers as one, and what stands around each of them.

mod catalog;
mod layers;
