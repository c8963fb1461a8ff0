//! Context packs: what answers a question, chosen to fit a budget of tokens.

mod draft;
mod excerpt;

use std::ops::Range;
use std::sync::Arc;

use resource::{
    Body, ByteSource, Context, Filter, LineRange, Part, Resource, Result, Role, Slice, Uri,
    one_line, tokens,
};

use self::draft::{DraftPiece, DraftSource, PackDraft, SUMMARY_TOKENS};
use self::excerpt::{TermValues, excerpt};
use crate::find::FoundResource;
use crate::index::coverage::Coverage;
use crate::index::entry::{PassagePlace, text_kind};
use crate::plan::QueryPlan;
use crate::service::{SearchMode, SearchQuery, SearchService};
use crate::text::{read_passage, read_text};

/// How many resources are considered, and how many passages of one.
const MAX_RESOURCES: usize = 60;
const MAX_PASSAGES: usize = 3;
/// The most required resources.
const MAX_REQUIRED: usize = 100;
/// What each of the first resources may take of the pack at first: up to this rank so many percent,
/// and so many passages.
const SHARES: [(usize, u64, usize); 3] = [(1, 30, 3), (2, 10, 2), (8, 4, 1)];
/// What every other resource may take, in percent, and the fewest tokens.
const LEAST_SHARE: (u64, usize) = (2, 1);
const LEAST_TOKENS: u64 = 40;
/// How much of that is for the lead of the resource, in percent; its last sentence may have more.
const LEAD_PERCENT: u64 = 60;
/// The most tokens of a lead, and how much of the beginning of a text is read for it.
const MAX_LEAD_TOKENS: u64 = 100;
const LEAD_BYTES: u64 = 6 << 10;
/// The fewest tokens that a further piece is worth.
const MIN_PIECE_TOKENS: u64 = 40;
/// Of how many resources the whole is taken, if it is at most this part of the pack.
const WHOLE_RANKS: usize = 3;
const WHOLE_SHARE: u64 = 3;
/// How many characters of a heading the summary has.
const MAX_HEADING: usize = 40;
/// How many resources that were left out the summary names.
const MAX_LEFT_OUT: usize = 5;

/// A request for a pack.
#[derive(Debug, Clone)]
pub struct PackRequest {
    /// What the pack is to answer.
    pub question: String,
    /// The most tokens.
    pub budget: u64,
    /// Conditions on the resources.
    pub filter: Option<Arc<Filter>>,
}

/// Resources and passages that answer a question.
#[derive(Debug)]
pub struct ContextPack {
    /// What is in it: what is required first, then the best, each resource in reading order.
    pub items: Vec<PackItem>,
    /// What did not fit, or repeats what is in it.
    pub left_out: Vec<LeftOutItem>,
    /// The tokens that it has, as estimated.
    pub tokens: u64,
    /// The most tokens it was allowed.
    pub budget: u64,
    /// How much the index covers.
    pub coverage: Coverage,
}

/// A resource, or the parts of one that matter.
#[derive(Debug)]
pub struct PackItem {
    /// The resource.
    pub resource: Arc<Resource>,
    /// The text.
    pub text: String,
    /// Where it stands, in reading order; empty if it is the whole.
    pub places: Vec<PassagePlace>,
    /// Why it is in the pack, in a few words.
    pub why: String,
}

/// Something that is not in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutItem {
    /// The resource.
    pub uri: Uri,
    /// Why it is not.
    pub why: &'static str,
}

impl SearchService {
    /// Gathers what answers the question, for the principal of `ctx`: what is required; then, of
    /// many resources, what they are about and the lines that match best; then more of the first.
    pub async fn pack(&self, ctx: &Context, request: &PackRequest) -> Result<ContextPack> {
        let query = SearchQuery {
            text: request.question.clone(),
            filter: request.filter.clone(),
            mode: SearchMode::Both,
            skip: 0,
            limit: MAX_RESOURCES,
        };
        let mut found = self.find_visible(ctx, &query).await?;
        let required = self.find_required(ctx, request.filter.as_deref(), MAX_REQUIRED).await?;
        let mut draft = PackDraft::new(request.budget);
        for resource in &required {
            self.add_required(ctx, &mut draft, resource).await;
        }
        let is_required = |uri: &Uri| required.iter().any(|resource| resource.uri == *uri);
        found.retain(|(resource, _)| !is_required(&resource.uri) && is_for_assistant(resource));
        let plan = QueryPlan::new(&request.question)?;
        let values = TermValues::new(&plan, &self.index().state.store());
        let filling = PackFilling { service: self, ctx, values };
        // Breadth first: one of the later resources may answer after all.
        let usable = draft.left();
        for (rank, (resource, found)) in found.iter().enumerate() {
            let share = allowance(usable, rank);
            filling.add_first(&mut draft, (rank, resource), found, share).await;
        }
        for (rank, (resource, found)) in found.iter().enumerate() {
            filling.add_further(&mut draft, (rank, resource), found).await;
        }
        let (items, left_out, tokens) = draft.finish();
        let (budget, coverage) = (request.budget, self.coverage_for(ctx));
        Ok(ContextPack { items, left_out, tokens, budget, coverage })
    }

    /// Adds a required resource: whole, or as much of its beginning as fits.
    async fn add_required(&self, ctx: &Context, draft: &mut PackDraft, resource: &Arc<Resource>) {
        let Ok(Some(text)) = read_text(self.provider(), ctx, resource).await else { return };
        let why = "required: its priority is 1".to_owned();
        let source = DraftSource { rank: 0, resource, why };
        let text = text.text;
        let fits = tokens::prefix_len(&text, draft.room(&source));
        let is_added = match fits >= text.len() {
            true => draft.add_whole(source, text),
            false => {
                let start = start_of_text();
                draft.add_pieces(source, vec![DraftPiece::cut(&start, &text, 0..fits)])
            }
        };
        if !is_added {
            draft.leave_out(&resource.uri, "did not fit");
        }
    }
}

/// What fills a pack: the search, the principal, and what the words of the question count.
struct PackFilling<'a> {
    service: &'a SearchService,
    ctx: &'a Context,
    values: TermValues,
}

impl PackFilling<'_> {
    /// Adds what a resource is about and the lines that match best, in `share` tokens; the whole of
    /// a resource that has no more.
    async fn add_first(
        &self,
        draft: &mut PackDraft,
        (rank, resource): (usize, &Arc<Resource>),
        found: &FoundResource,
        (share, passages): (u64, usize),
    ) {
        let Some(passage) = found.passages.first() else { return };
        let source = || source(rank, resource, Some(&passage.place));
        let room = share.min(draft.room(&source()));
        if room < MIN_PIECE_TOKENS {
            return draft.leave_out(&resource.uri, "did not fit");
        }
        let beginning = self.read(resource, (0, LEAD_BYTES)).await.unwrap_or_default();
        if !beginning.is_empty() && draft.is_copy(&beginning) {
            return draft.leave_out(&resource.uri, "repeats what is there");
        }
        if let Some(text) = self.read_small(resource, room).await {
            draft.add_whole(source(), text);
            return;
        }
        let mut pieces = lead_pieces(resource, &beginning, room * LEAD_PERCENT / 100);
        let spent: u64 = pieces.iter().map(|piece| tokens::estimate(&piece.text)).sum();
        let mut rest = room.saturating_sub(spent);
        if rest < MIN_PIECE_TOKENS && !pieces.iter().any(|piece| self.values.has_term(&piece.text))
        {
            // A lead without a word of the question makes room for the lines that have them.
            pieces.clear();
            rest = room;
        }
        let most = usize::try_from(rest / MIN_PIECE_TOKENS).unwrap_or(passages);
        let most = most.min(passages).max(usize::from(pieces.is_empty()));
        let best = found.passages.iter().take(most);
        let best: Vec<_> = best.take_while(|one| one.score > passage.score / 2.0).collect();
        for passage in &best {
            let each = rest / best.len() as u64;
            pieces.extend(self.read_excerpt(resource, &passage.place, each).await);
        }
        if !pieces.is_empty() {
            draft.add_pieces(source(), pieces);
        }
    }

    /// Adds more of a resource that is in the pack: the whole of a small one that is among the
    /// first, the best passages of another.
    async fn add_further(
        &self,
        draft: &mut PackDraft,
        (rank, resource): (usize, &Arc<Resource>),
        found: &FoundResource,
    ) {
        if !draft.has_part(&resource.uri) || draft.left() < MIN_PIECE_TOKENS {
            return;
        }
        let Some(first) = found.passages.first() else { return };
        let source = || source(rank, resource, Some(&first.place));
        if rank < WHOLE_RANKS {
            let limit = (draft.usable() / WHOLE_SHARE).min(draft.left());
            if let Some(text) = self.read_small(resource, limit).await
                && draft.add_whole(source(), text)
            {
                return;
            }
        }
        let others = found.passages.iter().take(MAX_PASSAGES);
        for passage in others.take_while(|passage| passage.score > first.score / 2.0) {
            let room = draft.left().saturating_sub(MIN_PIECE_TOKENS / 2);
            if room < MIN_PIECE_TOKENS {
                return;
            }
            let piece = self.read_excerpt(resource, &passage.place, room).await;
            draft.add_pieces(source(), piece.into_iter().collect());
        }
    }

    /// The whole of a resource of at most `limit` tokens.
    async fn read_small(&self, resource: &Resource, limit: u64) -> Option<String> {
        // A token has at most about eight bytes; larger texts need not be read.
        resource.size.filter(|size| *size <= limit.saturating_mul(8))?;
        let text = read_text(self.service.provider(), self.ctx, resource).await.ok()??;
        (tokens::estimate(&text.text) <= limit).then_some(text.text)
    }

    /// The lines of a passage that match best, in at most `limit` tokens.
    async fn read_excerpt(
        &self,
        resource: &Resource,
        place: &PassagePlace,
        limit: u64,
    ) -> Option<DraftPiece> {
        let text = self.read(resource, (place.offset, place.length)).await?;
        let range = excerpt(&text, &self.values, limit);
        (!range.is_empty()).then(|| DraftPiece::cut(place, &text, range))
    }

    async fn read(&self, resource: &Resource, window: (u64, u64)) -> Option<String> {
        read_passage(self.service.provider(), self.ctx, resource, window).await.ok()
    }
}

impl PackItem {
    /// The MIME type of the text.
    pub fn mime(&self) -> Option<&str> {
        self.resource.text_form().or(self.resource.mime.as_deref())
    }

    /// The item as a part of its resource.
    pub fn into_part(self) -> Part {
        let Self { mut resource, text, places, .. } = self;
        if let Some(form) = resource.text_form() {
            Arc::make_mut(&mut resource).mime = Some(form.to_owned());
        }
        let slice = places.first().zip(places.last()).map(|(first, last)| {
            let (end, line) = (last.offset + last.length, last.line + last.lines);
            let total = resource.size.unwrap_or(0).max(end);
            let mut slice = Slice::new(first.offset, end - first.offset, total);
            let (start, count) = (first.line, line - first.line);
            slice.lines = Some(LineRange { start, count, truncated: false });
            slice
        });
        Part { resource, body: Body::Text(ByteSource::Bytes(text.into())), slice }
    }

    fn summary_line(&self) -> String {
        let lines = self.places.iter().map(|place| {
            format!("{}-{}", place.line, (place.line + place.lines).saturating_sub(1))
        });
        let lines: Vec<String> = lines.collect();
        let place = match lines.is_empty() {
            true => String::new(),
            false => format!(" lines {}", lines.join(", ")),
        };
        // The blocks have the URIs, in the same order.
        format!("{}{place}: {}", self.resource.name, self.why)
    }
}

impl ContextPack {
    /// What is in it and why, and what is not and how to get it.
    pub fn summary(&self) -> String {
        let mut lines: Vec<String> = self.items.iter().map(PackItem::summary_line).collect();
        if lines.is_empty() {
            lines.push("nothing found; try other words, or resources_grep".to_owned());
        }
        let shown = self.left_out.iter().take(MAX_LEFT_OUT);
        let mut room = SUMMARY_TOKENS;
        for item in shown {
            let line = format!("left out: {} ({})", item.uri, item.why);
            let cost = tokens::estimate(&line);
            if cost > room {
                break;
            }
            room -= cost;
            lines.push(line);
        }
        let lines: Vec<_> = lines.iter().map(|line| one_line(line)).collect();
        lines.join("\n")
    }
}

/// What the resource of this rank may take of `usable` tokens at first, and of how many passages.
fn allowance(usable: u64, rank: usize) -> (u64, usize) {
    let share = SHARES.iter().find(|(ranks, ..)| rank < *ranks);
    let (percent, passages) = share.map_or(LEAST_SHARE, |(_, percent, count)| (*percent, *count));
    ((usable * percent / 100).max(LEAST_TOKENS), passages)
}

/// What a resource says of itself at its beginning, in about `limit` tokens.
fn lead_pieces(resource: &Resource, beginning: &str, limit: u64) -> Vec<DraftPiece> {
    let limit = limit.min(MAX_LEAD_TOKENS);
    let mime = resource.text_form().or(resource.mime.as_deref()).unwrap_or_default();
    let chars = beginning.chars().count() as u64 * limit / tokens::estimate(beginning).max(1);
    let chars = usize::try_from(chars).unwrap_or(0);
    let start = start_of_text();
    let piece = |range: Range<usize>| DraftPiece::cut(&start, beginning, range);
    analysis::lead(beginning, text_kind(mime), chars).into_iter().map(piece).collect()
}

/// The place of a text's first byte.
fn start_of_text() -> PassagePlace {
    let (offset, length, line, lines) = (0, 0, 1, 0);
    PassagePlace { offset, length, line, lines, page: None, headings: Vec::new() }
}

fn source<'a>(
    rank: usize,
    resource: &'a Arc<Resource>,
    place: Option<&PassagePlace>,
) -> DraftSource<'a> {
    DraftSource { rank: rank + 1, resource, why: why(rank, place) }
}

fn is_for_assistant(resource: &Resource) -> bool {
    let audience = &resource.annotations.audience;
    audience.is_empty() || audience.contains(&Role::Assistant)
}

/// The rank, and the page and the innermost heading of the best passage.
fn why(rank: usize, place: Option<&PassagePlace>) -> String {
    let heading = place.and_then(|place| place.headings.last());
    let page = place.and_then(|place| place.page).map(|page| format!("page {page}"));
    let mut words = vec![format!("match {}", rank + 1)];
    words.extend(page);
    words.extend(heading.map(|heading| heading.chars().take(MAX_HEADING).collect()));
    words.join(", ")
}
