//! Errors of archives: what is wrong with one, or with one of its members.

use std::io;

/// Why an archive or one of its members cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The archive breaks its format.
    #[error("the archive is damaged: {0}")]
    Damaged(&'static str),
    /// The member is encrypted.
    #[error("this member is protected by a password")]
    Protected,
    /// The archive uses what this program cannot read.
    #[error("{0}")]
    Unsupported(String),
    /// The archive or the member is over a bound.
    #[error("{0}")]
    TooLarge(String),
    /// The source failed.
    #[error("the archive cannot be read")]
    Source(#[source] io::Error),
}

impl From<io::Error> for ArchiveError {
    /// Decoders report what they cannot decode as invalid input; everything else is the source's.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Damaged("its compressed data makes no sense")
            }
            io::ErrorKind::OutOfMemory => Self::TooLarge(
                "this archive takes more memory to unpack than the bound of 33 MiB".to_owned(),
            ),
            _ => Self::Source(error),
        }
    }
}
