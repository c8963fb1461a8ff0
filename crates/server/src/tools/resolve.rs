//! Resolution of what a model writes for a resource: a URI, or a path inside a mount.
//!
//! A path that names one resource stands for it. Of several, the error names the URIs. No lookup
//! waits long for a mount that does not answer.

use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use resource::uri::{encode_segment, expand_reserved};
use resource::{Context, Error, MountInfo, Result, Uri};
use tokio::time::timeout;

use super::suggest::{self, MeantUri};
use crate::server::Server;

/// How long mounts are asked for a path.
const LOOKUP_TIME: Duration = Duration::from_secs(1);
/// How many paths of one call are looked up at a time.
const CONCURRENCY: usize = 16;
/// How many mount names or URIs an error lists.
const MAX_NAMED: usize = 20;

/// The URI that `text` stands for: itself, or the resource with this path.
pub(super) async fn resolve_uri(server: &Server, ctx: &Context, text: &str) -> Result<Uri> {
    let flaw = match Uri::parse(text) {
        Ok(uri) => return Ok(uri),
        Err(flaw) => flaw,
    };
    if text.contains("://") {
        // Names may be written as people read them, with spaces.
        let mut encoded = String::new();
        expand_reserved(text, &mut encoded);
        return Uri::parse(&encoded);
    }
    match server.provider.facets().mounts {
        Some(mounts) => find_path(server, ctx, &mounts.mounts(ctx), text).await,
        None => Err(Error::invalid(format!("{text:?} is not a URI: {flaw}"))),
    }
}

/// Resolves each of `texts`, several at a time; keeps their order.
pub(super) async fn resolve_all(
    server: &Server,
    ctx: &Context,
    texts: &[String],
) -> Vec<Result<Uri>> {
    let all: Vec<_> = texts.iter().map(|text| resolve_uri(server, ctx, text)).collect();
    stream::iter(all).buffered(CONCURRENCY).collect().await
}

/// Finds the one resource with this path.
async fn find_path(
    server: &Server,
    ctx: &Context,
    mounts: &[MountInfo],
    path: &str,
) -> Result<Uri> {
    let mut candidates: Vec<MeantUri> =
        mounts.iter().flat_map(|mount| mount_candidates(mount, path)).collect();
    candidates.sort_by_key(|candidate| !candidate.is_named);
    let exists = candidates.iter().map(|candidate| async move {
        let stat = server.provider.stat(ctx, &candidate.uri);
        timeout(LOOKUP_TIME, stat).await.is_ok_and(|stat| stat.is_ok())
    });
    let exists = join_all(exists).await;
    let found = candidates.iter().zip(exists).filter(|(_, exists)| *exists);
    let found: Vec<&Uri> = found.map(|(candidate, _)| &candidate.uri).take(MAX_NAMED).collect();
    match found[..] {
        [uri] => return Ok(uri.clone()),
        [] => {}
        _ => {
            let uris: Vec<&str> = found.iter().map(|uri| uri.as_str()).collect();
            let words = format!("{path:?} is in several mounts; pass one of {}", uris.join(", "));
            return Err(Error::invalid(words));
        }
    }
    let near = suggest::similar_uris(server, ctx, &candidates).await;
    let next = match near.is_empty() {
        true => format!("{}; resources_list shows what they hold", name_mounts(mounts)),
        false => suggest::question(&near),
    };
    Err(Error::invalid(format!("no resource has the path {path:?}; {next}")))
}

/// The URIs that `path` may mean in a mount: below its root, after its name, or inside its folder.
fn mount_candidates(mount: &MountInfo, path: &str) -> Vec<MeantUri> {
    let is_serving = mount.health.state.is_serving();
    let Some(root) = mount.root.as_ref().filter(|_| is_serving) else { return Vec::new() };
    let folder = mount.folder.as_ref().filter(|folder| folder.is_absolute());
    let in_folder = folder.and_then(|folder| {
        Path::new(path).strip_prefix(folder).ok().and_then(|rest| rest.to_str())
    });
    if let Some(rest) = in_folder {
        let inside = join_path(root, rest);
        return inside.map(|uri| MeantUri { uri, is_named: true }).into_iter().collect();
    }
    let relative = path.trim_start_matches("./").trim_start_matches('/');
    let after_name = relative
        .strip_prefix(mount.name.as_str())
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let paths = [after_name.map(|rest| (rest, true)), Some((relative, false))];
    let candidate = |(rest, is_named)| Some(MeantUri { uri: join_path(root, rest)?, is_named });
    paths.into_iter().flatten().filter_map(candidate).collect()
}

/// The URI of a path below `root`; `None` for one that leads out of it.
fn join_path(root: &Uri, path: &str) -> Option<Uri> {
    let mut text = root.as_str().trim_end_matches('/').to_owned();
    for segment in path.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
        if segment == ".." {
            return None;
        }
        text.push('/');
        encode_segment(segment.as_bytes(), &mut text);
    }
    Uri::parse(&text).ok()
}

/// Says that a mount does not exist, and which do.
pub(super) fn unknown_mount(name: &str, mounts: &[MountInfo]) -> String {
    let start: String = name.chars().take(80).collect();
    format!("there is no mount {start:?}; {}", name_mounts(mounts))
}

/// The names of the mounts: `the mounts are code, notes`.
pub(super) fn name_mounts(mounts: &[MountInfo]) -> String {
    let names: Vec<&str> = mounts.iter().take(MAX_NAMED).map(|mount| &*mount.name).collect();
    let more = mounts.len().saturating_sub(MAX_NAMED);
    match (names.is_empty(), more) {
        (true, _) => "there are no mounts".to_owned(),
        (false, 0) => format!("the mounts are {}", names.join(", ")),
        (false, _) => format!("the mounts are {} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use resource::{HealthStatus, MountInfo, Uri};

    use super::mount_candidates;

    #[test]
    fn a_path_may_be_below_the_root_after_the_name_or_inside_the_folder() {
        let mount = MountInfo {
            name: "code".to_owned(),
            kind: "folder",
            root: Uri::parse("file:///code/").ok(),
            description: None,
            folder: Some(PathBuf::from("/home/ada/work")),
            health: HealthStatus::ready(),
            is_restricted: false,
        };
        for (path, uris) in [
            ("src/a b.rs", &["file:///code/src/a%20b.rs"][..]),
            ("./src//x", &["file:///code/src/x"]),
            ("code/x", &["file:///code/x", "file:///code/code/x"]),
            ("/home/ada/work/x", &["file:///code/x"]),
            ("/home/ada/work", &["file:///code"]),
            (
                "/code/資料",
                &["file:///code/%E8%B3%87%E6%96%99", "file:///code/code/%E8%B3%87%E6%96%99"],
            ),
            ("../x", &[]),
        ] {
            let found = mount_candidates(&mount, path);
            let found: Vec<&str> = found.iter().map(|found| found.uri.as_str()).collect();
            assert_eq!(found, uris, "{path}");
        }
    }
}
