//! The tool `resources_read_embedded`: returns whole resources as embedded resource blocks.

use std::sync::Arc;

use bytes::BytesMut;
use futures_util::StreamExt;
use protocol::inbound::tool::arguments::ReadEmbeddedArguments;
use protocol::inbound::tool::{ContentBlock, ToolResult};
use resource::{
    Accept, Body, ByteSource, Content, Error, ErrorKind, Part, ReadRequest, Resource, Result, Uri,
};

use super::UriFailures;
use super::resolve::resolve_all;
use crate::exchange::Exchange;
use crate::methods::collection_content;
use crate::methods::resources::choose_format;
use crate::server::Server;

/// The outcome of reading one resource.
enum EmbedOutcome {
    /// The parts, each with the number of its bytes.
    Embedded(Vec<(Part, u64)>),
    /// The resource does not fit into the remaining budget; the result links to it.
    TooLarge(Arc<Resource>),
}

/// Reads the resources in order until the byte budget is used up; the others become links.
pub(super) async fn read_embedded(
    server: &Server,
    exchange: &Exchange,
    read: ReadEmbeddedArguments,
) -> Result<ToolResult> {
    // For all resources of the call together.
    let mut budget = read.max_bytes;
    let _memory = exchange.reserve(budget)?;
    let (mut blocks, mut failed) = (Vec::new(), UriFailures::new());
    let mut is_complete = true;
    let resolved = resolve_all(server, &exchange.ctx, &read.uris).await;
    for (text, uri) in read.uris.iter().zip(resolved) {
        let outcome = match uri {
            Ok(uri) => read_whole(server, exchange, &uri, (budget, read.accept.as_ref())).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(EmbedOutcome::Embedded(parts)) => {
                for (part, length) in parts {
                    budget -= length;
                    blocks.push(match read.media {
                        true => ContentBlock::Media(part),
                        false => ContentBlock::Embedded(part),
                    });
                }
            }
            Ok(EmbedOutcome::TooLarge(resource)) => {
                is_complete = false;
                blocks.push(ContentBlock::WindowLink(resource));
            }
            Err(error) => failed.add_with_step((server, exchange), text, &error).await,
        }
    }
    if blocks.is_empty() {
        return Ok(failed.into_result());
    }
    if !is_complete {
        let words = "linked resources did not fit; read them in windows with resources_read";
        blocks.push(ContentBlock::Text(words.to_owned()));
    }
    blocks.extend(failed.text_blocks());
    Ok(ToolResult { blocks, ..ToolResult::default() })
}

async fn read_whole(
    server: &Server,
    exchange: &Exchange,
    uri: &Uri,
    (budget, accept): (u64, Option<&Accept>),
) -> Result<EmbedOutcome> {
    let ctx = &exchange.ctx;
    let format = match accept {
        Some(accept) => choose_format(server, ctx, uri, accept).await?,
        // The text of a document is for the model, the original for its program.
        None => server.provider.stat(ctx, uri).await?.text_form().map(str::to_owned),
    };
    let request = ReadRequest { format, ..ReadRequest::whole(budget) };
    let mut given = server.provider.read(ctx, uri, &request).await;
    if accept.is_none() && given.as_ref().is_err_and(|error| error.kind == ErrorKind::Unsupported) {
        given = server.provider.read(ctx, uri, &ReadRequest::whole(budget)).await;
    }
    let read = match given {
        Err(error) if error.kind == ErrorKind::TooLarge => {
            let resource = server.provider.stat(ctx, uri).await?;
            return Ok(EmbedOutcome::TooLarge(resource));
        }
        read => read?,
    };
    let parts = match read.content {
        Content::Parts(parts) => parts,
        Content::Collection(resource) => {
            collection_content::read_collection(server, ctx, resource).await?
        }
        Content::InputRequired(_) => {
            let words = "this resource needs user input; read it with resources/read";
            return Err(Error::new(ErrorKind::NeedsInput, words).about(uri));
        }
    };
    let (mut whole, mut length) = (Vec::new(), 0);
    for part in parts {
        let Part { resource, body, slice } = part;
        let (body, size) = buffer_body(body).await?;
        length += size;
        if length > budget {
            return Ok(EmbedOutcome::TooLarge(resource));
        }
        whole.push((Part { resource, body, slice }, size));
    }
    Ok(EmbedOutcome::Embedded(whole))
}

/// Buffers a body, so that a stream that fails midway does not break the other resources.
async fn buffer_body(body: Body) -> Result<(Body, u64)> {
    let (source, is_text) = match body {
        Body::Text(source) => (source, true),
        Body::Blob(source) => (source, false),
    };
    let bytes = match source {
        ByteSource::Bytes(bytes) => bytes,
        ByteSource::Stream(mut stream) => {
            let mut all = BytesMut::new();
            while let Some(chunk) = stream.next().await {
                all.extend_from_slice(&chunk?);
            }
            all.freeze()
        }
    };
    let length = bytes.len() as u64;
    let source = ByteSource::Bytes(bytes);
    Ok((if is_text { Body::Text(source) } else { Body::Blob(source) }, length))
}
