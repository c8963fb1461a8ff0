//! URI rewriting that shows only some URIs: links to others are left out of the results of tools and
//! prompts, and others in their arguments name nothing that the server knows.

use resource::UriRewrite;

/// The rewriting `inner`, without the local URIs that `shows` refuses.
pub(super) struct ShownUris<'a> {
    pub(super) inner: &'a dyn UriRewrite,
    pub(super) shows: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

impl UriRewrite for ShownUris<'_> {
    fn to_public(&self, local: &str) -> Option<String> {
        self.inner.to_public(local)
    }

    fn to_local(&self, public: &str) -> Option<String> {
        self.inner.to_local(public).filter(|local| self.shows(local))
    }

    fn shows(&self, local: &str) -> bool {
        (self.shows)(local) && self.inner.shows(local)
    }
}

#[cfg(test)]
mod tests {
    use resource::UriRewrite;

    use super::ShownUris;

    struct Prefixed;

    impl UriRewrite for Prefixed {
        fn to_public(&self, local: &str) -> Option<String> {
            Some(format!("m+{local}"))
        }

        fn to_local(&self, public: &str) -> Option<String> {
            public.strip_prefix("m+").map(str::to_owned)
        }
    }

    /// Else a tool of a server would be given what it could read for the principal.
    #[test]
    fn an_argument_that_names_what_is_not_shown_stays_as_it_is() {
        let shown = ShownUris { inner: &Prefixed, shows: &|local| !local.contains("secret") };
        assert_eq!(shown.to_local("m+file:///a.md").as_deref(), Some("file:///a.md"));
        assert_eq!(shown.to_local("m+file:///secret.md"), None);
        assert_eq!(shown.to_public("file:///a.md").as_deref(), Some("m+file:///a.md"));
    }
}
