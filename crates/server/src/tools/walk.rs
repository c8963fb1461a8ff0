//! What lies in a list, page after page and, if wanted, in what lies in it?
//!
//! A walk can be left at any place and taken up again from bytes that say where.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use resource::{Absence, Ask, Context, Cursor, Error, Resource, Result, Truth, Uri};

use crate::server::Server;

/// How many entries are asked for at once.
const PAGE: usize = 256;
/// How deep a walk goes, and into how many collections.
const DEPTH: usize = 64;
const COLLECTIONS: usize = 100_000;

/// A walk under way.
pub(super) struct Walk<'a> {
    server: &'a Server,
    ctx: &'a Context,
    recursive: bool,
    /// The lists that are not done, the outermost first.
    stack: Vec<Frame>,
    entered: HashSet<Uri>,
    /// What could not be reached.
    pub(super) absent: Vec<Absence>,
}

/// One list, and where in it the walk stands.
#[derive(Default)]
struct Frame {
    parent: Option<Uri>,
    /// Where the page begins.
    from: Option<Cursor>,
    /// What was given last of it, and how much in all.
    after: Option<Uri>,
    given: u32,
    /// What is left of it, and where the next one begins.
    page: Option<(VecDeque<Arc<Resource>>, Option<Cursor>)>,
}

impl<'a> Walk<'a> {
    /// A walk through `parent`, or through what is shown first; `place` says where it goes on.
    pub(super) fn new(
        server: &'a Server,
        ctx: &'a Context,
        (parent, recursive): (Option<Uri>, bool),
        place: Option<&[u8]>,
    ) -> Result<Self> {
        let stack = match place {
            Some(place) => read(place).ok_or_else(Error::bad_cursor)?,
            None => vec![Frame { parent, ..Frame::default() }],
        };
        let (entered, absent) = (HashSet::new(), Vec::new());
        Ok(Self { server, ctx, recursive, stack, entered, absent })
    }

    /// The next resource; nothing at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Arc<Resource>>> {
        loop {
            let depth = self.stack.len();
            let Some(top) = self.stack.last_mut() else { return Ok(None) };
            let Some((items, next)) = &mut top.page else {
                match top.fetch(self.server, self.ctx).await {
                    Ok(absent) => self.absent.extend(absent),
                    Err(error) if depth == 1 => return Err(error),
                    Err(error) => {
                        // What lies deeper and cannot be opened is named and passed over.
                        let what = top.parent.as_ref().map(ToString::to_string);
                        let why = self.server.told(&error);
                        self.absent.push(Absence { what: what.unwrap_or_default(), why });
                        self.stack.pop();
                    }
                }
                continue;
            };
            if let Some(resource) = items.pop_front() {
                top.after = Some(resource.uri.clone());
                top.given += 1;
                self.enter(&resource);
                return Ok(Some(resource));
            }
            match next.take() {
                Some(next) => {
                    let parent = top.parent.take();
                    *top = Frame { parent, from: Some(next), ..Frame::default() };
                }
                None => drop(self.stack.pop()),
            }
        }
    }

    fn enter(&mut self, resource: &Resource) {
        // What lies in itself is not gone into again, however the walk was taken up.
        let is_around = self.stack.iter().any(|frame| frame.parent.as_ref() == Some(&resource.uri));
        let enters = self.recursive
            && resource.listable == Truth::Yes
            && !is_around
            && self.stack.len() < DEPTH
            && self.entered.len() < COLLECTIONS
            && self.entered.insert(resource.uri.clone());
        if enters {
            self.stack.push(Frame { parent: Some(resource.uri.clone()), ..Frame::default() });
        }
    }

    /// Where the walk stands: behind what was given last.
    pub(super) fn place(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for frame in &self.stack {
            let uri = |uri: &'_ Uri| uri.as_str().as_bytes().to_vec();
            let from = frame.from.as_ref().map(|from| from.0.to_vec());
            for part in [frame.parent.as_ref().map(uri), from, frame.after.as_ref().map(uri)] {
                bytes.push(u8::from(part.is_some()));
                let part = part.unwrap_or_default();
                bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
                bytes.extend_from_slice(&part);
            }
            bytes.extend_from_slice(&frame.given.to_le_bytes());
        }
        bytes
    }
}

impl Frame {
    /// Fetches the page that the walk stands on, without what was given of it. What could not be
    /// reached is told.
    async fn fetch(&mut self, server: &Server, ctx: &Context) -> Result<Vec<Absence>> {
        let ask = Ask { from: self.from.clone(), limit: PAGE };
        let page = server.provider.list(ctx, self.parent.as_ref(), &ask).await?;
        let mut items: VecDeque<Arc<Resource>> = page.items.into();
        let given = self.after.as_ref().map(|last| {
            let found = items.iter().position(|item| item.uri == *last);
            // Where the last one went away, those before it moved up by one.
            let moved = (self.given as usize).saturating_sub(1).min(items.len());
            found.map_or(moved, |at| at + 1)
        });
        items.drain(..given.unwrap_or(0));
        self.page = Some((items, page.next));
        Ok(page.absent)
    }
}

fn read(mut place: &[u8]) -> Option<Vec<Frame>> {
    let uri = |bytes: &[u8]| Uri::parse(std::str::from_utf8(bytes).ok()?).ok();
    let mut stack = Vec::new();
    while !place.is_empty() && stack.len() < DEPTH {
        let mut part = || {
            let (is_some, rest) = place.split_first()?;
            let (length, rest) = rest.split_first_chunk()?;
            let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            place = rest;
            Some((*is_some == 1).then(|| part.to_vec()))
        };
        let (parent, from, after) = (part()?, part()?, part()?);
        let (given, rest) = place.split_first_chunk()?;
        place = rest;
        stack.push(Frame {
            given: u32::from_le_bytes(*given),
            parent: parent.as_deref().and_then(uri),
            from: from.map(|bytes| Cursor(bytes.into())),
            after: after.as_deref().and_then(uri),
            page: None,
        });
    }
    Some(stack)
}
