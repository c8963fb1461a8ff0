//! The tool `resources_grep`: regex search through the lines of text resources.
//!
//! Matches, bytes, time and resources per call are bounded. At a bound the result has a cursor; a
//! client that follows the cursors gets every match once. `expression` compiles the pattern,
//! `content` reads text in chunks, `scan` finds matching lines, `found` builds the result.

mod content;
mod expression;
mod found;
mod scan;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use protocol::tool::Given;
use protocol::tool::arguments::Grep;
use resource::{Cursor, Error, ErrorKind, Resource, Result, Truth, Uri};
use tokio::time::{Instant, timeout_at};

use super::filter::Filter;
use super::walk::Walk;
use crate::exchange::Exchange;
use crate::server::Server;
use content::Opened;
use expression::Expression;
use found::Found;
use scan::Scan;

/// Default and maximum number of matches, and of context lines before and after each match.
const USUAL_MATCHES: u64 = 100;
const MOST_MATCHES: u64 = 1000;
const USUAL_AROUND: u64 = 2;
const MOST_AROUND: u64 = 20;
/// Resources, bytes and time one call may spend before it returns a cursor.
const LOOKED_AT: u64 = 20_000;
const BYTES: u64 = 512 << 20;
const TIME: Duration = Duration::from_secs(10);
/// How many resources are prefetched.
const AHEAD: usize = 8;
/// After how many bytes or resources the search yields to other tasks.
const TURN_BYTES: u64 = 1 << 20;
const TURN: u64 = 32;

/// Searches until the end or a bound of this call.
pub(super) async fn grep(server: &Server, exchange: &Exchange, grep: &Grep) -> Result<Given> {
    let seal = format!("tool grep {:?} {:?} {}", grep.filter, grep.pattern, grep.ignore_case);
    let opened = grep.cursor.as_deref().map(|text| server.seal.open(&seal, text)).transpose()?;
    let from =
        opened.map(|cursor| Spot::read(&cursor.0).ok_or_else(Error::bad_cursor)).transpose()?;
    let most = grep.max_matches.unwrap_or(USUAL_MATCHES).clamp(1, MOST_MATCHES);
    let around = grep.context.unwrap_or(USUAL_AROUND).min(MOST_AROUND);
    let expression = Expression::new(&grep.pattern, grep.ignore_case)?;
    let mut search = Search {
        server,
        exchange,
        expression: &expression,
        around: around as usize,
        resume: from.as_ref().and_then(|from| from.line.clone()),
        found: Found::new(most as usize),
        bytes: 0,
    };
    let parent = grep.filter.collection.as_ref().map(|link| link.0.clone());
    let place = from.as_ref().map(|from| &from.walk[..]);
    let mut walk = Walk::new(server, &exchange.ctx, (parent, true), place)?;
    let spot = search.run(&Filter::new(&grep.filter)?, &mut walk).await?;
    let cursor = spot.map(|spot| server.seal.close(&seal, &Cursor(spot.write().into())));
    Ok(search.found.given(cursor, &walk.absent))
}

/// The position at which the next call resumes; the content of the cursor.
struct Spot {
    /// The position of the recursive listing.
    walk: Vec<u8>,
    /// The unfinished resource, and the line to resume at.
    line: Option<(Uri, u64)>,
}

/// A search in progress.
struct Search<'a> {
    server: &'a Server,
    exchange: &'a Exchange,
    expression: &'a Expression,
    around: usize,
    resume: Option<(Uri, u64)>,
    found: Found,
    bytes: u64,
}

/// The prefetch queue: resources being opened concurrently, taken in order.
struct Ahead<'a> {
    opening: FuturesOrdered<Pin<Box<dyn Future<Output = Result<Opened>> + Send + 'a>>>,
    /// The queued resources, each with the listing position before it.
    of: VecDeque<(Vec<u8>, Arc<Resource>)>,
    /// The listing position after the last queued resource.
    behind: Vec<u8>,
    looked: u64,
    ended: bool,
}

impl<'a> Search<'a> {
    /// Searches until the end or a bound. Returns the position to resume at, `None` at the end.
    async fn run(&mut self, filter: &Filter<'_>, walk: &mut Walk<'a>) -> Result<Option<Spot>> {
        let ctx = &self.exchange.ctx;
        let deadline = Instant::now() + TIME;
        let mut ahead = Ahead {
            opening: FuturesOrdered::new(),
            of: VecDeque::new(),
            behind: walk.place(),
            looked: 0,
            ended: false,
        };
        let (mut done, mut turn) = (0, (0, 0));
        loop {
            self.open_ahead(filter, walk, &mut ahead).await?;
            let opened = match timeout_at(deadline, ahead.opening.next()).await {
                Ok(Some(opened)) => Some(opened),
                Ok(None) if ahead.ended => return Ok(None),
                Ok(None) => return Ok(Some(Spot { walk: walk.place(), line: None })),
                Err(_) => None,
            };
            let Some((before, resource)) = ahead.of.pop_front() else { return Ok(None) };
            let Some(opened) = opened else {
                // Resume at this resource; skip it if it alone used up the whole time.
                if done > 0 {
                    return Ok(Some(Spot { walk: before, line: None }));
                }
                self.found.skipped += 1;
                return Ok(Some(ahead.spot()));
            };
            if let Some(line) = self.look_through(&resource, opened).await {
                return Ok(Some(Spot { walk: before, line: Some((resource.uri.clone(), line)) }));
            }
            done += 1;
            ctx.report(done, None);
            if done - turn.0 >= TURN || self.bytes - turn.1 >= TURN_BYTES {
                turn = (done, self.bytes);
                tokio::task::yield_now().await;
            }
            let is_over = self.bytes >= BYTES || Instant::now() >= deadline;
            if is_over && !(ahead.ended && ahead.of.is_empty()) {
                return Ok(Some(ahead.spot()));
            }
        }
    }

    async fn open_ahead(
        &self,
        filter: &Filter<'_>,
        walk: &mut Walk<'a>,
        ahead: &mut Ahead<'a>,
    ) -> Result<()> {
        let (provider, ctx) = (&*self.server.provider, &self.exchange.ctx);
        while !ahead.ended && ahead.of.len() < AHEAD && ahead.looked < LOOKED_AT {
            let Some(resource) = walk.next().await? else {
                ahead.ended = true;
                break;
            };
            ahead.looked += 1;
            if is_folder(&resource) || !filter.admits(provider, &resource) {
                continue;
            }
            let before = std::mem::replace(&mut ahead.behind, walk.place());
            let opened = Arc::clone(&resource);
            ahead
                .opening
                .push_back(Box::pin(async move { content::open(provider, ctx, &opened).await }));
            ahead.of.push_back((before, resource));
        }
        Ok(())
    }

    /// Searches one resource. Returns the line to resume at if the result is full.
    async fn look_through(&mut self, resource: &Resource, opened: Result<Opened>) -> Option<u64> {
        let from = match self.resume.take() {
            Some((uri, line)) if uri == resource.uri => line,
            // The resource of the cursor is gone; the one in its place was not searched yet.
            _ => 1,
        };
        let mark = self.found.mark();
        let mut scanned = match opened {
            Ok(opened) => self.scan(opened, from).await,
            Err(error) => Err(error),
        };
        if scanned.as_ref().is_err_and(|error| error.kind == ErrorKind::Changed) {
            self.found.forget(&mark);
            let again = content::open(&*self.server.provider, &self.exchange.ctx, resource).await;
            scanned = match again {
                Ok(opened) => self.scan(opened, from).await,
                Err(error) => Err(error),
            };
        }
        match scanned {
            Ok(line) => {
                self.found.searched += u64::from(line.is_none());
                line
            }
            Err(_) => {
                self.found.forget(&mark);
                self.found.skipped += 1;
                None
            }
        }
    }

    async fn scan(&mut self, mut opened: Opened, from: u64) -> Result<Option<u64>> {
        let mut scan = Scan::new(self.expression, self.around);
        let mark = self.found.mark();
        loop {
            let (chunk, is_last) = opened.chunk();
            self.bytes += chunk.len() as u64;
            scan.feed(chunk, is_last);
            while let Some(hit) = scan.next() {
                let line = hit.line;
                let about = (&opened.resource, opened.total);
                if line >= from && !self.found.add(&mark, about, hit) {
                    return Ok(Some(line));
                }
            }
            if is_last {
                return Ok(None);
            }
            opened.advance(&*self.server.provider, &self.exchange.ctx).await?;
            tokio::task::yield_now().await;
        }
    }
}

impl Ahead<'_> {
    /// The position before the next queued resource.
    fn spot(mut self) -> Spot {
        let next = self.of.pop_front().map(|(before, _)| before);
        Spot { walk: next.unwrap_or(self.behind), line: None }
    }
}

/// Whether the resource is a pure collection, without content of its own.
fn is_folder(resource: &Resource) -> bool {
    let mime = resource.mime.as_deref();
    resource.listable == Truth::Yes && mime.is_none_or(|mime| mime == "inode/directory")
}

impl Spot {
    fn write(&self) -> Vec<u8> {
        let mut bytes = (self.walk.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.walk);
        if let Some((uri, line)) = &self.line {
            bytes.extend_from_slice(&line.to_le_bytes());
            bytes.extend_from_slice(uri.as_str().as_bytes());
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (walk, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let line = match rest.split_first_chunk() {
            Some((line, uri)) => {
                let uri = Uri::parse(std::str::from_utf8(uri).ok()?).ok()?;
                Some((uri, u64::from_le_bytes(*line)))
            }
            None => None,
        };
        Some(Self { walk: walk.to_vec(), line })
    }
}
