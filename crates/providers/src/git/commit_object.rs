//! Commit objects: parents, dates, people and messages, decoded to UTF-8.

use std::borrow::Cow;
use std::sync::Arc;

use encoding_rs::Encoding;
use gix::ObjectId;
use gix::date::Time;
use gix::objs::Kind;
use resource::Result;

use super::error::{not_found, unreadable};
use super::repository::GitSession;

/// What a walk needs of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommitNode {
    pub(super) id: ObjectId,
    pub(super) tree: ObjectId,
    /// Without the parents that a shallow clone does not have.
    pub(super) parents: Vec<ObjectId>,
    /// The committer's date, in seconds since 1970.
    pub(super) date: i64,
}

/// What people are told of a commit; masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommitText {
    pub(super) author: Person,
    pub(super) committer: Person,
    pub(super) subject: String,
    pub(super) message: String,
}

/// An author or committer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) email: String,
    pub(super) time: Time,
}

impl Person {
    /// The date in ISO 8601, in the person's time zone.
    pub(super) fn date(&self) -> String {
        self.time.format_or_unix(gix::date::time::format::ISO8601_STRICT)
    }

    fn parse(line: &[u8], decode: impl Fn(&[u8]) -> String) -> Self {
        let open = line.iter().position(|byte| *byte == b'<').unwrap_or(line.len());
        let close = line.iter().rposition(|byte| *byte == b'>').unwrap_or(line.len()).max(open);
        let email = line.get(open + 1..close).unwrap_or_default();
        let rest = line.get(close + 1..).unwrap_or_default();
        let time = String::from_utf8_lossy(rest);
        let mut words = time.split_ascii_whitespace();
        let seconds = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let offset = words.next().and_then(parse_offset).unwrap_or(0);
        Self {
            name: decode(line[..open].trim_ascii()),
            email: decode(email.trim_ascii()),
            time: Time { seconds, offset },
        }
    }
}

/// Parses a time zone such as `+0900` to seconds.
fn parse_offset(word: &str) -> Option<i32> {
    let (sign, digits) = match word.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let number: i32 = digits.parse().ok().filter(|number| (0..=9999).contains(number))?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

/// The members of a commit's header, and its message.
#[derive(Default)]
struct CommitParts<'a> {
    tree: Option<ObjectId>,
    parents: Vec<ObjectId>,
    author: &'a [u8],
    committer: &'a [u8],
    encoding: Option<&'a [u8]>,
    message: &'a [u8],
}

impl<'a> CommitParts<'a> {
    /// Splits a commit. Git reads commits with odd headers too, so nothing is an error here.
    fn parse(data: &'a [u8]) -> Self {
        let mut parts = Self::default();
        let mut rest = data;
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            if line.is_empty() {
                parts.message = rest;
                break;
            }
            let space = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
            let value = line.get(space + 1..).unwrap_or_default();
            match &line[..space] {
                b"tree" if parts.tree.is_none() => parts.tree = ObjectId::from_hex(value).ok(),
                b"parent" => parts.parents.extend(ObjectId::from_hex(value).ok()),
                b"author" if parts.author.is_empty() => parts.author = value,
                b"committer" if parts.committer.is_empty() => parts.committer = value,
                b"encoding" => parts.encoding = Some(value),
                _ => {}
            }
        }
        parts
    }

    /// The committer's date, as git reads it: zero if it is broken.
    fn date(&self) -> i64 {
        let close = self.committer.iter().rposition(|byte| *byte == b'>');
        let rest = close.and_then(|close| self.committer.get(close + 1..)).unwrap_or_default();
        let digits = rest.trim_ascii_start();
        let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
        std::str::from_utf8(&digits[..end]).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

impl GitSession<'_> {
    /// Reads what a walk needs of a commit.
    pub(super) fn commit(&self, id: ObjectId) -> Result<CommitNode> {
        self.with_commit(id, |parts| {
            let tree = parts.tree.ok_or_else(|| not_found("the commit has no tree"))?;
            let parents = match self.is_shallow_boundary(id) {
                true => Vec::new(),
                false => parts.parents.clone(),
            };
            Ok(CommitNode { id, tree, parents, date: parts.date() })
        })
    }

    /// Reads what people are told of a commit.
    pub(super) fn commit_text(&self, id: ObjectId) -> Result<CommitText> {
        self.with_commit(id, |parts| {
            let decode = |bytes: &[u8]| self.git.mask_text(&decode_text(bytes, parts.encoding));
            let message = decode(parts.message);
            Ok(CommitText {
                author: Person::parse(parts.author, decode),
                committer: Person::parse(parts.committer, decode),
                subject: subject_of(&message),
                message,
            })
        })
    }

    /// The same from memory, for the few commits that many files come from.
    pub(super) fn kept_commit_text(&self, id: ObjectId) -> Result<Arc<CommitText>> {
        if let Some(text) = self.git.commit_texts.get(&id) {
            return Ok(text);
        }
        let text = Arc::new(self.commit_text(id)?);
        let weight = 512 + text.subject.len() + text.message.len();
        self.git.commit_texts.insert(id, Arc::clone(&text), weight);
        Ok(text)
    }

    fn with_commit<T>(
        &self,
        id: ObjectId,
        act: impl FnOnce(&CommitParts<'_>) -> Result<T>,
    ) -> Result<T> {
        let object = self.repo.find_object(id).map_err(unreadable)?;
        if object.kind != Kind::Commit {
            return Err(not_found("the object is no commit"));
        }
        act(&CommitParts::parse(&object.data))
    }
}

/// Decodes text of a commit, by the encoding that its header names.
fn decode_text<'a>(bytes: &'a [u8], encoding: Option<&[u8]>) -> Cow<'a, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => match encoding.and_then(Encoding::for_label) {
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
            None => String::from_utf8_lossy(bytes),
        },
    }
}

/// The first paragraph of a message, on one line.
fn subject_of(message: &str) -> String {
    let lines = message.lines().map(str::trim_end).skip_while(|line| line.is_empty());
    let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    first.join(" ").trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{CommitParts, Person, decode_text, subject_of};

    #[test]
    fn odd_commits_are_read_as_git_reads_them() {
        let data = b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 1 +0900\n\
                     committer B <b@c> 1700000000 -0130\ngpgsig x\n y\nencoding ISO-8859-1\n\nd\xe9\n";
        let parts = CommitParts::parse(data);
        assert_eq!(parts.date(), 1_700_000_000);
        assert_eq!(decode_text(parts.message, parts.encoding), "dé\n");
        let person = Person::parse(parts.committer, |text| String::from_utf8_lossy(text).into());
        assert_eq!(person.date(), "2023-11-14T20:43:20-01:30");
        assert_eq!((person.name.as_str(), person.email.as_str()), ("B", "b@c"));
        assert_eq!(CommitParts::parse(b"committer x").date(), 0);
        assert_eq!(CommitParts::parse(b"").tree, None);
    }

    #[test]
    fn the_subject_is_the_first_paragraph() {
        assert_eq!(subject_of("\n\none\ntwo \n\nthree"), "one two");
        assert_eq!(subject_of(""), "");
    }
}
