//! YAML, by events of `granit_parser`. Aliases are not expanded: an anchor that an alias puts
//! under a secret key is judged where it stands.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span};

use super::lines;
use crate::judge::KeyContext;
use crate::key_words::is_descriptive;
use crate::values::{is_harmless, is_path, is_scheme, looks_random};
use crate::walk::{Fit, Quoting, ScalarToken, Walk};

/// Reports the keys and values of `text`.
pub(super) fn scan<'t>(text: &'t str, walk: &mut Walk<'t, '_>) -> Fit {
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    options.max_buffered_comment_events = usize::MAX;
    // Every document opens its own root.
    walk.close();
    let mut reader = YamlScanner { text, walk, nodes: Vec::new(), anchors: Anchors::default() };
    for event in Parser::new_from_str_with_options(text, options) {
        let Ok((event, span)) = event else {
            reader.end_document();
            return Fit::Broken;
        };
        reader.receive(event, span);
    }
    Fit::Whole
}

/// A value that is a secret under every key that says so.
const PROBE: &str = "aliased value 1";
/// A value that looks random.
const RANDOM_PROBE: &str = "q7Rk2Vx9Lm4Tz8Wb3Yc6";

/// A collection that is open.
struct OpenYamlNode {
    is_map: bool,
    next_is_key: bool,
    anchor: usize,
}

/// A value under an anchor, with its last key.
struct AnchoredValue<'t> {
    key: Cow<'t, str>,
    token: ScalarToken<'t>,
}

/// The anchors of a document.
#[derive(Default)]
struct Anchors<'t> {
    /// The values under each anchor, with their last keys.
    values: HashMap<usize, Vec<AnchoredValue<'t>>>,
    /// The aliases under each anchor.
    aliases: HashMap<usize, Vec<usize>>,
    /// The anchors that an alias puts under a secret key.
    secret: Vec<(usize, &'static str)>,
    /// The anchors that an alias puts under a key whose value is a secret if it looks random.
    suggestive: Vec<usize>,
}

struct YamlScanner<'t, 'w, 'j> {
    text: &'t str,
    walk: &'w mut Walk<'t, 'j>,
    nodes: Vec<OpenYamlNode>,
    anchors: Anchors<'t>,
}

impl<'t> YamlScanner<'t, '_, '_> {
    fn receive(&mut self, event: Event<'t>, span: Span) {
        match event {
            Event::DocumentStart(..) => self.anchors = Anchors::default(),
            Event::DocumentEnd => self.end_document(),
            Event::MappingStart(_, anchor, _) => self.open(true, anchor),
            Event::SequenceStart(_, anchor, _) => self.open(false, anchor),
            Event::MappingEnd | Event::SequenceEnd => self.close(),
            Event::Scalar(value, style, anchor, _) => self.scalar(value, style, anchor, span),
            Event::Alias(anchor) => self.alias(anchor),
            Event::UnresolvedAlias(_) => self.unresolved_alias(),
            Event::Comment(..) => {
                if let Some(range) = span.byte_range() {
                    lines::scan_comment(self.text, range, self.walk);
                }
            }
            _ => {}
        }
    }

    /// Whether the next node is a key; it then counts as read.
    fn take_key_slot(&mut self) -> bool {
        let Some(node) = self.nodes.last_mut().filter(|node| node.is_map) else { return false };
        let is_key = node.next_is_key;
        node.next_is_key = !is_key;
        is_key
    }

    fn close(&mut self) {
        if self.nodes.pop().is_some() {
            self.walk.close();
        }
    }

    fn unresolved_alias(&mut self) {
        if self.take_key_slot() {
            self.walk.key(Cow::Borrowed(""));
        }
    }

    fn open(&mut self, is_map: bool, anchor: usize) {
        if self.take_key_slot() {
            self.walk.key(Cow::Borrowed(""));
        }
        if anchor > 0 {
            self.link(anchor);
        }
        if is_map {
            self.walk.open_map()
        } else {
            self.walk.open_list()
        }
        self.nodes.push(OpenYamlNode { is_map, next_is_key: true, anchor });
    }

    fn scalar(&mut self, value: Cow<'t, str>, style: ScalarStyle, anchor: usize, span: Span) {
        let Some(range) = span.byte_range().filter(|range| self.text.get(range.clone()).is_some())
        else {
            return;
        };
        let (range, quoting) = self.place(range, style);
        if self.take_key_slot() {
            self.key(value, range, quoting);
            return;
        }
        let token = ScalarToken { range, value, quoting };
        self.keep_anchored(anchor, &token);
        self.walk.scalar(token);
    }

    /// A key is masked by its shape alone.
    fn key(&mut self, key: Cow<'t, str>, range: Range<usize>, quoting: Quoting) {
        self.walk.key(Cow::Borrowed(""));
        self.walk.key_text(&ScalarToken { range, value: key.clone(), quoting });
        self.walk.key(key);
    }

    /// The bytes of a scalar that a mask replaces, and how it is written there.
    fn place(&self, range: Range<usize>, style: ScalarStyle) -> (Range<usize>, Quoting) {
        let raw = &self.text[range.clone()];
        let inner = range.start + 1..range.end.saturating_sub(1).max(range.start + 1);
        match style {
            ScalarStyle::DoubleQuoted if raw.contains(['\\', '\n']) => (inner, Quoting::Escaped),
            ScalarStyle::SingleQuoted if raw.contains("''") || raw.contains('\n') => {
                (inner, Quoting::Doubled)
            }
            ScalarStyle::DoubleQuoted | ScalarStyle::SingleQuoted => (inner, Quoting::Verbatim),
            ScalarStyle::Plain => (range, Quoting::AddQuotes),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let end = range.start + raw.trim_end_matches(['\n', '\r', ' ', '\t']).len();
                (self.with_indicator(range.start)..end, Quoting::ReplaceBlock)
            }
        }
    }

    /// Where the indicator (`|`, `>`) of the block scalar at `start` stands.
    fn with_indicator(&self, start: usize) -> usize {
        if self.text[start..].starts_with(['|', '>']) {
            return start;
        }
        self.text[..start].rfind(['|', '>']).unwrap_or(start)
    }

    /// Keeps a value that stands under anchors, for aliases that come later.
    fn keep_anchored(&mut self, own: usize, token: &ScalarToken<'t>) {
        // The innermost anchor is enough: an alias of an outer one reaches it through `aliases`.
        let anchor = if own > 0 { own } else { self.innermost_anchor() };
        if anchor > 0 && !is_harmless(&token.value) {
            let key = if own > 0 { Cow::Borrowed("") } else { self.walk.last_key() };
            let kept = AnchoredValue { key, token: token.clone() };
            self.anchors.values.entry(anchor).or_default().push(kept);
        }
        if own > 0 {
            self.link(own);
        }
    }

    fn innermost_anchor(&self) -> usize {
        self.nodes
            .iter()
            .rev()
            .map(|node| node.anchor)
            .find(|anchor| *anchor > 0)
            .unwrap_or_default()
    }

    /// Notes that `inner` stands under the innermost open anchor.
    fn link(&mut self, inner: usize) {
        let outer = self.innermost_anchor();
        if outer > 0 && outer != inner {
            self.anchors.aliases.entry(outer).or_default().push(inner);
        }
    }

    fn alias(&mut self, anchor: usize) {
        if self.take_key_slot() {
            self.walk.key(Cow::Borrowed(""));
            return;
        }
        self.link(anchor);
        // Any value tells whether this place holds a secret.
        let probe = PROBE;
        let by_pair = self.walk.pair_name().map(ToOwned::to_owned);
        let by_pair =
            by_pair.and_then(|name| self.walk.judge().kind_of(KeyContext::Neutral, &name, probe));
        let kind = self.walk.kind_of_next(probe).or(by_pair).or(match self.walk.child_context() {
            KeyContext::Block(kind) => Some(kind),
            KeyContext::Neutral
            | KeyContext::Secret(_)
            | KeyContext::Named(_)
            | KeyContext::Packages
            | KeyContext::Reference => None,
        });
        match kind {
            Some(kind) => self.anchors.secret.push((anchor, kind)),
            None if self.walk.kind_of_next(RANDOM_PROBE).is_some() => {
                self.anchors.suggestive.push(anchor)
            }
            None => {}
        }
        self.walk.skip_value();
    }

    /// Masks the values of the anchors that aliases put under secret keys.
    fn end_document(&mut self) {
        let mut anchors = std::mem::take(&mut self.anchors);
        while let Some((anchor, kind)) = anchors.secret.pop() {
            let inner = anchors.aliases.remove(&anchor).unwrap_or_default();
            anchors.secret.extend(inner.into_iter().map(|inner| (inner, kind)));
            for value in anchors.values.remove(&anchor).unwrap_or_default() {
                let is_switch = kind == "auth" && is_scheme(&value.token.value);
                let is_place = kind != "password" && is_path(&value.token.value);
                if !is_descriptive(&value.key) && !is_switch && !is_place {
                    self.walk.secret(&value.token, kind);
                }
            }
        }
        for anchor in anchors.suggestive {
            for value in anchors.values.remove(&anchor).unwrap_or_default() {
                if looks_random(&value.token.value) {
                    self.walk.secret(&value.token, "entropy");
                }
            }
        }
        self.nodes.clear();
        self.walk.close_all();
    }
}
