//! Tests of embedding models, of the vector store, and of the remote embedder.

mod hostile_models;
mod install;
mod remote;
mod scripted_server;
mod search;
mod static_model;
mod store;
mod store_crash;
mod tiny_model;
