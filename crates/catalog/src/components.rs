//! Tools and prompts of all mounts: merged lists, public names, and routing of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use machinery::{Cache, CacheBounds};
use resource::{
    Completion, Component, ComponentCall, ComponentKind, Context, Error, Json, Page, PageRequest,
    PromptCompletionRequest, Relay, Result, TaskCall, Uri, UriRewrite,
};

use crate::address::Address;
use crate::catalog::{Catalog, MountList, foreign_uri_error, is_claimed_by_other};
use crate::merge::{self, neutral_page};
use crate::mount::Mount;
use crate::tool_name;

/// The maximum number of pages that a lookup of a shortened name fetches, and their size.
const MAX_LOOKUP_PAGES: usize = 64;
const LOOKUP_PAGE_SIZE: usize = 1000;

/// The maximum number of cached shortened names.
const MAX_SHORT_NAMES: usize = 16 << 10;

/// Cache of the local names of shortened names, by kind and public name.
pub(crate) struct ShortNames(Cache<(ComponentKind, String), String>);

impl Default for ShortNames {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::entries(MAX_SHORT_NAMES)))
    }
}

impl ShortNames {
    fn put(&self, kind: ComponentKind, public: &str, local: &str) {
        self.0.insert((kind, public.to_owned()), local.to_owned(), 1);
    }

    fn get(&self, kind: ComponentKind, public: &str) -> Option<String> {
        self.0.get(&(kind, public.to_owned()))
    }
}

impl Mount {
    pub(crate) fn relay(&self) -> Option<&dyn Relay> {
        self.provider.facets().relay
    }

    pub(crate) fn has_components(&self, ctx: &Context, kind: ComponentKind) -> bool {
        self.relay().is_some_and(|relay| relay.may_have(ctx, kind))
    }
}

impl UriRewrite for Address {
    fn to_public(&self, local: &str) -> Option<String> {
        let public = self.join(&Uri::parse(local).ok()?).ok()?;
        Some(public.as_str().to_owned())
    }

    fn to_local(&self, public: &str) -> Option<String> {
        let local = self.split(&Uri::parse(public).ok()?)?;
        Some(local.as_str().to_owned())
    }
}

/// The rewriting of the fallback mount, whose URIs stay as they are. It keeps URIs of other mounts
/// from the client, and notes that there were some.
struct FallbackRewrite<'a> {
    mounts: MountList,
    mount: &'a Mount,
    has_foreign: AtomicBool,
}

impl<'a> FallbackRewrite<'a> {
    fn new(mounts: MountList, mount: &'a Mount) -> Self {
        Self { mounts, mount, has_foreign: AtomicBool::new(false) }
    }

    /// The rewriting of the mount: this one for the fallback, else its address.
    fn or_address(&self) -> &dyn UriRewrite {
        if self.mount.is_fallback() { self } else { &*self.mount.address }
    }

    /// The outcome of a call, or an error if its result named URIs of other mounts.
    fn check(&self, called: Result<Json>) -> Result<Json> {
        let called = match self.has_foreign.load(Ordering::Relaxed) {
            true => called.and(Err(foreign_uri_error())),
            false => called,
        };
        called.map_err(|error| self.mount.with_mount_name(error))
    }
}

impl UriRewrite for FallbackRewrite<'_> {
    fn to_public(&self, local: &str) -> Option<String> {
        let uri = Uri::parse(local).ok()?;
        is_claimed_by_other(&self.mounts, self.mount, &uri).then(|| {
            self.has_foreign.store(true, Ordering::Relaxed);
            "about:invalid".to_owned()
        })
    }

    fn to_local(&self, _public: &str) -> Option<String> {
        None
    }
}

/// The mount names that prefix the names of tools and prompts: all but the fallback's.
fn prefixing_names(mounts: &MountList) -> impl Iterator<Item = &str> {
    mounts.iter().filter(|mount| !mount.is_fallback()).map(|mount| mount.name.as_str())
}

/// The mounts whose names prefix `public` and that have this kind, the longest name first.
fn candidate_mounts<'a>(
    ctx: &'a Context,
    mounts: &'a MountList,
    kind: ComponentKind,
    public: &str,
) -> impl Iterator<Item = &'a Arc<Mount>> {
    let owners = tool_name::mounts_by_prefix(public, prefixing_names(mounts)).into_iter();
    let mounted = owners.filter_map(|owner| mounts.iter().find(|mount| mount.name == owner));
    mounted.filter(move |mount| mount.has_components(ctx, kind))
}

impl Catalog {
    /// Lists one page of the tools or prompts of `mount`, one of `mounts`, under public names.
    async fn list_mount_components(
        &self,
        ctx: &Context,
        (mounts, mount): (&MountList, &Mount),
        kind: ComponentKind,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        let Some(relay) = mount.relay().filter(|relay| relay.may_have(ctx, kind)) else {
            return Ok(neutral_page());
        };
        let mut page = relay.list_components(ctx, kind, &*mount.address, paging).await?;
        if mount.is_fallback() {
            let is_free = |name: &str| candidate_mounts(ctx, mounts, kind, name).next().is_none();
            page.items.retain(|item| is_free(&item.name));
            return Ok(page);
        }
        for item in &mut page.items {
            let public = tool_name::join(&mount.name, &item.name, prefixing_names(mounts));
            if tool_name::is_shortened(&public) {
                self.short_names.put(kind, &public, &item.name);
            }
            Arc::make_mut(item).name = public;
        }
        Ok(page)
    }

    /// Lists one page of all mounts: of the tools that clients find by search, or of what is in the
    /// list.
    async fn list_merged(
        &self,
        ctx: &Context,
        (kind, by_search): (ComponentKind, bool),
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        let mounts = &self.mounts_for(ctx);
        let offered = |mount, paging: PageRequest| async move {
            if is_searched(mount, kind) != by_search {
                return Ok(neutral_page());
            }
            self.list_mount_components(ctx, (mounts, mount), kind, &paging).await
        };
        let asked = mounts.iter().filter(|mount| mount.listed).map(|mount| &**mount);
        merge::merge_pages(asked, paging, offered).await
    }

    /// Finds the mount that has the tool or prompt `public`, and its local name there.
    async fn find_component(
        &self,
        ctx: &Context,
        kind: ComponentKind,
        public: &str,
    ) -> Result<(Arc<Mount>, String)> {
        let mounts = self.mounts_for(ctx);
        let mut claimants = candidate_mounts(ctx, &mounts, kind, public).peekable();
        if claimants.peek().is_none() {
            let rest =
                mounts.iter().find(|mount| mount.is_fallback() && mount.has_components(ctx, kind));
            let rest = rest.ok_or_else(|| unknown_component(kind, public))?;
            return Ok((Arc::clone(rest), public.to_owned()));
        }
        let most = if tool_name::is_shortened(public) { usize::MAX } else { 1 };
        for mount in claimants.take(most) {
            if let Some(local) = tool_name::split(&mount.name, public) {
                return Ok((Arc::clone(mount), local.to_owned()));
            }
            let found = self.resolve_short_name(ctx, (&mounts, mount), kind, public).await;
            if let Some(local) = found.map_err(|error| mount.with_mount_name(error))? {
                return Ok((Arc::clone(mount), local));
            }
        }
        Err(unknown_component(kind, public))
    }

    /// The local name that was shortened to `public`, if `mount` has it.
    async fn resolve_short_name(
        &self,
        ctx: &Context,
        (mounts, mount): (&MountList, &Mount),
        kind: ComponentKind,
        public: &str,
    ) -> Result<Option<String>> {
        let ours =
            |local: &String| tool_name::join(&mount.name, local, prefixing_names(mounts)) == public;
        let mut ask = PageRequest::first(LOOKUP_PAGE_SIZE);
        for _ in 0..MAX_LOOKUP_PAGES {
            if let Some(local) = self.short_names.get(kind, public).filter(ours) {
                return Ok(Some(local));
            }
            let page = self.list_mount_components(ctx, (mounts, mount), kind, &ask).await?;
            if page.next.is_none() {
                break;
            }
            ask.cursor = page.next;
        }
        Ok(self.short_names.get(kind, public).filter(ours))
    }
}

#[async_trait]
impl Relay for Catalog {
    fn may_have(&self, ctx: &Context, kind: ComponentKind) -> bool {
        self.mounts_for(ctx).iter().any(|mount| mount.has_components(ctx, kind))
    }

    fn emits_logs(&self, ctx: &Context) -> bool {
        let mounts = self.mounts_for(ctx);
        mounts.iter().filter_map(|mount| mount.relay()).any(|relay| relay.emits_logs(ctx))
    }

    async fn list_components(
        &self,
        ctx: &Context,
        kind: ComponentKind,
        _names: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        self.list_merged(ctx, (kind, false), paging).await
    }

    fn has_searched_tools(&self, ctx: &Context) -> bool {
        let is_searched = |mount: &Arc<Mount>| {
            mount.tools_by_search && mount.has_components(ctx, ComponentKind::Tool)
        };
        self.mounts_for(ctx).iter().any(is_searched)
    }

    async fn list_searched_tools(
        &self,
        ctx: &Context,
        _names: &dyn UriRewrite,
        paging: &PageRequest,
    ) -> Result<Page<Component>> {
        self.list_merged(ctx, (ComponentKind::Tool, true), paging).await
    }

    async fn call_component(&self, ctx: &Context, call: &ComponentCall<'_>) -> Result<Json> {
        let (mount, local) = self.find_component(ctx, call.kind, call.name).await?;
        let relay = mount.relay().ok_or_else(|| unknown_component(call.kind, call.name))?;
        let fallback = FallbackRewrite::new(self.mounts(), &mount);
        let uri_rewrite = fallback.or_address();
        let calling = ComponentCall { name: &local, uri_rewrite, ..*call };
        fallback.check(relay.call_component(ctx, &calling).await)
    }

    fn has_tasks(&self, ctx: &Context) -> bool {
        let mounts = self.mounts_for(ctx);
        mounts.iter().filter_map(|mount| mount.relay()).any(|relay| relay.has_tasks(ctx))
    }

    async fn call_task(&self, ctx: &Context, call: &TaskCall<'_>) -> Result<Json> {
        let (mount, local) = self.find_component(ctx, ComponentKind::Tool, call.tool).await?;
        let unknown = || unknown_component(ComponentKind::Tool, call.tool);
        let relay = mount.relay().ok_or_else(unknown)?;
        let fallback = FallbackRewrite::new(self.mounts(), &mount);
        let uri_rewrite = fallback.or_address();
        let calling = TaskCall { tool: &local, uri_rewrite, ..*call };
        fallback.check(relay.call_task(ctx, &calling).await)
    }

    async fn complete_prompt(
        &self,
        ctx: &Context,
        request: &PromptCompletionRequest<'_>,
    ) -> Result<Completion> {
        let (mount, local) =
            self.find_component(ctx, ComponentKind::Prompt, request.prompt).await?;
        let relay = mount
            .relay()
            .ok_or_else(|| unknown_component(ComponentKind::Prompt, request.prompt))?;
        let request = PromptCompletionRequest { prompt: &local, ..*request };
        let completed = relay.complete_prompt(ctx, &request).await;
        completed.map_err(|error| mount.with_mount_name(error))
    }
}

/// Whether clients find what `mount` has of this kind by search.
fn is_searched(mount: &Mount, kind: ComponentKind) -> bool {
    kind == ComponentKind::Tool && mount.tools_by_search
}

pub(crate) fn unknown_component(kind: ComponentKind, public: &str) -> Error {
    let what = match kind {
        ComponentKind::Tool => "tool",
        ComponentKind::Prompt => "prompt",
    };
    let shown: String = public.chars().take(200).collect();
    Error::invalid(format!("there is no {what} {shown:?}; list the {what}s to see which exist"))
}
