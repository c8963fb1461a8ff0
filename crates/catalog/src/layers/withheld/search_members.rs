//! Search of an archive for secrets: reads its members as a client would, within bounds.

use std::sync::Arc;
use std::time::Duration;

use archive::{ArchiveKind, MAX_MEMBERS, MemberIndex};
use redaction::Redaction;
use resource::{
    Content, Context, Error, ErrorKind, PageRequest, Provider, ReadRequest, Reading, Resource,
    Result, Uri,
};
use tokio::time::timeout;

use super::{TEXT_FORM, has_text_form};
use crate::layers::redacted::redaction_path;
use crate::layers::unpacked::member_uri::kind_of_uri;

/// How long one archive may take.
pub(super) const MAX_SEARCH_TIME: Duration = Duration::from_secs(20);
/// The most bytes of members that are read of one archive.
const MAX_SEARCHED_BYTES: u64 = 1 << 30;
/// How many members a page of a list has.
const PAGE_MEMBERS: usize = 1000;

/// What a search tells of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveVerdict {
    /// Nothing in it is masked.
    Clean,
    /// A secret in it is masked.
    HoldsSecrets,
    /// It has content that cannot be read, or is over the bounds.
    Unsearched,
}

/// The search of one version of an archive.
pub(super) struct MemberSearch {
    pub(super) inner: Arc<dyn Provider>,
    pub(super) redaction: Redaction,
    pub(super) ctx: Context,
    pub(super) archive: Arc<Resource>,
}

/// Why a search ends before the end.
enum SearchEnd {
    Verdict(ArchiveVerdict),
    Failed(Error),
}

impl From<Error> for SearchEnd {
    fn from(error: Error) -> Self {
        match error.kind {
            ErrorKind::Unavailable
            | ErrorKind::Internal
            | ErrorKind::Changed
            | ErrorKind::NotFound => Self::Failed(error),
            // What a client cannot read, nobody can search.
            _ => Self::Verdict(ArchiveVerdict::Unsearched),
        }
    }
}

impl MemberSearch {
    /// Searches all members, up to the first secret.
    pub(super) async fn run(&self) -> Result<ArchiveVerdict> {
        self.check_version().await?;
        let searched = timeout(MAX_SEARCH_TIME, self.search_all()).await;
        self.check_version().await?;
        match searched.unwrap_or(Err(SearchEnd::Verdict(ArchiveVerdict::Unsearched))) {
            Ok(()) => Ok(ArchiveVerdict::Clean),
            Err(SearchEnd::Verdict(verdict)) => Ok(verdict),
            Err(SearchEnd::Failed(error)) => Err(error),
        }
    }

    /// An error if the archive is of another version by now.
    async fn check_version(&self) -> Result<()> {
        let now = self.inner.stat(&self.ctx, &self.archive.uri).await?;
        match now.etag == self.archive.etag {
            true => Ok(()),
            false => {
                Err(Error::unavailable("the archive changed while it was read; read it again"))
            }
        }
    }

    async fn search_all(&self) -> std::result::Result<(), SearchEnd> {
        let (mut members, mut bytes) = (0, 0);
        let mut folders = vec![self.archive.uri.clone()];
        self.search_mail(&self.archive).await?;
        while let Some(folder) = folders.pop() {
            let mut paging = PageRequest::first(PAGE_MEMBERS);
            loop {
                let page = self.inner.list(&self.ctx, Some(&folder), &paging).await?;
                if page.absent.iter().any(|gap| MemberIndex::is_of_lost_content(&gap.reason)) {
                    return Err(SearchEnd::Verdict(ArchiveVerdict::Unsearched));
                }
                for member in &page.items {
                    members += 1;
                    bytes += self.search_member(member).await?;
                    if members > MAX_MEMBERS || bytes > MAX_SEARCHED_BYTES {
                        return Err(SearchEnd::Verdict(ArchiveVerdict::Unsearched));
                    }
                    if member.listable == Some(true) {
                        folders.push(member.uri.clone());
                    }
                }
                match page.next {
                    Some(next) => paging.cursor = Some(next),
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// Searches a member that is no folder. Returns how many bytes it has.
    async fn search_member(&self, member: &Resource) -> std::result::Result<u64, SearchEnd> {
        if member.listable == Some(true) {
            return self.search_mail(member).await.map(|()| 0);
        }
        if ArchiveKind::of_name(&member.name).is_some() {
            // It lies too deep to be opened.
            return Err(SearchEnd::Verdict(ArchiveVerdict::Unsearched));
        }
        if !self.masks(&member.uri) {
            return Ok(0);
        }
        let whole = ReadRequest::whole(u64::MAX);
        let reading = self.inner.read(&self.ctx, &member.uri, &whole).await?;
        check_parts(&reading)
    }

    /// Searches the text of a mail. Its attachments are members.
    async fn search_mail(&self, archive: &Resource) -> std::result::Result<(), SearchEnd> {
        let is_mail = kind_of_uri(&archive.uri).is_some_and(|(kind, _)| kind.has_own_content());
        if !is_mail || !has_text_form(archive) || !self.masks(&archive.uri) {
            return Ok(());
        }
        let format = Some(TEXT_FORM.to_owned());
        let request = ReadRequest { format, ..ReadRequest::whole(u64::MAX) };
        let reading = self.inner.read(&self.ctx, &archive.uri, &request).await?;
        check_parts(&reading).map(drop)
    }

    fn masks(&self, uri: &Uri) -> bool {
        self.redaction.syntax_of(&redaction_path(uri)).is_some()
    }
}

/// The size of what was read. Ends the search if a secret in it was masked.
fn check_parts(reading: &Reading) -> std::result::Result<u64, SearchEnd> {
    let Content::Parts(parts) = &reading.content else {
        return Err(SearchEnd::Verdict(ArchiveVerdict::Unsearched));
    };
    if parts.iter().any(|part| part.resource.is_masked) {
        return Err(SearchEnd::Verdict(ArchiveVerdict::HoldsSecrets));
    }
    Ok(parts.iter().filter_map(|part| part.resource.size).sum())
}
