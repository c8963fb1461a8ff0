//! "Did you mean" suggestions for a URI that does not exist.

use resource::{Context, PageRequest, Uri};

use crate::server::Server;

/// How many resources are compared, and how many are suggested.
const MAX_CANDIDATES: usize = 1000;
const MAX_SUGGESTIONS: usize = 3;

/// The URIs most similar to `uri`, the most similar first.
pub(super) async fn similar_uris(server: &Server, ctx: &Context, uri: &Uri) -> Vec<Uri> {
    let Ok(page) = server.provider.list(ctx, None, &PageRequest::first(MAX_CANDIDATES)).await
    else {
        return Vec::new();
    };
    let mut near: Vec<(f64, &Uri)> = page
        .items
        .iter()
        .map(|item| (similarity(uri.as_str(), item.uri.as_str()), &item.uri))
        .filter(|(likeness, _)| *likeness > 0.6)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, uri)| uri.clone()).collect()
}

/// Similarity of two URIs from 0 to 1: the length of their common prefix and suffix, ignoring case,
/// relative to their average length.
fn similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = |pair: &(&u8, &u8)| pair.0.eq_ignore_ascii_case(pair.1);
    let begin = one.iter().zip(other).take_while(same).count();
    let rest = one.len().min(other.len()) - begin;
    let end = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(same).count();
    2.0 * (begin + end) as f64 / (one.len() + other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::similarity;

    #[test]
    fn a_slip_is_near_and_another_name_is_far() {
        let at = |other| similarity("file:///project/README.md", other);
        assert!(at("file:///project/readme.md") > 0.99);
        assert!(at("file:///project/REAME.md") > at("file:///project/src/lib.rs"));
        assert!(at("test://a") < 0.6);
        assert!(similarity("", "") < 0.1);
    }
}
