//! The tool `resources_list`: lists resources with filters, sorting and pagination.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use machinery::{Packer, Unpacker};
use protocol::inbound::tool::arguments::{ListArguments, SortOrder};
use protocol::inbound::tool::output::{ListOutput, MountRow};
use protocol::inbound::tool::{ContentBlock, TextLines, ToolOutput, ToolResult};
use resource::{Absence, Cursor, Error, Filter, MountInfo, Resource, Result, Uri};
use tokio::time::{Instant, timeout_at};

use super::busy_error;
use super::filter::{build_filter, check_mount, is_match, resolve_collection};
use super::recursive_list::RecursiveList;
use super::rows::{RowDetails, absent_sources, resource_rows, row_line, write_absences};
use crate::exchange::Exchange;
use crate::instructions::{mount_line, state_phrase};
use crate::server::Server;

/// How many resources one call scans before it returns a page and a cursor.
const MAX_SCANNED: usize = 20_000;
/// How many matching resources a sorted list may have.
const MAX_SORTED: usize = 20_000;
/// What a sorted list holds of each resource besides its texts, in bytes.
const SORTED_BYTES: usize = 512;
/// How long one call walks before it returns a page and a cursor, or gives up sorting.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Lists one page of the resources that pass the filter.
pub(super) async fn list_resources(
    server: &Server,
    exchange: &Exchange,
    list: &ListArguments,
) -> Result<ToolResult> {
    let ctx = &exchange.ctx;
    let mounts = server.provider.facets().mounts.filter(|_| list.is_empty());
    if let Some(mounts) = mounts {
        return Ok(list_mounts(&mounts.mounts(ctx)));
    }
    check_mount(server, ctx, &list.filter)?;
    let parent = resolve_collection(server, ctx, &list.filter).await?;
    let seal = format!("tool list {:?} {} {:?}", list.filter, list.recursive, list.sort);
    let unseal = |text: &str| server.cursors.unseal(ctx, &seal, text);
    let opened = list.cursor.as_deref().map(unseal).transpose()?;
    let place = opened.as_ref().map(|cursor| &cursor.0[..]);
    let found = match list.sort {
        None => list_in_order(server, exchange, (list, parent), place).await?,
        Some(sort) => list_sorted(server, exchange, (list, parent), sort, place).await?,
    };
    let seal_position = |place: Vec<u8>| server.cursors.seal(ctx, &seal, &Cursor(place.into()));
    let cursor = found.next_position.map(seal_position);
    let FilteredPage { resources, absent, .. } = found;
    Ok(list_result(server, list, ListPage { resources, cursor, absent }))
}

/// One page for a client.
struct ListPage {
    resources: Vec<Arc<Resource>>,
    cursor: Option<String>,
    absent: Vec<Absence>,
}

struct FilteredPage {
    resources: Vec<Arc<Resource>>,
    /// Where the next page starts; `None` on the last page.
    next_position: Option<Vec<u8>>,
    absent: Vec<Absence>,
}

fn start_listing<'a>(
    server: &'a Server,
    exchange: &'a Exchange,
    (list, parent, filter): (&ListArguments, Option<Uri>, &Arc<Filter>),
    place: Option<&[u8]>,
) -> Result<RecursiveList<'a>> {
    let scope = (parent, list.recursive, filter);
    RecursiveList::new(server, &exchange.ctx, scope, place)
}

/// Lists in the provider's order.
async fn list_in_order(
    server: &Server,
    exchange: &Exchange,
    (list, parent): (&ListArguments, Option<Uri>),
    place: Option<&[u8]>,
) -> Result<FilteredPage> {
    let filter = build_filter(&list.filter, list.recursive)?;
    let mut walk = start_listing(server, exchange, (list, parent, &filter), place)?;
    let mut resources = Vec::new();
    let deadline = Instant::now() + MAX_TIME;
    for seen in 0.. {
        let is_over = seen >= MAX_SCANNED || seen > 0 && Instant::now() >= deadline;
        if resources.len() >= server.limits.page || is_over || walk.is_paused() {
            let place = walk.encode_position();
            return Ok(FilteredPage { resources, next_position: Some(place), absent: walk.absent });
        }
        let Some(resource) = walk.next_resource().await? else {
            if walk.is_paused() {
                continue;
            }
            break;
        };
        if is_match(&filter, &*server.provider, &resource) {
            resources.push(resource);
        }
    }
    Ok(FilteredPage { resources, next_position: None, absent: walk.absent })
}

/// Lists in another order, which needs every matching resource in memory.
async fn list_sorted(
    server: &Server,
    exchange: &Exchange,
    (list, parent): (&ListArguments, Option<Uri>),
    sort: SortOrder,
    place: Option<&[u8]>,
) -> Result<FilteredPage> {
    let filter = build_filter(&list.filter, list.recursive)?;
    let deadline = Instant::now() + MAX_TIME;
    let key = exchange.ctx.principal().key();
    let _permit = server.sorted_lists.acquire(key, deadline).await.map_err(busy_error)?;
    let mut walk = start_listing(server, exchange, (list, parent, &filter), None)?;
    let mut all = Vec::new();
    let mut memory = exchange.reserve(0)?;
    loop {
        let next = timeout_at(deadline, walk.next_resource()).await.map_err(|_| {
            let seconds = MAX_TIME.as_secs();
            Error::invalid(format!(
                "too many resources to sort in {seconds} s; narrow the filter, or leave out sort"
            ))
        })?;
        let Some(resource) = next? else {
            if walk.is_paused() {
                walk.go_on();
                continue;
            }
            break;
        };
        if !is_match(&filter, &*server.provider, &resource) {
            continue;
        }
        if all.len() >= MAX_SORTED {
            let words =
                format!("too many resources to sort (limit {MAX_SORTED}); narrow the filter");
            return Err(Error::invalid(words));
        }
        if !memory.grow(SORTED_BYTES + resource.uri.as_str().len() + resource.name.len()) {
            return Err(Error::out_of_memory());
        }
        all.push(resource);
    }
    let sorted = server.work_pool.run(key, deadline, move |_| {
        all.sort_by(|one, other| compare(sort, one, other));
        all
    });
    let all = sorted.await.map_err(busy_error)?;
    // Continue after the last returned resource, even if it no longer exists.
    let begin = match place {
        Some(bytes) => {
            let last = decode_sort_key(bytes).ok_or_else(Error::bad_cursor)?;
            all.partition_point(|one| compare(sort, one, &last) != Ordering::Greater)
        }
        None => 0,
    };
    let mut rest = all.into_iter().skip(begin);
    let resources: Vec<_> = rest.by_ref().take(server.limits.page).collect();
    let more = rest.next().is_some();
    let place = resources.last().filter(|_| more).map(|last| encode_sort_key(last));
    Ok(FilteredPage { resources, next_position: place, absent: walk.absent })
}

fn compare(sort: SortOrder, one: &Resource, other: &Resource) -> Ordering {
    let priority = |resource: &Resource| resource.annotations.priority.unwrap_or(-1.0);
    let sorted = match sort {
        SortOrder::Name => one.name.cmp(&other.name),
        SortOrder::Priority => priority(other).total_cmp(&priority(one)),
        SortOrder::Modified => other.annotations.modified.cmp(&one.annotations.modified),
        SortOrder::Size => other.size.cmp(&one.size),
    };
    sorted.then_with(|| one.uri.cmp(&other.uri))
}

/// The sort fields of a resource, encoded for a cursor.
fn encode_sort_key(resource: &Resource) -> Vec<u8> {
    let modified = resource.annotations.modified.map(split_time);
    let priority = resource.annotations.priority.map(f64::to_bits);
    let (seconds, nanos) = (modified.map(|time| time.0 as u64), modified.map(|time| time.1));
    let numbers = [priority, seconds, nanos.map(u64::from), resource.size];
    let packer = numbers.into_iter().fold(Packer::default(), Packer::optional_integer);
    packer.bytes(Some(&resource.name)).bytes(Some(resource.uri.as_str())).finish()
}

/// Decodes a sort key into a resource that sorts like the original.
fn decode_sort_key(bytes: &[u8]) -> Option<Resource> {
    let mut parts = Unpacker::new(bytes);
    let mut number = || parts.optional_integer();
    let (priority, seconds, nanos, size) = (number()?, number()?, number()?, number()?);
    let name = parts.text()??;
    let mut resource = Resource::new(resource::Uri::parse(parts.text()??).ok()?, name);
    resource.size = size;
    resource.annotations.priority = priority.map(f64::from_bits);
    resource.annotations.modified = match (seconds, nanos) {
        (Some(seconds), Some(nanos)) => Some(join_time(seconds as i64, nanos)?),
        _ => None,
    };
    Some(resource)
}

/// Splits `time` into seconds since 1970, rounded down, and nanoseconds: a file may have any date.
fn split_time(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => (since.as_secs() as i64, since.subsec_nanos()),
        Err(error) => match (error.duration().as_secs() as i64, error.duration().subsec_nanos()) {
            (before, 0) => (-before, 0),
            (before, nanos) => (-before - 1, 1_000_000_000 - nanos),
        },
    }
}

/// Undoes `split_time`.
fn join_time(seconds: i64, nanos: u64) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time = match seconds < 0 {
        true => UNIX_EPOCH.checked_sub(whole),
        false => UNIX_EPOCH.checked_add(whole),
    };
    time?.checked_add(Duration::from_nanos(nanos))
}

/// The mounts, one line each.
fn list_mounts(mounts: &[MountInfo]) -> ToolResult {
    let mut lines = TextLines::default();
    for mount in mounts {
        lines.push(&mount_line(mount));
    }
    lines.push("call again with {\"mount\": name} to list a mount");
    let row = |mount: &MountInfo| MountRow {
        name: mount.name.clone(),
        kind: mount.kind,
        uri: mount.root.as_ref().map(ToString::to_string),
        description: mount.description.clone(),
        state: state_phrase(&mount.health).map(str::to_owned),
    };
    ToolResult::with_text(lines, ToolOutput::Mounts { mounts: mounts.iter().map(row).collect() })
}

fn list_result(server: &Server, list: &ListArguments, found: ListPage) -> ToolResult {
    let ListPage { resources, cursor, absent } = found;
    let details = RowDetails {
        modified: list.sort == Some(SortOrder::Modified) || list.filter.modified_since.is_some(),
        priority: list.sort == Some(SortOrder::Priority) || list.filter.min_priority.is_some(),
        whole: false,
    };
    let rows = resource_rows(&*server.provider, resources.iter().map(|one| &**one), details);
    let note = (rows.is_empty() && cursor.is_none()).then(|| empty_note(list, &absent));
    let absent = absent_sources(absent);
    let mut lines = TextLines::default();
    for row in &rows {
        lines.push(&row_line(row));
    }
    if let Some(note) = &note {
        lines.push(note);
    }
    write_absences(&mut lines, &absent);
    if let Some(cursor) = &cursor {
        lines.push(&format!("there is more: call again with cursor {cursor}"));
    }
    let output = ListOutput { resources: rows, cursor, absent, note };
    let mut given = ToolResult::with_text(lines, ToolOutput::List(output));
    if list.links {
        given.blocks.extend(resources.into_iter().map(ContentBlock::Link));
    }
    given
}

/// Says that nothing matches, and where the list did not look.
fn empty_note(list: &ListArguments, absent: &[Absence]) -> String {
    let mut note = "no resources match".to_owned();
    if !list.recursive {
        note.push_str("; nested folders were not looked at: pass recursive: true");
    }
    if !absent.is_empty() {
        note.push_str("; some sources could not be looked at");
    }
    note
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use resource::{Resource, Uri};

    use super::{decode_sort_key, encode_sort_key};

    #[test]
    fn the_key_of_a_sorted_list_keeps_every_date() {
        const YEAR: u64 = 31_557_600;
        let later = [0, 1, 50 * YEAR, 585 * YEAR, 9_000 * YEAR, 1 << 50].map(|seconds| {
            UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(123_456_789)
        });
        let earlier = [(0, 1), (1, 0), (1, 5), (400 * YEAR, 999_999_999)]
            .map(|(seconds, nanos)| UNIX_EPOCH - Duration::new(seconds, nanos));
        for date in later.into_iter().chain(earlier).map(Some).chain([None]) {
            let mut resource = Resource::new(Uri::parse("file:///a").unwrap(), "a");
            resource.annotations.modified = date;
            resource.size = Some(7);
            let decoded = decode_sort_key(&encode_sort_key(&resource)).unwrap();
            assert_eq!((decoded.annotations.modified, decoded.size), (date, Some(7)));
        }
    }
}
