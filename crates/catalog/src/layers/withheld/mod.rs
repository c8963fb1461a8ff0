//! Withholding layer: the bytes of an archive are not given if secrets in its members are masked.
//!
//! It lies around the layers that mask and render, so that a look through an archive tells by what
//! they did to its members. Members are read by their URIs as before.

mod search_members;

use std::sync::Arc;

use async_trait::async_trait;
use machinery::{Cache, CacheBounds, FairSemaphore, SingleFlight};
use redaction::Redaction;
use resource::{
    Body, Content, Context, Error, ErrorKind, Facets, Page, PageRequest, Part, Provider,
    ReadRequest, Reading, Resource, Result, Template, Uri, Window,
};
use tokio::time::Instant;

use super::Layer;
use super::rendered::WITHHELD;
use super::unpacked::member_uri::kind_of_uri;
use search_members::{ArchiveVerdict, MAX_SEARCH_TIME, MemberSearch};

/// The number of archives whose verdict is kept.
const MAX_KEPT_VERDICTS: usize = 4096;
/// How many archives are looked through at a time, of each principal one.
const MAX_SEARCHES: usize = 2;
const MAX_QUEUED: usize = 16;

/// The form of a mail that is given in the place of its bytes.
const TEXT_FORM: &str = "text/markdown";

/// Withholds the bytes of archives that hold what the redaction masks.
pub struct Withheld(pub Redaction);

impl Layer for Withheld {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(WithheldProvider {
            inner,
            redaction: self.0.clone(),
            verdicts: Arc::new(Cache::new(CacheBounds::entries(MAX_KEPT_VERDICTS))),
            flights: SingleFlight::default(),
            searches: Arc::new(FairSemaphore::new(MAX_SEARCHES, 1, MAX_QUEUED)),
        })
    }
}

struct WithheldProvider {
    inner: Arc<dyn Provider>,
    redaction: Redaction,
    verdicts: Arc<Cache<VersionKey, ArchiveVerdict>>,
    flights: SingleFlight<VersionKey, VerdictOutcome>,
    searches: Arc<FairSemaphore>,
}

/// A version of an archive, as one principal sees it.
type VersionKey = (Arc<str>, Uri, String);

type VerdictOutcome = std::result::Result<ArchiveVerdict, Arc<Error>>;

impl WithheldProvider {
    /// Reads what is named like an archive.
    async fn read_archive(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let reading = self.inner.read(ctx, uri, request).await?;
        let Content::Parts(parts) = &reading.content else { return Ok(reading) };
        let Some(original) = parts.iter().find(|part| is_original(part)) else {
            return Ok(reading);
        };
        let described = Arc::clone(&original.resource);
        let verdict = match described.is_archive {
            true => self.verdict(ctx, &described).await?,
            // Archives in archives are opened up to a depth.
            false => ArchiveVerdict::Unsearched,
        };
        let reason = match verdict {
            ArchiveVerdict::Clean => return Ok(reading),
            ArchiveVerdict::HoldsSecrets => WITHHELD,
            ArchiveVerdict::Unsearched => {
                "the original is withheld: it cannot be searched for secrets within the bounds"
            }
        };
        let is_plain = matches!(request.window, Window::Whole { .. }) && !request.wants_form();
        if is_plain && has_text_form(&described) {
            return self.read_text(ctx, uri, request, reason).await;
        }
        let instead = match has_text_form(&described) {
            true => "read it as text/markdown",
            false => "read its members",
        };
        let message = format!("{reason}; {instead}");
        Err(Error::new(ErrorKind::Unsupported, message).about(uri))
    }

    /// Reads the text of a mail in the place of its bytes.
    async fn read_text(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
        reason: &str,
    ) -> Result<Reading> {
        let text = ReadRequest { format: Some(TEXT_FORM.to_owned()), ..request.clone() };
        let mut reading = self.inner.read(ctx, uri, &text).await?;
        if let Content::Parts(parts) = &mut reading.content {
            for part in parts {
                Arc::make_mut(&mut part.resource).notes.push(reason.to_owned());
            }
        }
        Ok(reading)
    }

    /// Whether the version of an archive that `described` is may be given, from memory if it is
    /// known.
    async fn verdict(&self, ctx: &Context, described: &Arc<Resource>) -> Result<ArchiveVerdict> {
        let search = MemberSearch {
            inner: Arc::clone(&self.inner),
            redaction: self.redaction.clone(),
            // It may outlive the request, so that it reports nothing to its caller.
            ctx: Context::new(ctx.principal().clone()),
            archive: Arc::clone(described),
        };
        let principal = Arc::clone(ctx.principal().key());
        let Some(etag) = described.etag.clone() else {
            let _permit = wait_to_search(&self.searches, &principal).await?;
            return search.run().await;
        };
        let key = (principal, described.uri.clone(), etag);
        if let Some(known) = self.verdicts.get(&key) {
            return Ok(known);
        }
        let (verdicts, searches) = (Arc::clone(&self.verdicts), Arc::clone(&self.searches));
        let own_key = key.clone();
        let work = async move {
            let _permit = wait_to_search(&searches, &own_key.0).await?;
            let verdict = search.run().await?;
            verdicts.insert(own_key, verdict, 1);
            Ok(verdict)
        };
        // The search goes on when its caller's time is over, so that a later request has the result.
        let work = async move {
            let done = tokio::spawn(work).await;
            done.map_err(|_| Error::internal("the search of an archive panicked"))
                .flatten()
                .map_err(Arc::new)
        };
        let outcome: VerdictOutcome = self.flights.join(key, work).await;
        outcome.map_err(|error| {
            let message = error.message.clone();
            Error::new(error.kind, message).about(&described.uri)
        })
    }
}

async fn wait_to_search(
    searches: &FairSemaphore,
    principal: &Arc<str>,
) -> Result<machinery::SharePermit> {
    let permit = searches.acquire(principal, Instant::now() + MAX_SEARCH_TIME).await;
    permit.map_err(|_| Error::unavailable("too many archives are being searched; try again"))
}

/// Whether a part has the bytes of the archive itself, and not a text that was made of it.
fn is_original(part: &Part) -> bool {
    let resource = &part.resource;
    let is_primary = resource.formats.first().is_none_or(|primary| {
        resource.mime.as_ref().is_none_or(|mime| primary.mime.eq_ignore_ascii_case(mime))
    });
    is_primary && (resource.is_archive || matches!(part.body, Body::Blob(_)))
}

fn has_text_form(resource: &Resource) -> bool {
    resource.formats.iter().any(|format| format.is_made && format.mime == TEXT_FORM)
}

#[async_trait]
impl Provider for WithheldProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.inner.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.inner.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        match kind_of_uri(uri) {
            Some(_) => Box::pin(self.read_archive(ctx, uri, request)).await,
            None => self.inner.read(ctx, uri, request).await,
        }
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        // None of them gives the bytes of an archive.
        Facets { watch, complete, health, relay, mounts, search, skills }
    }
}
