//! The error of this crate, with a kind for each thing that a person does about it.

use std::io;

/// Why there are no vectors. Messages name files by their name alone, never by their path.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A model's folder lacks a file.
    #[error("the model is missing: {0}")]
    ModelMissing(String),
    /// A file of a model is not what it should be.
    #[error("the model is broken: {file}: {reason}")]
    ModelBroken {
        /// The file's name in the model's folder.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of a model is larger than the limit.
    #[error("the model is too large: {file} has more than {max} bytes")]
    ModelTooLarge {
        /// The file's name in the model's folder.
        file: String,
        /// The limit.
        max: u64,
    },
    /// A model of this name is already there.
    #[error("a model is already installed as {0:?}; remove it first")]
    ModelExists(String),
    /// The tokenizer fails on a text.
    #[error("the tokenizer fails: {0}")]
    Tokenizer(String),
    /// A setting or an argument is invalid.
    #[error("invalid: {0}")]
    Invalid(String),
    /// The embeddings server is unreachable, overloaded or slow. A retry later may succeed.
    #[error("the embeddings server is unavailable: {0}")]
    Unavailable(String),
    /// The embeddings server refuses the request.
    #[error("the embeddings server refuses (HTTP {status}): {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server says, shortened.
        message: String,
    },
    /// The answer of the embeddings server is not what was asked for.
    #[error("the answer of the embeddings server is invalid: {0}")]
    InvalidAnswer(String),
    /// The cost bound does not allow more.
    #[error(
        "the cost bound is reached: {used} of {max} characters are sent, {wanted} more are needed"
    )]
    CostBound {
        /// Characters sent so far.
        used: u64,
        /// The bound.
        max: u64,
        /// Characters that the refused request has.
        wanted: u64,
    },
    /// Another process writes to the vector store.
    #[error("another process writes to the vector store")]
    StoreLocked,
    /// A record of the vector store changed on disk after it was read.
    #[error("the vector store is damaged: {0}")]
    StoreDamaged(String),
    /// A file cannot be read or written.
    #[error("cannot {action}: {source}")]
    Io {
        /// What the program was doing.
        action: String,
        /// The system's error.
        source: io::Error,
    },
}

impl EmbedError {
    /// Whether the same call may succeed later without any change to settings or files.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::StoreLocked)
    }

    pub(crate) fn broken(file: &str, reason: impl Into<String>) -> Self {
        Self::ModelBroken { file: file.to_owned(), reason: reason.into() }
    }

    /// Wraps a system error, with the `action` that met it.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}
