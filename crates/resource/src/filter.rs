//! List filter: conditions that a provider applies to its listing itself.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use crate::description::{Resource, Role};
use crate::relay::UriRewrite;
use crate::uri::{Uri, percent_decode_lossy};

/// Conditions on the items of a list. All given ones must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// A part of the name or title, in lower case.
    pub name: Option<String>,
    /// A pattern over the URI.
    pub path: Option<PathFilter>,
    /// A MIME type. `image/` and `image/*` stand for every subtype.
    pub mime: Option<String>,
    /// The audience. Resources without an audience are for everyone.
    pub audience: Option<Role>,
    /// The minimum priority. Resources without a priority are excluded.
    pub min_priority: Option<f64>,
    /// The earliest time of the last change. Resources without a time are excluded.
    pub modified_since: Option<SystemTime>,
    /// The mount that must have the resource. Only a catalog looks at it.
    pub mount: Option<String>,
    /// Also lists collections that may hold matches, for a caller that descends into them.
    pub keep_collections: bool,
}

impl Filter {
    /// Whether `resource` meets every condition but the mount.
    pub fn admits(&self, resource: &Resource) -> bool {
        let notes = &resource.annotations;
        let is_named = |part: &String| {
            let titles = [Some(&resource.name), resource.title.as_ref()];
            titles.into_iter().flatten().any(|title| title.to_lowercase().contains(part))
        };
        let is_for = |role: Role| notes.audience.is_empty() || notes.audience.contains(&role);
        self.name.as_ref().is_none_or(is_named)
            && self.path.as_ref().is_none_or(|path| path.matches(&resource.uri))
            && self.mime.as_ref().is_none_or(|mime| has_mime(resource, mime))
            && self.audience.is_none_or(is_for)
            && self.min_priority.is_none_or(|least| notes.priority.is_some_and(|own| own >= least))
            && self.modified_since.is_none_or(|since| notes.modified.is_some_and(|at| at >= since))
    }

    /// Whether a list under this filter shows `resource`: it meets the conditions, or it is a
    /// collection to descend into.
    pub fn shows(&self, resource: &Resource) -> bool {
        let may_hold = || {
            let is_collection = resource.listable == Some(true);
            self.keep_collections && is_collection && self.may_match_below(&resource.uri)
        };
        self.admits(resource) || may_hold()
    }

    /// Whether a list may show a resource of which only URI and name are known, in a source that
    /// has no titles. `is_collection` is false only if it surely is none.
    pub fn may_show(&self, uri: &Uri, name: &str, is_collection: bool) -> bool {
        let is_named = |part: &String| name.to_lowercase().contains(part);
        let may_match = self.name.as_ref().is_none_or(is_named)
            && self.path.as_ref().is_none_or(|path| path.matches(uri));
        may_match || self.keep_collections && is_collection && self.may_match_below(uri)
    }

    /// Whether a member of `collection`, at any depth, may match by its URI.
    pub fn may_match_below(&self, collection: &Uri) -> bool {
        self.path.as_ref().is_none_or(|path| path.may_match_below(collection))
    }

    /// The conditions that hold whatever a layer changes in descriptions: URI, MIME type and time.
    /// A layer that sets titles, audiences or priorities passes these on and applies the rest.
    #[must_use]
    pub fn without_metadata(&self) -> Self {
        Self { name: None, audience: None, min_priority: None, ..self.clone() }
    }

    /// The filter for a mount whose local URIs `rewrite` makes public.
    #[must_use]
    pub fn for_mount(&self, rewrite: &Arc<dyn UriRewrite>) -> Self {
        let path = self.path.as_ref().map(|path| path.rewritten(rewrite));
        Self { path, mount: None, ..self.clone() }
    }
}

/// Whether one of the resource's formats has this MIME type.
fn has_mime(resource: &Resource, mime: &str) -> bool {
    let wanted = mime.to_ascii_lowercase();
    let wanted = wanted.trim_end_matches('*');
    // What refdesk could make of it does not tell what it is.
    let formats = resource.formats.iter().filter(|format| !format.is_made);
    let formats = formats.map(|format| &format.mime);
    resource.mime.iter().chain(formats).any(|own| {
        let own = own.to_ascii_lowercase();
        if wanted.ends_with('/') || wanted.is_empty() {
            return own.starts_with(wanted);
        }
        own.split(';').next().is_some_and(|essence| essence.trim() == wanted) || own == wanted
    })
}

/// A pattern over percent-decoded public URIs.
#[derive(Clone)]
pub struct PathFilter {
    /// What every matching URI begins with.
    prefix: Arc<str>,
    pattern: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// How the URIs given to this filter become public, where they are local.
    rewrite: Option<Arc<dyn UriRewrite>>,
}

impl PathFilter {
    /// A filter for URIs that begin with `prefix` and that `pattern` accepts, both percent-decoded.
    pub fn new(prefix: &str, pattern: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { prefix: prefix.into(), pattern: Arc::new(pattern), rewrite: None }
    }

    /// What every matching public URI begins with, percent-decoded.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether `uri` matches.
    pub fn matches(&self, uri: &Uri) -> bool {
        self.public_text(uri)
            .is_some_and(|text| text.starts_with(&*self.prefix) && (self.pattern)(&text))
    }

    /// Whether a URI below `collection` may match.
    fn may_match_below(&self, collection: &Uri) -> bool {
        self.public_text(collection).is_some_and(|text| {
            let root = format!("{}/", text.trim_end_matches('/'));
            root.starts_with(&*self.prefix) || self.prefix.starts_with(&root)
        })
    }

    fn public_text(&self, uri: &Uri) -> Option<String> {
        let public = match &self.rewrite {
            Some(rewrite) => rewrite.to_public(uri.as_str())?,
            None => uri.as_str().to_owned(),
        };
        Some(percent_decode_lossy(&public).into_owned())
    }

    fn rewritten(&self, rewrite: &Arc<dyn UriRewrite>) -> Self {
        Self { rewrite: Some(Arc::clone(rewrite)), ..self.clone() }
    }
}

impl fmt::Debug for PathFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PathFilter({}…)", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use super::{Filter, PathFilter};
    use crate::description::{Resource, Role};
    use crate::relay::UriRewrite;
    use crate::uri::Uri;

    fn uri(text: &str) -> Uri {
        Uri::parse(text).unwrap()
    }

    fn resource(text: &str) -> Resource {
        Resource::new(uri(text), text.rsplit('/').next().unwrap_or_default())
    }

    fn below(prefix: &str) -> Filter {
        Filter { path: Some(PathFilter::new(prefix, |_| true)), ..Filter::default() }
    }

    #[test]
    fn every_condition_can_exclude() {
        let mut one = resource("a:/Readme.md");
        one.mime = Some("text/markdown; charset=utf-8".to_owned());
        one.annotations.priority = Some(0.5);
        one.annotations.audience = vec![Role::User];
        one.annotations.modified = Some(SystemTime::UNIX_EPOCH);
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        let none = Filter::default;
        let admitted = [
            none(),
            Filter { name: Some("readme".to_owned()), ..none() },
            Filter { mime: Some("text/*".to_owned()), ..none() },
            Filter { mime: Some("TEXT/markdown".to_owned()), ..none() },
            Filter { audience: Some(Role::User), ..none() },
            Filter { min_priority: Some(0.5), ..none() },
            Filter { modified_since: Some(SystemTime::UNIX_EPOCH), ..none() },
            below("a:/"),
        ];
        let excluded = [
            Filter { name: Some("license".to_owned()), ..none() },
            Filter { mime: Some("text/plain".to_owned()), ..none() },
            Filter { audience: Some(Role::Assistant), ..none() },
            Filter { min_priority: Some(0.6), ..none() },
            Filter { modified_since: Some(later), ..none() },
            below("b:/"),
        ];
        assert!(admitted.iter().all(|filter| filter.admits(&one)));
        assert!(excluded.iter().all(|filter| !filter.admits(&one)));
    }

    #[test]
    fn a_collection_is_descended_into_only_where_something_may_match() {
        for (prefix, collection, may) in [
            ("a:/docs/x", "a:/docs", true),
            ("a:/docs/", "a:/docs/deep/er/", true),
            ("a:/docs/", "a:/doc", false),
            ("a:/docs/", "a:/src", false),
            ("", "a:/src", true),
            ("a:/日本/", "a:/%E6%97%A5%E6%9C%AC", true),
        ] {
            let mut folder = resource(collection);
            folder.listable = Some(true);
            let mut filter = below(prefix);
            assert_eq!(filter.may_match_below(&folder.uri), may, "{prefix} below {collection}");
            filter.name = Some("nothing".to_owned());
            assert!(!filter.shows(&folder));
            filter.keep_collections = true;
            assert_eq!(filter.shows(&folder), may);
        }
    }

    struct Prefixed;

    impl UriRewrite for Prefixed {
        fn to_public(&self, local: &str) -> Option<String> {
            Some(format!("m+{local}"))
        }

        fn to_local(&self, public: &str) -> Option<String> {
            public.strip_prefix("m+").map(str::to_owned)
        }
    }

    #[test]
    fn a_mount_is_given_a_filter_for_its_local_uris() {
        let rewrite: Arc<dyn UriRewrite> = Arc::new(Prefixed);
        let filter = Filter { mount: Some("m".to_owned()), ..below("m+a:/docs/") };
        let local = filter.for_mount(&rewrite);
        assert!(local.admits(&resource("a:/docs/x")) && !local.admits(&resource("a:/src/x")));
        assert!(local.may_match_below(&uri("a:/docs")) && local.mount.is_none());
    }
}
