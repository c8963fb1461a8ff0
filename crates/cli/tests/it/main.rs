//! The program as a person runs it.
