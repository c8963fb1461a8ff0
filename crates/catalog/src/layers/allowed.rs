//! Access layer: what the rules deny to a principal does not exist for it.

mod changes;
mod completion;
mod contents;
mod health;
mod pages;
mod relay;
mod skills;

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Absence, CacheScope, Complete, ComponentKind, Content, Context, Error, ErrorKind, Facets,
    Freshness, Health, Page, PageRequest, Provider, ReadRequest, Reading, Relay, Resource, Result,
    Search, SearchHit, SearchRequest, Skills, Template, Uri, UriRewrite as _, UriTemplate, Watch,
    Window,
};

use self::pages::fill_page;
use super::Layer;
use super::unpacked::member_uri::archive_splits;
use crate::access::{AccessRules, MethodClass, Subject};
use crate::address::Address;
use crate::search::search_unsupported;

/// The MIME type of a folder without content of its own.
const FOLDER_MIME: &str = "inode/directory";

/// The access rules of a mount, and the address that makes its URIs public.
pub struct Allowed {
    /// The rules.
    pub rules: Arc<AccessRules>,
    /// The mount's address.
    pub address: Arc<Address>,
    /// Whether the mount shows members of archives: who may not have an archive, may not have them.
    pub unpacks: bool,
}

impl Layer for Allowed {
    fn around(&self, inner: Arc<dyn Provider>) -> Arc<dyn Provider> {
        let (rules, address) = (Arc::clone(&self.rules), Arc::clone(&self.address));
        let gate = AccessGate { rules, address, unpacks: self.unpacks };
        Arc::new(AllowedProvider { inner, gate })
    }
}

#[derive(Clone)]
struct AllowedProvider {
    inner: Arc<dyn Provider>,
    gate: AccessGate,
}

/// Judges URIs and names of one mount.
#[derive(Clone)]
struct AccessGate {
    rules: Arc<AccessRules>,
    address: Arc<Address>,
    unpacks: bool,
}

impl AccessGate {
    /// Whether the rules allow `uri`, and the archives that it may lie in.
    fn allows(&self, ctx: &Context, class: MethodClass, uri: &Uri) -> bool {
        let mut archives = archive_splits(uri).filter(|split| split.rest.is_some());
        self.allows_alone(ctx, class, uri)
            && (!self.unpacks
                || archives.all(|split| self.allows_alone(ctx, class, &split.archive)))
    }

    fn allows_alone(&self, ctx: &Context, class: MethodClass, uri: &Uri) -> bool {
        let subject = Subject::resource(uri, self.address.to_public(uri.as_str()).as_deref());
        let subject = subject.resolved_by_server(self.address.is_of_server());
        self.rules.allow(ctx.principal(), class, &subject)
    }

    /// Whether a template may expand to something allowed, judged by its text before the first
    /// variable.
    fn allows_template(&self, ctx: &Context, class: MethodClass, template: &str) -> bool {
        self.rules.may_reach_from(ctx.principal(), class, &self.template_start(template))
    }

    /// The text of a template before its first variable.
    fn template_start(&self, template: &str) -> Subject {
        let start = template.split('{').next().unwrap_or_default();
        let public = UriTemplate::parse(template).and_then(|one| self.address.join_template(&one));
        let public = public.ok().map(|one| one.as_str().split('{').next().map(str::to_owned));
        Subject::start(start, public.flatten().as_deref())
    }

    /// `NotFound` for what is denied.
    fn check(&self, ctx: &Context, class: MethodClass, uri: &Uri) -> Result<()> {
        let allowed = self.allows(ctx, class, uri);
        allowed.then_some(()).ok_or_else(|| Error::not_found(uri))
    }

    /// A source's error about `uri`. Where something may be denied, what is missing fails with the
    /// words for what is denied.
    fn hide_reason(&self, ctx: &Context, class: MethodClass, uri: &Uri, error: Error) -> Error {
        if error.kind == ErrorKind::NotFound && self.may_deny_some(ctx, class) {
            return Error::not_found(uri);
        }
        error
    }

    /// Whether the rules may deny something in the folder `uri` to the principal.
    fn may_deny_below(&self, ctx: &Context, uri: &Uri) -> bool {
        let subject = Subject::resource(uri, self.address.to_public(uri.as_str()).as_deref());
        self.rules.may_deny_below(ctx.principal(), MethodClass::List, &subject)
    }

    /// Whether the rules may deny something to methods of `class` of the principal.
    fn may_deny_some(&self, ctx: &Context, class: MethodClass) -> bool {
        let root = self.address.root();
        let everything = Subject::start("", root.as_deref());
        self.rules.may_deny_below(ctx.principal(), class, &everything)
    }

    /// Whether the principal may be told that a part of a list is missing. A provider names it by its
    /// path in the mount, or by its URI with a reason that may count what is in it.
    fn shows_absence(&self, ctx: &Context, class: MethodClass, gap: &Absence) -> bool {
        if !self.may_deny_some(ctx, class) {
            return true;
        }
        match gap.name.contains("://").then(|| Uri::parse(&gap.name)) {
            Some(Ok(uri)) => self.allows(ctx, class, &uri) && !self.may_deny_below(ctx, &uri),
            Some(Err(_)) => false,
            None => {
                let subject = Subject::at_path(&gap.name, self.address.root().as_deref());
                self.rules.allow(ctx.principal(), class, &subject)
            }
        }
    }

    /// Leaves out what changes with the members of a folder, also with those that are denied.
    fn hide_traces(&self, ctx: &Context, resource: &mut Arc<Resource>) {
        if let Some(folder) = self.untraced(ctx, resource) {
            *resource = Arc::new(folder);
        }
    }

    /// A folder without what changes with its members; `None` if it may be shown as it is.
    fn untraced(&self, ctx: &Context, resource: &Resource) -> Option<Resource> {
        let has_traces = resource.etag.is_some() || resource.annotations.modified.is_some();
        let is_traced = has_traces && is_plain_folder(resource);
        (is_traced && self.may_deny_below(ctx, &resource.uri)).then(|| {
            let mut folder = resource.clone();
            (folder.etag, folder.annotations.modified) = (None, None);
            folder
        })
    }

    fn allows_component(&self, ctx: &Context, kind: ComponentKind, name: &str) -> bool {
        self.rules.allow(ctx.principal(), class_of(kind), &Subject::component(name))
    }
}

/// Whether it is a collection without content of its own.
fn is_plain_folder(resource: &Resource) -> bool {
    let mime = resource.mime.as_deref();
    resource.listable == Some(true) && mime.is_none_or(|mime| mime == FOLDER_MIME)
}

fn class_of(kind: ComponentKind) -> MethodClass {
    match kind {
        ComponentKind::Tool => MethodClass::Tool,
        ComponentKind::Prompt => MethodClass::Prompt,
    }
}

impl AllowedProvider {
    /// Reads a folder that may be listed and not read: a reading of it is its list.
    async fn read_listed(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let is_whole = matches!(request.window, Window::Whole { .. }) && !request.wants_form();
        if !is_whole || !self.gate.allows(ctx, MethodClass::List, uri) {
            return Err(Error::not_found(uri));
        }
        let folder = self.stat(ctx, uri).await?;
        if !is_plain_folder(&folder) {
            return Err(Error::not_found(uri));
        }
        let freshness = Freshness { scope: CacheScope::Private, ..Freshness::default() };
        Ok(Reading::new(Content::Collection(folder), freshness))
    }

    /// Whether `principal` may use methods of `class` on anything.
    fn may_reach(&self, ctx: &Context, class: MethodClass) -> bool {
        self.gate.rules.may_reach(ctx.principal(), class)
    }
}

#[async_trait]
impl Provider for AllowedProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        match parent {
            Some(parent) => self.gate.check(ctx, MethodClass::List, parent)?,
            None if !self.may_reach(ctx, MethodClass::List) => return Ok(Page::empty()),
            None => {}
        }
        let fetch =
            move |request: PageRequest| async move { self.inner.list(ctx, parent, &request).await };
        let shows = |item: &Resource| {
            self.gate.allows(ctx, MethodClass::List, &item.uri)
                && (paging.filter.as_ref()).is_none_or(|filter| {
                    match self.gate.untraced(ctx, item) {
                        Some(folder) => filter.shows(&folder),
                        None => true,
                    }
                })
        };
        let told = |gap: &Absence| self.gate.shows_absence(ctx, MethodClass::List, gap);
        let page = fill_page(paging, fetch, |item| shows(item), |gap| told(gap)).await;
        let mut page = page.map_err(|error| match parent {
            Some(parent) => self.gate.hide_reason(ctx, MethodClass::List, parent, error),
            None => error,
        })?;
        page.items.iter_mut().for_each(|item| self.gate.hide_traces(ctx, item));
        Ok(page)
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if !self.may_reach(ctx, MethodClass::List) {
            return Ok(Page::empty());
        }
        let fetch =
            move |request: PageRequest| async move { self.inner.templates(ctx, &request).await };
        let shows =
            |one: &Template| self.gate.allows_template(ctx, MethodClass::List, one.uri.as_str());
        let told = |gap: &Absence| self.gate.shows_absence(ctx, MethodClass::List, gap);
        let mut page = fill_page(paging, fetch, |one| shows(one), |gap| told(gap)).await?;
        page.items.iter_mut().for_each(|template| self.gate.retain_values(ctx, template));
        Ok(page)
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.gate.check(ctx, MethodClass::List, uri)?;
        let hide_reason = |error| self.gate.hide_reason(ctx, MethodClass::List, uri, error);
        let mut resource = self.inner.stat(ctx, uri).await.map_err(hide_reason)?;
        self.gate.hide_traces(ctx, &mut resource);
        Ok(resource)
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        if !self.gate.allows(ctx, MethodClass::Read, uri) {
            return self.read_listed(ctx, uri, request).await;
        }
        let hide_reason = |error| self.gate.hide_reason(ctx, MethodClass::Read, uri, error);
        let mut reading = self.inner.read(ctx, uri, request).await.map_err(hide_reason)?;
        reading.freshness.scope = CacheScope::Private;
        Box::pin(self.withhold_members(ctx, uri, &mut reading)).await?;
        // The reading of a collection may hold members, each with a URI of its own.
        reading.retain_parts(|part| self.gate.allows(ctx, MethodClass::Read, &part.resource.uri));
        match &mut reading.content {
            Content::Parts(parts) if parts.is_empty() => return Err(Error::not_found(uri)),
            Content::Collection(resource) => self.gate.hide_traces(ctx, resource),
            Content::Parts(_) | Content::InputRequired(_) => {}
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let Facets { watch, complete, health, relay, mounts, search, skills } = self.inner.facets();
        Facets {
            watch: watch.map(|_| self as &dyn Watch),
            complete: complete.map(|_| self as &dyn Complete),
            relay: relay.map(|_| self as &dyn Relay),
            search: search.map(|_| self as &dyn Search),
            skills: skills.map(|_| self as &dyn Skills),
            health: health.map(|_| self as &dyn Health),
            // The catalog asks no mount that does not exist for the principal.
            mounts,
        }
    }
}

#[async_trait]
impl Search for AllowedProvider {
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        let inner = self.inner.facets().search.ok_or_else(search_unsupported)?;
        if !self.may_reach(ctx, MethodClass::Read) {
            return Ok(Page::empty());
        }
        let paging = PageRequest::new(request.cursor.clone(), request.limit);
        let fetch = move |page: PageRequest| async move {
            let PageRequest { cursor, limit, .. } = page;
            inner.search(ctx, &SearchRequest { cursor, limit, ..request.clone() }).await
        };
        let shows = |hit: &SearchHit| self.gate.allows(ctx, MethodClass::Read, &hit.uri);
        let told = |gap: &Absence| self.gate.shows_absence(ctx, MethodClass::Read, gap);
        fill_page(&paging, fetch, |hit| shows(hit), |gap| told(gap)).await
    }
}
