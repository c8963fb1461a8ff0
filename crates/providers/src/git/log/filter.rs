//! Conditions of a log: dates, author and message.

use gix::date::Time;
use resource::{Error, Result};

use crate::git::commit_object::{CommitNode, CommitText};
use crate::git::location::LogQuery;
use crate::git::repository::GitSession;

/// The conditions that a shown commit meets.
#[derive(Debug, Clone, Default)]
pub(super) struct LogFilter {
    author: Option<String>,
    grep: Option<String>,
    since: Option<i64>,
    until: Option<i64>,
}

impl LogFilter {
    pub(super) fn new(query: &LogQuery) -> Result<Self> {
        let small = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
        Ok(Self {
            author: small(&query.author),
            grep: small(&query.grep),
            since: query.since.as_deref().map(parse_date).transpose()?,
            until: query.until.as_deref().map(parse_date).transpose()?,
        })
    }

    /// Whether the history ends before this commit.
    pub(super) fn is_too_old(&self, node: &CommitNode) -> bool {
        self.since.is_some_and(|since| node.date < since)
    }

    /// Whether the commit is shown.
    pub(super) fn shows(&self, session: &GitSession<'_>, node: &CommitNode) -> Result<bool> {
        if self.until.is_some_and(|until| node.date > until) {
            return Ok(false);
        }
        if self.author.is_none() && self.grep.is_none() {
            return Ok(true);
        }
        let CommitText { author, message, .. } = session.commit_text(node.id)?;
        let author = format!("{} <{}>", author.name, author.email);
        let has = |part: &Option<String>, text: &str| {
            part.as_ref().is_none_or(|part| text.to_lowercase().contains(part.as_str()))
        };
        Ok(has(&self.author, &author) && has(&self.grep, &message))
    }
}

/// Parses a date as git writes it, or one relative to now, to seconds since 1970.
fn parse_date(text: &str) -> Result<i64> {
    let now = Time::now_local_or_utc().to_zoned().ok();
    let parsed = gix::date::parse(text, now).map_err(|error| {
        let form = "write a date as 2024-01-31, 2024-01-31T12:00:00Z or \"2 weeks ago\"";
        Error::invalid(form).caused_by(error)
    });
    Ok(parsed?.seconds)
}
