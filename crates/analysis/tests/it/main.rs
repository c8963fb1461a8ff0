//! Tests of text analysis through its public interface.

mod query;
