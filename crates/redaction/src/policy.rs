//! Redaction policy of a mount: which of its texts are masked, and by which syntax.

use std::sync::Arc;

use crate::redactor::Redactor;
use crate::syntax::Syntax;

/// What a mount masks.
#[derive(Clone, Default)]
pub struct Redaction {
    scope: RedactionScope,
    redactor: Arc<Redactor>,
}

/// Which texts are masked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RedactionScope {
    /// None.
    #[default]
    Off,
    /// Files whose names say that they hold configuration, keys or credentials.
    SensitiveFiles,
    /// All of them.
    Everything,
}

impl Redaction {
    /// Masks the texts of `scope`.
    pub fn new(scope: RedactionScope, redactor: Arc<Redactor>) -> Self {
        Self { scope, redactor }
    }

    /// Which texts are masked.
    pub fn scope(&self) -> RedactionScope {
        self.scope
    }

    /// What masks them.
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    /// The syntax by which the text of the file at `path` is masked; `None` if it is given as it
    /// is. `path` is slash-separated; what stands before the file's own folders does not matter.
    pub fn syntax_of(&self, path: &str) -> Option<Syntax> {
        match self.scope {
            RedactionScope::Off => None,
            RedactionScope::SensitiveFiles => {
                Syntax::is_sensitive(path).then(|| Syntax::of_path(path))
            }
            RedactionScope::Everything => Some(Syntax::of_path(path)),
        }
    }
}
