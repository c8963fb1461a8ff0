//! Integration tests of the subscription hub.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod hub;
