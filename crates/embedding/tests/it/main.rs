//! Tests of embedding models, of the vector store, and of the remote embedder.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod hostile_models;
mod install;
mod remote;
mod scripted_server;
mod search;
mod static_model;
mod store;
mod store_crash;
mod tiny_model;
