//! What can go wrong, in as few kinds as a caller would tell apart?
//!
//! `message` may be shown to a stranger; whatever must stay inside (paths, replies of other
//! servers) belongs in `source`, which only the log sees.

use std::borrow::Cow;

use crate::relay::Json;
use crate::uri::Uri;

/// What every provider, layer and catalog answers with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A failure: its kind, words for the caller, and the cause for the log.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What sort of failure it is.
    pub kind: ErrorKind,
    /// Words that a stranger may read: lower case, no period, no paths of this machine.
    pub message: Cow<'static, str>,
    /// The resource it is about.
    pub uri: Option<Uri>,
    /// Facts that a program can act on, such as the etag that is now right.
    pub facts: Vec<(&'static str, String)>,
    /// What a server behind us said itself, where that is passed on.
    pub said: Option<Box<Said>>,
    #[source]
    source: Option<Source>,
}

/// An error in the words of a server behind us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its code.
    pub code: i64,
    /// Its words.
    pub message: String,
    /// Whatever else it says.
    pub data: Option<Json>,
}

/// The kinds of failure, each of which a caller answers differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No such resource, or none for this caller.
    NotFound,
    /// It may be known of, but not read.
    Denied,
    /// A URI, cursor, window or argument that makes no sense.
    Invalid,
    /// This provider has no such ability.
    Unsupported,
    /// Over the mount's limit; the message says how to ask for a window.
    TooLarge,
    /// It is no longer the version that the caller pinned.
    Changed,
    /// It cannot be had without asking somebody who is not there to be asked.
    NeedsInput,
    /// The source cannot be reached just now; asking again may help.
    Unavailable,
    /// A fault of ours.
    Internal,
}

impl Error {
    /// A failure of `kind` in these words.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        let (message, facts) = (message.into(), Vec::new());
        Self { kind, message, uri: None, facts, said: None, source: None }
    }

    /// There is no `uri`.
    pub fn not_found(uri: &Uri) -> Self {
        Self::new(ErrorKind::NotFound, "resource not found").about(uri)
    }

    /// What was asked makes no sense, for the reason given.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// The source cannot be reached just now.
    pub fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// A fault of ours.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// What a server behind us answered a call with.
    pub fn said(said: Said) -> Self {
        let error = Self::invalid("the server behind this mount refused");
        Self { said: Some(Box::new(said)), ..error }
    }

    /// A cursor that was not made here, or is no longer of use.
    pub fn bad_cursor() -> Self {
        Self::invalid("this cursor is not valid here; list again from the start, without a cursor")
    }

    /// More bytes than may be read at once; the words say how to ask for less.
    pub fn too_large(size: u64, limit: u64) -> Self {
        let message = format!(
            "this resource is {size} bytes, more than the {limit} that may be read at once; \
             read it in windows, the first being offset 0, length {limit}"
        );
        let error = Self::new(ErrorKind::TooLarge, message);
        error.with("size", size.to_string()).with("limit", limit.to_string())
    }

    /// Another version than the one that was pinned; `etag` is what it is now.
    pub fn changed(etag: impl Into<String>) -> Self {
        let message = "the resource has changed and is no longer the version asked for";
        Self::new(ErrorKind::Changed, message).with("etag", etag)
    }

    /// Names the resource it is about.
    #[must_use]
    pub fn about(mut self, uri: &Uri) -> Self {
        self.uri = Some(uri.clone());
        self
    }

    /// Adds a fact that a program can act on.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.facts.push((name, value.into()));
        self
    }

    /// Keeps the cause for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Source>) -> Self {
        self.source = Some(source.into());
        self
    }
}
