//! Contract: reads return the exact content; windows join; limits and pinned versions hold.

use resource::{Body, Content, ErrorKind, Part, Provider, ReadRequest, Resource, Slice, Window};

use super::walk::{NO_LIMIT, bytes_of, expect, leaves, parts, primary, read};
use super::{Expectations, ctx};

const WHOLE: Window = Window::Whole { limit: NO_LIMIT };

/// Known leaves have exactly the expected content.
pub async fn known_content_is_given(provider: &dyn Provider, expected: &Expectations) {
    for (uri, content) in &expected.leaves {
        let told = bytes_of(primary(provider, uri, &WHOLE).await.body).await;
        assert_eq!(&told[..], &content[..], "{uri} has other content than expected");
    }
}

/// Each part names the requested URI, and its `size` is the length of its content.
pub async fn reading_names_what_was_asked(provider: &dyn Provider) {
    for leaf in leaves(provider).await {
        let uri = &leaf.uri;
        let parts = parts(provider, uri, &WHOLE).await;
        assert!(!parts.is_empty(), "reading {uri} gives nothing at all");
        let formats = parts.iter().map(|part| part.resource.mime.clone());
        let mut formats: Vec<_> = formats.collect();
        formats.sort();
        formats.dedup();
        assert_eq!(formats.len(), parts.len(), "two parts of {uri} are of one format");
        for part in parts {
            assert_eq!(part.resource.uri, *uri, "reading {uri} gives something else");
            assert_eq!(part.slice, None, "reading all of {uri} gives a slice");
            assert_eq!(part.resource.annotations, leaf.annotations, "annotations of {uri}");
            size_is_right(part).await;
        }
    }
}

async fn size_is_right(part: Part) {
    let Part { resource, body, .. } = part;
    let told = bytes_of(body).await.len() as u64;
    // Content stored in another charset has another length in UTF-8.
    if resource.charset.is_none() {
        let size = resource.size.unwrap_or(told);
        assert_eq!(size, told, "the size of {} is wrong", resource.uri);
    }
}

/// Windows of any size join to the whole and never split a character.
pub async fn windows_join(provider: &dyn Provider) {
    for leaf in leaves(provider).await {
        let whole = primary(provider, &leaf.uri, &WHOLE).await.body;
        let is_text = matches!(whole, Body::Text(_));
        let whole = bytes_of(whole).await;
        for length in [1, 2, 3, 5, 64, 4096, 1 << 20] {
            if whole.len() as u64 / length <= 2_000 {
                let joined = joined(provider, &leaf, is_text, length).await;
                assert_eq!(joined.len(), whole.len(), "windows of {length} of {}", leaf.uri);
                assert!(joined == whole, "windows of {length} of {} differ", leaf.uri);
            }
        }
        window_beyond_the_end_is_empty(provider, &leaf, whole.len() as u64).await;
    }
}

async fn joined(provider: &dyn Provider, leaf: &Resource, is_text: bool, length: u64) -> Vec<u8> {
    let uri = &leaf.uri;
    let mut all = Vec::new();
    loop {
        let window = Window::Part { offset: all.len() as u64, length, etag: leaf.etag.clone() };
        let part = primary(provider, uri, &window).await;
        let slice = part.slice.unwrap_or_else(|| panic!("a window of {uri} has no slice"));
        assert_eq!(matches!(part.body, Body::Text(_)), is_text, "{uri} is text only in places");
        let bytes = bytes_of(part.body).await;
        let most = length.max(if is_text { 4 } else { 1 });
        assert!(bytes.len() as u64 <= most, "a window of {length} of {uri} is larger");
        assert_eq!(slice.offset, all.len() as u64, "a window of {uri} begins elsewhere");
        assert_eq!(slice.length, bytes.len() as u64, "a window of {uri} reports the wrong length");
        all.extend_from_slice(&bytes);
        match slice.next_offset() {
            None => return all,
            Some(next) => assert_eq!(next, all.len() as u64, "windows of {uri} leave a gap"),
        }
        assert!(!bytes.is_empty(), "a window of {uri} is empty and says that more follows");
    }
}

async fn window_beyond_the_end_is_empty(provider: &dyn Provider, leaf: &Resource, total: u64) {
    for offset in [total, total + 1, u64::MAX] {
        let window = Window::Part { offset, length: u64::MAX, etag: None };
        let part = primary(provider, &leaf.uri, &window).await;
        let end = Slice::new(total, 0, total);
        assert_eq!(part.slice, Some(end), "the window at {offset} of {}", leaf.uri);
        assert!(bytes_of(part.body).await.is_empty(), "{} goes on beyond its end", leaf.uri);
    }
}

/// Windows of each part join to that part, not only those of the primary format.
pub async fn windows_of_other_parts_join(provider: &dyn Provider) {
    for leaf in leaves(provider).await {
        let whole = parts(provider, &leaf.uri, &WHOLE).await;
        for (at, part) in whole.into_iter().enumerate().skip(1) {
            let etag = part.resource.etag.clone();
            let is_text = matches!(part.body, Body::Text(_));
            let whole = bytes_of(part.body).await;
            for length in [7, 64, 1 << 20] {
                if whole.len() as u64 / length <= 500 {
                    let windows = PartWindows { at, is_text, length, etag: etag.clone() };
                    let joined = windows.join(provider, &leaf).await;
                    assert!(joined == whole, "windows of {length} of part {at} of {}", leaf.uri);
                }
            }
        }
    }
}

/// Windows of one part of a resource.
struct PartWindows {
    at: usize,
    is_text: bool,
    length: u64,
    etag: Option<String>,
}

impl PartWindows {
    async fn join(&self, provider: &dyn Provider, leaf: &Resource) -> Vec<u8> {
        let (uri, mut all) = (&leaf.uri, Vec::new());
        loop {
            let offset = all.len() as u64;
            let window = Window::Part { offset, length: self.length, etag: self.etag.clone() };
            let request = ReadRequest { part: Some(self.at), ..window.into() };
            let reading = provider.read(&ctx(), uri, &request).await;
            let Content::Parts(parts) = expect(reading, "reading a window of a part").content
            else {
                panic!("a part of {uri} is read as a collection")
            };
            let Some(Part { body, slice: Some(slice), .. }) = parts.into_iter().next() else {
                panic!("a window of part {} of {uri} has no slice", self.at)
            };
            assert_eq!(matches!(body, Body::Text(_)), self.is_text, "{uri} is text in places");
            let bytes = bytes_of(body).await;
            assert_eq!((slice.offset, slice.length), (offset, bytes.len() as u64), "of {uri}");
            all.extend_from_slice(&bytes);
            if slice.next_offset().is_none() {
                return all;
            }
            assert!(!bytes.is_empty(), "a window of {uri} is empty and says that more follows");
        }
    }
}

/// A whole read succeeds at the limit. Over it the read fails, or gives less and says so.
pub async fn whole_has_a_limit(provider: &dyn Provider) {
    for leaf in leaves(provider).await {
        let mut total = 0;
        for part in parts(provider, &leaf.uri, &WHOLE).await {
            total += bytes_of(part.body).await.len() as u64;
        }
        parts(provider, &leaf.uri, &Window::Whole { limit: total }).await;
        let Some(limit) = total.checked_sub(1) else { continue };
        let told = read(provider, &leaf.uri, &Window::Whole { limit }).await;
        let Ok(Content::Parts(parts)) = told else {
            let kind = told.err().map(|error| error.kind);
            assert_eq!(kind, Some(ErrorKind::TooLarge), "{total} bytes of {}", leaf.uri);
            continue;
        };
        let (mut given, mut notes) = (0, 0);
        for part in parts {
            notes += part.resource.notes.len();
            given += bytes_of(part.body).await.len() as u64;
        }
        assert!(given <= limit && notes > 0, "{given} bytes of {} with {notes} notes", leaf.uri);
    }
}

/// A window with a pinned version succeeds if the etag is current, and fails otherwise.
pub async fn pinned_versions_are_kept(provider: &dyn Provider) {
    for leaf in leaves(provider).await.iter().filter(|leaf| leaf.etag.is_some()) {
        let window = |etag| Window::Part { offset: 0, length: 10, etag };
        parts(provider, &leaf.uri, &window(leaf.etag.clone())).await;
        let stale = window(Some("never an etag of ours".to_owned()));
        let error = read(provider, &leaf.uri, &stale).await.err();
        let error = error.unwrap_or_else(|| panic!("a wrong etag of {} was accepted", leaf.uri));
        assert_eq!(error.kind, ErrorKind::Changed, "a wrong etag of {}", leaf.uri);
        let now = error.facts.iter().find(|(name, _)| *name == "etag").map(|(_, etag)| etag);
        assert_eq!(now, leaf.etag.as_ref(), "the current etag of {}", leaf.uri);
    }
}
