//! Redaction policy of a mount: which of its texts are masked, and by which syntax.

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::redactor::Redactor;
use crate::syntax::Syntax;

/// What a mount masks.
#[derive(Clone, Default)]
pub struct Redaction {
    scope: RedactionScope,
    redactor: Arc<Redactor>,
    etag_key: Option<[u8; 32]>,
}

/// The key of etags where the settings give none.
static PROCESS_KEY: LazyLock<[u8; 32]> = LazyLock::new(|| {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the operating system gives random bytes");
    key
});

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

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redaction({:?})", self.scope)
    }
}

impl Redaction {
    /// Masks the texts of `scope`.
    pub fn new(scope: RedactionScope, redactor: Arc<Redactor>) -> Self {
        Self { scope, redactor, etag_key: None }
    }

    /// Makes etags with this key. Without one they hold until the process ends.
    #[must_use]
    pub fn with_etag_key(self, key: [u8; 32]) -> Self {
        Self { etag_key: Some(key), ..self }
    }

    /// The etag of a masked text, made from the version or the bytes of the source. It has a key,
    /// because a plain hash of a secret lets others guess it.
    pub fn etag(&self, of: &[u8]) -> String {
        let key = self.etag_key.as_ref().unwrap_or(&*PROCESS_KEY);
        let mut hasher = blake3::Hasher::new_keyed(key);
        hasher.update(self.redactor.rules_hash());
        hasher.update(of);
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// The version of the masks, a part of etags of texts that are masked: another policy, or another
    /// key, gives another one.
    pub fn version(&self) -> String {
        let scope = [self.scope as u8];
        if self.redactor.has_key() {
            return self.etag(&scope)[..8].to_owned();
        }
        // Without a secret among the rules, the version outlives the process.
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.redactor.rules_hash()).update(&scope);
        hasher.finalize().to_hex()[..8].to_owned()
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
            RedactionScope::SensitiveFiles => Syntax::of_sensitive(path),
            RedactionScope::Everything => Some(Syntax::of_path(path)),
        }
    }

    /// The syntax by which a content is masked whose own path gives `named`. The name of the file
    /// that links lead to says more than that of the link; where no name tells the keys, the MIME
    /// type may.
    pub fn syntax_of_content(
        &self,
        named: Option<Syntax>,
        link_target: Option<&str>,
        mime: Option<&str>,
    ) -> Option<Syntax> {
        let target = link_target.and_then(|path| self.syntax_of(path));
        let syntax = target.filter(|syntax| syntax.has_keys()).or(named).or(target)?;
        Some(if syntax.has_keys() { syntax } else { mime.map_or(syntax, Syntax::of_mime) })
    }
}
