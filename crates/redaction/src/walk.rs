//! Walk over the keys and values of a text: a parser reports them, the walk collects the secrets.

mod lists;
mod quoting;

use std::borrow::Cow;
use std::ops::Range;

use crate::judge::{Judge, KeyContext, is_package};
use crate::redactor::{Depth, find_all, write_masks};
use crate::secret::SecretKind;
use crate::shapes::mask_shapes;
use crate::syntax::Syntax;
pub(crate) use quoting::Quoting;

/// How deep keys are followed. What stands deeper is judged by the keys above.
const MAX_DEPTH: usize = 512;

/// A value as it stands in a text.
#[derive(Clone)]
pub(crate) struct ScalarToken<'t> {
    /// The bytes that a mask replaces: without quotes if it has some.
    pub(crate) range: Range<usize>,
    /// What it means.
    pub(crate) value: Cow<'t, str>,
    pub(crate) quoting: Quoting,
}

/// A secret by its place, before lines are counted.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) range: Range<usize>,
    pub(crate) kind: SecretKind,
    pub(crate) mask: String,
}

/// What a scan of a text found.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) secrets: Vec<Finding>,
    /// Values that the settings show, whatever they look like.
    pub(crate) revealed: Vec<Range<usize>>,
}

/// Whether a text fits its syntax.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fit {
    #[default]
    Whole,
    Broken,
}

/// A map or a list that the walk is inside of.
#[derive(Default)]
struct Frame<'t> {
    is_list: bool,
    /// The key whose value comes next.
    key: Cow<'t, str>,
    /// How many elements came before.
    index: usize,
    context: KeyContext,
    /// Whether `kind: Secret` is a member.
    is_kubernetes_secret: bool,
    /// The member `name`, beside which `value` may stand.
    name: Option<Cow<'t, str>>,
    /// The last element was an option (`--password`) whose value comes next.
    option: Option<String>,
    /// Values that are secrets if this is a Kubernetes Secret.
    of_kubernetes: Vec<Finding>,
    /// The member `value`, where `name` did not come yet.
    unnamed: Option<ScalarToken<'t>>,
}

/// Collects the secrets of a text.
pub(crate) struct Walk<'t, 'j> {
    judge: &'j Judge,
    depth: Depth,
    frames: Vec<Frame<'t>>,
    /// Frames beyond the limit.
    too_deep: usize,
    findings: Findings,
}

impl<'t, 'j> Walk<'t, 'j> {
    pub(crate) fn new(judge: &'j Judge, depth: Depth) -> Self {
        Self {
            judge,
            depth,
            frames: vec![Frame::default()],
            too_deep: 0,
            findings: Findings::default(),
        }
    }

    pub(crate) fn judge(&self) -> &'j Judge {
        self.judge
    }

    /// Names the value that comes next.
    pub(crate) fn key(&mut self, key: Cow<'t, str>) {
        if self.too_deep == 0
            && let Some(frame) = self.frames.last_mut()
        {
            frame.key = key;
        }
    }

    /// A map begins.
    pub(crate) fn open_map(&mut self) {
        self.open(false);
    }

    /// A map begins, whose key is a label that is chosen freely.
    pub(crate) fn open_block(&mut self) {
        let context = self.context().in_block(&self.named_key());
        self.open(false);
        self.set_context(context);
    }

    /// Every value of the innermost map is a secret, unless its key describes one.
    pub(crate) fn expect_secrets(&mut self) {
        self.set_context(KeyContext::Block("secret"));
    }

    fn set_context(&mut self, context: KeyContext) {
        if self.too_deep == 0
            && let Some(frame) = self.frames.last_mut()
        {
            frame.context = context;
        }
    }

    /// A list begins.
    pub(crate) fn open_list(&mut self) {
        self.open(true);
    }

    fn open(&mut self, is_list: bool) {
        if self.frames.len() >= MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        let context = self.child_context();
        let inherited = if is_list { self.named_key() } else { Cow::Borrowed("") };
        self.frames.push(Frame { is_list, context, key: inherited, ..Frame::default() });
    }

    /// The map or list ends. Returns false if none is open.
    pub(crate) fn close(&mut self) -> bool {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return true;
        }
        if self.frames.len() == 1 {
            return false;
        }
        if let Some(frame) = self.frames.pop() {
            self.settle(frame);
        }
        self.end_value();
        true
    }

    /// Whether the innermost open frame is a list.
    pub(crate) fn is_in_list(&self) -> bool {
        self.too_deep == 0 && self.frames.last().is_some_and(|frame| frame.is_list)
    }

    /// Closes everything, as at the end of a document.
    pub(crate) fn close_all(&mut self) {
        while self.close() {}
        if let Some(frame) = self.frames.pop() {
            self.settle(frame);
        }
        self.frames.push(Frame::default());
    }

    pub(crate) fn finish(mut self) -> Findings {
        self.close_all();
        self.findings
    }

    /// What the keys above say about the next value.
    pub(crate) fn child_context(&self) -> KeyContext {
        let Some(frame) = self.frames.last() else { return KeyContext::Neutral };
        if frame.is_list { frame.context } else { frame.context.under(&frame.key) }
    }

    /// The key that names the next value: for an element of a list, the key of the list.
    fn named_key(&self) -> Cow<'t, str> {
        self.frames.last().map(|frame| frame.key.clone()).unwrap_or_default()
    }

    /// The kind of secret that `value` would be in the place of the next value.
    pub(crate) fn kind_of_next(&self, value: &str) -> Option<&'static str> {
        let frame = self.frames.last()?;
        if self.is_list_of_secret_names() {
            return None;
        }
        let context = self.value_context(frame);
        if frame.is_list && context == KeyContext::Packages && is_package(value) {
            return None;
        }
        self.judge.kind_of(context, &frame.key, value)
    }

    /// The context in which the next value's own key is judged.
    fn value_context(&self, frame: &Frame<'t>) -> KeyContext {
        if !frame.is_list {
            return frame.context;
        }
        // The list's key is the element's key, so what counts is the context above the list.
        let above = self.frames.len().checked_sub(2).and_then(|at| self.frames.get(at));
        above.map_or(KeyContext::Neutral, |above| above.context)
    }

    /// A value.
    pub(crate) fn scalar(&mut self, token: ScalarToken<'t>) {
        if self.is_revealed() {
            self.findings.revealed.push(token.range);
            self.end_value();
            return;
        }
        self.keep_for_kubernetes(&token);
        if let Some(finding) = self.find(&token) {
            self.findings.secrets.push(finding);
        } else {
            self.remember(token);
        }
        self.end_value();
    }

    /// The text of a map that has one, as elements of XML do: the map's key is its key.
    pub(crate) fn text_of_map(&mut self, token: ScalarToken<'t>) {
        if self.too_deep > 0 || self.frames.len() < 2 {
            self.scalar(token);
        } else if let Some(map) = self.frames.pop() {
            self.scalar(token);
            self.frames.push(map);
        }
    }

    /// A value that is a secret because of what refers to it.
    pub(crate) fn secret(&mut self, token: &ScalarToken<'_>, kind: &'static str) {
        let finding = self.masked(token, kind);
        self.findings.secrets.push(finding);
    }

    /// A key, as a text that may hold a shape.
    pub(crate) fn key_text(&mut self, token: &ScalarToken<'_>) {
        if token.quoting != Quoting::Verbatim
            && let Some((kind, text)) = mask_shapes(&token.value, &self.judge.writer)
        {
            let mask = token.quoting.write(&text);
            self.findings.secrets.push(Finding { range: token.range.clone(), kind, mask });
        }
    }

    /// A value that stands elsewhere, such as an alias.
    pub(crate) fn skip_value(&mut self) {
        self.end_value();
    }

    /// The key of the next value.
    pub(crate) fn last_key(&self) -> Cow<'t, str> {
        self.named_key()
    }

    /// What the keys above the innermost map or list say.
    pub(crate) fn context(&self) -> KeyContext {
        self.frames.last().map(|frame| frame.context).unwrap_or_default()
    }

    /// A value outside the structure, such as a commented-out assignment.
    pub(crate) fn assignment(&mut self, key: &str, token: &ScalarToken<'_>) -> bool {
        if self.judge.reveals(std::iter::once(key)) {
            self.findings.revealed.push(token.range.clone());
            return false;
        }
        let kind = self.judge.kind_of(self.context(), key, &token.value);
        if let Some(kind) = kind.filter(|_| !is_private_key_block(&token.value)) {
            self.secret(token, kind);
        }
        kind.is_some()
    }

    fn end_value(&mut self) {
        if self.too_deep == 0
            && let Some(frame) = self.frames.last_mut()
        {
            frame.index += 1;
        }
    }

    fn find(&mut self, token: &ScalarToken<'t>) -> Option<Finding> {
        if let Some(kind) = self.kind_of_next(&token.value) {
            return (!is_private_key_block(&token.value)).then(|| self.masked(token, kind));
        }
        let nested = self.nested_syntax(&token.value);
        if nested.is_none()
            && let Some(finding) = self.find_in_list(token)
        {
            return Some(finding);
        }
        let (kind, text) = match nested {
            Some((syntax, depth)) => self.mask_nested(&token.value, syntax, depth)?,
            None if token.quoting.keeps_lines() => return None,
            None => mask_shapes(&token.value, &self.judge.writer)?,
        };
        Some(Finding { range: token.range.clone(), kind, mask: token.quoting.write(&text) })
    }

    /// The syntax of a file inside the value: one that the key names (`app.yaml: |`), or JSON.
    fn nested_syntax(&self, value: &str) -> Option<(Syntax, Depth)> {
        let key = &self.frames.last()?.key;
        let depth = self.depth.deeper()?;
        let trimmed = value.trim();
        let is_json = trimmed.starts_with('{') && trimmed.ends_with('}') && trimmed.contains('"');
        if is_json {
            return Some((Syntax::Json, depth));
        }
        let is_file = value.contains('\n') && key.contains('.');
        let syntax = Some(Syntax::of_path(key)).filter(|syntax| is_file && syntax.has_keys());
        syntax.map(|syntax| (syntax, depth))
    }

    fn mask_nested(
        &self,
        value: &str,
        syntax: Syntax,
        depth: Depth,
    ) -> Option<(SecretKind, String)> {
        let found = find_all(self.judge, value, syntax, depth);
        let kind = found.first()?.kind;
        Some((kind, write_masks(value, &found)))
    }

    fn masked(&self, token: &ScalarToken<'_>, kind: &'static str) -> Finding {
        let kind = SecretKind::Key(kind);
        let mask = self.judge.writer.mask(kind, &token.value);
        Finding { range: token.range.clone(), kind, mask: token.quoting.write_mask(&mask) }
    }

    fn is_revealed(&self) -> bool {
        if !self.judge.reveals_any() {
            return false;
        }
        let index: Vec<String> = self.frames.iter().map(|frame| frame.index.to_string()).collect();
        // The first frame stands for the text itself.
        let keys = self.frames.iter().zip(&index).skip(1);
        self.judge.reveals(
            keys.map(
                |(frame, index)| {
                    if frame.is_list { index.as_str() } else { frame.key.as_ref() }
                },
            ),
        )
    }
}

/// Whether `value` is a private key block and nothing else: its first and last line stay.
fn is_private_key_block(value: &str) -> bool {
    let value = value.trim();
    value.starts_with("-----BEGIN ") && value.ends_with("-----") && value.contains("PRIVATE KEY")
}
