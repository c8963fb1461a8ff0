//! Contents of mounts in a few words, for the instructions: the names at the top of each.
//!
//! Every principal gets the names that it may list. A mount that does not answer at once has none.

use std::time::Duration;

use futures_util::future::join_all;
use protocol::inbound::tool::single_line;
use resource::{Context, HealthFact, MountInfo, PageRequest, Provider};
use tokio::time::timeout;

/// How many mounts are looked into, and how long each may take: a session must open at once.
const MAX_MOUNTS: usize = 16;
const MAX_TIME: Duration = Duration::from_millis(100);
/// How many names of a mount are looked at, how many are told, and how long each may be.
const PAGE_SIZE: usize = 64;
const MAX_NAMES: usize = 6;
const MAX_NAME_CHARS: usize = 32;

/// Describes by their contents the mounts that have no description.
pub(crate) async fn add_contents(provider: &dyn Provider, ctx: &Context, mounts: &mut [MountInfo]) {
    let is_serving = |mount: &&mut MountInfo| mount.health.state.is_serving();
    let plain = mounts.iter_mut().filter(|mount| mount.description.is_none()).filter(is_serving);
    let described = plain.take(MAX_MOUNTS).map(|mount| async move {
        mount.description = match mount.root {
            Some(_) => top_names(provider, ctx, mount).await,
            None => counted(mount),
        };
    });
    join_all(described).await;
}

/// The first names at the top, folders first: `docs/, src/, README.md, …`.
async fn top_names(provider: &dyn Provider, ctx: &Context, mount: &MountInfo) -> Option<String> {
    let request = PageRequest::first(PAGE_SIZE);
    let listing = provider.list(ctx, mount.root.as_ref(), &request);
    let page = timeout(MAX_TIME, listing).await.ok()?.ok()?;
    let (folders, files): (Vec<_>, Vec<_>) =
        page.items.iter().partition(|item| item.listable == Some(true));
    let names = folders.iter().chain(&files).map(|item| {
        let end = if item.listable == Some(true) { "/" } else { "" };
        let name: String = item.name.chars().take(MAX_NAME_CHARS).collect();
        format!("{}{end}", single_line(&name))
    });
    let mut told: Vec<String> = names.take(MAX_NAMES).collect();
    if page.items.len() > MAX_NAMES || page.next.is_some() {
        told.push("…".to_owned());
    }
    Some(told.join(", ")).filter(|told| !told.is_empty())
}

/// How much a server has, as far as it is known: `12 resources, 1 templates`.
fn counted(mount: &MountInfo) -> Option<String> {
    let (_, counts) = mount.health.facts.iter().find(|(name, _)| *name == "counts")?;
    let HealthFact::Group(counts) = counts else { return None };
    let told = counts.iter().filter_map(|(name, fact)| match fact {
        HealthFact::Count(count) if *count > 0 => Some(format!("{count} {name}")),
        _ => None,
    });
    Some(told.collect::<Vec<_>>().join(", ")).filter(|told| !told.is_empty())
}
