//! What do other servers have, and how does it become ours?

pub mod relay;
