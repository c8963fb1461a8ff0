//! Recursive, resumable listing: every page of a list and, on request, of its sub-collections.
//!
//! The position can be encoded in bytes, from which a later call resumes.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use machinery::{Packer, Unpacker};
use resource::uri::percent_decode;
use resource::{Absence, Context, Cursor, Error, Filter, PageRequest, Resource, Result, Uri};

use crate::server::Server;

/// Page size of each list request to the provider.
const PAGE_SIZE: usize = 256;
/// Maximum depth of a walk, and how many collections it enters: links can make endlessly many of a
/// few folders.
const MAX_DEPTH: usize = 64;
const MAX_COLLECTIONS: usize = 10_000;
/// How many pages one walk fetches before it pauses: under a filter, a page may hold nothing.
const MAX_PAGES: usize = 256;

const TOO_MANY_COLLECTIONS: &str =
    "over 10,000 collections in one call; list this one by `collection`";
const TOO_DEEP: &str = "over 64 levels deep; list this one by `collection`";

/// A depth-first traversal in progress.
pub(super) struct RecursiveList<'a> {
    server: &'a Server,
    ctx: &'a Context,
    recursive: bool,
    /// What the lists show.
    filter: Arc<Filter>,
    pages: usize,
    /// The unfinished lists, the outermost first.
    stack: Vec<ListFrame>,
    entered: HashSet<Uri>,
    /// Whether a collection was left out because too many were entered, or it is too deep.
    is_full: bool,
    is_too_deep: bool,
    /// The collections and sources that could not be listed.
    pub(super) absent: Vec<Absence>,
}

/// One list and the position of the walk in it.
#[derive(Default)]
struct ListFrame {
    parent: Option<Uri>,
    /// The cursor of the current page.
    page_cursor: Option<Cursor>,
    /// The last item returned from the page, and how many were returned.
    last_uri: Option<Uri>,
    returned: u32,
    /// The remaining items of the page, and the cursor of the next page.
    page: Option<(VecDeque<Arc<Resource>>, Option<Cursor>)>,
}

impl<'a> RecursiveList<'a> {
    /// Starts a walk of `parent`, or of the top-level list; `place` resumes an earlier walk.
    pub(super) fn new(
        server: &'a Server,
        ctx: &'a Context,
        (parent, recursive, filter): (Option<Uri>, bool, &Arc<Filter>),
        place: Option<&[u8]>,
    ) -> Result<Self> {
        let stack = match place {
            Some(place) => decode_position(place).ok_or_else(Error::bad_cursor)?,
            None => vec![ListFrame { parent, ..ListFrame::default() }],
        };
        let (entered, absent) = (HashSet::new(), Vec::new());
        let filter = Arc::clone(filter);
        Ok(Self {
            server,
            ctx,
            recursive,
            filter,
            pages: 0,
            stack,
            entered,
            is_full: false,
            is_too_deep: false,
            absent,
        })
    }

    /// Whether the walk has fetched all the pages that it may, and has more to fetch.
    pub(super) fn is_paused(&self) -> bool {
        self.pages >= MAX_PAGES && !self.stack.is_empty()
    }

    /// Lets a paused walk fetch as many pages again.
    pub(super) fn go_on(&mut self) {
        self.pages = 0;
    }

    /// The next resource; `None` at the end, and while the walk is paused.
    pub(super) async fn next_resource(&mut self) -> Result<Option<Arc<Resource>>> {
        loop {
            let depth = self.stack.len();
            let Some(top) = self.stack.last_mut() else { return Ok(None) };
            let Some((items, next)) = &mut top.page else {
                if self.pages >= MAX_PAGES {
                    return Ok(None);
                }
                self.pages += 1;
                // A provider may answer from memory, without ever yielding to other requests.
                tokio::task::yield_now().await;
                match top.fetch_page(self.server, self.ctx, &self.filter).await {
                    Ok(absent) => self.absent.extend(absent),
                    Err(error) if depth == 1 => return Err(error),
                    Err(error) => {
                        // A nested collection that fails is reported and skipped.
                        let what = top.parent.as_ref().map(ToString::to_string);
                        let why = self.server.public_message(&error);
                        self.absent.push(Absence { name: what.unwrap_or_default(), reason: why });
                        self.stack.pop();
                    }
                }
                continue;
            };
            if let Some(resource) = items.pop_front() {
                top.last_uri = Some(resource.uri.clone());
                top.returned += 1;
                self.enter_collection(&resource);
                return Ok(Some(resource));
            }
            match next.take() {
                Some(next) => {
                    let parent = top.parent.take();
                    *top = ListFrame { parent, page_cursor: Some(next), ..ListFrame::default() };
                }
                None => drop(self.stack.pop()),
            }
        }
    }

    /// Whether this is a walk through all mounts, and `resource` shows once more what they have.
    pub(super) fn leaves_out(&self, resource: &Resource) -> bool {
        let is_of_all = self.stack.first().is_some_and(|frame| frame.parent.is_none())
            && self.filter.mount.is_none();
        resource.is_view && is_of_all && !self.is_named(resource)
    }

    /// Whether the pattern of the walk begins with this very resource.
    fn is_named(&self, resource: &Resource) -> bool {
        let uri = percent_decode(resource.uri.as_str());
        let path = self.filter.path.as_ref();
        path.is_some_and(|path| path.prefix().as_bytes().starts_with(&uri))
    }

    fn enter_collection(&mut self, resource: &Resource) {
        // A collection inside itself would loop; the stack survives a resume, `entered` does not.
        let is_around = self.stack.iter().any(|frame| frame.parent.as_ref() == Some(&resource.uri));
        let enters = self.recursive
            && resource.listable == Some(true)
            && !self.leaves_out(resource)
            && (!resource.is_archive || self.is_named(resource))
            && !is_around
            && !self.entered.contains(&resource.uri);
        let mut leave_out = |is_told: &mut bool, reason: &str| {
            if !std::mem::replace(is_told, true) {
                let (name, reason) = (resource.uri.to_string(), reason.to_owned());
                self.absent.push(Absence { name, reason });
            }
        };
        if enters && self.stack.len() >= MAX_DEPTH {
            leave_out(&mut self.is_too_deep, TOO_DEEP);
        } else if enters && self.entered.len() >= MAX_COLLECTIONS {
            leave_out(&mut self.is_full, TOO_MANY_COLLECTIONS);
        } else if enters {
            self.entered.insert(resource.uri.clone());
            self.stack
                .push(ListFrame { parent: Some(resource.uri.clone()), ..ListFrame::default() });
        }
    }

    /// Encodes the position after the last returned resource. Each URI is packed as what it adds to
    /// the one before it, since a member of a folder begins like the folder.
    pub(super) fn encode_position(&self) -> Vec<u8> {
        let (mut packer, mut before) = (Packer::default(), "");
        for frame in &self.stack {
            packer = pack_uri(packer, &mut before, frame.parent.as_ref());
            packer = packer.bytes(frame.page_cursor.as_ref().map(|from| &from.0));
            packer = pack_uri(packer, &mut before, frame.last_uri.as_ref());
            packer = packer.integer(frame.returned.into());
        }
        packer.finish()
    }
}

impl ListFrame {
    /// Fetches the current page and drops the items that were already returned. Returns the
    /// sources that could not be listed.
    async fn fetch_page(
        &mut self,
        server: &Server,
        ctx: &Context,
        filter: &Arc<Filter>,
    ) -> Result<Vec<Absence>> {
        let ask = PageRequest::new(self.page_cursor.clone(), PAGE_SIZE);
        let ask = ask.with_filter(Some(Arc::clone(filter)));
        let page = server.provider.list(ctx, self.parent.as_ref(), &ask).await?;
        let mut items: VecDeque<Arc<Resource>> = page.items.into_iter().collect();
        let given = self.last_uri.as_ref().map(|last| {
            let found = items.iter().position(|item| item.uri == *last);
            // The last returned item is gone, so the items behind it moved up by one.
            let moved = (self.returned as usize).saturating_sub(1).min(items.len());
            found.map_or(moved, |at| at + 1)
        });
        items.drain(..given.unwrap_or(0));
        self.page = Some((items, page.next));
        Ok(page.absent)
    }
}

fn decode_position(place: &[u8]) -> Option<Vec<ListFrame>> {
    let mut parts = Unpacker::new(place);
    let (mut stack, mut before) = (Vec::new(), String::new());
    while !parts.is_empty() && stack.len() < MAX_DEPTH {
        stack.push(ListFrame {
            parent: unpack_uri(&mut parts, &mut before)?,
            page_cursor: parts.bytes()?.map(|from| Cursor(Bytes::copy_from_slice(from))),
            last_uri: unpack_uri(&mut parts, &mut before)?,
            returned: u32::try_from(parts.integer()?).ok()?,
            page: None,
        });
    }
    Some(stack)
}

/// Appends the end of a URI that differs from the URI `before`, and how much they have in common.
fn pack_uri<'a>(packer: Packer, before: &mut &'a str, uri: Option<&'a Uri>) -> Packer {
    let Some(uri) = uri else { return packer.bytes(None::<&str>) };
    let mut common = uri.as_str().bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
    while !uri.as_str().is_char_boundary(common) {
        common -= 1;
    }
    *before = uri.as_str();
    packer.bytes(Some(&before[common..])).integer(common as u64)
}

fn unpack_uri(parts: &mut Unpacker<'_>, before: &mut String) -> Option<Option<Uri>> {
    let Some(end) = parts.text()? else { return Some(None) };
    let common = usize::try_from(parts.integer()?).ok()?;
    *before = format!("{}{end}", before.get(..common)?);
    Uri::parse(before).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use machinery::{Packer, Unpacker};
    use proptest::prelude::{prop, proptest};
    use resource::Uri;

    use super::{pack_uri, unpack_uri};

    proptest! {
        #[test]
        fn unpacking_undoes_packing(paths in prop::collection::vec("[ab日/]{0,9}", 0..8)) {
            let uris: Vec<Option<Uri>> = paths
                .iter()
                .map(|path| Uri::parse(&format!("file:///{path}")).ok().filter(|_| path.len() != 1))
                .collect();
            let (mut packer, mut before) = (Packer::default(), "");
            for uri in &uris {
                packer = pack_uri(packer, &mut before, uri.as_ref());
            }
            let packed = packer.finish();
            let (mut parts, mut before) = (Unpacker::new(&packed), String::new());
            for uri in uris {
                assert_eq!(unpack_uri(&mut parts, &mut before), Some(uri));
            }
        }
    }
}
