//! Lists: the members of archives, and archives among the resources of the provider.

use std::sync::Arc;

use archive::ArchiveKind;
use resource::{
    Absence, Context, Cursor, Error, Filter, Freshness, Page, PageRequest, Resource, Result, Uri,
};

use super::member_uri::child_uri;
use super::{InsidePlace, UnpackedProvider, nested_kind};

/// How many members one page looks at, if the filter shows few of them.
const MAX_LOOKED_AT: usize = 10_000;
/// The longest cursor: the path of a member.
const MAX_CURSOR_BYTES: usize = 8 << 10;

impl UnpackedProvider {
    /// Lists the members of a folder of an archive, in the order of their paths.
    pub(super) fn list_inside(
        &self,
        uri: &Uri,
        place: &InsidePlace,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let not_collection = || Error::invalid("not a collection").about(uri);
        let folder = place.folder().ok_or_else(not_collection)?;
        let after = paging.cursor.as_ref().map(cursor_path).transpose()?;
        let archive = &place.archive;
        let mut page = Page::from_items(Vec::new(), Freshness::default());
        if after.is_none() && folder.is_empty() {
            let note = |reason: &String| Absence { name: uri.to_string(), reason: reason.clone() };
            page.absent = archive.index.notes.iter().map(note).collect();
        }
        let mut last: Option<&str> = None;
        for (looked_at, member) in archive.index.children(folder, after).enumerate() {
            if page.items.len() >= paging.limit.max(1) || looked_at >= MAX_LOOKED_AT {
                page.next = last.map(|last| Cursor(last.to_owned().into()));
                break;
            }
            last = Some(&member.path);
            let Some(child) = child_uri(uri, member.name()) else { continue };
            let (nested, member) = (nested_kind(archive, member), Some(member.clone()));
            let place = InsidePlace { archive: archive.clone(), member, nested };
            let item = self.members.describe(&place, &child);
            if paging.shows(&item) {
                page.items.push(item);
            }
        }
        Ok(page)
    }

    /// Lists what the provider has; archives are collections.
    pub(super) async fn list_outside(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let filter = paging.filter.as_ref();
        let relaxed = filter.and_then(|filter| relaxed_filter(filter)).map(Arc::new);
        let is_relaxed = relaxed.is_some();
        let inner_paging = paging.clone().with_filter(relaxed.or_else(|| filter.cloned()));
        let mut page = self.inner.list(ctx, parent, &inner_paging).await?;
        page.items = self.describe_archives(page.items)?;
        if is_relaxed {
            page.items.retain(|item| paging.shows(item));
        }
        Ok(page)
    }
}

/// The filter for the provider, if it must show more than it would: an archive that the pattern
/// leads into is a collection on the way, and has a MIME type by its ending.
fn relaxed_filter(filter: &Filter) -> Option<Filter> {
    let leads_inside = filter.keep_collections
        && filter.path.as_ref().is_some_and(|path| {
            let mut folders = path.prefix().split('/').rev().skip(1);
            folders.any(|name| ArchiveKind::of_name(name).is_some())
        });
    let is_of_archives = filter.mime.as_ref().is_some_and(|wanted| {
        let start = wanted.trim_end_matches('*').to_ascii_lowercase();
        ArchiveKind::mime_types().any(|mime| mime.starts_with(&start))
    });
    if !leads_inside && !is_of_archives {
        return None;
    }
    let mut relaxed = filter.clone();
    if leads_inside {
        relaxed = Filter { keep_collections: true, ..Filter::default() };
    }
    if is_of_archives {
        relaxed.mime = None;
    }
    Some(relaxed)
}

fn cursor_path(cursor: &Cursor) -> Result<&str> {
    let path = Some(&cursor.0[..]).filter(|path| path.len() <= MAX_CURSOR_BYTES);
    path.and_then(|path| std::str::from_utf8(path).ok()).ok_or_else(Error::bad_cursor)
}
