//! Archives: lists the members of zip and tar files and opens them, over positioned reads.
//!
//! Pure parsing: no files, no tasks, no clock. Every bound is checked before the memory is taken,
//! and nothing that an archive says of itself is trusted. A new kind of container (a mailbox, say)
//! is one more [`Container`].

#![warn(missing_docs)]

mod container;
mod error;
mod index;
mod mail;
mod member_path;
mod member_stream;
mod source;
mod tar;
mod zip;

pub use container::{ArchiveKind, Container, Indexing, IndexingStep};
pub use error::ArchiveError;
pub use index::{Member, MemberBarrier, MemberIndex, MemberLocation};
pub use member_stream::MemberStream;
pub use source::{PositionedRead, SourceReader, SourceSection};

/// The most members of an archive.
pub const MAX_MEMBERS: usize = 100_000;
/// The most bytes of one member.
pub const MAX_MEMBER_BYTES: u64 = 1 << 30;
/// The most bytes that one pass over a compressed archive unpacks.
pub const MAX_UNPACKED_BYTES: u64 = 4 << 30;
/// The most bytes of the table of a zip, and of all names of an archive.
pub const MAX_TABLE_BYTES: u64 = 64 << 20;
