//! Resource filter of the tools `resources_list` and `resources_grep`, from their arguments.

use std::sync::Arc;

use machinery::PathGlob;
use protocol::inbound::tool::arguments::FilterArguments;
use resource::{Context, Error, Filter, PathFilter, Provider, Resource, Result, Uri};

use super::resolve::{resolve_uri, unknown_mount};
use crate::server::Server;

/// What begins a pattern in a glob.
const GLOB_CHARACTERS: [char; 5] = ['*', '?', '[', '{', '\\'];

/// How much of an invalid glob the error repeats.
const MAX_QUOTED_CHARS: usize = 80;

/// A `uri` that ends in a slash and is no pattern names a folder: models pass what the list of mounts
/// shows, and mean what is in it.
pub(super) fn take_folder(arguments: &mut FilterArguments) {
    let is_folder = |uri: &str| uri.ends_with('/') && !uri.contains(GLOB_CHARACTERS);
    if arguments.collection.is_none() && arguments.uri.as_deref().is_some_and(is_folder) {
        arguments.collection = arguments.uri.take();
    }
}

/// Builds the filter that providers apply. A walk that descends also sees the collections that may
/// hold matches.
pub(super) fn build_filter(arguments: &FilterArguments, descends: bool) -> Result<Arc<Filter>> {
    Ok(Arc::new(Filter {
        name: arguments.name.as_ref().map(|name| name.to_lowercase()),
        path: arguments.uri.as_deref().map(path_filter).transpose()?,
        mime: arguments.mime.clone(),
        audience: arguments.audience,
        min_priority: arguments.min_priority,
        modified_since: arguments.modified_since,
        mount: arguments.mount.clone(),
        keep_collections: descends,
    }))
}

fn path_filter(glob: &str) -> Result<PathFilter> {
    let parsed = PathGlob::parse(glob).map_err(|why| {
        let start: String = glob.chars().take(MAX_QUOTED_CHARS).collect();
        Error::invalid(format!("uri: invalid glob {start:?}: {why}; example: **/*.md"))
    })?;
    let prefix = &glob[..glob.find(GLOB_CHARACTERS).unwrap_or(glob.len())];
    Ok(PathFilter::new(prefix, parsed.into_matcher()))
}

/// Whether `resource` is a match, and not only a collection on the way to one.
pub(super) fn is_match(filter: &Filter, provider: &dyn Provider, resource: &Resource) -> bool {
    let is_in = |mount: &String| {
        let mounts = provider.facets().mounts;
        mounts.and_then(|mounts| mounts.mount_of(&resource.uri)).as_ref() == Some(mount)
    };
    filter.admits(resource) && filter.mount.as_ref().is_none_or(is_in)
}

/// Fails if the filter names a mount that does not exist, and says which do.
pub(super) fn check_mount(server: &Server, ctx: &Context, filter: &FilterArguments) -> Result<()> {
    let (Some(name), Some(mounts)) = (&filter.mount, server.provider.facets().mounts) else {
        return Ok(());
    };
    let mounts = mounts.mounts(ctx);
    match mounts.iter().any(|mount| mount.name == *name) {
        true => Ok(()),
        false => Err(Error::invalid(format!("mount: {}", unknown_mount(name, &mounts)))),
    }
}

/// The collection that the filter names.
pub(super) async fn resolve_collection(
    server: &Server,
    ctx: &Context,
    filter: &FilterArguments,
) -> Result<Option<Uri>> {
    match &filter.collection {
        Some(text) => resolve_uri(server, ctx, text).await.map(Some),
        None => Ok(None),
    }
}
