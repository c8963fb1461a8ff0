//! Members of pages: sections, and the operations of an interface.

use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Absence, Context, Error, Freshness, Page, PageRequest, ReadRequest, Reading, Resource, Result,
    Uri,
};

use super::Documentation;
use super::describe::{KnownPage, MADE_MIME};
use super::find::FoundPage;
use super::openapi::ApiOperations;
use super::page_path::PageKind;
use super::page_text::{MAX_SCANNED_BYTES, read_text};
use super::place::section_uri;
use super::section_scan::{MAX_SECTIONS, PageSections};
use crate::list_page::{cursor_after, page_range};

/// The members of one page.
#[derive(Clone)]
pub(super) enum PageMembers {
    Sections(Arc<PageSections>),
    Operations(Arc<ApiOperations>),
}

impl PageMembers {
    fn len(&self) -> usize {
        match self {
            Self::Sections(sections) => sections.sections.len(),
            Self::Operations(operations) => operations.len(),
        }
    }

    fn name(&self, at: usize) -> &str {
        match self {
            Self::Sections(sections) => &sections.sections[at].name,
            Self::Operations(operations) => operations.name(at),
        }
    }

    /// The place of the member called `name`.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        match self {
            Self::Sections(sections) => sections.position(name),
            Self::Operations(operations) => operations.position(name),
        }
    }

    /// Describes the member at a place as a part of its page, whose file is at `path`.
    pub(super) fn describe(&self, at: usize, uri: Uri, page: &Resource, path: &str) -> Resource {
        let mut member = Resource::new(uri, self.name(at));
        member.title = Some(self.name(at).to_owned());
        member.mime.clone_from(&page.mime);
        member.annotations = page.annotations.clone();
        member.language.clone_from(&page.language);
        member.etag.clone_from(&page.etag);
        member.watchable = page.watchable;
        member.is_view = true;
        // The name of the file says how it is masked.
        member.link_target = Some(path.into());
        let page_title = page.title.as_deref().unwrap_or(&page.name);
        match self {
            Self::Sections(sections) => {
                let section = &sections.sections[at];
                let above =
                    std::iter::once(page_title).chain(section.above.iter().map(String::as_str));
                member.description = Some(above.collect::<Vec<_>>().join(" › "));
                member.size = Some(section.end - section.start);
            }
            Self::Operations(operations) => {
                member.mime = Some(MADE_MIME.to_owned());
                member.description = operations.summary(at).map(str::to_owned);
                member.size = Some(operations.text(at).len() as u64);
            }
        }
        member
    }

    /// What is missing in the list, if the page has more members.
    fn absence(&self, page: &Uri) -> Option<Absence> {
        let Self::Sections(sections) = self else { return None };
        let bound = MAX_SCANNED_BYTES >> 20;
        let reason = format!(
            "only the first {MAX_SECTIONS} sections, and those of the first {bound} MiB, are listed"
        );
        sections.is_cut.then(|| Absence { name: page.to_string(), reason })
    }
}

impl Documentation {
    /// The members of a page.
    pub(super) async fn members(
        &self,
        ctx: &Context,
        file: &Resource,
        known: &KnownPage,
    ) -> Result<PageMembers> {
        Ok(match known.kind {
            PageKind::OpenApi => PageMembers::Operations(
                self.operations.find(ctx, &self.source, (file, known)).await?,
            ),
            _ => {
                PageMembers::Sections(self.texts.sections(ctx, &self.source, (file, known)).await?)
            }
        })
    }

    /// Lists the members of a page.
    pub(super) async fn list_members(
        &self,
        ctx: &Context,
        uri: &Uri,
        found: &FoundPage,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let is_page = found.member.is_none() && !found.is_by_language;
        let known = found.known.as_ref().filter(|known| is_page && known.facts.has_sections);
        let known = known.ok_or_else(|| Error::invalid("not a collection").about(uri))?;
        let members = self.members(ctx, &found.file, known).await?;
        let (start, end) = page_range(paging, members.len(), |name| members.position(name))?;
        let mut page = Page::from_items(Vec::new(), Freshness::default());
        let (path, described) = (known.path.text(), &found.described);
        for at in start..end {
            let name = members.name(at);
            let Some(own) = section_uri(uri, name) else { continue };
            if own.as_str().len() > self.source.options.max_uri {
                continue;
            }
            let item = members.describe(at, own, described, &path);
            if paging.shows(&item) {
                page.items.push(self.kept.unify(self.source.kept_for(ctx), item));
            }
        }
        if end < members.len() {
            page.next = Some(cursor_after(members.name(end - 1)));
        } else {
            page.absent.extend(members.absence(uri));
        }
        Ok(page)
    }

    /// Reads a member of a page.
    pub(super) async fn read_member(
        &self,
        ctx: &Context,
        found: FoundPage,
        (members, at): (PageMembers, usize),
        request: &ReadRequest,
    ) -> Result<Reading> {
        let Some(known) = found.known.as_ref() else {
            return Err(Error::not_found(&found.described.uri));
        };
        match members {
            PageMembers::Sections(sections) => {
                let section = &sections.sections[at];
                let page = (&*found.file, known);
                self.texts
                    .read_section((ctx, &self.source), page, (section, found.described), request)
                    .await
            }
            PageMembers::Operations(operations) => {
                let text = Bytes::copy_from_slice(operations.text(at).as_bytes());
                read_text(&text, found.described, request)
            }
        }
    }
}
