//! The composite provider: routes each URI to its mount, and merges lists.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Complete, Completion, CompletionRequest, Content, Context, Error, ErrorKind, Facets, Health,
    HealthStatus, MountInfo, Page, PageRequest, Provider, ReadRequest, Reading, Resource, Result,
    Template, Uri, UriTemplate, Watch,
};

use tokio::sync::watch;

use crate::address::Address;
use crate::components::ShortNames;
use crate::merge;
use crate::mount::Mount;

/// Many mounted providers as one provider. The set of mounts may change at any time.
pub struct Catalog {
    mounts: watch::Sender<MountList>,
    /// The original names of shortened tool and prompt names.
    pub(crate) short_names: ShortNames,
}

/// The mounts sorted by name, which is the order of every list. An immutable snapshot, so that a
/// request ends with the mounts that it began with.
pub(crate) type MountList = Arc<[Arc<Mount>]>;

impl Catalog {
    /// Creates a catalog of these mounts.
    pub fn new(mounts: Vec<Mount>) -> Self {
        let mounts = sort_by_name(mounts.into_iter().map(Arc::new).collect());
        Self { mounts: watch::Sender::new(mounts), short_names: ShortNames::default() }
    }

    /// Replaces all mounts. A mount that is in both sets keeps running; watchers of lists receive
    /// a change.
    pub fn replace(&self, mounts: Vec<Arc<Mount>>) {
        self.mounts.send_replace(sort_by_name(mounts));
    }

    /// The current mounts.
    pub fn mounts(&self) -> Arc<[Arc<Mount>]> {
        Arc::clone(&self.mounts.borrow())
    }

    pub(crate) fn subscribe_mounts(&self) -> watch::Receiver<MountList> {
        self.mounts.subscribe()
    }

    /// The mounts that exist for the principal.
    pub(crate) fn mounts_for(&self, ctx: &Context) -> MountList {
        visible_mounts(&self.mounts.borrow(), ctx)
    }
}

/// The mounts of `mounts` that exist for the principal.
pub(crate) fn visible_mounts(mounts: &MountList, ctx: &Context) -> MountList {
    let exists = |mount: &Arc<Mount>| mount.exists_for(ctx.principal());
    if mounts.iter().all(exists) {
        return Arc::clone(mounts);
    }
    mounts.iter().filter(|mount| exists(mount)).map(Arc::clone).collect()
}

fn sort_by_name(mut mounts: Vec<Arc<Mount>>) -> MountList {
    mounts.sort_by(|one, other| one.name.cmp(&other.name));
    mounts.into()
}

/// Finds the mount that `uri` belongs to, and its local URI there.
pub(crate) fn find_owner(mounts: &MountList, uri: &Uri) -> Result<(Arc<Mount>, Uri)> {
    let claim = |mount: &Arc<Mount>| Some((Arc::clone(mount), mount.address.split(uri)?));
    in_lookup_order(mounts).find_map(claim).ok_or_else(|| Error::not_found(uri))
}

/// The mounts in lookup order: the fallback mount last.
fn in_lookup_order(mounts: &MountList) -> impl Iterator<Item = &Arc<Mount>> {
    let rest = mounts.iter().filter(|mount| mount.is_fallback());
    mounts.iter().filter(|mount| !mount.is_fallback()).chain(rest)
}

/// The mounts that take precedence over `mount`: all others if it is the fallback mount, else
/// none.
fn taking_precedence<'a>(
    mounts: &'a MountList,
    mount: &Mount,
) -> impl Iterator<Item = &'a Arc<Mount>> {
    let is_rest = mount.is_fallback();
    mounts.iter().filter(move |other| is_rest && !other.is_fallback())
}

/// Whether `uri`, which `mount` returned, belongs to a mount that takes precedence.
pub(crate) fn is_claimed_by_other(mounts: &MountList, mount: &Mount, uri: &Uri) -> bool {
    taking_precedence(mounts, mount).any(|other| other.address.split(uri).is_some())
}

/// The error for a server that returns URIs of another mount, as if it were that mount.
pub(crate) fn foreign_uri_error() -> Error {
    Error::unavailable("the server behind this mount returned a URI of another mount")
}

impl Mount {
    async fn list_public(
        &self,
        ctx: &Context,
        mounts: &MountList,
        paging: PageRequest,
    ) -> Result<Page<Resource>> {
        let mut page = self.provider.list(ctx, None, &self.local_paging(&paging)).await?;
        self.publish_page(&mut page, mounts)?;
        Ok(page)
    }

    async fn list_public_templates(
        &self,
        ctx: &Context,
        mounts: &MountList,
        paging: PageRequest,
    ) -> Result<Page<Template>> {
        let mut page = self.provider.templates(ctx, &paging).await?;
        page.items.retain(|template| {
            let uri = template.uri.as_str();
            !taking_precedence(mounts, self)
                .any(|other| other.address.split_template(uri).is_some())
        });
        for template in &mut page.items {
            let public = self.address.join_template(&template.uri)?;
            if template.uri != public {
                let template = Arc::make_mut(template);
                template.uri = public;
                // Mounts of one kind give their templates the same names.
                if matches!(*self.address, Address::Path { .. } | Address::Authority { .. }) {
                    template.name = format!("{} {}", self.name, template.name);
                    let title = template.title.as_ref();
                    template.title = title.map(|title| format!("{title} in {}", self.name));
                }
            }
        }
        Ok(page)
    }

    /// Sets the public URI of a resource; the requested one keeps the spelling of the request.
    fn publish_uri(&self, resource: &mut Arc<Resource>, asked: Option<(&Uri, &Uri)>) -> Result<()> {
        let public = match asked {
            Some((local, public)) if resource.uri == *local => public.clone(),
            _ => self.address.join(&resource.uri)?,
        };
        if resource.uri != public {
            Arc::make_mut(resource).uri = public;
        }
        Ok(())
    }

    /// Sets the public URI of a resource that was read; the requested one keeps the spelling of the
    /// request.
    fn publish_read(&self, resource: &mut Arc<Resource>, asked: (&Uri, &Uri)) -> Result<()> {
        let keeps_uris = matches!(*self.address, Address::Declared { .. } | Address::Fallback);
        // What only this request holds is rewritten where it is.
        if keeps_uris || Arc::get_mut(resource).is_some() {
            return self.publish_uri(resource, Some(asked));
        }
        let published = self.publish_memo.map_one(resource, |mut item| {
            self.publish_uri(&mut item, None)?;
            Ok(item)
        })?;
        let is_asked = resource.uri == *asked.0;
        *resource = published;
        if is_asked && resource.uri != *asked.1 {
            Arc::make_mut(resource).uri = asked.1.clone();
        }
        Ok(())
    }

    /// Sets the public URIs of a page, and removes items that another mount takes precedence for.
    fn publish_page(&self, page: &mut Page<Resource>, mounts: &MountList) -> Result<()> {
        page.items.retain(|item| !is_claimed_by_other(mounts, self, &item.uri));
        if !matches!(*self.address, Address::Declared { .. } | Address::Fallback) {
            page.items = self.publish_memo.map(std::mem::take(&mut page.items), |mut item| {
                self.publish_uri(&mut item, None)?;
                Ok(Some(item))
            })?;
        }
        for gap in &mut page.absent {
            gap.name = format!("{}/{}", self.name, gap.name);
        }
        Ok(())
    }
}

impl Mount {
    /// Adds the mount's name to an `Unavailable` error, so that a client knows what is down.
    pub(crate) fn with_mount_name(&self, error: Error) -> Error {
        let is_gone = error.kind == ErrorKind::Unavailable;
        if is_gone { error.with_fact("upstream", &*self.name) } else { error }
    }

    /// Replaces the local URI in an error with the public one.
    pub(crate) fn with_public_uri(&self, error: Error, uri: &Uri) -> Error {
        let error = self.with_mount_name(error);
        if error.uri.is_some() { error.about(uri) } else { error }
    }
}

#[async_trait]
impl Provider for Catalog {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let Some(parent) = parent else {
            let mounts = &self.mounts_for(ctx);
            let asked = mounts.iter().filter(|mount| mount.listed && mount.may_match(paging));
            let list = |mount, paging| Mount::list_public(mount, ctx, mounts, paging);
            return merge::merge_pages(asked.map(|mount| &**mount), paging, list).await;
        };
        let mounts = self.mounts_for(ctx);
        let (mount, local) = find_owner(&mounts, parent)?;
        if !mount.may_match(paging) {
            return Ok(Page::empty());
        }
        let listed = mount.provider.list(ctx, Some(&local), &mount.local_paging(paging)).await;
        let mut page = listed.map_err(|error| mount.with_public_uri(error, parent))?;
        mount.publish_page(&mut page, &mounts)?;
        Ok(page)
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        let mounts = &self.mounts_for(ctx);
        let templates = |mount, ask| Mount::list_public_templates(mount, ctx, mounts, ask);
        // Lists show what the user serves; templates show refdesk's own resources too.
        merge::merge_pages(mounts.iter().map(|mount| &**mount), paging, templates).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        let (mount, local) = find_owner(&self.mounts_for(ctx), uri)?;
        let stat = mount.provider.stat(ctx, &local).await;
        let mut resource = stat.map_err(|error| mount.with_public_uri(error, uri))?;
        mount.publish_uri(&mut resource, Some((&local, uri)))?;
        Ok(resource)
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let mounts = self.mounts_for(ctx);
        let (mount, local) = find_owner(&mounts, uri)?;
        if let Some(section) = request.section.as_ref().filter(|_| !mount.has_sections) {
            return Err(section.unit.missing().about(uri));
        }
        let read = mount.provider.read(ctx, &local, request).await;
        let mut reading = read.map_err(|error| mount.with_public_uri(error, uri))?;
        let publish = |resource: &mut Arc<Resource>| {
            if is_claimed_by_other(&mounts, &mount, &resource.uri) {
                return Err(mount.with_mount_name(foreign_uri_error()));
            }
            mount.publish_read(resource, (&local, uri))
        };
        match &mut reading.content {
            Content::Parts(parts) => {
                parts.iter_mut().map(|part| &mut part.resource).try_for_each(publish)?;
            }
            Content::Collection(resource) => publish(resource)?,
            Content::InputRequired(_) => {}
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let mounts = self.mounts.borrow();
        let completes = mounts.iter().any(|mount| mount.provider.facets().complete.is_some());
        let watches = mounts.iter().any(|mount| mount.can_watch());
        let relays = mounts.iter().any(|mount| mount.relay().is_some());
        let has_skills = mounts.iter().any(|mount| mount.skills().is_some());
        let searches = mounts.iter().any(|mount| mount.search().is_some());
        drop(mounts);
        Facets {
            watch: watches.then_some(self as &dyn Watch),
            complete: completes.then_some(self as &dyn Complete),
            health: Some(self),
            relay: relays.then_some(self as _),
            mounts: Some(self),
            search: searches.then_some(self as _),
            skills: has_skills.then_some(self as _),
        }
    }
}

impl resource::MountLookup for Catalog {
    fn mount_of(&self, uri: &Uri) -> Option<String> {
        find_owner(&self.mounts(), uri).ok().map(|(mount, _)| mount.name.clone())
    }

    fn mounts(&self, ctx: &Context) -> Vec<MountInfo> {
        let mounts = self.mounts_for(ctx);
        let named = mounts.iter().filter(|mount| mount.listed && mount.named);
        named.map(|mount| mount.info(ctx)).collect()
    }
}

impl Health for Catalog {
    fn health(&self, ctx: &Context) -> HealthStatus {
        let missing = || HealthStatus::degraded("some mounts are starting or have failed");
        if self.is_available(ctx) { HealthStatus::ready() } else { missing() }
    }

    fn is_available(&self, ctx: &Context) -> bool {
        let mounts = self.mounts_for(ctx);
        let is_available = |health: &dyn Health| health.is_available(ctx);
        mounts.iter().all(|mount| mount.provider.facets().health.is_none_or(is_available))
    }
}

#[async_trait]
impl Complete for Catalog {
    fn may_complete(&self, ctx: &Context) -> bool {
        let completes = |mount: &Arc<Mount>| {
            mount.provider.facets().complete.is_some_and(|inner| inner.may_complete(ctx))
        };
        self.mounts_for(ctx).iter().any(completes)
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        for mount in in_lookup_order(&self.mounts_for(ctx)) {
            let Some(local) = mount.address.split_template(request.template) else { continue };
            let question = CompletionRequest { template: &local, ..*request };
            return match mount.provider.facets().complete {
                Some(inner) => {
                    let completed = inner.complete(ctx, &question).await;
                    completed.map_err(|error| mount.with_mount_name(error))
                }
                None => empty_completion(&question),
            };
        }
        Err(Error::invalid("there is no such template; list the templates to see which exist"))
    }
}

/// The result for a mount that cannot complete: empty, if the template and variable are valid.
fn empty_completion(request: &CompletionRequest<'_>) -> Result<Completion> {
    let template = UriTemplate::parse(request.template)?;
    let known = template.variables().any(|variable| variable == request.variable);
    known.then(Completion::default).ok_or_else(|| {
        Error::invalid(format!("the template has no variable {:?}", request.variable))
    })
}
