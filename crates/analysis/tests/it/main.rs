//! Tests of text analysis through its public interface.

mod passages;
mod query;
