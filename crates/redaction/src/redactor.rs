//! Redactor: finds secrets in a text, by key and by shape, and writes masks.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use machinery::PathGlobSet;

use crate::judge::{Judge, KeyContext, is_index};
use crate::mask::MaskWriter;
use crate::secret::{FoundSecret, SecretKind};
use crate::shapes::{find_shapes, mask_shapes};
use crate::syntax::Syntax;
use crate::syntaxes;
use crate::text_masker::TextMasker;
use crate::walk::Finding;

/// How often a text is masked at most: in a text that does not fit its syntax, masks may change
/// how the rest of it is read.
const MAX_ROUNDS: usize = 8;

/// Finds and masks secrets.
pub struct Redactor {
    judge: Arc<Judge>,
    /// A hash of all that decides how a text is masked.
    rules_hash: [u8; 32],
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new(RedactorOptions::default())
    }
}

/// The options of a redactor.
#[derive(Clone, Default)]
pub struct RedactorOptions {
    /// Globs over key paths (`db/password`) whose values are shown. A list's indices are keys, and
    /// a slash in a key is `%2F`.
    pub reveal: Vec<machinery::PathGlob>,
    /// The key of the HMAC by which equal secrets can be seen to be equal; none without a key.
    pub hmac_key: Option<Vec<u8>>,
}

impl RedactorOptions {
    fn rules_hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&Redactor::VERSION.to_le_bytes());
        let globs = self.reveal.iter().map(|glob| glob.as_str().as_bytes());
        hasher.update(&[u8::from(self.hmac_key.is_some())]);
        for part in self.hmac_key.as_deref().into_iter().chain(globs) {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

impl Redactor {
    /// The largest text of a syntax with keys that may be masked; a caller refuses a larger one.
    pub const MAX_PARSED_BYTES: u64 = 16 * 1024 * 1024;

    /// Changes whenever the same text would be masked in another way by the same options.
    const VERSION: u32 = 2;

    /// Makes a redactor. With more globs than a set may have, none of them shows anything.
    pub fn new(options: RedactorOptions) -> Self {
        let rules_hash = options.rules_hash();
        let RedactorOptions { reveal, hmac_key } = options;
        let reveal = match reveal.as_slice() {
            [] => None,
            globs => PathGlobSet::new(globs).ok(),
        };
        let writer = MaskWriter::new(hmac_key.as_deref());
        Self { judge: Arc::new(Judge::new(writer, reveal)), rules_hash }
    }

    /// Whether masks have an HMAC.
    pub(crate) fn has_key(&self) -> bool {
        self.judge.writer.has_key()
    }

    /// A hash of all that decides how a text is masked, the key of the masks among it: never shown.
    pub(crate) fn rules_hash(&self) -> &[u8; 32] {
        &self.rules_hash
    }

    /// The secrets of `text`, in order, without overlaps.
    pub fn find(&self, text: &str, syntax: Syntax) -> Vec<FoundSecret> {
        let findings = find_all(&self.judge, text, syntax, Depth::default());
        let (mut line, mut end) = (1, 0);
        let found = findings.into_iter().map(|finding| {
            let skipped = &text.as_bytes()[end..finding.range.start];
            line += skipped.iter().filter(|byte| **byte == b'\n').count();
            end = finding.range.start;
            FoundSecret { range: finding.range, kind: finding.kind, line, mask: finding.mask }
        });
        found.collect()
    }

    /// `text` with its secrets masked. Masking a masked text changes nothing.
    pub fn mask<'a>(&self, text: &'a str, syntax: Syntax) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        // Shapes alone are found in one round, as a stream finds them.
        let rounds = if syntax.has_keys() { MAX_ROUNDS } else { 1 };
        for _ in 0..rounds {
            let findings = find_all(&self.judge, &masked, syntax, Depth::default());
            if findings.is_empty() {
                break;
            }
            masked = Cow::Owned(write_masks(&masked, &findings));
        }
        masked
    }

    /// Whether the settings show the value at the key path `key`, whatever it is.
    pub fn reveals(&self, key: &[&str]) -> bool {
        self.judge.reveals(key.iter().copied())
    }

    /// The masked form of the value at the key path `key`; `None` if it holds no secret.
    pub fn mask_value(&self, key: &[&str], value: &str) -> Option<String> {
        let judge = &self.judge;
        if self.reveals(key) {
            return None;
        }
        let named = key.iter().rposition(|key| !is_index(key)).unwrap_or_default();
        let above = key.iter().take(named);
        let context = above.fold(KeyContext::Neutral, |context, key| context.under(key));
        let name = key.get(named).copied().unwrap_or_default();
        if let Some(kind) = judge.kind_of(context, name, value) {
            return Some(judge.writer.mask(SecretKind::Key(kind), value));
        }
        mask_shapes(value, &judge.writer).map(|(_, masked)| masked)
    }

    /// Masks a stream of text by shapes alone.
    pub fn text_masker(&self) -> TextMasker {
        TextMasker::new(Arc::clone(&self.judge))
    }
}

/// How deep a text is inside other texts: a file in a value of a file is read, and no deeper.
#[derive(Clone, Copy, Default)]
pub(crate) struct Depth(u8);

impl Depth {
    /// One text deeper; `None` if that is too deep.
    pub(crate) fn deeper(self) -> Option<Self> {
        (self.0 < 2).then_some(Self(self.0 + 1))
    }
}

/// The secrets of `text`, in order, without overlaps.
pub(crate) fn find_all(judge: &Judge, text: &str, syntax: Syntax, depth: Depth) -> Vec<Finding> {
    let shapes = find_shapes(text, &judge.writer).into_iter().map(|shape| Finding {
        range: shape.range,
        kind: shape.kind,
        mask: shape.mask,
    });
    if !syntax.has_keys() {
        return shapes.collect();
    }
    let mut by_key = syntaxes::scan(text, syntax, judge, depth);
    let revealed = sorted(by_key.revealed);
    let is_revealed = |range: &Range<usize>| {
        let at = revealed.partition_point(|shown| shown.start <= range.start);
        at > 0 && revealed[at - 1].end >= range.end
    };
    let mut findings = std::mem::take(&mut by_key.secrets);
    findings.extend(shapes.filter(|shape| !is_revealed(&shape.range)));
    without_overlaps(findings)
}

/// `text` with `findings` masked.
pub(crate) fn write_masks(text: &str, findings: &[Finding]) -> String {
    let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
    for finding in findings {
        masked.push_str(&text[end..finding.range.start]);
        masked.push_str(&finding.mask);
        end = finding.range.end;
    }
    masked.push_str(&text[end..]);
    masked
}

fn sorted(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Puts findings in order. Of those that overlap, the larger one stays, over all their bytes.
fn without_overlaps(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|finding| !finding.range.is_empty());
    findings.sort_by_key(|finding| {
        // In one place the shorter mask comes first: the longer one shows a part of the value.
        (finding.range.start, std::cmp::Reverse(finding.range.end), finding.mask.len())
    });
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        match kept.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
            }
            _ => kept.push(finding),
        }
    }
    kept
}
