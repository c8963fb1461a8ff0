//! The error type, with as few kinds as a caller handles differently.
//!
//! Any client may see `message`. What must stay internal (paths, replies of other servers)
//! belongs in `source`, which only the log shows.

use std::borrow::Cow;

use crate::plain_text::one_line;
use crate::relay::Json;
use crate::uri::Uri;

/// The result of every provider, layer and catalog.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type ErrorCause = Box<dyn std::error::Error + Send + Sync>;

/// A failure: its kind, a message for the caller, and the cause for the log.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of failure.
    pub kind: ErrorKind,
    /// A message that any client may see: lower case, no period, no paths of this machine.
    pub message: Cow<'static, str>,
    /// The resource it is about.
    pub uri: Option<Uri>,
    /// Facts that a program can act on, such as the current etag.
    pub facts: Vec<(&'static str, String)>,
    /// The formats that there are, where none of the wanted ones is.
    pub formats: Box<[String]>,
    /// The upstream server's own error, if it is passed on.
    pub upstream: Option<Box<UpstreamError>>,
    #[source]
    source: Option<ErrorCause>,
}

/// A JSON-RPC error that an upstream server returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamError {
    /// The error code.
    pub code: i64,
    /// The error message.
    pub message: String,
    /// The error's `data` member.
    pub data: Option<Json>,
}

/// The kinds of failure, each of which a caller handles differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The resource does not exist, or not for this caller.
    NotFound,
    /// The resource exists, but the caller may not read it.
    Denied,
    /// A URI, cursor, window or argument is invalid.
    Invalid,
    /// This provider lacks the ability.
    Unsupported,
    /// The resource is over the mount's limit; the message says how to read a window.
    TooLarge,
    /// The resource is no longer the version that the caller pinned.
    Changed,
    /// The source needs input from the client first, and this request cannot ask for it.
    NeedsInput,
    /// The source is unreachable now; a retry may succeed.
    Unavailable,
    /// A bug or failure in this program.
    Internal,
}

impl Error {
    /// The message and every cause behind it, in one line, for the log.
    pub fn with_causes(&self) -> String {
        let mut line = self.message.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let told = error.to_string();
            if !line.ends_with(&told) {
                line = format!("{line}: {told}");
            }
            cause = error.source();
        }
        one_line(&line).into_owned()
    }

    /// The cause behind all others, or the message if there is none, in one line, for the log.
    pub fn last_cause(&self) -> String {
        let mut last: &dyn std::error::Error = self;
        while let Some(cause) = last.source() {
            last = cause;
        }
        one_line(&last.to_string()).into_owned()
    }

    /// The cause behind all others, then `what` it led to and the message, in one line, for the log.
    pub fn cause_first(&self, what: &str) -> String {
        let (cause, told) = (self.last_cause(), one_line(&self.message));
        match told.ends_with(&cause) {
            true => format!("{what}: {told}"),
            false => format!("{cause}, so {what}: {told}"),
        }
    }

    /// Creates an error of `kind` with this message.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        let (message, facts) = (message.into(), Vec::new());
        let formats = Box::default();
        Self { kind, message, uri: None, facts, formats, upstream: None, source: None }
    }

    /// `uri` does not exist.
    pub fn not_found(uri: &Uri) -> Self {
        Self::new(ErrorKind::NotFound, "resource not found").about(uri)
    }

    /// The request is invalid, for the reason in the message.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// The source is unreachable now.
    pub fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// A bug or failure in this program.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Wraps the error that an upstream server returned.
    pub fn from_upstream(upstream: UpstreamError) -> Self {
        Self::invalid("the upstream server returned an error").with_upstream(upstream)
    }

    /// Attaches the error that an upstream server returned, for the client.
    #[must_use]
    pub fn with_upstream(mut self, upstream: UpstreamError) -> Self {
        self.upstream = Some(Box::new(upstream));
        self
    }

    /// The memory limit is reached; the same request may succeed later.
    pub fn out_of_memory() -> Self {
        Self::unavailable("the server's memory limit is reached; try again in a moment")
    }

    /// The cursor is not from this list, or no longer valid.
    pub fn bad_cursor() -> Self {
        Self::invalid("this cursor is not valid here; list again from the start, without a cursor")
    }

    /// The resource is larger than one read may return; the message says how to read a window.
    pub fn too_large(size: u64, limit: u64) -> Self {
        let message = format!(
            "this resource is {size} bytes, over the limit of {limit} bytes per read; \
             read it in windows, starting with offset 0, length {limit}"
        );
        let error = Self::new(ErrorKind::TooLarge, message);
        error.with_fact("size", size.to_string()).with_fact("limit", limit.to_string())
    }

    /// None of the wanted formats exists; `formats` are the ones that do.
    pub fn no_format(formats: Vec<String>) -> Self {
        let message = format!("no accepted format; there are {}", formats.join(", "));
        Self::invalid(message).with_formats(formats)
    }

    /// Names the formats that there are.
    #[must_use]
    pub fn with_formats(self, formats: Vec<String>) -> Self {
        Self { formats: formats.into(), ..self }
    }

    /// The resource is no longer the pinned version; `etag` is the current one.
    pub fn changed(etag: impl Into<String>) -> Self {
        let message = "the resource has changed and is no longer the requested version";
        Self::new(ErrorKind::Changed, message).with_fact("etag", etag)
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.kind == ErrorKind::Unavailable
    }

    /// Sets the resource that the error is about.
    #[must_use]
    pub fn about(mut self, uri: &Uri) -> Self {
        self.uri = Some(uri.clone());
        self
    }

    /// Adds a fact that a program can act on.
    #[must_use]
    pub fn with_fact(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.facts.push((name, value.into()));
        self
    }

    /// Rewrites every text of it, for clients and for the log.
    #[must_use]
    pub fn map_texts(mut self, rewrite: impl Fn(&str) -> String) -> Self {
        self.message = rewrite(&self.message).into();
        for (_, fact) in &mut self.facts {
            *fact = rewrite(fact);
        }
        if let Some(upstream) = &mut self.upstream {
            upstream.message = rewrite(&upstream.message);
            upstream.data = upstream.data.as_ref().map(|data| Json::from(rewrite(data.as_str())));
        }
        let mut causes = Vec::new();
        let mut cause = std::error::Error::source(&self);
        while let Some(error) = cause {
            causes.push(rewrite(&error.to_string()));
            cause = error.source();
        }
        let chain = |source, text| Some(Box::new(CauseText { text, source }));
        let chain = causes.into_iter().rev().fold(None, chain);
        self.source = chain.map(|cause| cause as ErrorCause);
        self
    }

    /// Attaches the cause, for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<ErrorCause>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// A cause of which only the text is kept, and the cause behind it.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct CauseText {
    text: String,
    source: Option<Box<Self>>,
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn the_last_cause_is_the_one_behind_all_others_also_after_a_rewrite() {
        let plain = Error::unavailable("the disk\nfailed");
        assert_eq!(plain.last_cause(), "the disk failed");
        let inner = Error::internal("middle").caused_by("innermost");
        let error = Error::unavailable("outer").caused_by(inner);
        assert_eq!(error.last_cause(), "innermost");
        assert_eq!(error.with_causes(), "outer: middle: innermost");
        assert_eq!(plain.cause_first("it failed"), "it failed: the disk failed");
        assert_eq!(error.cause_first("it failed"), "innermost, so it failed: outer");
        let shown = error.map_texts(str::to_uppercase);
        assert_eq!(shown.last_cause(), "INNERMOST");
        assert_eq!(shown.with_causes(), "OUTER: MIDDLE: INNERMOST");
    }
}
