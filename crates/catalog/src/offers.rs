//! Tools and prompts of all mounts: merged lists, public names, and routing of calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use resource::{
    Ask, Blank, Calling, Completion, Context, Error, Freshness, Json, Names, Offer, Offered, Page,
    Relay, Result, Scope, Uri,
};

use crate::address::Address;
use crate::catalog::{Catalog, Mounts};
use crate::label;
use crate::merge;
use crate::mount::Mount;

/// The maximum number of pages that a lookup of a shortened name fetches, and their size.
const PAGES: usize = 64;
const PAGE: usize = 1000;

/// The maximum number of cached shortened names. Beyond it the cache is cleared, which costs only
/// time.
const MOST: usize = 16 << 10;

/// Cache of the local names of shortened names, by kind and public name.
#[derive(Default)]
pub(crate) struct Shortened(Mutex<HashMap<(Offer, String), String>>);

impl Shortened {
    fn put(&self, offer: Offer, public: &str, local: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert((offer, public.to_owned()), local.to_owned());
    }

    fn get(&self, offer: Offer, public: &str) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(offer, public.to_owned())).cloned()
    }
}

impl Mount {
    pub(crate) fn relay(&self) -> Option<&dyn Relay> {
        self.provider.facets().relay
    }

    pub(crate) fn offers(&self, offer: Offer) -> bool {
        self.relay().is_some_and(|relay| relay.has(offer))
    }
}

impl Names for Address {
    fn public(&self, local: &str) -> Option<String> {
        let public = self.join(&Uri::parse(local).ok()?).ok()?;
        Some(public.as_str().to_owned())
    }

    fn local(&self, public: &str) -> Option<String> {
        let local = self.split(&Uri::parse(public).ok()?)?;
        Some(local.as_str().to_owned())
    }
}

/// The mount names that prefix the names of tools and prompts: all but the fallback's.
fn names(mounts: &Mounts) -> impl Iterator<Item = &str> {
    mounts.iter().filter(|mount| !mount.is_rest()).map(|mount| mount.name.as_str())
}

/// The mounts whose names prefix `public` and that have this kind, the longest name first.
fn claimants<'a>(
    mounts: &'a Mounts,
    offer: Offer,
    public: &str,
) -> impl Iterator<Item = &'a Arc<Mount>> {
    let owners = label::owners(public, names(mounts)).into_iter();
    let mounted = owners.filter_map(|owner| mounts.iter().find(|mount| mount.name == owner));
    mounted.filter(move |mount| mount.offers(offer))
}

impl Catalog {
    /// Lists one page of the tools or prompts of `mount`, one of `mounts`, under public names.
    async fn offered(
        &self,
        ctx: &Context,
        (mounts, mount): (&Mounts, &Mount),
        offer: Offer,
        ask: &Ask,
    ) -> Result<Page<Offered>> {
        let Some(relay) = mount.relay().filter(|relay| relay.has(offer)) else {
            // Neutral, so that it does not shorten the TTL of the other mounts' lists.
            let freshness = Freshness { ttl: Duration::MAX, scope: Scope::Public };
            return Ok(Page { freshness, ..Page::empty() });
        };
        let mut page = relay.offers(ctx, offer, &*mount.address, ask).await?;
        if mount.is_rest() {
            page.items.retain(|item| claimants(mounts, offer, &item.name).next().is_none());
            return Ok(page);
        }
        for item in &mut page.items {
            let public = label::join(&mount.name, &item.name, names(mounts));
            if label::is_short(&public) {
                self.shortened.put(offer, &public, &item.name);
            }
            Arc::make_mut(item).name = public;
        }
        Ok(page)
    }

    /// Finds the mount that has the tool or prompt `public`, and its local name there.
    async fn offering(
        &self,
        ctx: &Context,
        offer: Offer,
        public: &str,
    ) -> Result<(Arc<Mount>, String)> {
        let mounts = self.mounts();
        let mut claimants = claimants(&mounts, offer, public).peekable();
        if claimants.peek().is_none() {
            let rest = mounts.iter().find(|mount| mount.is_rest() && mount.offers(offer));
            let rest = rest.ok_or_else(|| unknown(offer, public))?;
            return Ok((Arc::clone(rest), public.to_owned()));
        }
        let most = if label::is_short(public) { usize::MAX } else { 1 };
        for mount in claimants.take(most) {
            if let Some(local) = label::split(&mount.name, public) {
                return Ok((Arc::clone(mount), local.to_owned()));
            }
            if let Some(local) = self.lengthened(ctx, (&mounts, mount), offer, public).await? {
                return Ok((Arc::clone(mount), local));
            }
        }
        Err(unknown(offer, public))
    }

    /// The local name that was shortened to `public`, if `mount` has it.
    async fn lengthened(
        &self,
        ctx: &Context,
        (mounts, mount): (&Mounts, &Mount),
        offer: Offer,
        public: &str,
    ) -> Result<Option<String>> {
        let ours = |local: &String| label::join(&mount.name, local, names(mounts)) == public;
        let mut ask = Ask::first(PAGE);
        for _ in 0..PAGES {
            if let Some(local) = self.shortened.get(offer, public).filter(ours) {
                return Ok(Some(local));
            }
            let page = self.offered(ctx, (mounts, mount), offer, &ask).await?;
            if page.next.is_none() {
                break;
            }
            ask.from = page.next;
        }
        Ok(self.shortened.get(offer, public).filter(ours))
    }
}

#[async_trait]
impl Relay for Catalog {
    fn has(&self, offer: Offer) -> bool {
        self.mounts().iter().filter_map(|mount| mount.relay()).any(|relay| relay.has(offer))
    }

    fn logs(&self) -> bool {
        self.mounts().iter().filter_map(|mount| mount.relay()).any(Relay::logs)
    }

    async fn offers(
        &self,
        ctx: &Context,
        offer: Offer,
        _names: &dyn Names,
        ask: &Ask,
    ) -> Result<Page<Offered>> {
        let mounts = &self.mounts();
        let offered =
            |mount, ask: Ask| async move { self.offered(ctx, (mounts, mount), offer, &ask).await };
        merge::join(mounts, ask, offered).await
    }

    async fn call(&self, ctx: &Context, calling: &Calling<'_>) -> Result<Json> {
        let (mount, local) = self.offering(ctx, calling.offer, calling.name).await?;
        let relay = mount.relay().ok_or_else(|| unknown(calling.offer, calling.name))?;
        let calling = Calling { name: &local, names: &*mount.address, ..*calling };
        let called = relay.call(ctx, &calling).await;
        called.map_err(|error| mount.named(error))
    }

    async fn suggest(&self, ctx: &Context, blank: &Blank<'_>) -> Result<Completion> {
        let (mount, local) = self.offering(ctx, Offer::Prompt, blank.prompt).await?;
        let relay = mount.relay().ok_or_else(|| unknown(Offer::Prompt, blank.prompt))?;
        relay.suggest(ctx, &Blank { prompt: &local, ..*blank }).await
    }
}

fn unknown(offer: Offer, public: &str) -> Error {
    let what = match offer {
        Offer::Tool => "tool",
        Offer::Prompt => "prompt",
    };
    let shown: String = public.chars().take(200).collect();
    Error::invalid(format!("there is no {what} {shown:?}; list the {what}s to see which exist"))
}
