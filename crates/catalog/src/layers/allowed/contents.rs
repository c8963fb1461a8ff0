//! Contents under access rules: bytes and texts that would tell of members that are denied.

use resource::{
    Content, Context, Error, ErrorKind, PageRequest, Reading, Result, Uri, UriRewrite as _,
};

use super::{AccessGate, AllowedProvider, is_plain_folder};
use crate::access::{MethodClass, Subject};
use crate::layers::unpacked::member_uri::kind_of_uri;

/// The most members of a mail that are looked at. One with more is withheld.
const MAX_MEMBERS: usize = 10_000;
/// How many members a page of a list has.
const PAGE_MEMBERS: usize = 1000;

const WITHHELD: &str =
    "the original is withheld, since access rules may deny you members of it; read its members";

impl AccessGate {
    /// Whether the rules may deny a member of `uri` to the principal.
    fn may_deny_members(&self, ctx: &Context, uri: &Uri) -> bool {
        let subject = Subject::resource(uri, self.address.to_public(uri.as_str()).as_deref());
        let may_deny = |class| self.rules.may_deny_below(ctx.principal(), class, &subject);
        [MethodClass::List, MethodClass::Read].into_iter().any(may_deny)
    }

    fn allows_member(&self, ctx: &Context, uri: &Uri) -> bool {
        self.allows(ctx, MethodClass::List, uri) && self.allows(ctx, MethodClass::Read, uri)
    }
}

impl AllowedProvider {
    /// Withholds the bytes of an archive in which something may be denied, whether there is such a
    /// member or not, and those of a mail that has one. The text of a folder that a server wrote
    /// gives way to the list.
    pub(super) async fn withhold_members(
        &self,
        ctx: &Context,
        uri: &Uri,
        reading: &mut Reading,
    ) -> Result<()> {
        let is_content = matches!(&reading.content, Content::Parts(_));
        if !is_content || !self.gate.may_deny_members(ctx, uri) {
            return Ok(());
        }
        if let Some((kind, _)) = kind_of_uri(uri).filter(|_| self.gate.unpacks)
            && (!kind.has_own_content() || self.holds_denied(ctx, uri).await?)
        {
            return Err(Error::new(ErrorKind::Unsupported, WITHHELD).about(uri));
        }
        if self.gate.address.is_of_server()
            && let Ok(folder) = self.inner.stat(ctx, uri).await
            && is_plain_folder(&folder)
        {
            *reading = Reading::new(Content::Collection(folder), reading.freshness);
        }
        Ok(())
    }

    /// Whether a mail has a member that is denied, or members that cannot be listed.
    async fn holds_denied(&self, ctx: &Context, mail: &Uri) -> Result<bool> {
        let (mut folders, mut members) = (vec![mail.clone()], 0);
        while let Some(folder) = folders.pop() {
            let mut paging = PageRequest::first(PAGE_MEMBERS);
            loop {
                let page = match self.inner.list(ctx, Some(&folder), &paging).await {
                    Ok(page) => page,
                    Err(error) if error.is_retryable() => return Err(error),
                    Err(_) => return Ok(true),
                };
                members += page.items.len();
                if members > MAX_MEMBERS
                    || !page.items.iter().all(|one| self.gate.allows_member(ctx, &one.uri))
                {
                    return Ok(true);
                }
                let deeper = page.items.iter().filter(|one| one.listable == Some(true));
                folders.extend(deeper.map(|one| one.uri.clone()));
                paging.cursor = page.next;
                if paging.cursor.is_none() {
                    break;
                }
            }
        }
        Ok(false)
    }
}
