//! "Did you mean" suggestions for a resource that does not exist.
//!
//! They look at the folder in which it would be, then for the same name elsewhere in its mount, and
//! give what they have after a moment: a mount that hangs or is very large must not delay an error.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use resource::{Context, Filter, PageRequest, PathFilter, Uri};
use tokio::time::{Instant, timeout_at};

use super::recursive_list::RecursiveList;
use super::rows::{decoded, last_segment};
use crate::server::Server;

/// How many of the places where a resource may be meant are looked at.
const MAX_PLACES: usize = 16;
/// How many names a page has, how many pages of a folder are compared, and how many names are
/// suggested.
const PAGE_SIZE: usize = 1000;
const MAX_PAGES: usize = 1000;
const MAX_SUGGESTIONS: usize = 3;
/// How long suggestions may take.
const MAX_TIME: Duration = Duration::from_secs(1);
/// The least similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.6;

/// A URI that a caller may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MeantUri {
    pub(super) uri: Uri,
    /// Whether the caller named its mount.
    pub(super) is_named: bool,
}

impl MeantUri {
    /// A URI as the caller wrote it.
    pub(super) fn exact(uri: &Uri) -> Self {
        Self { uri: uri.clone(), is_named: true }
    }
}

/// A name that exists. The best one is the least.
struct Suggestion {
    /// Whether it is not in the very folder that was meant, but near a folder above it.
    is_above: bool,
    /// Whether the caller did not name its mount.
    is_unnamed: bool,
    similarity: f64,
    uri: Uri,
}

impl Suggestion {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let rank = |it: &Self| (it.is_above, it.is_unnamed);
        let similarity = other.similarity.total_cmp(&self.similarity);
        rank(self).cmp(&rank(other)).then(similarity).then_with(|| self.uri.cmp(&other.uri))
    }
}

/// The existing URIs most similar to any of `missing`, the most similar first.
pub(super) async fn similar_uris(server: &Server, ctx: &Context, missing: &[MeantUri]) -> Vec<Uri> {
    let deadline = Instant::now() + MAX_TIME;
    let places = &missing[..missing.len().min(MAX_PLACES)];
    let siblings = places.iter().map(|meant| similar_siblings(server, ctx, meant, deadline));
    let siblings = join_all(siblings).await.into_iter().flatten();
    let near = most_similar(siblings);
    if !near.is_empty() {
        return near;
    }
    let elsewhere = places.iter().map(|meant| same_name(server, ctx, meant, deadline));
    most_similar(join_all(elsewhere).await.into_iter().flatten())
}

/// The best suggestions, each once.
fn most_similar(all: impl Iterator<Item = Suggestion>) -> Vec<Uri> {
    let mut all: Vec<Suggestion> = all.collect();
    all.sort_by(Suggestion::cmp);
    let mut near: Vec<Uri> = Vec::new();
    for suggestion in all {
        if near.len() < MAX_SUGGESTIONS && !near.contains(&suggestion.uri) {
            near.push(suggestion.uri);
        }
    }
    near
}

/// `did you mean a, b?`
pub(super) fn question(near: &[Uri]) -> String {
    let near: Vec<&str> = near.iter().map(Uri::as_str).collect();
    format!("did you mean {}?", near.join(", "))
}

/// The most similar members of the nearest ancestor that exists; at the top, of the whole list.
async fn similar_siblings(
    server: &Server,
    ctx: &Context,
    missing: &MeantUri,
    deadline: Instant,
) -> Vec<Suggestion> {
    let mut wanted = missing.uri.clone();
    loop {
        let parent = parent_of(&wanted);
        let filter = near_filter(&wanted, mount_of(server, &missing.uri));
        let ask = PageRequest::first(PAGE_SIZE).with_filter(Some(Arc::new(filter)));
        let place = (parent.as_ref(), &wanted);
        let found = similar_members(server, ctx, place, (ask, deadline)).await;
        if let Some(found) = found {
            let (is_above, is_unnamed) = (wanted != missing.uri, !missing.is_named);
            let suggest = |(similarity, uri)| Suggestion { is_above, is_unnamed, similarity, uri };
            return found.into_iter().map(suggest).collect();
        }
        match parent {
            Some(parent) => wanted = parent,
            None => return Vec::new(),
        }
    }
}

/// The members of `parent` that are most similar to `wanted`, of all pages that come before
/// `deadline`; `None` if it cannot be listed.
async fn similar_members(
    server: &Server,
    ctx: &Context,
    (parent, wanted): (Option<&Uri>, &Uri),
    (mut ask, deadline): (PageRequest, Instant),
) -> Option<Vec<(f64, Uri)>> {
    let text = decoded(wanted.as_str());
    let mut near: Vec<(f64, Uri)> = Vec::new();
    for page in 0..MAX_PAGES {
        let Ok(listed) = timeout_at(deadline, server.provider.list(ctx, parent, &ask)).await else {
            break;
        };
        let listed = match listed {
            Ok(listed) => listed,
            Err(_) if page == 0 => return None,
            Err(_) => break,
        };
        let alike = listed
            .items
            .iter()
            .map(|item| (likeness(&text, &decoded(item.uri.as_str())), item.uri.clone()));
        near.extend(alike.filter(|(likeness, _)| *likeness > MIN_SIMILARITY));
        near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        near.truncate(MAX_SUGGESTIONS);
        ask.cursor = listed.next;
        // A provider may answer from memory, without ever yielding to the deadline.
        if ask.cursor.is_none() || Instant::now() >= deadline {
            break;
        }
    }
    Some(near)
}

/// The resources elsewhere in the mount that have the same name, of those found before `deadline`.
async fn same_name(
    server: &Server,
    ctx: &Context,
    missing: &MeantUri,
    deadline: Instant,
) -> Vec<Suggestion> {
    let uri = &missing.uri;
    let end = format!("/{}", decoded(last_segment(uri))).to_lowercase();
    let is_same = move |text: &str| text.to_lowercase().ends_with(&end);
    let path = Some(PathFilter::new("", is_same));
    let mount = mount_of(server, uri);
    let filter = Arc::new(Filter { path, mount, keep_collections: true, ..Filter::default() });
    let Ok(mut walk) = RecursiveList::new(server, ctx, (None, true, &filter), None) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    while found.len() < MAX_SUGGESTIONS
        && let Ok(Ok(Some(resource))) = timeout_at(deadline, walk.next_resource()).await
    {
        if filter.admits(&resource) {
            let (is_unnamed, uri) = (!missing.is_named, resource.uri.clone());
            found.push(Suggestion { is_above: true, is_unnamed, similarity: 1.0, uri });
        }
    }
    found
}

/// A filter for what is near `wanted`: the provider applies it, and describes nothing else.
fn near_filter(wanted: &Uri, mount: Option<String>) -> Filter {
    let wanted = decoded(wanted.as_str());
    let path = PathFilter::new("", move |other| likeness(&wanted, other) > MIN_SIMILARITY);
    Filter { path: Some(path), mount, ..Filter::default() }
}

/// The mount of `uri`, so that no other mount is asked.
fn mount_of(server: &Server, uri: &Uri) -> Option<String> {
    server.provider.facets().mounts?.mount_of(uri)
}

/// The URI without its last segment; `None` at the root.
fn parent_of(uri: &Uri) -> Option<Uri> {
    let text = uri.as_str().trim_end_matches('/');
    let (parent, _) = text.rsplit_once('/')?;
    let is_root = parent.ends_with('/') || parent.ends_with(':');
    Uri::parse(parent).ok().filter(|_| !is_root)
}

/// How much two decoded URIs are alike, from 0 to 1.
fn likeness(wanted: &str, other: &str) -> f64 {
    // A long common path makes any two names in one folder alike.
    similarity(wanted, other).min(similarity(name_of(wanted), name_of(other)))
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

    use super::{MIN_SIMILARITY, likeness, parent_of, similarity};

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
    fn names_are_compared_and_not_the_folders_that_they_share() {
        let is_near = |other| likeness("file:///a/long/path/資料.txt", other) > MIN_SIMILARITY;
        assert!(is_near("file:///a/long/path/資料.md"));
        assert!(!is_near("file:///a/long/path/lib.rs"));
    }

    #[test]
    fn parents_end_at_the_root() {
        assert_eq!(parent_of(&uri("file:///a/b/")), Some(uri("file:///a")));
        assert_eq!(parent_of(&uri("file:///a")), None);
        assert_eq!(parent_of(&uri("test://a")), None);
    }
}
