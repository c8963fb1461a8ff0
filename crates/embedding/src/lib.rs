//! Text embeddings: models that turn text into vectors, and a store that searches vectors.
//!
//! A caller embeds passages with an [`Embedder`], keeps them in a [`VectorStore`], and merges the
//! hits with those of another search by [`fuse`]. This crate knows nothing of resources.

pub mod embedder;
pub mod error;
pub mod fusion;
pub mod model;
pub mod remote;
pub mod store;

pub use embedder::{EmbedKind, Embedder};
pub use error::EmbedError;
pub use fusion::{RankedList, fuse};
pub use model::{ModelInstallProgress, ModelSummary, StaticModel, check_model, install_model};
pub use remote::{CostBound, EmbedCost, RemoteEmbedder, RemoteOptions};
pub use store::{VectorStore, VectorStoreAccess, VectorStoreOpening};
