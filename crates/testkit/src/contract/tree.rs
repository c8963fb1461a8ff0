//! Contract: list, stat and read agree with each other.

use std::collections::BTreeSet;

use resource::{Content, ErrorKind, MemberPlace, PageRequest, Provider, Resource, Uri, Window};

use super::Expectations;
use super::ctx;
use super::walk::{NO_LIMIT, expect, leaves, pages, read, walk};

/// The `_meta` key that a description has beyond the list entry: when it was fetched.
const FETCHED_KEY: &str = "dev.refdesk/fetched";

/// Every listed resource has a stat, equal to its list entry.
pub async fn stat_agrees_with_the_list(provider: &dyn Provider) {
    for seen in walk(provider).await {
        let uri = &seen.resource.uri;
        let told = provider.stat(&ctx(), uri).await;
        let told = expect(told, &format!("describing {uri}, which is listed,"));
        let mut listed = Resource::clone(&seen.resource);
        if let Some(time) = told.extra.get(MemberPlace::Meta, FETCHED_KEY) {
            listed.extra.set(MemberPlace::Meta, FETCHED_KEY, time);
        }
        assert_eq!(*told, listed, "stat and list disagree about {uri}");
    }
}

/// Every listed resource can be read: a leaf as parts, a collection as such or as its own content.
pub async fn listed_can_be_read(provider: &dyn Provider) {
    for seen in walk(provider).await {
        let uri = &seen.resource.uri;
        let content = read(provider, uri, &Window::Whole { limit: NO_LIMIT }).await;
        match expect(content, &format!("reading {uri}, which is listed,")) {
            Content::Collection(resource) => {
                assert!(seen.is_collection(), "{uri} is read as a collection and listed as none");
                assert_eq!(resource.uri, *uri, "reading {uri} names another collection");
            }
            Content::InputRequired(_) => panic!("{uri} cannot be read without input"),
            // B-05: a collection that has content of its own returns it first.
            Content::Parts(parts) => {
                let first = parts.first().map(|part| &part.resource.uri);
                assert_eq!(first, Some(uri), "reading {uri} gives something else first");
            }
        }
    }
}

/// Known collections have exactly the expected members.
pub async fn known_collections_are_given(provider: &dyn Provider, expected: &Expectations) {
    for (uri, children) in &expected.collections {
        let told = pages(provider, Some(uri), 1000).await;
        let told: BTreeSet<&Uri> = told.iter().map(|child| &child.uri).collect();
        let children: BTreeSet<&Uri> = children.iter().collect();
        assert_eq!(told, children, "{uri} has other members than expected");
    }
}

/// A collection lists only direct members, not itself.
pub async fn collections_hold_direct_children(provider: &dyn Provider) {
    for seen in walk(provider).await.iter().filter(|seen| seen.is_collection()) {
        let uri = &seen.resource.uri;
        let children = pages(provider, Some(uri), 1000).await;
        let names: BTreeSet<&Uri> = children.iter().map(|child| &child.uri).collect();
        assert!(!names.contains(uri), "{uri} lists itself");
        for child in children.iter().filter(|child| child.listable == Some(true)) {
            for deeper in pages(provider, Some(&child.uri), 1000).await {
                let is_direct = names.contains(&deeper.uri);
                assert!(!is_direct, "{uri} lists {}, which lies in {}", deeper.uri, child.uri);
            }
        }
    }
}

/// Listing a leaf fails as `Invalid`.
pub async fn leaves_are_not_listable(provider: &dyn Provider) {
    for leaf in leaves(provider).await {
        let told = provider.list(&ctx(), Some(&leaf.uri), &PageRequest::first(10)).await;
        let kind = told.err().map(|error| error.kind);
        assert_eq!(kind, Some(ErrorKind::Invalid), "listing {}, which is a leaf", leaf.uri);
    }
}
