//! "Did you mean" suggestions for a URI that does not exist.
//!
//! They look at the folder in which the URI would be, then at the top of its mount and for the
//! same name elsewhere, and give up after a moment: a mount that hangs must not delay an error.

use std::sync::Arc;
use std::time::Duration;

use resource::{Context, Filter, PageRequest, PathFilter, Uri};
use tokio::time::{Instant, timeout_at};

use super::recursive_list::RecursiveList;
use super::rows::{decoded, last_segment};
use crate::server::Server;

/// How many resources are compared, and how many are suggested.
const MAX_CANDIDATES: usize = 1000;
const MAX_SUGGESTIONS: usize = 3;
/// How long suggestions may take.
const MAX_TIME: Duration = Duration::from_secs(1);
/// The least similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.6;

/// The existing URIs most similar to `uri`, the most similar first.
pub(super) async fn similar_uris(server: &Server, ctx: &Context, uri: &Uri) -> Vec<Uri> {
    let deadline = Instant::now() + MAX_TIME;
    let mut near =
        timeout_at(deadline, similar_siblings(server, ctx, uri)).await.unwrap_or_default();
    if near.is_empty() {
        near = timeout_at(deadline, same_name(server, ctx, uri)).await.unwrap_or_default();
    }
    near
}

/// `did you mean a, b?`
pub(super) fn question(near: &[Uri]) -> String {
    let near: Vec<&str> = near.iter().map(Uri::as_str).collect();
    format!("did you mean {}?", near.join(", "))
}

/// The similar members of the nearest ancestor that exists; at the top, of the whole list.
async fn similar_siblings(server: &Server, ctx: &Context, uri: &Uri) -> Vec<Uri> {
    let mut wanted = uri.clone();
    loop {
        let parent = parent_of(&wanted);
        let ask = PageRequest::first(MAX_CANDIDATES).with_filter(mount_filter(server, uri));
        if let Ok(page) = server.provider.list(ctx, parent.as_ref(), &ask).await {
            let listed: Vec<Uri> = page.items.iter().map(|item| item.uri.clone()).collect();
            return most_similar(&wanted, &listed);
        }
        match parent {
            Some(parent) => wanted = parent,
            None => return Vec::new(),
        }
    }
}

/// The resources elsewhere in the mount that have the same name.
async fn same_name(server: &Server, ctx: &Context, uri: &Uri) -> Vec<Uri> {
    let end = format!("/{}", decoded(last_segment(uri))).to_lowercase();
    let is_same = move |text: &str| text.to_lowercase().ends_with(&end);
    let mount = mount_filter(server, uri).and_then(|filter| filter.mount.clone());
    let path = Some(PathFilter::new("", is_same));
    let filter = Arc::new(Filter { path, mount, keep_collections: true, ..Filter::default() });
    let Ok(mut walk) = RecursiveList::new(server, ctx, (None, true, &filter), None) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    while found.len() < MAX_SUGGESTIONS
        && let Ok(Some(resource)) = walk.next_resource().await
    {
        if filter.admits(&resource) {
            found.push(resource.uri.clone());
        }
    }
    found
}

/// A filter for the mount of `uri`, so that no other mount is asked.
fn mount_filter(server: &Server, uri: &Uri) -> Option<Arc<Filter>> {
    let mount = server.provider.facets().mounts?.mount_of(uri)?;
    Some(Arc::new(Filter { mount: Some(mount), ..Filter::default() }))
}

/// The URI without its last segment; `None` at the root.
fn parent_of(uri: &Uri) -> Option<Uri> {
    let text = uri.as_str().trim_end_matches('/');
    let (parent, _) = text.rsplit_once('/')?;
    let is_root = parent.ends_with('/') || parent.ends_with(':');
    Uri::parse(parent).ok().filter(|_| !is_root)
}

fn most_similar(uri: &Uri, candidates: &[Uri]) -> Vec<Uri> {
    let wanted = decoded(uri.as_str());
    let likeness = |other: &Uri| {
        let other = decoded(other.as_str());
        let names = similarity(name_of(&wanted), name_of(&other));
        // A long common path makes any two names in one folder alike.
        similarity(&wanted, &other).min(names)
    };
    let mut near: Vec<(f64, &Uri)> = candidates
        .iter()
        .map(|other| (likeness(other), other))
        .filter(|(likeness, _)| *likeness > MIN_SIMILARITY)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, uri)| uri.clone()).collect()
}

fn name_of(text: &str) -> &str {
    text.trim_end_matches('/').rsplit('/').next().unwrap_or(text)
}

/// Similarity of two texts from 0 to 1: the length of their common prefix and suffix, ignoring
/// case, relative to their average length. Two letters that changed places count as one mistake.
fn similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = |pair: &(&u8, &u8)| pair.0.eq_ignore_ascii_case(pair.1);
    let begin = one.iter().zip(other).take_while(same).count();
    let rest = one.len().min(other.len()) - begin;
    let end = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(same).count();
    let swapped = usize::from(
        one.len() == other.len()
            && one.len() - begin - end == 2
            && one[begin].eq_ignore_ascii_case(&other[begin + 1])
            && one[begin + 1].eq_ignore_ascii_case(&other[begin]),
    );
    2.0 * (begin + end + swapped) as f64 / (one.len() + other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use resource::Uri;

    use super::{most_similar, parent_of, similarity};

    fn uri(text: &str) -> Uri {
        Uri::parse(text).unwrap()
    }

    #[test]
    fn a_slip_is_near_and_another_name_is_far() {
        let at = |other| similarity("file:///project/README.md", other);
        assert!(at("file:///project/readme.md") > 0.99);
        assert!(at("file:///project/REAME.md") > at("file:///project/src/lib.rs"));
        assert!(at("test://a") < 0.6);
        assert!(similarity("", "") < 0.1);
        assert!(similarity("mian.rs", "main.rs") > 0.8);
    }

    #[test]
    fn names_are_compared_as_people_read_them() {
        let there = ["file:///a/long/path/lib.rs", "file:///a/long/path/%E8%B3%87%E6%96%99.md"];
        let there = there.map(uri);
        assert_eq!(most_similar(&uri("file:///a/long/path/資料.txt"), &there), [there[1].clone()]);
        assert!(most_similar(&uri("file:///a/long/path/other.c"), &there).is_empty());
    }

    #[test]
    fn parents_end_at_the_root() {
        assert_eq!(parent_of(&uri("file:///a/b/")), Some(uri("file:///a")));
        assert_eq!(parent_of(&uri("file:///a")), None);
        assert_eq!(parent_of(&uri("test://a")), None);
    }
}
