//! Search from here, for servers without a search of their own: reads their texts, within bounds.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use resource::Uri;

use crate::connection::ServerConnection;
use crate::content::Selection;
use crate::error::CommandError;
use crate::output::tell;

/// How many resources are read.
const MAX_READ: usize = 2_000;
/// How many bytes of one resource, and of all together.
const MAX_BYTES: usize = 16 << 20;
const MAX_TOTAL_BYTES: usize = 256 << 20;

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundLine {
    pub(crate) uri: String,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) is_match: bool,
}

/// The expression for a pattern that a person wrote.
pub(crate) fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, CommandError> {
    let options = syntax::Config::new().case_insensitive(ignore_case);
    let compiled = Regex::builder()
        .syntax(options)
        .configure(Regex::config().nfa_size_limit(Some(1 << 20)))
        .build(pattern);
    compiled.map_err(|error| {
        let why = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
        // The lines before the last point at the place, which one line cannot show.
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        CommandError::Usage(format!("not a regular expression: {why}"))
    })
}

impl ServerConnection {
    /// Passes the lines of all texts below `start` that match to `take`, until it returns false.
    pub(crate) async fn grep_here(
        &self,
        start: Option<&Uri>,
        (pattern, context): (&Regex, usize),
        mut take: impl FnMut(FoundLine) -> Result<bool, CommandError>,
    ) -> Result<(), CommandError> {
        let mut uris = Vec::new();
        let mut is_cut = false;
        let walked = self.walk(start, |walked| {
            if !walked.row.is_folder() {
                is_cut = uris.len() == MAX_READ;
                if is_cut {
                    return Ok(false);
                }
                uris.push(walked.row.resource.uri);
            }
            Ok(true)
        });
        let end = match walked.await {
            Ok(end) => end,
            // A single resource is searched too.
            Err(CommandError::Failed(_) | CommandError::NotFound(_)) if start.is_some() => {
                uris.extend(start.cloned());
                crate::walk::WalkEnd::default()
            }
            Err(error) => return Err(error),
        };
        let mut total = 0;
        for uri in &uris {
            let Some(text) = self.text_of(uri).await? else { continue };
            total += text.len();
            for found in matching_lines(uri.as_str(), &text, pattern, context) {
                if !take(found)? {
                    return Ok(());
                }
            }
            if total > MAX_TOTAL_BYTES {
                tell(&format!("searched {MAX_TOTAL_BYTES} bytes and stopped; name a collection"));
                return Ok(());
            }
        }
        end.tell();
        if is_cut {
            tell(&format!("searched {MAX_READ} resources and stopped; name a collection"));
        }
        Ok(())
    }

    /// The text of a resource; `None` if it is a blob, too large, or cannot be read.
    async fn text_of(&self, uri: &Uri) -> Result<Option<String>, CommandError> {
        let (mut text, mut fits) = (Vec::new(), true);
        let read = self
            .read_chunks(uri, &Selection::default(), |chunk| {
                fits &= chunk.is_text && text.len() + chunk.bytes.len() <= MAX_BYTES;
                if fits {
                    text.extend_from_slice(&chunk.bytes);
                }
                Ok(fits)
            })
            .await;
        match read {
            Ok(()) => Ok(fits.then(|| String::from_utf8_lossy(&text).into_owned())),
            Err(CommandError::Unreachable(words)) => Err(CommandError::Unreachable(words)),
            Err(_) => Ok(None),
        }
    }
}

/// The matching lines of a text, and those around them, each once.
fn matching_lines(uri: &str, text: &str, pattern: &Regex, context: usize) -> Vec<FoundLine> {
    let lines: Vec<&str> = text.lines().collect();
    let is_match: Vec<bool> = lines.iter().map(|line| pattern.is_match(*line)).collect();
    let mut found = Vec::new();
    let mut next = 0;
    for at in (0..lines.len()).filter(|at| is_match[*at]) {
        let (first, last) = (at.saturating_sub(context).max(next), at + context);
        for line in first..=last.min(lines.len() - 1) {
            let text = lines[line].to_owned();
            found.push(FoundLine {
                uri: uri.to_owned(),
                line: line + 1,
                text,
                is_match: is_match[line],
            });
            next = line + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{compile, matching_lines};

    #[test]
    fn lines_around_matches_come_once_and_in_order() {
        let pattern = compile("X", true).unwrap();
        let text = "a\nx1\nb\nx2\nc\nd\ne\nx3";
        let found = matching_lines("a:b", text, &pattern, 1);
        let shown: Vec<(usize, bool)> =
            found.iter().map(|found| (found.line, found.is_match)).collect();
        let expected =
            [(1, false), (2, true), (3, false), (4, true), (5, false), (7, false), (8, true)];
        assert_eq!(shown, expected);
        assert!(matching_lines("a:b", "", &pattern, 3).is_empty());
        assert_eq!(compile("(", false).unwrap_err().exit_status(), 2);
    }
}
