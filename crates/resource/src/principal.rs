//! The principal: on whose behalf a request is made.

use std::sync::{Arc, LazyLock};

/// The identity behind a request. Access rules and caches depend on it. Cheap to clone.
///
/// A transport makes the principal in one place, once per connection or request. Two requests of
/// the same identity have principals with the same [`key`](Self::key).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<Identity>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    key: Arc<str>,
    scopes: Vec<String>,
    locale: Option<String>,
    source: PrincipalSource,
}

/// How a transport established a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrincipalSource {
    /// The process owner: stdio, a Unix socket, or an open loopback address.
    Local,
    /// A credential that the transport verified.
    Authenticated,
    /// The program itself, which reads for its index. No transport makes it.
    Internal,
}

impl Principal {
    /// The process owner, who reaches the server over stdio, a Unix socket or an open loopback
    /// address.
    pub fn local() -> Self {
        static LOCAL: LazyLock<Principal> =
            LazyLock::new(|| Principal::new("local", PrincipalSource::Local));
        LOCAL.clone()
    }

    /// The program itself. Access rules do not hold for it: whoever hands on what it read checks
    /// them for the one who gets it.
    pub fn internal() -> Self {
        static INTERNAL: LazyLock<Principal> =
            LazyLock::new(|| Principal::new("\0internal", PrincipalSource::Internal));
        INTERNAL.clone()
    }

    /// A principal that a transport authenticated as `key`.
    pub fn authenticated(key: &str) -> Self {
        Self::new(key, PrincipalSource::Authenticated)
    }

    fn new(key: &str, source: PrincipalSource) -> Self {
        Self(Arc::new(Identity { key: key.into(), scopes: Vec::new(), locale: None, source }))
    }

    /// Grants these scopes.
    #[must_use]
    pub fn with_scopes(&self, scopes: Vec<String>) -> Self {
        let Identity { key, locale, source, .. } = &*self.0;
        let (key, locale, source) = (Arc::clone(key), locale.clone(), *source);
        Self(Arc::new(Identity { key, scopes, locale, source }))
    }

    /// Prefers this language, a BCP 47 tag such as `ja` or `en-GB`.
    #[must_use]
    pub fn with_locale(&self, locale: &str) -> Self {
        let Identity { key, scopes, source, .. } = &*self.0;
        let (key, scopes, source) = (Arc::clone(key), scopes.clone(), *source);
        Self(Arc::new(Identity { key, scopes, locale: Some(locale.to_owned()), source }))
    }

    /// The stable key of the identity. Caches of private content are keyed by it.
    pub fn key(&self) -> &Arc<str> {
        &self.0.key
    }

    /// The scopes that the credential grants.
    pub fn scopes(&self) -> &[String] {
        &self.0.scopes
    }

    /// The preferred language, if the client named one.
    pub fn locale(&self) -> Option<&str> {
        self.0.locale.as_deref()
    }

    /// How the transport established the principal.
    pub fn source(&self) -> PrincipalSource {
        self.0.source
    }
}

#[cfg(test)]
mod tests {
    use super::{Principal, PrincipalSource};

    #[test]
    fn a_principal_keeps_its_key_whatever_is_added_to_it() {
        let plain = Principal::authenticated("alice");
        let full = plain.with_scopes(vec!["read".to_owned()]).with_locale("ja");
        assert_eq!(full.key(), plain.key());
        assert_eq!((full.scopes(), full.locale()), (&["read".to_owned()][..], Some("ja")));
        assert_eq!(full.source(), PrincipalSource::Authenticated);
        assert_eq!(Principal::local().source(), PrincipalSource::Local);
        assert_ne!(Principal::local().key(), plain.key());
    }
}
