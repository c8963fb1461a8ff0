//! The tool `resources_metadata`: describes resources, with an estimate of their tokens.

use futures_util::{StreamExt, stream};
use protocol::inbound::tool::arguments::MetadataArguments;
use protocol::inbound::tool::output::{MetadataOutput, ResourceRow};
use protocol::inbound::tool::{TextLines, ToolOutput, ToolResult};
use resource::{Resource, Result, tokens};

use super::UriFailures;
use super::resolve::resolve_uri;
use super::rows::{RowDetails, resource_rows, row_line};
use crate::exchange::Exchange;
use crate::methods::resources::count_sections;
use crate::server::Server;
use crate::window::{self, WindowRange, WindowSpan};

/// How many resources one call describes concurrently.
const CONCURRENCY: usize = 8;

/// How many bytes of a text that is not read count as a token.
const BYTES_PER_TOKEN: u64 = 4;

/// How many bytes of a text the token estimate reads.
const SAMPLE_BYTES: u64 = 16 << 10;

const DETAILS: RowDetails = RowDetails { modified: true, priority: true, whole: true };

/// Describes each resource; those that fail are listed separately.
pub(super) async fn describe_resources(
    server: &Server,
    exchange: &Exchange,
    metadata: MetadataArguments,
) -> Result<ToolResult> {
    let ctx = &exchange.ctx;
    let described_all: Vec<_> = stream::iter(metadata.uris)
        .map(|uri| async move {
            let found = match resolve_uri(server, ctx, &uri).await {
                Ok(uri) => match server.provider.stat(ctx, &uri).await {
                    Ok(resource) => Ok(count_sections(server, ctx, resource).await),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            let tokens = match &found {
                Ok(resource) => estimate_tokens(server, exchange, resource).await,
                Err(_) => None,
            };
            (uri, found, tokens)
        })
        .buffered(CONCURRENCY)
        .collect()
        .await;
    let (mut lines, mut resources) = (TextLines::default(), Vec::new());
    let mut failed = UriFailures::new();
    for (uri, found, tokens) in described_all {
        match found {
            Ok(resource) => {
                let rows = resource_rows(&*server.provider, [&*resource], DETAILS);
                for row in rows.into_iter().map(|row| ResourceRow { tokens, ..row }) {
                    lines.push(&row_line(&row));
                    resources.push(row);
                }
            }
            Err(error) => failed.add_with_step((server, exchange), &uri, &error).await,
        }
    }
    if resources.is_empty() {
        return Ok(failed.into_result());
    }
    let failures = failed.text_blocks();
    let output = ToolOutput::Metadata(MetadataOutput { resources, failed: failed.0 });
    let mut given = ToolResult::with_text(lines, output);
    given.blocks.extend(failures);
    Ok(given)
}

/// Estimates the tokens of a text by extrapolating from its beginning. Of one that another server
/// has, by its size: the server may have to send the whole of it.
async fn estimate_tokens(server: &Server, exchange: &Exchange, resource: &Resource) -> Option<u64> {
    if resource.mime.as_deref().is_some_and(is_media_mime) {
        return None;
    }
    if resource.is_remote {
        let is_text = resource.mime.as_deref().is_some_and(|mime| mime.starts_with("text/"));
        return resource.size.filter(|_| is_text).map(|size| size.div_ceil(BYTES_PER_TOKEN));
    }
    let span = WindowSpan::new(WindowRange::Bytes { offset: 0, length: SAMPLE_BYTES }, None);
    let windowed = window::read_window(server, &exchange.ctx, &resource.uri, &span).await.ok()?;
    let piece = windowed.windows.first()?;
    let (sample, total) = (piece.slice.length, piece.slice.total);
    let tokens = tokens::estimate(piece.text()?);
    Some(if sample == 0 || sample >= total {
        tokens
    } else {
        u64::try_from(u128::from(tokens) * u128::from(total) / u128::from(sample)).ok()?
    })
}

fn is_media_mime(mime: &str) -> bool {
    ["image/", "audio/", "video/", "font/"].iter().any(|kind| mime.starts_with(kind))
}
