//! The tool `resources_search`: finds passages by words or meaning.

use std::sync::Arc;

use machinery::{Packer, Unpacker};
use protocol::inbound::tool::arguments::{FilterArguments, SearchArguments, SearchBy};
use protocol::inbound::tool::output::{HitRow, SearchOutput};
use protocol::inbound::tool::{TextLines, ToolOutput, ToolResult};
use resource::{Cursor, Error, Filter, PathFilter, Result, Uri};
use search::{PassageHit, SearchMode, SearchQuery, SearchResults, SearchService};

use super::filter::{build_filter, check_mount, resolve_collection};
use super::rows::{absent_sources, common_base, decoded, write_absences};
use crate::exchange::Exchange;
use crate::server::Server;

/// How far a client may page.
const MAX_SKIP: u64 = 1_000;
/// How many characters of the headings above a passage a hit shows.
const MAX_PLACE_CHARS: usize = 80;

/// Finds one page of passages.
pub(super) async fn search_resources(
    server: &Server,
    exchange: &Exchange,
    arguments: &SearchArguments,
) -> Result<ToolResult> {
    let ctx = &exchange.ctx;
    let service = require_search(server)?;
    let filter = search_filter(server, exchange, &arguments.filter).await?;
    let seal = format!("tool search {:?} {:?}", arguments.filter, arguments.query);
    let unseal = |text: &str| server.cursors.unseal(ctx, &seal, text);
    let cursor = arguments.cursor.as_deref().map(unseal).transpose()?;
    let skip = cursor.as_ref().map_or(Ok(0), |cursor| {
        let skip = Unpacker::new(&cursor.0).integer().filter(|skip| *skip <= MAX_SKIP);
        skip.ok_or_else(Error::bad_cursor)
    })?;
    let query = SearchQuery {
        text: arguments.query.clone(),
        filter,
        mode: match arguments.mode {
            SearchBy::Words => SearchMode::Words,
            SearchBy::Meaning => SearchMode::Meaning,
            SearchBy::Both => SearchMode::Both,
        },
        skip: usize::try_from(skip).unwrap_or(usize::MAX),
        limit: usize::try_from(arguments.limit).unwrap_or(usize::MAX),
    };
    let results = service.search(ctx, &query).await?;
    let next = results.next.map(|next| next as u64).filter(|next| *next <= MAX_SKIP);
    let cursor = next.map(|next| {
        let position = Packer::default().integer(next).finish();
        server.cursors.seal(ctx, &seal, &Cursor(position.into()))
    });
    Ok(search_result(results, cursor, arguments.explain))
}

/// The search service, which `tools/list` offers only if there is one.
pub(super) fn require_search(server: &Server) -> Result<&Arc<SearchService>> {
    let message = "there is no search index here; use resources_grep";
    server.search.as_ref().ok_or_else(|| Error::invalid(message))
}

/// The conditions of a call: those of a list, and the collection as the beginning of the URI.
pub(super) async fn search_filter(
    server: &Server,
    exchange: &Exchange,
    arguments: &FilterArguments,
) -> Result<Option<Arc<Filter>>> {
    let ctx = &exchange.ctx;
    check_mount(server, ctx, arguments)?;
    if arguments.is_empty() {
        return Ok(None);
    }
    let mut filter = Arc::unwrap_or_clone(build_filter(arguments, false)?);
    if let Some(collection) = resolve_collection(server, ctx, arguments).await? {
        let root = format!("{}/", decoded(collection.as_str()).trim_end_matches('/'));
        let pattern = filter.path.take();
        let prefix = root.clone();
        filter.path = Some(PathFilter::new(&root, move |text: &str| {
            text.starts_with(&prefix)
                && pattern
                    .as_ref()
                    .is_none_or(|pattern| Uri::parse(text).is_ok_and(|uri| pattern.matches(&uri)))
        }));
    }
    Ok(Some(Arc::new(filter)))
}

fn search_result(results: SearchResults, cursor: Option<String>, explain: bool) -> ToolResult {
    let base = common_base(results.hits.iter().map(|hit| &hit.resource.uri)).to_owned();
    let hits: Vec<HitRow> = results.hits.iter().map(|hit| hit_row(hit, &base, explain)).collect();
    let note = search_note(&results);
    let suggestion = results.suggestion;
    let mut lines = TextLines::default();
    for (row, hit) in hits.iter().zip(&results.hits) {
        let place = row.start_line.zip(row.max_lines);
        let place = place.map_or_else(String::new, |(start, count)| {
            format!(" lines {start}-{}", (start + count).saturating_sub(1))
        });
        let words = [row.title.as_deref(), row.place.as_deref()].into_iter().flatten();
        let words = words.collect::<Vec<_>>().join(" > ");
        let words = if words.is_empty() { words } else { format!(" ({words})") };
        let from = row.from.as_ref().map_or_else(String::new, |mount| format!(" [from {mount}]"));
        lines.push(&format!("{}{place}{words}{from}", hit.resource.uri));
        if !row.snippet.is_empty() {
            lines.push(&format!("  {}", row.snippet));
        }
        if let Some(why) = &row.why {
            lines.push(&format!("  {why}"));
        }
    }
    if let Some(suggestion) = &suggestion {
        lines.push(&format!("did you mean: {suggestion}"));
    }
    let absent = absent_sources(results.absent);
    write_absences(&mut lines, &absent);
    if let Some(note) = &note {
        lines.push(&format!("[{note}]"));
    }
    if let Some(cursor) = &cursor {
        lines.push(&format!("[more: pass cursor {cursor}]"));
    }
    let output = SearchOutput { base, hits, cursor, suggestion, absent, note };
    ToolResult::with_text(lines, ToolOutput::Search(output))
}

fn hit_row(hit: &PassageHit, base: &str, explain: bool) -> HitRow {
    let uri = hit.resource.uri.as_str();
    let key = uri.get(base.len()..).unwrap_or(uri);
    // A title that the URI shows is not worth its tokens.
    let title = hit.resource.title.clone().filter(|title| !decoded(key).contains(title.as_str()));
    let title = title.or_else(|| key.contains('%').then(|| hit.resource.name.clone()));
    let is_whole = hit.is_whole();
    HitRow {
        uri: key.to_owned(),
        place: place_words(hit, title.as_deref()),
        title,
        start_line: (!is_whole).then_some(hit.place.line),
        max_lines: (!is_whole).then_some(hit.place.lines.max(1)),
        snippet: hit.snippet.clone(),
        from: hit.from.as_ref().map(|(mount, _)| mount.clone()),
        why: explain.then(|| hit.explanation()),
    }
}

/// The page, and the headings above the passage that the title does not say.
fn place_words(hit: &PassageHit, title: Option<&str>) -> Option<String> {
    let page = hit.place.page.map(|page| format!("page {page}"));
    let headings = hit.place.headings.iter().filter(|heading| Some(heading.as_str()) != title);
    let all: Vec<String> = page.into_iter().chain(headings.cloned()).collect();
    let words: String = all.join(" > ").chars().take(MAX_PLACE_CHARS).collect();
    (!words.is_empty()).then_some(words)
}

/// What a model should know of the answer: that nothing was found, or what the index lacks.
fn search_note(results: &SearchResults) -> Option<String> {
    let by_words = |reason: &String| format!("found by words alone: {reason}");
    let lacks_meaning = results.without_meaning.as_ref().map(by_words).or_else(|| {
        let fault = results.coverage.meaning_fault.as_ref();
        fault.map(|_| "search by meaning lacks passages".to_owned())
    });
    let missing = results.coverage.missing_words();
    let covered = missing.map(|missing| format!("still indexing {missing}")).or(lacks_meaning);
    let nothing = "nothing found; try fewer or other words, or resources_grep";
    match (results.hits.is_empty(), covered) {
        (true, Some(covered)) => Some(format!("{nothing}; {covered}")),
        (true, None) => Some(nothing.to_owned()),
        (false, covered) => covered,
    }
}
