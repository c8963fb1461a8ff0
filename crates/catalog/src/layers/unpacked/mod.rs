//! Archive layer: zip and tar files are collections, whose members are resources.
//!
//! It is the innermost layer, so that members are masked, ruled and bounded as files are. It gets
//! the bytes of an archive by windows of the provider, pinned to one version, and unpacks nothing
//! to disk. Only URIs with a name like an archive's cost it a look; all others pass through.

mod content;
mod describe;
mod facets;
mod listing;
mod member_reader;
pub(crate) mod member_uri;
mod open_archive;
mod window_source;

use std::sync::Arc;

use archive::{ArchiveKind, Member};
use async_trait::async_trait;
use resource::{
    Content, Context, Error, ErrorKind, Facets, Freshness, Items, Page, PageRequest, Provider,
    ReadRequest, Reading, Resource, Result, Template, Uri, Watch, Window,
};

use self::content::MemberContents;
use self::describe::{archive_kind, describe_archive};
use self::member_uri::{archive_splits, kind_of_uri, member_path};
use self::open_archive::{ArchiveStore, OpenArchive};
use super::Layer;
use crate::memo::Memo;

/// How deep archives in archives are opened.
const MAX_DEPTH: usize = 3;
/// How often a read of an archive that changes begins anew.
const MAX_ATTEMPTS: usize = 3;

/// Shows archives as collections.
pub struct Unpacked;

impl Layer for Unpacked {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let store = Arc::new(ArchiveStore::new(Arc::clone(&inner)));
        let contents = MemberContents::new(Arc::clone(&store));
        let (archive_memo, members) = (Memo::default(), describe::MemberDescriptions::default());
        Arc::new(UnpackedProvider { inner, store, contents, archive_memo, members })
    }
}

struct UnpackedProvider {
    inner: Arc<dyn Provider>,
    store: Arc<ArchiveStore>,
    contents: MemberContents,
    archive_memo: Memo,
    members: describe::MemberDescriptions,
}

/// What a URI names, as far as archives are concerned.
enum ArchivePlace {
    /// Nothing in an archive: the provider answers.
    Outside,
    /// An archive that the provider has, as it describes it.
    Archive(Arc<Resource>),
    /// The root of an archive, or a folder or file in it.
    Inside(Box<InsidePlace>),
}

/// A place in an archive.
struct InsidePlace {
    archive: OpenArchive,
    /// The member; `None` for the root of the archive.
    member: Option<Member>,
    /// The kind of archive that the member itself is.
    nested: Option<ArchiveKind>,
}

impl InsidePlace {
    /// The path of the folder whose members are listed; `None` if it is a file.
    fn folder(&self) -> Option<&str> {
        match &self.member {
            None => Some(""),
            Some(member) if member.is_folder => Some(&member.path),
            Some(_) => None,
        }
    }
}

/// Whether an archive in an archive is opened, or only its member.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LocateDepth {
    /// What the URI names.
    Named,
    /// The archive that the URI names is opened too.
    Opened,
}

impl UnpackedProvider {
    /// Finds what `uri` names; looks again if the archive changes meanwhile.
    async fn locate(&self, ctx: &Context, uri: &Uri, depth: LocateDepth) -> Result<ArchivePlace> {
        // Most URIs lead to no archive, and need no room for the search.
        if archive_splits(uri).next().is_none() {
            return Ok(ArchivePlace::Outside);
        }
        for _ in 1..MAX_ATTEMPTS {
            match Box::pin(self.try_locate(ctx, uri, depth)).await {
                Err(error) if error.kind == ErrorKind::Changed => {}
                done => return done,
            }
        }
        Box::pin(self.try_locate(ctx, uri, depth)).await
    }

    async fn try_locate(
        &self,
        ctx: &Context,
        uri: &Uri,
        depth: LocateDepth,
    ) -> Result<ArchivePlace> {
        for split in archive_splits(uri) {
            let found = match self.inner.stat(ctx, &split.archive).await {
                Ok(found) => found,
                Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Invalid) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some((kind, _)) = archive_kind(&found) else { continue };
            let Some(rest) = split.rest else {
                if depth == LocateDepth::Named {
                    return Ok(ArchivePlace::Archive(found));
                }
                let archive = self.store.open(ctx, found, kind).await?;
                return Ok(inside(archive, None));
            };
            let (path, requires_folder) = member_path(rest).ok_or_else(|| Error::not_found(uri))?;
            let archive = self.store.open(ctx, found, kind).await;
            let archive = archive.map_err(|error| error.about(uri))?;
            return self.locate_member(ctx, uri, archive, (&path, requires_folder, depth)).await;
        }
        Ok(ArchivePlace::Outside)
    }

    /// Finds the member at `path`, which may lead into archives in the archive.
    async fn locate_member(
        &self,
        ctx: &Context,
        uri: &Uri,
        mut archive: OpenArchive,
        (mut path, requires_folder, depth): (&str, bool, LocateDepth),
    ) -> Result<ArchivePlace> {
        while let Some((member, kind, rest)) = nested_archive(&archive, path, depth) {
            let nested = self.store.open_nested(ctx, &archive, &member, kind).await;
            archive = nested.map_err(|error| error.about(uri))?;
            path = rest;
        }
        if path.is_empty() {
            return Ok(inside(archive, None));
        }
        let member = archive.index.get(path).cloned().ok_or_else(|| Error::not_found(uri))?;
        let is_collection = member.is_folder || nested_kind(&archive, &member).is_some();
        match is_collection || !requires_folder {
            true => Ok(inside(archive, Some(member))),
            false => Err(Error::not_found(uri)),
        }
    }

    /// Reads a folder, an archive or a file in an archive.
    async fn read_inside(
        &self,
        ctx: &Context,
        uri: &Uri,
        place: &InsidePlace,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let InsidePlace { archive, member, nested } = place;
        let resource = self.members.describe(place, uri);
        let Some(member) = member.as_ref().filter(|member| !member.is_folder) else {
            return collection_reading(resource, request);
        };
        let is_plain = matches!(request.window, Window::Whole { .. }) && request.format.is_none();
        if nested.is_some_and(|kind| !kind.has_own_content()) && is_plain {
            return collection_reading(resource, request);
        }
        let reading = self.contents.read(ctx, (archive, member), resource, request).await;
        reading.map_err(|error| error.about(uri))
    }

    /// Reads an archive that the provider has: as a collection, or its bytes.
    async fn read_archive(
        &self,
        ctx: &Context,
        found: Arc<Resource>,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let uri = found.uri.clone();
        let has_content = archive_kind(&found).is_some_and(|(kind, _)| kind.has_own_content());
        let archive = describe_archive(found);
        if has_content {
            let mut reading = self.inner.read(ctx, &uri, request).await?;
            if let Content::Parts(parts) = &mut reading.content {
                for part in parts {
                    part.resource = describe_archive(Arc::clone(&part.resource));
                }
            }
            return Ok(reading);
        }
        if matches!(request.window, Window::Whole { .. }) && request.format.is_none() {
            return collection_reading(archive, request);
        }
        request.select(&mut vec![archive.mime.clone()], |mime| mime.as_deref())?;
        let bytes = ReadRequest { format: None, ..request.clone() };
        let mut reading = self.inner.read(ctx, &uri, &bytes).await?;
        if let Content::Parts(parts) = &mut reading.content {
            for part in parts {
                let own = Arc::make_mut(&mut part.resource);
                own.mime.clone_from(&archive.mime);
                part.resource = describe_archive(Arc::clone(&part.resource));
            }
        }
        Ok(reading)
    }
}

fn inside(archive: OpenArchive, member: Option<Member>) -> ArchivePlace {
    let nested = member.as_ref().and_then(|member| nested_kind(&archive, member));
    ArchivePlace::Inside(Box::new(InsidePlace { archive, member, nested }))
}

/// The kind of archive that a member is, if it is opened.
fn nested_kind(archive: &OpenArchive, member: &Member) -> Option<ArchiveKind> {
    let may_open = archive.depth < MAX_DEPTH && !member.is_folder;
    may_open.then(|| ArchiveKind::of_name(member.name())).flatten().map(|(kind, _)| kind)
}

/// The first archive in the archive that `path` leads into, and the path in it.
fn nested_archive<'a>(
    archive: &OpenArchive,
    path: &'a str,
    depth: LocateDepth,
) -> Option<(Member, ArchiveKind, &'a str)> {
    let slashes = path.match_indices('/').map(|(slash, _)| slash);
    let ends =
        slashes.chain((depth == LocateDepth::Opened && !path.is_empty()).then_some(path.len()));
    ends.filter_map(|end| {
        ArchiveKind::of_name(path[..end].rsplit('/').next()?)?;
        let member = archive.index.get(&path[..end])?;
        let kind = nested_kind(archive, member)?;
        Some((member.clone(), kind, path.get(end + 1..).unwrap_or_default()))
    })
    .next()
}

/// The reading of a collection, which has no format and no part.
fn collection_reading(resource: Arc<Resource>, request: &ReadRequest) -> Result<Reading> {
    if request.format.is_some() || request.part.is_some() {
        request.select(&mut Vec::<()>::new(), |()| None)?;
    }
    Ok(Reading::new(Content::Collection(resource), Freshness::default()))
}

#[async_trait]
impl Provider for UnpackedProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        if let Some(uri) = parent
            && let ArchivePlace::Inside(place) = self.locate(ctx, uri, LocateDepth::Opened).await?
        {
            return self.list_inside(uri, &place, paging);
        }
        self.list_outside(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        match self.locate(ctx, uri, LocateDepth::Named).await? {
            ArchivePlace::Outside => self.inner.stat(ctx, uri).await,
            ArchivePlace::Archive(found) => Ok(self.describe_own(found)),
            ArchivePlace::Inside(place) => Ok(self.members.describe(&place, uri)),
        }
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        for _ in 0..MAX_ATTEMPTS {
            let place = match self.locate(ctx, uri, LocateDepth::Named).await? {
                ArchivePlace::Outside => return self.inner.read(ctx, uri, request).await,
                ArchivePlace::Archive(found) => {
                    return Box::pin(self.read_archive(ctx, found, request)).await;
                }
                ArchivePlace::Inside(place) => place,
            };
            match Box::pin(self.read_inside(ctx, uri, &place, request)).await {
                // The archive changed meanwhile, unless the etag in the error is the member's: then
                // the caller wants another version.
                Err(error) if error.kind == ErrorKind::Changed => {
                    if self.is_etag_of(ctx, uri, &error).await {
                        return Err(error);
                    }
                }
                read => return read,
            }
        }
        Err(Error::unavailable("the archive keeps changing while it is read").about(uri))
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        // Only changes are told of members. The rest is of the source alone.
        let watch = watch.map(|_| self as &dyn Watch);
        Facets { watch, complete, health, relay, mounts, search, skills }
    }
}

impl UnpackedProvider {
    /// Whether an error that names the current version names that of `uri`.
    async fn is_etag_of(&self, ctx: &Context, uri: &Uri, error: &Error) -> bool {
        let told = error.facts.iter().find(|(name, _)| *name == "etag").map(|(_, etag)| etag);
        self.stat(ctx, uri).await.is_ok_and(|now| now.etag.as_ref() == told)
    }

    fn describe_own(&self, found: Arc<Resource>) -> Arc<Resource> {
        let described = self.describe_archives(vec![Arc::clone(&found)].into());
        described.ok().and_then(|items| items.into_iter().next()).unwrap_or(found)
    }

    /// Describes the archives among `items` as collections.
    fn describe_archives(&self, items: Items<Resource>) -> Result<Items<Resource>> {
        self.archive_memo.map(items, |item| {
            Ok(Some(if kind_of_uri(&item.uri).is_some() { describe_archive(item) } else { item }))
        })
    }
}
