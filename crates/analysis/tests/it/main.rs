//! Tests of text analysis through its public interface.

mod linear_time;
mod passages;
mod query;
mod terms;
mod words;
