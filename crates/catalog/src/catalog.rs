//! The composite provider: routes each URI to its mount, and merges lists.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Ask, Complete, Completion, Condition, Content, Context, Error, ErrorKind, Facets, Health, Page,
    Provider, Question, Reading, Resource, Result, Template, Uri, UriTemplate, Watch, Window,
};

use tokio::sync::watch;

use crate::address::Address;
use crate::merge;
use crate::mount::Mount;
use crate::offers::Shortened;

/// Many mounted providers as one provider. The set of mounts may change at any time.
pub struct Catalog {
    mounts: watch::Sender<Mounts>,
    /// The original names of shortened tool and prompt names.
    pub(crate) shortened: Shortened,
}

/// The mounts sorted by name, which is the order of every list. An immutable snapshot, so that a
/// request ends with the mounts that it began with.
pub(crate) type Mounts = Arc<[Arc<Mount>]>;

impl Catalog {
    /// Creates a catalog of these mounts.
    pub fn new(mounts: Vec<Mount>) -> Self {
        let mounts = sorted(mounts.into_iter().map(Arc::new).collect());
        Self { mounts: watch::Sender::new(mounts), shortened: Shortened::default() }
    }

    /// Replaces all mounts. A mount that is in both sets keeps running; watchers of lists receive
    /// a change.
    pub fn replace(&self, mounts: Vec<Arc<Mount>>) {
        self.mounts.send_replace(sorted(mounts));
    }

    /// The current mounts.
    pub fn mounts(&self) -> Arc<[Arc<Mount>]> {
        Arc::clone(&self.mounts.borrow())
    }

    pub(crate) fn replacements(&self) -> watch::Receiver<Mounts> {
        self.mounts.subscribe()
    }

    fn owner(&self, uri: &Uri) -> Result<(Arc<Mount>, Uri)> {
        owner(&self.mounts.borrow(), uri)
    }
}

fn sorted(mut mounts: Vec<Arc<Mount>>) -> Mounts {
    mounts.sort_by(|one, other| one.name.cmp(&other.name));
    mounts.into()
}

/// Finds the mount that `uri` belongs to, and its local URI there.
pub(crate) fn owner(mounts: &Mounts, uri: &Uri) -> Result<(Arc<Mount>, Uri)> {
    let claim = |mount: &Arc<Mount>| Some((Arc::clone(mount), mount.address.split(uri)?));
    asked(mounts).find_map(claim).ok_or_else(|| Error::not_found(uri))
}

/// The mounts in lookup order: the fallback mount last.
fn asked(mounts: &Mounts) -> impl Iterator<Item = &Arc<Mount>> {
    let rest = mounts.iter().filter(|mount| mount.is_rest());
    mounts.iter().filter(|mount| !mount.is_rest()).chain(rest)
}

/// The mounts that take precedence over `mount`: all others if it is the fallback mount, else
/// none.
fn before<'a>(mounts: &'a Mounts, mount: &Mount) -> impl Iterator<Item = &'a Arc<Mount>> {
    let is_rest = mount.is_rest();
    mounts.iter().filter(move |other| is_rest && !other.is_rest())
}

impl Mount {
    async fn list(&self, ctx: &Context, mounts: &Mounts, ask: Ask) -> Result<Page<Resource>> {
        let mut page = self.provider.list(ctx, None, &ask).await?;
        self.publish_all(&mut page, mounts)?;
        Ok(page)
    }

    async fn templates(&self, ctx: &Context, mounts: &Mounts, ask: Ask) -> Result<Page<Template>> {
        let mut page = self.provider.templates(ctx, &ask).await?;
        page.items.retain(|template| {
            let uri = template.uri.as_str();
            !before(mounts, self).any(|other| other.address.split_template(uri).is_some())
        });
        for template in &mut page.items {
            let public = self.address.join_template(&template.uri)?;
            if template.uri != public {
                Arc::make_mut(template).uri = public;
            }
        }
        Ok(page)
    }

    /// Sets the public URI of a resource; the requested one keeps the spelling of the request.
    fn publish(&self, resource: &mut Arc<Resource>, asked: Option<(&Uri, &Uri)>) -> Result<()> {
        let public = match asked {
            Some((local, public)) if resource.uri == *local => public.clone(),
            _ => self.address.join(&resource.uri)?,
        };
        if resource.uri != public {
            Arc::make_mut(resource).uri = public;
        }
        Ok(())
    }

    /// Sets the public URIs of a page, and removes items that another mount takes precedence for.
    fn publish_all(&self, page: &mut Page<Resource>, mounts: &Mounts) -> Result<()> {
        page.items.retain(|item| {
            !before(mounts, self).any(|other| other.address.split(&item.uri).is_some())
        });
        if !matches!(*self.address, Address::Own { .. } | Address::Rest) {
            page.items = self.published.map(std::mem::take(&mut page.items), |mut item| {
                self.publish(&mut item, None)?;
                Ok(Some(item))
            })?;
        }
        for gap in &mut page.absent {
            gap.what = format!("{}/{}", self.name, gap.what);
        }
        Ok(())
    }
}

impl Mount {
    /// Adds the mount's name to an `Unavailable` error, so that a client knows what is down.
    pub(crate) fn named(&self, error: Error) -> Error {
        let is_gone = error.kind == ErrorKind::Unavailable;
        if is_gone { error.with("upstream", &*self.name) } else { error }
    }

    /// Replaces the local URI in an error with the public one.
    pub(crate) fn renamed(&self, error: Error, uri: &Uri) -> Error {
        let error = self.named(error);
        if error.uri.is_some() { error.about(uri) } else { error }
    }
}

#[async_trait]
impl Provider for Catalog {
    async fn list(&self, ctx: &Context, parent: Option<&Uri>, ask: &Ask) -> Result<Page<Resource>> {
        let Some(parent) = parent else {
            let mounts = &self.mounts();
            let list = |mount, ask| Mount::list(mount, ctx, mounts, ask);
            return merge::join(mounts, ask, list).await;
        };
        let mounts = self.mounts();
        let (mount, local) = owner(&mounts, parent)?;
        let listed = mount.provider.list(ctx, Some(&local), ask).await;
        let mut page = listed.map_err(|error| mount.renamed(error, parent))?;
        mount.publish_all(&mut page, &mounts)?;
        Ok(page)
    }

    async fn templates(&self, ctx: &Context, ask: &Ask) -> Result<Page<Template>> {
        let mounts = &self.mounts();
        let templates = |mount, ask| Mount::templates(mount, ctx, mounts, ask);
        merge::join(mounts, ask, templates).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Resource> {
        let (mount, local) = self.owner(uri)?;
        let stat = mount.provider.stat(ctx, &local).await;
        let mut resource = Arc::new(stat.map_err(|error| mount.renamed(error, uri))?);
        mount.publish(&mut resource, Some((&local, uri)))?;
        Ok(Arc::unwrap_or_clone(resource))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, window: &Window) -> Result<Reading> {
        let (mount, local) = self.owner(uri)?;
        let read = mount.provider.read(ctx, &local, window).await;
        let mut reading = read.map_err(|error| mount.renamed(error, uri))?;
        let asked = Some((&local, uri));
        match &mut reading.content {
            Content::Parts(parts) => {
                let mut resources = parts.iter_mut().map(|part| &mut part.resource);
                resources.try_for_each(|resource| mount.publish(resource, asked))?;
            }
            Content::Collection(resource) => mount.publish(resource, asked)?,
            Content::Question(_) => {}
        }
        Ok(reading)
    }

    fn facets(&self) -> Facets<'_> {
        let mounts = self.mounts.borrow();
        let completes = mounts.iter().any(|mount| mount.provider.facets().complete.is_some());
        let watches = mounts.iter().any(|mount| mount.watches());
        let relays = mounts.iter().any(|mount| mount.relay().is_some());
        drop(mounts);
        Facets {
            watch: watches.then_some(self as &dyn Watch),
            complete: completes.then_some(self as &dyn Complete),
            health: Some(self),
            relay: relays.then_some(self as _),
            mounts: Some(self),
        }
    }
}

impl resource::Mounts for Catalog {
    fn of(&self, uri: &Uri) -> Option<String> {
        self.owner(uri).ok().map(|(mount, _)| mount.name.clone())
    }
}

impl Health for Catalog {
    fn health(&self) -> Condition {
        let missing = || Condition::degraded("some mounts are starting or have failed");
        if self.is_there() { Condition::ready() } else { missing() }
    }

    fn is_there(&self) -> bool {
        let mounts = self.mounts.borrow();
        mounts.iter().all(|mount| mount.provider.facets().health.is_none_or(Health::is_there))
    }
}

#[async_trait]
impl Complete for Catalog {
    async fn complete(&self, ctx: &Context, question: &Question<'_>) -> Result<Completion> {
        for mount in asked(&self.mounts()) {
            let Some(local) = mount.address.split_template(question.template) else { continue };
            let question = Question { template: &local, ..*question };
            return match mount.provider.facets().complete {
                Some(inner) => {
                    let completed = inner.complete(ctx, &question).await;
                    completed.map_err(|error| mount.named(error))
                }
                None => nothing_to_suggest(&question),
            };
        }
        Err(Error::invalid("there is no such template; list the templates to see which exist"))
    }
}

/// The result for a mount that cannot complete: empty, if the template and variable are valid.
fn nothing_to_suggest(question: &Question<'_>) -> Result<Completion> {
    let template = UriTemplate::parse(question.template)?;
    let known = template.variables().any(|variable| variable == question.variable);
    known.then(Completion::default).ok_or_else(|| {
        Error::invalid(format!("the template has no variable {:?}", question.variable))
    })
}
