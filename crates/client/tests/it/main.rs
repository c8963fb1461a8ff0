//! Stub?
