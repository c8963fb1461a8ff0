//! Options of the documentation provider.

use std::sync::Arc;

use redaction::Redaction;
use resource::{Provider, UriRewrite};

use super::language::LanguageTag;
use crate::VisibilityRule;

/// Options for serving one tree of documentation.
#[derive(Clone)]
pub struct Options {
    /// The files, with URIs of the scheme `file` and without a mount's name.
    pub files: Arc<dyn Provider>,
    /// The languages of the pages, in the order in which a reader is served. Empty: those that are
    /// found.
    pub languages: Vec<LanguageTag>,
    /// The language that the others are translated from; the first of `languages` if not given.
    pub original: Option<LanguageTag>,
    /// Makes local URIs public, for links in metadata and in texts that are made.
    pub rewrite: Arc<dyn UriRewrite>,
    /// Who may know of which file; `None` if everyone may know of all.
    pub visibility: Option<VisibilityRule>,
    /// What the mount masks: a file that is masked by its name is described by its name alone.
    pub redaction: Redaction,
    /// The longest local URI.
    pub max_uri: usize,
}
