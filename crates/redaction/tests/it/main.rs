//! Integration tests of the redaction crate.

mod corpus;
mod formats;
mod hostile;
mod linear_time;
mod other_formats;
mod properties;
mod quality;
mod secret_maps;
