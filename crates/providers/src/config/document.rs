//! A configuration file in memory: its masked text, and the tree of that text.
//!
//! The text is masked here, before anything else sees it: keys, normalised JSON, layers and
//! differences are made of the masked text.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::SystemTime;

use bytes::Bytes;
use redaction::Redaction;
use resource::{Error, Result};

use super::parse::{ConfigSyntax, ParseFailure};
use super::tree::ConfigNode;

/// What a node of a tree takes in memory, about.
const NODE_WEIGHT: usize = 160;

/// A loaded file.
pub(super) struct ConfigDocument {
    pub(super) path: String,
    /// The masked text.
    pub(super) text: Bytes,
    /// `None`, if the syntax of the file is unknown.
    tree: Option<Result<ConfigNode, ParseFailure>>,
    normalised: OnceLock<Bytes>,
    /// The etag of the file, as it is given.
    pub(super) etag: Option<String>,
    pub(super) modified: Option<SystemTime>,
    /// Its weight in a cache.
    pub(super) weight: usize,
}

impl ConfigDocument {
    /// Masks and parses `text`. Blocks for as long as that takes. A text over a bound of the parser
    /// is refused before it is masked, which takes longer.
    pub(super) fn new(
        path: &str,
        text: &str,
        redaction: &Redaction,
        (etag, modified): (Option<String>, Option<SystemTime>),
    ) -> Result<Self> {
        let own_syntax = ConfigSyntax::of_path(path);
        let unmasked = own_syntax.map(|syntax| syntax.parse(text));
        if let Some(Err(failure)) = unmasked.as_ref().filter(|parsed| is_over_bound(parsed)) {
            return Err(Error::invalid(format!("{path} cannot be served: {failure}")));
        }
        // A text is masked as it is parsed: else a key could be read here that the masks missed.
        let syntax = redaction
            .syntax_of(path)
            .map(|by_name| own_syntax.map_or(by_name, ConfigSyntax::redaction_syntax));
        let masked = match syntax {
            Some(syntax) => redaction.redactor().mask(text, syntax),
            None => Cow::Borrowed(text),
        };
        let mut tree = match &masked {
            Cow::Borrowed(_) => unmasked,
            Cow::Owned(masked) => own_syntax.map(|syntax| syntax.parse(masked)),
        };
        if let (Some(Ok(tree)), Some(syntax)) = (&mut tree, syntax)
            && line_breaks(&masked) != line_breaks(text)
        {
            let found = redaction.redactor().find(text, syntax);
            let masks = found.iter().map(|secret| {
                let original = text.get(secret.range.clone()).unwrap_or_default();
                (secret.line, line_breaks(original), line_breaks(&secret.mask))
            });
            restore_lines(tree, &masks.filter(|(_, was, is)| was != is).collect::<Vec<_>>());
        }
        let nodes = tree.as_ref().and_then(|tree| tree.as_ref().ok()).map_or(0, ConfigNode::count);
        let text = Bytes::from(masked.into_owned());
        // The normalised text is about as long as the original.
        let weight = 2 * text.len() + nodes * NODE_WEIGHT;
        let normalised = OnceLock::new();
        Ok(Self { path: path.to_owned(), text, tree, normalised, etag, modified, weight })
    }

    /// The tree; `Invalid` if there is none.
    pub(super) fn tree(&self) -> Result<&ConfigNode> {
        match &self.tree {
            Some(Ok(tree)) => Ok(tree),
            Some(Err(failure)) => {
                let message = format!("{} cannot be parsed: {failure}", self.path);
                Err(Error::invalid(message))
            }
            None => Err(Error::invalid("the syntax of this file is unknown, so it has no keys")),
        }
    }

    /// The normalised JSON.
    pub(super) fn normalised(&self) -> Result<&Bytes> {
        let tree = self.tree()?;
        Ok(self.normalised.get_or_init(|| tree.to_json().into()))
    }
}

fn is_over_bound(parsed: &Result<ConfigNode, ParseFailure>) -> bool {
    parsed.as_ref().is_err_and(ParseFailure::is_bound)
}

fn line_breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Gives each node the line it has in the original, from that in the masked text. `masks` has the
/// original line of each mask, and the line breaks in the original and in the mask.
fn restore_lines(node: &mut ConfigNode, masks: &[(usize, usize, usize)]) {
    let mut line = node.line as usize;
    for (start, was, is) in masks {
        if line > start + is {
            line = line - is + was;
        }
    }
    node.line = u32::try_from(line).unwrap_or(u32::MAX);
    node.each_child(&mut |child| restore_lines(child, masks));
}

#[cfg(test)]
mod tests {
    use super::restore_lines;
    use crate::config::parse::ConfigSyntax;

    #[test]
    fn lines_after_a_shorter_mask_are_those_of_the_original() {
        // A block of five lines in the original, at lines 2 to 6, became one of three.
        let masked = "a: 1\npem: |\n  BEGIN\n  [redacted]\n  END\nb: 2\n";
        let mut tree = ConfigSyntax::Yaml.parse(masked).unwrap();
        restore_lines(&mut tree, &[(4, 2, 0)]);
        let line = |key: &str| tree.child(key).unwrap().line;
        assert_eq!((line("a"), line("b")), (1, 8));
    }
}
