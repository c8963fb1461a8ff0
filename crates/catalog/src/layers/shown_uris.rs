//! URI rewriting that shows only some URIs: links to others are left out of the results of tools and
//! prompts.

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
        self.inner.to_local(public)
    }

    fn shows(&self, local: &str) -> bool {
        (self.shows)(local) && self.inner.shows(local)
    }
}
