//! Integration tests of the client: scripted servers, child processes, refdesk, rmcp.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod asking;
mod children;
mod eras_http;
mod eras_pipes;
mod http;
mod lossless;
mod older;
mod pages;
mod refdesk;
mod rmcp;
mod site;
mod stage;
mod standing;
mod watching;
mod watching_http;
