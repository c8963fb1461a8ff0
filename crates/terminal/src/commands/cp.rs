//! `refdesk cp`: copies resources to disk. Run again, it copies only what is missing or changed.

use resource::{Resource, Uri};

use crate::args::CpArgs;
use crate::connection::ServerConnection;
use crate::copy::{Copy, safe_path};
use crate::error::CommandError;
use crate::implied::collection_prefix;
use crate::output::{Output, tell};
use crate::walk::tell_cut;

pub(super) async fn run(
    args: &CpArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let start = connection.resolve_uri(&args.uri).await?;
    let mut copy = Copy::new(&args.folder, &start, args.force, args.server.json);
    if args.recursive {
        copy_below(args, connection, &mut copy, &start).await?;
    } else {
        let name = start.as_str().rsplit('/').find(|name| !name.is_empty()).unwrap_or("resource");
        let resource = describe(connection, &start, name).await?;
        copy.copy_one(connection, &resource, &safe_path(name)).await?;
    }
    copy.clear_progress();
    if args.server.json {
        output.json(&copy.to_json())?;
    } else {
        copy.failed.iter().for_each(|words| tell(&format!("failed: {words}")));
        tell(&copy.summary());
    }
    copy.finish()
}

async fn copy_below(
    args: &CpArgs,
    connection: &ServerConnection,
    copy: &mut Copy,
    start: &Uri,
) -> Result<(), CommandError> {
    let prefix = collection_prefix(start.as_str());
    let (mut wanted, mut is_cut) = (Vec::new(), false);
    let end = connection
        .walk(Some(start), |walked| {
            if !walked.row.is_folder() {
                is_cut = wanted.len() == args.limit;
                if is_cut {
                    return Ok(false);
                }
                wanted.push(walked.row.resource);
            }
            Ok(true)
        })
        .await?;
    copy.total = Some(wanted.len());
    for resource in &wanted {
        let uri = resource.uri.as_str();
        let below = uri.strip_prefix(&prefix).unwrap_or(&resource.name);
        copy.copy_one(connection, resource, &safe_path(below)).await?;
    }
    copy.clear_progress();
    copy.failed.extend(end.into_failures());
    if is_cut {
        tell_cut(args.limit);
    }
    Ok(())
}

/// What is known of a resource that is copied alone. A collection has to be wanted as such.
async fn describe(
    connection: &ServerConnection,
    uri: &Uri,
    name: &str,
) -> Result<Resource, CommandError> {
    if !connection.peer.capabilities.has_metadata {
        return Ok(Resource::new(uri.clone(), name));
    }
    let about = |error| CommandError::about(uri.as_str(), error);
    let (resource, _) = connection.client.metadata(uri).await.map_err(about)?;
    let is_folder = resource.mime.as_deref().is_none_or(|mime| mime == "inode/directory");
    match resource.listable == Some(true) && is_folder {
        true => Err(CommandError::Usage(format!("{uri} is a collection; add -r"))),
        false => Ok(resource),
    }
}
