//! How does one change reach many subscribers?

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod hub;
