//! Private key blocks: PEM, PKCS#8, OpenSSH, PGP and PuTTY. The lines that begin and end a block
//! stay; the body between them becomes one masked line.
//!
//! A block need not end: a body goes on as long as its text can be one. So a block that is cut off
//! takes nothing with it that follows.

use std::ops::Range;

use super::{Candidate, Ending, ShapeWindow, Tail};

pub(super) const ANCHOR: &str =
    "-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY|Private-Lines: [0-9]{1,4}";

/// Base64 of this length is the body of a key wherever it stands; a shorter piece only if it is
/// alone on its line.
const SURE_LENGTH: usize = 20;
/// How many bytes may stand between two pieces of a body.
const MAX_SEPARATOR: usize = 256;
/// How many bytes behind a piece's start decide whether it belongs to the body.
const DECISION: usize = 1024;
/// Header lines inside blocks.
const HEADERS: &[&str] = &[
    "Proc-Type:",
    "DEK-Info:",
    "Version:",
    "Comment:",
    "Hash:",
    "Charset:",
    "MessageID:",
    "Subject:",
];

/// What comes next in the body of a key.
pub(super) enum BodyPiece {
    /// This piece belongs to it, and the scan goes on at `end`.
    Secret { piece: Range<usize>, end: usize },
    /// More text decides.
    Undecided,
    /// The body ends before what follows.
    End,
}

/// Where in a body the scan is.
#[derive(Default)]
pub(super) struct KeyBody {
    /// Whether the last piece may go on in text that was not there yet.
    is_inside_run: bool,
    has_base64: bool,
    has_piece: bool,
}

/// The block at the anchor: an empty range where its body begins.
pub(super) fn matching(window: &ShapeWindow<'_>) -> Option<Candidate> {
    let anchor = &window.text[window.at..window.anchor_end];
    let rest = window.rest(window.anchor_end);
    let marker = match anchor.starts_with('P') {
        true => 0,
        false => {
            let rest = rest.strip_prefix(" BLOCK").unwrap_or(rest);
            let dashes = rest.trim_start_matches(' ').trim_start_matches('-');
            let marker = window.rest(window.anchor_end).len() - dashes.len();
            (marker >= 4).then_some(marker)?
        }
    };
    let (start, _) = skip_separators(window.text, window.anchor_end + marker)?;
    let mut body = KeyBody::default();
    let first = body.next_piece(window.text, start, Ending::Final);
    if !matches!(first, BodyPiece::Secret { .. }) {
        return None;
    }
    Some(Candidate { range: start..start, kind: kind_of(anchor), tail: Tail::KeyBody })
}

fn kind_of(anchor: &str) -> &'static str {
    let kinds = [
        ("OPENSSH", "openssh-private-key"),
        ("PGP", "pgp-private-key"),
        ("Private-Lines", "putty-private-key"),
        ("SSH2", "ssh2-private-key"),
        ("RSA", "pem-private-key"),
        ("EC", "pem-private-key"),
        ("DSA", "pem-private-key"),
    ];
    let is_encrypted = anchor.contains("ENCRYPTED");
    let kind =
        kinds.iter().find(|(word, _)| anchor.contains(word) && !(is_encrypted && *word == "EC"));
    kind.map_or("pkcs8-private-key", |(_, kind)| *kind)
}

impl KeyBody {
    /// The next piece from `at` on.
    pub(super) fn next_piece(&mut self, text: &str, at: usize, ending: Ending) -> BodyPiece {
        if self.is_inside_run {
            let end = run_end(text, at);
            self.is_inside_run = end == text.len() && ending == Ending::Open;
            if end > at {
                return BodyPiece::Secret { piece: at..end, end };
            }
            if self.is_inside_run {
                return BodyPiece::Undecided;
            }
        }
        let is_undecided = ending == Ending::Open && text.len() < at + DECISION;
        let Some((start, is_line_start)) = skip_separators(text, at) else { return BodyPiece::End };
        let piece = self.piece_at(text, start, is_line_start || !self.has_piece);
        if is_undecided && !matches!(piece, Some((_, true))) {
            return BodyPiece::Undecided;
        }
        let Some((end, is_sure)) = piece else { return BodyPiece::End };
        self.is_inside_run = is_sure && end == text.len() && ending == Ending::Open;
        self.has_base64 |= is_sure;
        self.has_piece = true;
        BodyPiece::Secret { piece: start..end, end }
    }

    /// The end of the piece of a body at `start`, and whether its own text is enough to say so.
    fn piece_at(&self, text: &str, start: usize, is_line_start: bool) -> Option<(usize, bool)> {
        let end = run_end(text, start);
        if end - start >= SURE_LENGTH {
            return Some((end, true));
        }
        let rest = &text[start..text.floor_char_boundary(start + MAX_SEPARATOR)];
        if is_line_start
            && !self.has_base64
            && HEADERS.iter().any(|header| rest.starts_with(header))
        {
            let line = rest.find(['\n', '\r', '\\', '"']).unwrap_or(rest.len());
            return Some((start + line, false));
        }
        if end == start {
            return None;
        }
        let (next, is_line_end) = skip_separators(text, end)?;
        let is_last = next == text.len() || is_end_marker(&text[next..]);
        (is_last || (is_line_start && is_line_end)).then_some((end, false))
    }
}

fn run_end(text: &str, at: usize) -> usize {
    let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    at + text.as_bytes()[at..].iter().take_while(is_base64).count()
}

/// The end of what separates pieces from `at` on, and whether a line ends in it. `None` if it is
/// too long.
fn skip_separators(text: &str, at: usize) -> Option<(usize, bool)> {
    let bytes = text.as_bytes();
    let (mut end, mut has_newline) = (at, false);
    while let Some(byte) = bytes.get(end) {
        if end - at > MAX_SEPARATOR {
            return None;
        }
        match byte {
            b'\n' | b'\r' => has_newline = true,
            b'\\' if matches!(bytes.get(end + 1), Some(b'n' | b'r' | b't')) => {
                has_newline = true;
                end += 1;
            }
            b' ' | b'\t' | b'"' | b'\'' | b',' | b'\\' | b'#' | b'*' | b'>' | b'|' | b';' => {}
            b'-' if has_newline && bytes.get(end + 1).is_some_and(|next| *next != b'-') => {}
            _ => break,
        }
        end += 1;
    }
    Some((end, has_newline))
}

fn is_end_marker(text: &str) -> bool {
    ["-----END", "---- END", "Private-MAC"].iter().any(|marker| text.starts_with(marker))
}
