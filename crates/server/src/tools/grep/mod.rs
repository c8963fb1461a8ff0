//! The tool `resources_grep`: regex search through the lines of text resources.
//!
//! Matches, bytes, time, memory and resources per call are bounded. At a bound the result has a cursor; a
//! client that follows the cursors gets every match once. Text is searched in the server's work
//! pool, in slices, with a share for each principal. `line_regex` compiles the pattern,
//! `text_reader` reads text in chunks, `line_scanner` finds matching lines, `matches` builds the
//! result.

mod line_regex;
mod line_scanner;
mod long_line;
mod matches;
mod open_queue;
mod position;
mod text_reader;

use std::sync::Arc;
use std::time::Duration;

use machinery::{MemoryHold, WorkRefusal, WorkSignal};
use protocol::inbound::tool::ToolResult;
use protocol::inbound::tool::arguments::GrepArguments;
use resource::{Cursor, Error, ErrorKind, Filter, Resource, Result, Uri};
use tokio::time::{Instant, timeout_at};

use super::busy_error;
use super::filter::{build_filter, check_mount, is_match, resolve_collection};
use super::recursive_list::RecursiveList;
use crate::exchange::Exchange;
use crate::server::Server;
use line_regex::LineRegex;
use line_scanner::{BatchEnd, LineMatch, LineScanner};
use matches::GrepMatches;
use open_queue::{OpenQueue, QueuedResource};
use position::SearchPosition;
use text_reader::TextReader;

/// Resources, bytes and time one call may spend before it returns a cursor.
const MAX_SCANNED: u64 = 20_000;
const MAX_BYTES: u64 = 512 << 20;
const MAX_TIME: Duration = Duration::from_secs(10);
/// How many resources are prefetched, as far as memory allows.
const QUEUE_LENGTH: usize = 8;
/// What a call holds besides its pattern, texts and matches: a page of descriptions, and the walk.
const CALL_BYTES: usize = 256 << 10;
/// After how many bytes or resources the search yields to other tasks.
const YIELD_BYTES: u64 = 1 << 20;
const YIELD_RESOURCES: u64 = 32;

/// Searches until the end or a bound of this call.
pub(super) async fn grep_resources(
    server: &Server,
    exchange: &Exchange,
    grep: &GrepArguments,
) -> Result<ToolResult> {
    let ctx = &exchange.ctx;
    check_mount(server, ctx, &grep.filter)?;
    let parent = resolve_collection(server, ctx, &grep.filter).await?;
    let recursive = grep.recursive;
    let seal =
        format!("tool grep {:?} {:?} {} {recursive}", grep.filter, grep.pattern, grep.ignore_case);
    let unseal = |text: &str| server.cursors.unseal(ctx, &seal, text);
    let opened = grep.cursor.as_deref().map(unseal).transpose()?;
    let from = opened
        .map(|cursor| SearchPosition::decode(&cursor.0).ok_or_else(Error::bad_cursor))
        .transpose()?;
    let mut memory = exchange.reserve(CALL_BYTES as u64)?;
    let deadline = Instant::now() + MAX_TIME;
    let expression = compile_pattern(server, exchange, grep, deadline).await?;
    if !memory.grow(expression.held_bytes()) {
        return Err(Error::out_of_memory());
    }
    let mut search = GrepSearch {
        server,
        exchange,
        expression,
        deadline,
        context_lines: grep.context as usize,
        resume: from.as_ref().and_then(|from| from.resume_line.clone()),
        matches: GrepMatches::new(grep.output, grep.max_matches as usize),
        bytes: 0,
        memory,
    };
    let place = from.as_ref().map(|from| &from.list_position[..]);
    let filter = build_filter(&grep.filter, recursive)?;
    let mut walk = RecursiveList::new(server, ctx, (parent, recursive, &filter), place)?;
    let spot = search.search_all(&filter, &mut walk).await?;
    let cursor = spot.map(|spot| server.cursors.seal(ctx, &seal, &Cursor(spot.encode().into())));
    search.matches.was_recursive = recursive;
    Ok(search.matches.into_result(cursor, walk.absent))
}

async fn compile_pattern(
    server: &Server,
    exchange: &Exchange,
    grep: &GrepArguments,
    deadline: Instant,
) -> Result<Arc<LineRegex>> {
    let (pattern, ignore_case) = (grep.pattern.clone(), grep.ignore_case);
    let key = exchange.ctx.principal().key();
    let compiled =
        server.work_pool.run(key, deadline, move |_| LineRegex::new(&pattern, ignore_case)).await;
    Ok(Arc::new(compiled.map_err(busy_error)??))
}

/// A search in progress.
struct GrepSearch<'a> {
    server: &'a Server,
    exchange: &'a Exchange,
    expression: Arc<LineRegex>,
    deadline: Instant,
    context_lines: usize,
    resume: Option<(Uri, u64)>,
    matches: GrepMatches,
    bytes: u64,
    /// What the call and its matches hold.
    memory: MemoryHold,
}

/// How the search through one resource ended.
enum ScanEnd {
    Finished,
    /// The result is full; the line did not fit.
    Full(u64),
    /// The deadline passed before this line was searched.
    OutOfTime(u64),
    /// The work pool had no place for this line.
    Busy(u64, WorkRefusal),
}

impl<'a> GrepSearch<'a> {
    /// Searches until the end or a bound. Returns the position to resume at, `None` at the end.
    async fn search_all(
        &mut self,
        filter: &Filter,
        walk: &mut RecursiveList<'a>,
    ) -> Result<Option<SearchPosition>> {
        let ctx = &self.exchange.ctx;
        let deadline = self.deadline;
        let mut ahead = OpenQueue::new(walk.encode_position());
        let (mut done, mut turn) = (0, (0, 0));
        loop {
            self.fill_queue(filter, walk, &mut ahead).await?;
            if ahead.waiting.is_some() && ahead.queued.is_empty() {
                // No other text of this call is left to give its memory back.
                return match done {
                    0 => Err(Error::out_of_memory()),
                    _ => Ok(Some(ahead.next_position())),
                };
            }
            let opened = match timeout_at(deadline, ahead.next_opened()).await {
                Ok(Some(opened)) => Some(opened),
                Ok(None) if ahead.ended => return Ok(None),
                Ok(None) => {
                    let list_position = walk.encode_position();
                    return Ok(Some(SearchPosition { list_position, resume_line: None }));
                }
                Err(_) => None,
            };
            let Some(queued) = ahead.queued.pop_front() else { return Ok(None) };
            let QueuedResource { position: before, resource, .. } = &queued;
            let Some(opened) = opened else {
                // Resume at this resource; skip it if it alone used up the whole time.
                if done > 0 {
                    let list_position = before.clone();
                    return Ok(Some(SearchPosition { list_position, resume_line: None }));
                }
                self.matches.skipped += 1;
                return Ok(Some(ahead.next_position()));
            };
            match ahead.open_beside(self.search_resource(resource, opened)).await {
                ScanEnd::Finished => {}
                ScanEnd::Busy(_, refusal) if done == 0 => return Err(busy_error(refusal)),
                ScanEnd::OutOfTime(_) if done == 0 => {
                    self.matches.skipped += 1;
                    return Ok(Some(ahead.next_position()));
                }
                ScanEnd::Full(line) | ScanEnd::OutOfTime(line) | ScanEnd::Busy(line, _) => {
                    let resume_line = Some((resource.uri.clone(), line));
                    let list_position = before.clone();
                    return Ok(Some(SearchPosition { list_position, resume_line }));
                }
            }
            done += 1;
            let pattern = self.expression.held_bytes();
            self.memory.set(CALL_BYTES + pattern + self.matches.held_bytes());
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
            let waiting = ahead.waiting.take();
            let next = match waiting {
                Some(resource) => Some(resource),
                None => self.next_searched(filter, walk, ahead).await?,
            };
            let Some(resource) = next else { break };
            let Ok(memory) = self.exchange.reserve(text_reader::buffered_bytes(&resource)) else {
                ahead.waiting = Some(resource);
                break;
            };
            let before = std::mem::replace(&mut ahead.position_after, walk.encode_position());
            let opened = Arc::clone(&resource);
            let opening = async move { text_reader::open_text(provider, ctx, &opened).await };
            ahead.push(QueuedResource { position: before, resource, _memory: memory }, opening);
        }
        Ok(())
    }

    /// The next resource to search; `None` if the walk ends or pauses.
    async fn next_searched(
        &self,
        filter: &Filter,
        walk: &mut RecursiveList<'a>,
        ahead: &mut OpenQueue<'a>,
    ) -> Result<Option<Arc<Resource>>> {
        while ahead.scanned < MAX_SCANNED {
            let Some(resource) = ahead.open_beside(walk.next_resource()).await? else {
                if walk.is_paused() {
                    ahead.scanned = MAX_SCANNED;
                }
                ahead.ended = !walk.is_paused();
                break;
            };
            ahead.scanned += 1;
            let is_left_out = is_pure_collection(&resource) || walk.leaves_out(&resource);
            if !is_left_out && is_match(filter, &*self.server.provider, &resource) {
                return Ok(Some(resource));
            }
        }
        Ok(None)
    }

    /// Searches one resource. One that cannot be searched is counted as skipped.
    async fn search_resource(
        &mut self,
        resource: &Resource,
        opened: Result<TextReader>,
    ) -> ScanEnd {
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
            Ok(end) => {
                self.matches.searched += u64::from(matches!(end, ScanEnd::Finished));
                end
            }
            Err(_) => {
                self.matches.roll_back(&mark);
                self.matches.skipped += 1;
                ScanEnd::Finished
            }
        }
    }

    async fn scan_text(&mut self, mut opened: TextReader, from: u64) -> Result<ScanEnd> {
        let mut scan = LineScanner::new(Arc::clone(&self.expression), self.context_lines);
        let mark = self.matches.checkpoint();
        loop {
            let (chunk, is_last) = opened.take_chunk();
            self.bytes += chunk.len() as u64;
            scan.push_chunk(chunk, is_last);
            loop {
                let line = scan.line();
                let (hits, end);
                (scan, hits, end) = match self.scan_batch(scan).await {
                    Ok(batch) => batch,
                    Err(refusal) => return Ok(ScanEnd::Busy(line, refusal)),
                };
                for hit in hits {
                    let line = hit.line;
                    let about = (&opened.resource, opened.total);
                    if line >= from && !self.matches.add_match(&mark, about, hit) {
                        return Ok(ScanEnd::Full(line));
                    }
                }
                match end {
                    BatchEnd::ChunkDone => break,
                    BatchEnd::Paused if Instant::now() < self.deadline => {}
                    BatchEnd::Paused => return Ok(ScanEnd::OutOfTime(scan.line())),
                    BatchEnd::TooCostly => {
                        return Err(Error::invalid("a line is too long for this pattern"));
                    }
                }
            }
            if is_last {
                return Ok(ScanEnd::Finished);
            }
            let more = opened.read_next_chunk(&*self.server.provider, &self.exchange.ctx);
            match timeout_at(self.deadline, more).await {
                Ok(read) => read?,
                Err(_) => return Ok(ScanEnd::OutOfTime(scan.line())),
            }
            tokio::task::yield_now().await;
        }
    }

    /// Searches on for one slice: here if the text is short, otherwise in the work pool.
    async fn scan_batch(
        &self,
        mut scan: LineScanner,
    ) -> Result<(LineScanner, Vec<LineMatch>, BatchEnd), WorkRefusal> {
        let is_short = scan.is_short();
        let work = move |signal: &WorkSignal| {
            let (matches, end) = scan.next_batch(signal);
            (scan, matches, end)
        };
        if is_short {
            return Ok(work(&WorkSignal::until(self.deadline)));
        }
        let key = self.exchange.ctx.principal().key();
        self.server.work_pool.run(key, self.deadline, work).await
    }
}

/// Whether the resource is a pure collection, without content of its own.
fn is_pure_collection(resource: &Resource) -> bool {
    let mime = resource.mime.as_deref();
    resource.listable == Some(true) && mime.is_none_or(|mime| mime == "inode/directory")
}
