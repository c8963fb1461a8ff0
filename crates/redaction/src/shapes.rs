//! Shapes: secrets that their own text gives away, in any text.
//!
//! The scanner decides about each place by a bounded window around it, so that a text in chunks
//! gives what the whole text gives. What has no bound, a long token or the body of a private key,
//! it swallows piece by piece.

mod checksum;
mod connection_strings;
mod headers;
mod jwt;
mod private_keys;
mod tokens;
mod urls;

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use crate::mask::{MaskWriter, SecretDigest};
use crate::secret::SecretKind;
use private_keys::{BodyPiece, KeyBody};

/// How many bytes behind an anchor decide whether it begins a secret.
pub(crate) const LOOK_AHEAD: usize = 4096;
/// How many bytes in front of an anchor do.
pub(crate) const LOOK_BEHIND: usize = 256;

/// A set of bytes.
type ByteClass = fn(u8) -> bool;

/// Where a secret may begin, and the bytes that decide it.
struct ShapeWindow<'t> {
    text: &'t str,
    /// The first byte of the anchor.
    at: usize,
    /// The end of the anchor.
    anchor_end: usize,
    /// The end of what may be looked at.
    limit: usize,
}

/// A secret that a window shows.
struct Candidate {
    range: Range<usize>,
    kind: &'static str,
    /// Where the window ends inside the secret: the bytes that still belong to it.
    tail: Tail,
}

/// How a secret goes on behind its window.
enum Tail {
    /// It does not.
    Closed,
    /// With bytes of this class.
    Run(ByteClass),
    /// It is the body of a private key.
    KeyBody,
}

type ShapeMatcher = fn(&ShapeWindow<'_>) -> Option<Candidate>;

/// The anchors, each with what decides whether a secret is there.
const SHAPES: [(&str, ShapeMatcher); 7] = [
    (private_keys::ANCHOR, private_keys::matching),
    (jwt::ANCHOR, jwt::matching),
    (urls::ANCHOR, urls::matching),
    (urls::ORACLE_ANCHOR, urls::matching_oracle),
    (headers::ANCHOR, headers::matching),
    (connection_strings::ANCHOR, connection_strings::matching),
    (connection_strings::SIGNATURE_ANCHOR, connection_strings::matching_signature),
];

static ANCHORS: LazyLock<Regex> = LazyLock::new(|| {
    let tokens = tokens::anchor();
    let mut patterns: Vec<&str> = SHAPES.iter().map(|(anchor, _)| *anchor).collect();
    patterns.push(&tokens);
    Regex::new_many(&patterns).expect("the anchors are valid")
});

/// A secret found by its shape.
pub(crate) struct FoundShape {
    pub(crate) range: Range<usize>,
    pub(crate) kind: SecretKind,
    pub(crate) mask: String,
}

/// Finds the shapes of `text`, in order.
pub(crate) fn find_shapes(text: &str, writer: &MaskWriter) -> Vec<FoundShape> {
    let (mut found, mut scanner) = (Vec::new(), ShapeScanner::default());
    let input = ScanInput { text, from: 0, ending: Ending::Final };
    scanner.advance(&input, writer, &mut |event| {
        if let ScanEvent::Secret(shape) = event {
            found.push(shape);
        }
    });
    found
}

/// `text` with its shapes masked; `None` if there are none.
pub(crate) fn mask_shapes(text: &str, writer: &MaskWriter) -> Option<(SecretKind, String)> {
    let found = find_shapes(text, writer);
    let kind = found.first()?.kind;
    let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
    for shape in found {
        masked.push_str(&text[end..shape.range.start]);
        masked.push_str(&shape.mask);
        end = shape.range.end;
    }
    masked.push_str(&text[end..]);
    Some((kind, masked))
}

/// Whether more text may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It may.
    Open,
    /// The text ends here.
    Final,
}

/// A text to scan.
pub(crate) struct ScanInput<'t> {
    /// It may begin with what was scanned before.
    pub(crate) text: &'t str,
    /// Where the scan begins.
    pub(crate) from: usize,
    pub(crate) ending: Ending,
}

/// What the scanner says about the next piece of text.
pub(crate) enum ScanEvent {
    /// It stays as it is.
    Plain(Range<usize>),
    /// A secret ends. Its range is right if it began in the same text.
    Secret(FoundShape),
}

/// Scans a text for shapes, a piece at a time.
#[derive(Default)]
pub(crate) struct ShapeScanner {
    inside: Option<Box<OpenSecret>>,
}

/// A secret whose end is not known yet.
struct OpenSecret {
    start: usize,
    kind: &'static str,
    digest: SecretDigest,
    rest: OpenRest,
}

enum OpenRest {
    Run(ByteClass),
    KeyBody(KeyBody),
}

impl ShapeScanner {
    /// Scans a text. Returns how far it came: what follows must be given again, with more text
    /// behind it.
    pub(crate) fn advance(
        &mut self,
        input: &ScanInput<'_>,
        writer: &MaskWriter,
        emit: &mut dyn FnMut(ScanEvent),
    ) -> usize {
        let (text, ending, mut at) = (input.text, input.ending, input.from);
        loop {
            if let Some(open) = self.inside.take() {
                match open.swallow(text, at, ending) {
                    Ok((end, shape)) => {
                        emit(ScanEvent::Secret(shape));
                        at = end;
                    }
                    Err((reached, open)) => {
                        self.inside = Some(open);
                        return reached;
                    }
                }
            }
            let decided = match ending {
                Ending::Final => text.len(),
                Ending::Open => text.floor_char_boundary(text.len().saturating_sub(LOOK_AHEAD)),
            };
            let Some(candidate) = next_candidate(text, at, decided) else {
                let end = decided.max(at);
                emit(ScanEvent::Plain(at..end));
                return end;
            };
            emit(ScanEvent::Plain(at..candidate.range.start));
            let mut digest = writer.digest();
            let kind = candidate.kind;
            let start = candidate.range.start;
            let rest = match candidate.tail {
                Tail::Closed => {
                    digest.update(&text[candidate.range.clone()]);
                    let kind = SecretKind::Shape(kind);
                    let (range, mask) = (candidate.range.clone(), digest.into_mask(kind));
                    emit(ScanEvent::Secret(FoundShape { range, kind, mask }));
                    at = candidate.range.end;
                    continue;
                }
                Tail::Run(class) => OpenRest::Run(class),
                Tail::KeyBody => OpenRest::KeyBody(KeyBody::default()),
            };
            digest.update(&text[candidate.range.clone()]);
            at = candidate.range.end;
            self.inside = Some(Box::new(OpenSecret { start, kind, digest, rest }));
        }
    }

    /// Tells the scanner that the text will be given without its first `bytes` bytes.
    pub(crate) fn forget(&mut self, bytes: usize) {
        if let Some(open) = &mut self.inside {
            open.start = open.start.saturating_sub(bytes);
        }
    }
}

impl OpenSecret {
    /// Goes on with the secret at `at`. An error says how far it came without an end.
    fn swallow(
        mut self: Box<Self>,
        text: &str,
        at: usize,
        ending: Ending,
    ) -> Result<(usize, FoundShape), (usize, Box<Self>)> {
        let mut at = at;
        match &mut self.rest {
            OpenRest::Run(class) => {
                let length = text.as_bytes()[at..].iter().take_while(|byte| class(**byte)).count();
                let end = text.floor_char_boundary(at + length);
                self.digest.update(&text[at..end]);
                at = end;
                if end == text.len() && ending == Ending::Open {
                    return Err((end, self));
                }
            }
            OpenRest::KeyBody(body) => loop {
                match body.next_piece(text, at, ending) {
                    BodyPiece::Secret { piece, end } => {
                        self.digest.update(&text[piece]);
                        at = end;
                    }
                    BodyPiece::Undecided => return Err((at, self)),
                    BodyPiece::End => break,
                }
            },
        }
        let kind = SecretKind::Shape(self.kind);
        let mask = self.digest.into_mask(kind);
        Ok((at, FoundShape { range: self.start..at, kind, mask }))
    }
}

/// The first candidate of `text` whose anchor is at `from` or behind it, and before `decided`.
fn next_candidate(text: &str, from: usize, decided: usize) -> Option<Candidate> {
    let (anchor, mut candidate) = candidate_in(text, from..text.len(), decided, None)?;
    // Another secret between the anchor and the secret, such as a token for a user's name: both
    // are masked as one.
    let limit = text.floor_char_boundary(anchor + LOOK_AHEAD);
    let between = anchor + 1..candidate.range.start.max(anchor + 1);
    if let Some((_, inner)) = candidate_in(text, between.clone(), between.end, Some(limit)) {
        candidate.range.start = candidate.range.start.min(inner.range.start);
    }
    Some(candidate)
}

/// The first candidate whose anchor is in `span` and begins before `decided`, with the place of
/// its anchor. It looks no further than `limit`.
fn candidate_in(
    text: &str,
    span: Range<usize>,
    decided: usize,
    limit: Option<usize>,
) -> Option<(usize, Candidate)> {
    let mut from = span.start;
    while from < decided && from < span.end {
        let input = Input::new(text).span(from..span.end).anchored(Anchored::No);
        let found = ANCHORS.search(&input)?;
        if found.start() >= decided {
            return None;
        }
        let limit = limit.unwrap_or_else(|| text.floor_char_boundary(found.start() + LOOK_AHEAD));
        let window = ShapeWindow { text, at: found.start(), anchor_end: found.end(), limit };
        let shape = SHAPES.get(found.pattern().as_usize());
        let matcher = shape.map_or(tokens::matching as ShapeMatcher, |shape| shape.1);
        // What holds a mask was looked at before.
        let is_new = |candidate: &Candidate| !text[candidate.range.clone()].contains("[redacted");
        if let Some(candidate) = matcher(&window).filter(is_new) {
            return Some((found.start(), candidate));
        }
        from = found.start() + 1;
    }
    None
}

impl<'t> ShapeWindow<'t> {
    /// The byte in front of the anchor.
    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).map(|at| self.text.as_bytes()[at])
    }

    /// The text in front of the anchor, on the same line.
    fn line_before(&self) -> &'t str {
        let start = self.text.ceil_char_boundary(self.at.saturating_sub(LOOK_BEHIND));
        let before = &self.text[start..self.at];
        before.rsplit(['\n', '\r']).next().unwrap_or_default()
    }

    /// The text from `at` to the end of the window.
    fn rest(&self, at: usize) -> &'t str {
        &self.text[at..self.limit.max(at)]
    }

    /// The end of the bytes of `class` from `at` on.
    fn run_end(&self, at: usize, class: ByteClass) -> usize {
        let rest = self.rest(at).as_bytes();
        at + rest.iter().take_while(|byte| class(**byte)).count()
    }

    /// The end of the token from `start` to `end` without the full stop of a sentence.
    fn without_full_stop(&self, start: usize, end: usize) -> usize {
        if end == self.limit && end < self.text.len() {
            return end;
        }
        start + self.text[start..end].trim_end_matches('.').len()
    }

    /// The tail of a secret that ends at `end` because its run of `class` ends.
    fn tail(&self, end: usize, class: ByteClass) -> Tail {
        if end == self.limit && end < self.text.len() { Tail::Run(class) } else { Tail::Closed }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_word_or_dash(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

#[cfg(test)]
mod tests;
