//! Visibility rule: which principal may know of which file, for resources that are made of several.

use std::sync::Arc;

use resource::{Context, Principal, PrincipalSource, Uri};

/// Rule that tells whether a principal may know of the file at a local URI, so that what is made of
/// files leaves out those that it may not.
pub type VisibilityRule = Arc<dyn Fn(&Principal, &Uri) -> bool + Send + Sync>;

/// What a rule may tell principals apart by.
pub(crate) type ViewerKey = (Arc<str>, Vec<String>, PrincipalSource);

/// The key of what is kept for the principal: one for all, if there is no rule.
pub(crate) fn viewer_of(rule: Option<&VisibilityRule>, ctx: &Context) -> Option<ViewerKey> {
    rule.map(|_| {
        let principal = ctx.principal();
        (Arc::clone(principal.key()), principal.scopes().to_vec(), principal.source())
    })
}
