//! Context packs: what answers a question, chosen to fit a budget of tokens.

use std::collections::HashSet;
use std::sync::Arc;

use resource::{
    Body, ByteSource, Context, Filter, LineRange, Part, Resource, Result, Role, Slice, Uri,
    one_line, tokens,
};

use crate::find::FoundResource;
use crate::index::coverage::Coverage;
use crate::index::entry::PassagePlace;
use crate::index::keys::text_key;
use crate::service::{SearchMode, SearchQuery, SearchService};
use crate::text::{read_passage, read_text};

/// How many resources are considered, and how many passages of one.
const MAX_RESOURCES: usize = 60;
const MAX_PASSAGES: usize = 3;
/// Of how many resources further passages come before the best passages of others.
const DEEP_RANKS: usize = 4;
/// The most required resources.
const MAX_REQUIRED: usize = 100;
/// A resource up to this part of the budget is taken whole, and always up to so many tokens.
const WHOLE_SHARE: u64 = 3;
const WHOLE_TOKENS: u64 = 600;
/// What an item costs besides its URI, its text and the reason for it: its type, its lines, marks.
const ITEM_TOKENS: u64 = 20;
/// What the summary costs besides the lines of the items.
const SUMMARY_TOKENS: u64 = 60;
/// Estimates of tokens may be this much too low, in percent.
const ESTIMATE_ERROR: u64 = 15;
/// Texts that share this part of their runs of words are near-repeats.
const REPEAT_SHARE: f64 = 0.7;
/// How many words a run has.
const RUN_WORDS: usize = 5;
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

/// A resource, or a passage of one.
#[derive(Debug)]
pub struct PackItem {
    /// The resource.
    pub resource: Arc<Resource>,
    /// The text.
    pub text: String,
    /// Where it stands; `None` if it is the whole.
    pub place: Option<PassagePlace>,
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

/// A pack that is being filled.
struct PackBuilder {
    /// Each with the rank of its resource; what is required has rank 0.
    items: Vec<(usize, PackItem)>,
    left_out: Vec<LeftOutItem>,
    budget: u64,
    left: u64,
    /// The runs of words of each text in the pack.
    runs: Vec<HashSet<u64>>,
}

impl SearchService {
    /// Gathers what answers the question, for the principal of `ctx`.
    pub async fn pack(&self, ctx: &Context, request: &PackRequest) -> Result<ContextPack> {
        let query = SearchQuery {
            text: request.question.clone(),
            filter: request.filter.clone(),
            mode: SearchMode::Both,
            skip: 0,
            limit: MAX_RESOURCES,
        };
        let found = self.find_visible(ctx, &query).await?;
        let required = self.find_required(ctx, request.filter.as_deref(), MAX_REQUIRED).await?;
        let mut pack = PackBuilder {
            items: Vec::new(),
            left_out: Vec::new(),
            budget: request.budget,
            left: usable(request.budget).saturating_sub(SUMMARY_TOKENS),
            runs: Vec::new(),
        };
        for resource in &required {
            self.add_required(ctx, &mut pack, resource).await;
        }
        let is_required = |uri: &Uri| required.iter().any(|resource| resource.uri == *uri);
        let mut found = found;
        found.retain(|(resource, _)| !is_required(&resource.uri) && is_for_assistant(resource));
        // The first ones in depth, of the others the best passage: one of them may answer after all.
        for (rank, (resource, found)) in found.iter().enumerate() {
            self.add_best(ctx, &mut pack, (rank, resource), found).await;
            if rank < DEEP_RANKS {
                self.add_further(ctx, &mut pack, (rank, resource), found).await;
            }
        }
        for (rank, (resource, found)) in found.iter().enumerate().skip(DEEP_RANKS) {
            self.add_further(ctx, &mut pack, (rank, resource), found).await;
        }
        pack.items.sort_by_key(|(rank, item)| (*rank, item.offset()));
        let spent = usable(request.budget).saturating_sub(pack.left);
        let PackBuilder { items, left_out, .. } = pack;
        let items = items.into_iter().map(|(_, item)| item).collect();
        let coverage = self.coverage_for(ctx);
        let (budget, tokens) = (request.budget, spent);
        Ok(ContextPack { items, left_out, tokens, budget, coverage })
    }

    /// Adds a required resource: whole, or as much of its beginning as fits.
    async fn add_required(&self, ctx: &Context, pack: &mut PackBuilder, resource: &Arc<Resource>) {
        let Ok(Some(text)) = read_text(self.provider(), ctx, resource).await else { return };
        let why = "required: its priority is 1".to_owned();
        let room = pack.left.saturating_sub(item_cost(resource, "", &why));
        let fits = tokens::prefix_len(&text.text, room);
        let (text, place) = match fits >= text.text.len() {
            true => (text.text, None),
            false => {
                let part = text.text[..fits].to_owned();
                let lines = part.lines().count() as u64;
                let length = part.len() as u64;
                let (page, headings) = (None, Vec::new());
                let place = PassagePlace { offset: 0, length, line: 1, lines, page, headings };
                (part, Some(place))
            }
        };
        let item = PackItem { resource: Arc::clone(resource), text, place, why };
        if item.text.trim().is_empty() || !pack.take(0, item) {
            pack.leave_out(&resource.uri, "did not fit");
        }
    }

    /// Adds the whole of a small resource that matches, or the best passage of a large one.
    async fn add_best(
        &self,
        ctx: &Context,
        pack: &mut PackBuilder,
        (rank, resource): (usize, &Arc<Resource>),
        found: &FoundResource,
    ) {
        let whole_limit = (pack.budget / WHOLE_SHARE).max(WHOLE_TOKENS).min(pack.left);
        // A token has at most about eight bytes; larger texts need not be read.
        let is_small = resource.size.is_some_and(|size| size <= whole_limit.saturating_mul(8));
        if is_small
            && let Ok(Some(text)) = read_text(self.provider(), ctx, resource).await
            && tokens::estimate(&text.text) <= whole_limit
        {
            let (text, why) = (text.text, why(rank, None));
            let item = PackItem { resource: Arc::clone(resource), text, place: None, why };
            return pack.add(rank + 1, item);
        }
        if let Some(passage) = found.passages.first() {
            self.add_passage(ctx, pack, (rank, resource), &passage.place).await;
        }
    }

    /// Adds further passages of a resource whose best one is in the pack.
    async fn add_further(
        &self,
        ctx: &Context,
        pack: &mut PackBuilder,
        (rank, resource): (usize, &Arc<Resource>),
        found: &FoundResource,
    ) {
        let is_whole = |item: &PackItem| item.place.is_none();
        let own = pack.items.iter().find(|(known, _)| *known == rank + 1);
        if own.is_none_or(|(_, item)| is_whole(item)) {
            return;
        }
        let best = found.passages.first().map_or(0.0, |passage| passage.score);
        let others = found.passages.iter().take(MAX_PASSAGES).skip(1);
        for passage in others.take_while(|passage| passage.score > best / 2.0) {
            self.add_passage(ctx, pack, (rank, resource), &passage.place).await;
        }
    }

    async fn add_passage(
        &self,
        ctx: &Context,
        pack: &mut PackBuilder,
        (rank, resource): (usize, &Arc<Resource>),
        place: &PassagePlace,
    ) {
        let window = (place.offset, place.length);
        if let Ok(text) = read_passage(self.provider(), ctx, resource, window).await {
            let (why, place) = (why(rank, Some(place)), Some(place.clone()));
            pack.add(rank + 1, PackItem { resource: Arc::clone(resource), text, place, why });
        }
    }
}

impl PackBuilder {
    /// Adds `item` unless it does not fit or repeats what is there; says so if not.
    fn add(&mut self, rank: usize, item: PackItem) {
        let uri = item.resource.uri.clone();
        if item.text.trim().is_empty() {
            return;
        }
        let runs = word_runs(&item.text);
        if self.runs.iter().any(|known| is_repeat(known, &runs)) {
            self.leave_out(&uri, "repeats what is there");
        } else if !self.take(rank, item) {
            self.leave_out(&uri, "did not fit");
        }
    }

    /// Takes `item` if it fits.
    fn take(&mut self, rank: usize, item: PackItem) -> bool {
        let cost = item_cost(&item.resource, &item.text, &item.why);
        if cost > self.left {
            return false;
        }
        self.left -= cost;
        self.runs.push(word_runs(&item.text));
        self.items.push((rank, item));
        true
    }

    fn leave_out(&mut self, uri: &Uri, why: &'static str) {
        let is_there = self.items.iter().any(|(_, item)| item.resource.uri == *uri);
        if !is_there && !self.left_out.iter().any(|known| known.uri == *uri) {
            self.left_out.push(LeftOutItem { uri: uri.clone(), why });
        }
    }
}

impl PackItem {
    /// The byte at which it begins.
    fn offset(&self) -> u64 {
        self.place.as_ref().map_or(0, |place| place.offset)
    }

    /// The MIME type of the text.
    pub fn mime(&self) -> Option<&str> {
        self.resource.text_form().or(self.resource.mime.as_deref())
    }

    /// The item as a part of its resource.
    pub fn into_part(self) -> Part {
        let Self { mut resource, text, place, .. } = self;
        if let Some(form) = resource.text_form() {
            Arc::make_mut(&mut resource).mime = Some(form.to_owned());
        }
        let slice = place.map(|place| {
            let total = resource.size.unwrap_or(0).max(place.offset + place.length);
            let mut slice = Slice::new(place.offset, place.length, total);
            let (start, count) = (place.line, place.lines);
            slice.lines = Some(LineRange { start, count, truncated: false });
            slice
        });
        Part { resource, body: Body::Text(ByteSource::Bytes(text.into())), slice }
    }

    fn summary_line(&self) -> String {
        let place = self.place.as_ref().map_or_else(String::new, |place| {
            format!(" lines {}-{}", place.line, (place.line + place.lines).saturating_sub(1))
        });
        format!("{}{place}: {}", self.resource.uri, self.why)
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

/// What may be spent of a budget, so that an estimate that is too low does not exceed it.
fn usable(budget: u64) -> u64 {
    budget * 100 / (100 + ESTIMATE_ERROR)
}

fn item_cost(resource: &Resource, text: &str, why: &str) -> u64 {
    // The URI stands in the block and in the summary.
    let words = tokens::estimate(text) + tokens::estimate(why);
    words + 2 * tokens::estimate(resource.uri.as_str()) + ITEM_TOKENS
}

fn is_for_assistant(resource: &Resource) -> bool {
    let audience = &resource.annotations.audience;
    audience.is_empty() || audience.contains(&Role::Assistant)
}

fn why(rank: usize, place: Option<&PassagePlace>) -> String {
    let headings = place.map(|place| place.headings.join(" > ")).unwrap_or_default();
    let page = place.and_then(|place| place.page).map(|page| format!("page {page}"));
    let mut words = vec![format!("match {}", rank + 1)];
    words.extend(page);
    words.extend((!headings.is_empty()).then(|| headings.chars().take(60).collect()));
    words.join(", ")
}

/// The hashes of all runs of a few words.
fn word_runs(text: &str) -> HashSet<u64> {
    let words: Vec<String> = analysis::tokenize(text).into_iter().map(|token| token.text).collect();
    match words.len() < RUN_WORDS {
        true => HashSet::from([text_key(&words.join(" "))]),
        false => words.windows(RUN_WORDS).map(|run| text_key(&run.join(" "))).collect(),
    }
}

/// Whether most runs of the shorter text are also in the other.
fn is_repeat(one: &HashSet<u64>, other: &HashSet<u64>) -> bool {
    let common = one.intersection(other).count();
    common as f64 >= REPEAT_SHARE * one.len().min(other.len()).max(1) as f64
}
