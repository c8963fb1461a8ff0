//! Revisions by message, `:/text` and `main^{/text}`: the latest commit whose masked message fits.
//!
//! gix searches messages as they are stored, so that a pattern could tell what a mask hides.

use std::borrow::Cow;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};
use regex_automata::meta::Regex;
use resource::{Error, Result};

use super::date_queue::DateQueue;
use super::error::{not_found, over_bound, unreadable};
use super::repository::GitSession;

/// How large a pattern may be once it is compiled, in bytes: how long it takes for each byte of a
/// message hangs on that.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// How much of each message is searched, in bytes. A search of one message is not cancelled.
const MAX_SEARCHED_BYTES: usize = 16 << 10;

/// What begins a search from a revision on.
const FROM_REVISION: &[u8] = b"^{/";

/// A pattern of a message.
struct MessagePattern {
    regex: Regex,
    /// Whether the message must not fit.
    is_negated: bool,
}

impl GitSession<'_> {
    /// The revision `spec`, with the hashes of the commits that it searches for.
    pub(super) fn find_messages<'a>(&self, spec: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        if let Some(pattern) = spec.strip_prefix(b":/") {
            let tips = self.all_tips()?;
            let found = self.find_message(&MessagePattern::parse(pattern)?, tips)?;
            return Ok(Cow::Owned(found.to_string().into_bytes()));
        }
        let mut spec = Cow::Borrowed(spec);
        while let Some((before, pattern, after)) = split_search(&spec) {
            let tip = self.repo.rev_parse_single(BStr::new(before)).map_err(no_revision)?;
            let tip = tip.object().map_err(unreadable)?.peel_to_commit().map_err(no_revision)?.id;
            let found = self.find_message(&MessagePattern::parse(&pattern)?, vec![tip])?;
            spec = Cow::Owned([found.to_string().as_bytes(), after].concat());
        }
        Ok(spec)
    }

    /// The commits that references point at.
    fn all_tips(&self) -> Result<Vec<ObjectId>> {
        let mut tips: Vec<ObjectId> = self.head_commit()?.into_iter().collect();
        let platform = self.repo.references().map_err(unreadable)?;
        for mut found in platform.all().map_err(unreadable)?.filter_map(Result::ok) {
            self.check_cancelled()?;
            tips.extend(found.peel_to_commit().ok().map(|commit| commit.id));
        }
        Ok(tips)
    }

    /// The latest commit before `tips`, or one of them, whose message fits.
    fn find_message(&self, pattern: &MessagePattern, tips: Vec<ObjectId>) -> Result<ObjectId> {
        let mut queue = DateQueue::default();
        for tip in tips {
            queue.push(self, tip)?;
        }
        while let Some(node) = queue.pop() {
            self.check_cancelled()?;
            let is_found = pattern.fits(&self.commit_text(node.id)?.message);
            if is_found && self.shows_tip(node.id)? {
                return Ok(node.id);
            }
            for parent in node.parents {
                queue.push(self, parent)?;
            }
        }
        Err(not_found("no commit has such a message"))
    }
}

impl MessagePattern {
    /// Parses what stands behind the slash: `!-` before the text negates it, `!!` is a plain `!`.
    fn parse(text: &[u8]) -> Result<Self> {
        let (text, is_negated) = match text {
            [b'!', b'-', rest @ ..] => (rest, true),
            [b'!', b'!', ..] => (&text[1..], false),
            [b'!', ..] => return Err(Error::invalid("a `!` in a search of messages is `!!`")),
            text => (text, false),
        };
        let text = text.to_str().ok().filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| not_found("the search of messages has no text"))?;
        let bounds = Regex::config().nfa_size_limit(Some(MAX_PATTERN_BYTES));
        let regex = Regex::builder().configure(bounds).build(text);
        let regex = regex.map_err(|error| match error.size_limit() {
            Some(_) => over_bound("the search of messages is too large a regular expression"),
            None => {
                let message = "the search of messages is no regular expression";
                Error::invalid(message).caused_by(error)
            }
        })?;
        Ok(Self { regex, is_negated })
    }

    fn fits(&self, message: &str) -> bool {
        let searched = &message[..message.floor_char_boundary(MAX_SEARCHED_BYTES)];
        self.regex.is_match(searched) != self.is_negated
    }
}

/// What stands before the first search of `spec`, its pattern, and what stands behind it. What
/// looks like one in the path of a file is none.
fn split_search(spec: &[u8]) -> Option<(&[u8], Vec<u8>, &[u8])> {
    let mut depth = 0_usize;
    for (at, byte) in spec.iter().enumerate() {
        match byte {
            b'^' if depth == 0 && spec[at..].starts_with(FROM_REVISION) => {
                let inner = at + FROM_REVISION.len();
                let (pattern, length) = braced(&spec[inner..])?;
                return Some((&spec[..at], pattern, &spec[inner + length..]));
            }
            // The path of a file begins. A colon in braces is one of a time, as in `main@{12:30}`.
            b':' if depth == 0 => return None,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The text up to the brace that closes it, without the backslashes before braces and backslashes,
/// and how many bytes that is with the brace.
fn braced(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut inner, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            (b'\\', Some(next @ (b'{' | b'}' | b'\\'))) => {
                inner.push(*next);
                at += 2;
                continue;
            }
            (b'}', _) if depth == 0 => return Some((inner, at + 1)),
            (b'}', _) => depth -= 1,
            (b'{', _) => depth += 1,
            _ => {}
        }
        inner.push(text[at]);
        at += 1;
    }
    None
}

fn no_revision(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    not_found("the repository has no such revision").caused_by(error)
}

#[cfg(test)]
mod tests {
    use resource::ErrorKind;

    use super::{MAX_SEARCHED_BYTES, MessagePattern, split_search};

    #[test]
    fn a_pattern_that_would_take_much_memory_or_time_is_refused() {
        let parse = |text: &str| MessagePattern::parse(text.as_bytes()).map(|_| ());
        // Half a million states: less than the default bound of the library.
        assert_eq!(parse(r"\w{200}").unwrap_err().kind, ErrorKind::TooLarge);
        assert_eq!(parse("(").unwrap_err().kind, ErrorKind::Invalid);
        parse(r"fix(es)?: \w+ in [0-9]{1,3} files").unwrap();
    }

    #[test]
    fn a_search_looks_at_the_start_of_a_message() {
        let pattern = MessagePattern::parse(b"needle").unwrap();
        let start = "é".repeat(MAX_SEARCHED_BYTES / 2 - 4);
        assert!(pattern.fits(&format!("{start} needle")));
        assert!(!pattern.fits(&format!("é{start} needle")));
    }

    #[test]
    fn a_search_ends_at_its_brace_and_none_stands_in_a_path() {
        let split = |spec: &'static str| {
            let (before, pattern, after) = split_search(spec.as_bytes())?;
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            Some((text(before), text(&pattern), text(after)))
        };
        for (spec, before, pattern, after) in [
            ("main^{/fix}", "main", "fix", ""),
            ("main~2^{/a{2}}~3", "main~2", "a{2}", "~3"),
            (r"main^{/a\}\\d\w}^", "main", r"a}\d\w", "^"),
            ("main@{12:30}^{/x}", "main@{12:30}", "x", ""),
            ("a^{/b}^{/c}", "a", "b", "^{/c}"),
        ] {
            let expected = Some((before.to_owned(), pattern.to_owned(), after.to_owned()));
            assert_eq!(split(spec), expected, "{spec}");
        }
        for spec in ["main", "main^{tree}", "HEAD:a^{/b}", ":0:a^{/b}", "main^{/open", ""] {
            assert_eq!(split(spec), None, "{spec}");
        }
    }
}
