//! Search of a masked mount: the source searches its own texts, and hits in secrets are left out.
//!
//! A hit tells that a text has the words of the query. So it is passed on only if the masked text
//! has each of them that the source's text has, and its passage is one of the masked text.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use redaction::{RedactionScope, Redactor, Syntax};
use resource::{
    Context, Page, Passage, Provider as _, Result, Search, SearchHit, SearchRequest, Slice,
};

use super::caller::masked_context;
use super::text_stream::as_text;
use super::{MountMasker, RedactedProvider};
use crate::search::search_unsupported;

/// How many characters of the end of a word a search may leave out to find its other forms.
const ENDING_CHARACTERS: usize = 3;
/// How many characters of a word tell it, at least.
const LEAST_CHARACTERS: usize = 3;
/// How many texts of hits are read at a time.
const MAX_CONCURRENT_TEXTS: usize = 4;

#[async_trait]
impl Search for RedactedProvider {
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        let ctx = &masked_context(ctx, &self.masker);
        let inner = self.inner.facets().search.ok_or_else(search_unsupported)?;
        let found = inner.search(ctx, request).await;
        let mut page = found.map_err(|error| self.masker.mask_error(error))?;
        let mut shown = Vec::with_capacity(page.items.len());
        for hits in page.items.chunks(MAX_CONCURRENT_TEXTS) {
            let masked = hits.iter().map(|hit| self.masked_hit(ctx, hit, &request.query));
            shown.extend(join_all(masked).await.into_iter().flatten());
        }
        page.items = shown.into();
        self.masker.mask_members(&mut page.extra);
        Ok(page)
    }
}

impl RedactedProvider {
    /// The hit as it may be told; `None` if a secret may be what was found, or cannot be told from
    /// the rest.
    async fn masked_hit(
        &self,
        ctx: &Context,
        hit: &Arc<SearchHit>,
        query: &str,
    ) -> Option<Arc<SearchHit>> {
        let mut hit = Arc::clone(hit);
        if let Some(title) = hit.title.clone() {
            let title = self.masker.mask_text(&title).into_owned();
            Arc::make_mut(&mut hit).title = Some(title);
        }
        if !self.may_mask(ctx, &hit).await? {
            return Some(hit);
        }
        let Some((text, masked, syntax)) = self.content.both_texts(ctx, &hit.uri).await.ok()?
        else {
            // What the source says of something that is no text.
            let loose = hit.passage.clone().filter(|passage| passage.slice.is_none());
            if let Some(Passage { text, slice }) = loose {
                let text = self.masker.mask_text(&text).into_owned();
                Arc::make_mut(&mut hit).passage = Some(Passage { text, slice });
            }
            return Some(hit);
        };
        let (text, masked) = (as_text(&text).ok()?, as_text(&masked).ok()?);
        if !shows_words(text, masked, query) {
            return None;
        }
        let redactor = self.masker.0.redactor();
        let passage = |old: &Passage| masked_passage(redactor, (text, masked, syntax), old);
        let passage = hit.passage.as_ref().and_then(passage);
        Arc::make_mut(&mut hit).passage = passage;
        Some(hit)
    }

    /// Whether the text of a hit may be masked; `None` if it is not there.
    async fn may_mask(&self, ctx: &Context, hit: &SearchHit) -> Option<bool> {
        let MountMasker(redaction, _) = &self.masker;
        match redaction.scope() {
            RedactionScope::Off => Some(false),
            RedactionScope::Everything => Some(true),
            RedactionScope::SensitiveFiles => {
                // A link may lead to a file that is masked.
                let resource = self.inner.stat(ctx, &hit.uri).await.ok()?;
                Some(self.masker.syntax_of(&resource).is_some())
            }
        }
    }
}

/// Whether the masked text has each word of the query that the text has.
fn shows_words(text: &str, masked: &str, query: &str) -> bool {
    let (text, masked) = (text.to_lowercase(), masked.to_lowercase());
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut stems = words.flat_map(|word| stems(&word.to_lowercase()));
    stems.all(|stem| masked.contains(&stem) || !text.contains(&stem))
}

/// What a search may take for a word: its beginning, or, in a language without spaces, each pair
/// of its characters.
fn stems(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    if word.is_ascii() {
        let length = characters.len().saturating_sub(ENDING_CHARACTERS).max(LEAST_CHARACTERS);
        return vec![characters.iter().take(length).collect()];
    }
    characters.windows(2.min(characters.len())).map(|pair| pair.iter().collect()).collect()
}

/// The passage `old` of `text` as the masked text has it; `None` if it is not there.
fn masked_passage(
    redactor: &Redactor,
    (text, masked, syntax): (&str, &str, Syntax),
    old: &Passage,
) -> Option<Passage> {
    let place = match &old.slice {
        Some(slice) => {
            let start = usize::try_from(slice.offset).ok()?;
            Some((start, usize::try_from(slice.length).ok()?))
        }
        None => text.find(&old.text).map(|start| (start, old.text.len())),
    };
    let Some((start, length)) = place else {
        // Other words than those of the text may hold a part of its secrets.
        let is_clean = text == masked;
        let said = redactor.mask(&old.text, syntax);
        let said = redactor.mask(&said, Syntax::Text).into_owned();
        return is_clean.then_some(Passage { text: said, slice: None });
    };
    let end = start.checked_add(length)?;
    let mut words = String::new();
    let mut at = start;
    for secret in redactor.find(text, syntax) {
        if secret.range.end > start && secret.range.start < end {
            words.push_str(text.get(at..secret.range.start.max(at))?);
            words.push_str(&secret.mask);
            at = secret.range.end;
        }
    }
    words.push_str(text.get(at.min(end)..end)?);
    // What the passage says has to be what the masked text says.
    let place =
        masked.match_indices(&words).map(|(at, _)| at).min_by_key(|at| at.abs_diff(start))?;
    let slice = Slice::new(place as u64, words.len() as u64, masked.len() as u64);
    Some(Passage { text: words, slice: Some(slice) })
}
