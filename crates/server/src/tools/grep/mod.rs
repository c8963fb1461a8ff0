//! The tool `resources_grep`: regex search through the lines of text resources.
//!
//! Matches, bytes, time and resources per call are bounded. At a bound the result has a cursor; a
//! client that follows the cursors gets every match once. `expression` compiles the pattern,
//! `content` reads text in chunks, `scan` finds matching lines, `found` builds the result.

mod line_regex;
mod line_scanner;
mod matches;
mod text_reader;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use machinery::{Packer, Unpacker};
use protocol::inbound::tool::ToolResult;
use protocol::inbound::tool::arguments::GrepArguments;
use resource::{Cursor, Error, ErrorKind, Filter, Resource, Result, Uri};
use tokio::time::{Instant, timeout_at};

use super::filter::{build_filter, is_match};
use super::recursive_list::RecursiveList;
use crate::exchange::Exchange;
use crate::server::Server;
use line_regex::LineRegex;
use line_scanner::LineScanner;
use matches::GrepMatches;
use text_reader::TextReader;

/// Resources, bytes and time one call may spend before it returns a cursor.
const MAX_SCANNED: u64 = 20_000;
const MAX_BYTES: u64 = 512 << 20;
const MAX_TIME: Duration = Duration::from_secs(10);
/// How many resources are prefetched.
const QUEUE_LENGTH: usize = 8;
/// After how many bytes or resources the search yields to other tasks.
const YIELD_BYTES: u64 = 1 << 20;
const YIELD_RESOURCES: u64 = 32;

/// Searches until the end or a bound of this call.
pub(super) async fn grep_resources(
    server: &Server,
    exchange: &Exchange,
    grep: &GrepArguments,
) -> Result<ToolResult> {
    let seal = format!("tool grep {:?} {:?} {}", grep.filter, grep.pattern, grep.ignore_case);
    let opened = grep.cursor.as_deref().map(|text| server.seal.unseal(&seal, text)).transpose()?;
    let from = opened
        .map(|cursor| SearchPosition::decode(&cursor.0).ok_or_else(Error::bad_cursor))
        .transpose()?;
    let expression = LineRegex::new(&grep.pattern, grep.ignore_case)?;
    let mut search = GrepSearch {
        server,
        exchange,
        expression: &expression,
        context_lines: grep.context as usize,
        resume: from.as_ref().and_then(|from| from.resume_line.clone()),
        matches: GrepMatches::new(grep.max_matches as usize),
        bytes: 0,
    };
    let parent = grep.filter.collection.clone();
    let place = from.as_ref().map(|from| &from.list_position[..]);
    let filter = build_filter(&grep.filter, true)?;
    let mut walk = RecursiveList::new(server, &exchange.ctx, (parent, true, &filter), place)?;
    let spot = search.search_all(&filter, &mut walk).await?;
    let cursor = spot.map(|spot| server.seal.seal(&seal, &Cursor(spot.encode().into())));
    Ok(search.matches.into_result(cursor, walk.absent))
}

/// The position at which the next call resumes; the content of the cursor.
struct SearchPosition {
    /// The position of the recursive listing.
    list_position: Vec<u8>,
    /// The unfinished resource, and the line to resume at.
    resume_line: Option<(Uri, u64)>,
}

/// A search in progress.
struct GrepSearch<'a> {
    server: &'a Server,
    exchange: &'a Exchange,
    expression: &'a LineRegex,
    context_lines: usize,
    resume: Option<(Uri, u64)>,
    matches: GrepMatches,
    bytes: u64,
}

/// The prefetch queue: resources being opened concurrently, taken in order.
struct OpenQueue<'a> {
    opening: FuturesOrdered<Pin<Box<dyn Future<Output = Result<TextReader>> + Send + 'a>>>,
    /// The queued resources, each with the listing position before it.
    queued: VecDeque<(Vec<u8>, Arc<Resource>)>,
    /// The listing position after the last queued resource.
    position_after: Vec<u8>,
    scanned: u64,
    ended: bool,
}

impl<'a> GrepSearch<'a> {
    /// Searches until the end or a bound. Returns the position to resume at, `None` at the end.
    async fn search_all(
        &mut self,
        filter: &Filter,
        walk: &mut RecursiveList<'a>,
    ) -> Result<Option<SearchPosition>> {
        let ctx = &self.exchange.ctx;
        let deadline = Instant::now() + MAX_TIME;
        let mut ahead = OpenQueue {
            opening: FuturesOrdered::new(),
            queued: VecDeque::new(),
            position_after: walk.encode_position(),
            scanned: 0,
            ended: false,
        };
        let (mut done, mut turn) = (0, (0, 0));
        loop {
            self.fill_queue(filter, walk, &mut ahead).await?;
            let opened = match timeout_at(deadline, ahead.opening.next()).await {
                Ok(Some(opened)) => Some(opened),
                Ok(None) if ahead.ended => return Ok(None),
                Ok(None) => {
                    return Ok(Some(SearchPosition {
                        list_position: walk.encode_position(),
                        resume_line: None,
                    }));
                }
                Err(_) => None,
            };
            let Some((before, resource)) = ahead.queued.pop_front() else { return Ok(None) };
            let Some(opened) = opened else {
                // Resume at this resource; skip it if it alone used up the whole time.
                if done > 0 {
                    return Ok(Some(SearchPosition { list_position: before, resume_line: None }));
                }
                self.matches.skipped += 1;
                return Ok(Some(ahead.next_position()));
            };
            if let Some(line) = self.search_resource(&resource, opened).await {
                return Ok(Some(SearchPosition {
                    list_position: before,
                    resume_line: Some((resource.uri.clone(), line)),
                }));
            }
            done += 1;
            ctx.report_progress(done, None);
            if done - turn.0 >= YIELD_RESOURCES || self.bytes - turn.1 >= YIELD_BYTES {
                turn = (done, self.bytes);
                tokio::task::yield_now().await;
            }
            let is_over = self.bytes >= MAX_BYTES || Instant::now() >= deadline;
            if is_over && !(ahead.ended && ahead.queued.is_empty()) {
                return Ok(Some(ahead.next_position()));
            }
        }
    }

    async fn fill_queue(
        &self,
        filter: &Filter,
        walk: &mut RecursiveList<'a>,
        ahead: &mut OpenQueue<'a>,
    ) -> Result<()> {
        let (provider, ctx) = (&*self.server.provider, &self.exchange.ctx);
        while !ahead.ended && ahead.queued.len() < QUEUE_LENGTH && ahead.scanned < MAX_SCANNED {
            let Some(resource) = walk.next_resource().await? else {
                if walk.is_paused() {
                    ahead.scanned = MAX_SCANNED;
                }
                ahead.ended = !walk.is_paused();
                break;
            };
            ahead.scanned += 1;
            if is_pure_collection(&resource) || !is_match(filter, provider, &resource) {
                continue;
            }
            let before = std::mem::replace(&mut ahead.position_after, walk.encode_position());
            let opened = Arc::clone(&resource);
            ahead.opening.push_back(Box::pin(async move {
                text_reader::open_text(provider, ctx, &opened).await
            }));
            ahead.queued.push_back((before, resource));
        }
        Ok(())
    }

    /// Searches one resource. Returns the line to resume at if the result is full.
    async fn search_resource(
        &mut self,
        resource: &Resource,
        opened: Result<TextReader>,
    ) -> Option<u64> {
        let from = match self.resume.take() {
            Some((uri, line)) if uri == resource.uri => line,
            // The resource of the cursor is gone; the one in its place was not searched yet.
            _ => 1,
        };
        let mark = self.matches.checkpoint();
        let mut scanned = match opened {
            Ok(opened) => self.scan_text(opened, from).await,
            Err(error) => Err(error),
        };
        if scanned.as_ref().is_err_and(|error| error.kind == ErrorKind::Changed) {
            self.matches.roll_back(&mark);
            let again =
                text_reader::open_text(&*self.server.provider, &self.exchange.ctx, resource).await;
            scanned = match again {
                Ok(opened) => self.scan_text(opened, from).await,
                Err(error) => Err(error),
            };
        }
        match scanned {
            Ok(line) => {
                self.matches.searched += u64::from(line.is_none());
                line
            }
            Err(_) => {
                self.matches.roll_back(&mark);
                self.matches.skipped += 1;
                None
            }
        }
    }

    async fn scan_text(&mut self, mut opened: TextReader, from: u64) -> Result<Option<u64>> {
        let mut scan = LineScanner::new(self.expression, self.context_lines);
        let mark = self.matches.checkpoint();
        loop {
            let (chunk, is_last) = opened.take_chunk();
            self.bytes += chunk.len() as u64;
            scan.push_chunk(chunk, is_last);
            while let Some(hit) = scan.next_match() {
                let line = hit.line;
                let about = (&opened.resource, opened.total);
                if line >= from && !self.matches.add_match(&mark, about, hit) {
                    return Ok(Some(line));
                }
            }
            if is_last {
                return Ok(None);
            }
            opened.read_next_chunk(&*self.server.provider, &self.exchange.ctx).await?;
            tokio::task::yield_now().await;
        }
    }
}

impl OpenQueue<'_> {
    /// The position before the next queued resource.
    fn next_position(mut self) -> SearchPosition {
        let next = self.queued.pop_front().map(|(before, _)| before);
        SearchPosition { list_position: next.unwrap_or(self.position_after), resume_line: None }
    }
}

/// Whether the resource is a pure collection, without content of its own.
fn is_pure_collection(resource: &Resource) -> bool {
    let mime = resource.mime.as_deref();
    resource.listable == Some(true) && mime.is_none_or(|mime| mime == "inode/directory")
}

impl SearchPosition {
    fn encode(&self) -> Vec<u8> {
        let (uri, line) =
            self.resume_line.as_ref().map(|(uri, line)| (uri.as_str(), *line)).unzip();
        let packed = Packer::default().bytes(Some(&self.list_position));
        packed.bytes(uri).optional_integer(line).finish()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut parts = Unpacker::new(bytes);
        let walk = parts.bytes()??;
        let line = match (parts.text()?, parts.optional_integer()?) {
            (Some(uri), Some(line)) => Some((Uri::parse(uri).ok()?, line)),
            _ => None,
        };
        Some(Self { list_position: walk.to_vec(), resume_line: line })
    }
}
