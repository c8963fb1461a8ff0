//! Integration tests of the catalog and its layers.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod access;
mod access_contents;
mod access_lists;
mod access_traces;
mod catalog;
mod changes;
mod components;
mod layers;
mod redacted;
mod redacted_messages;
mod redacted_work;
mod rendered;
mod rendered_alternates;
mod rendered_secrets;
mod ruled;
mod skills;
mod unpacked;
mod unpacked_bounds;
mod unpacked_changes;
mod withheld;
