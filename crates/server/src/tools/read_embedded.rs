//! The tool `resources_read_embedded`: returns whole resources as embedded resource blocks.

use std::sync::Arc;

use bytes::BytesMut;
use futures_util::StreamExt;
use protocol::inbound::tool::arguments::ReadEmbeddedArguments;
use protocol::inbound::tool::{ContentBlock, ToolResult};
use resource::{
    Body, ByteSource, Content, Error, ErrorKind, MemberPlace, Part, ReadRequest, Resource, Result,
    Uri,
};
use serde_json::{Value, json};

use super::UriFailures;
use crate::exchange::Exchange;
use crate::methods::collection_content;
use crate::server::Server;

/// Default and upper bound of `max_bytes`, for all resources of a call together.
const DEFAULT_BYTES: u64 = 256 << 10;
const MAX_BYTES: u64 = 8 << 20;

/// The outcome of reading one resource.
enum EmbedOutcome {
    Embedded(Vec<Part>, u64),
    /// The resource does not fit into the remaining budget; the result links to it.
    TooLarge(Arc<Resource>),
}

/// Reads the resources in order until the byte budget is used up; the others become links.
pub(super) async fn read_embedded(
    server: &Server,
    exchange: &Exchange,
    read: ReadEmbeddedArguments,
) -> Result<ToolResult> {
    let mut budget = read.max_bytes.unwrap_or(DEFAULT_BYTES).min(MAX_BYTES);
    let (mut blocks, mut embedded, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut failed = UriFailures::new();
    for uri in read.uris.0 {
        match read_whole(server, exchange, &uri, budget).await {
            Ok(EmbedOutcome::Embedded(parts, length)) => {
                budget -= length;
                for part in parts {
                    embedded.push(part_json(&part));
                    blocks.push(match read.media {
                        true => ContentBlock::Media(part),
                        false => ContentBlock::Embedded(part),
                    });
                }
            }
            Ok(EmbedOutcome::TooLarge(resource)) => {
                let (link, shape) = too_large_link(resource);
                left.push(shape);
                blocks.push(link);
            }
            Err(error) => failed.add(server, &uri, &error),
        }
    }
    if !left.is_empty() {
        let words = "linked resources did not fit; read them in windows with resources_read";
        blocks.push(ContentBlock::Text(words.to_owned()));
    }
    blocks.extend(failed.text_blocks());
    let is_error = embedded.is_empty() && left.is_empty();
    let mut structured = json!({ "embedded": embedded });
    if !left.is_empty() {
        structured["left"] = left.into();
    }
    if !failed.0.is_empty() {
        structured["failed"] = failed.into_json();
    }
    let structured = Some(structured).filter(|_| !is_error);
    Ok(ToolResult { blocks, structured, is_error, error_facts: None })
}

async fn read_whole(
    server: &Server,
    exchange: &Exchange,
    uri: &Uri,
    budget: u64,
) -> Result<EmbedOutcome> {
    let ctx = &exchange.ctx;
    let request = ReadRequest::whole(budget);
    let read = match server.provider.read(ctx, uri, &request).await {
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
        whole.push(Part { resource, body, slice });
    }
    Ok(EmbedOutcome::Embedded(whole, length))
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

fn part_json(part: &Part) -> Value {
    let (Body::Text(source) | Body::Blob(source)) = &part.body;
    let returned = match source {
        ByteSource::Bytes(bytes) => bytes.len(),
        ByteSource::Stream(_) => 0,
    };
    let mut shape = json!({ "uri": part.resource.uri.as_str(), "returned": returned });
    if let Some(mime) = &part.resource.mime {
        shape["mimeType"] = mime.as_str().into();
    }
    shape
}

/// A link to a resource that did not fit, with the first window to read.
fn too_large_link(mut resource: Arc<Resource>) -> (ContentBlock, Value) {
    let mut shape = json!({ "uri": resource.uri.as_str(), "next": { "offset": 0 } });
    if let Some(size) = resource.size {
        shape["total_bytes"] = size.into();
    }
    let window = json!({ "offset": 0 }).to_string();
    Arc::make_mut(&mut resource).extra.set(MemberPlace::Meta, "dev.refdesk/window", window);
    (ContentBlock::Link(resource), shape)
}
