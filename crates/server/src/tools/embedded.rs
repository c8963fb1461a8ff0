//! The tool `resources_read_embedded`: returns whole resources as embedded resource blocks.

use std::sync::Arc;

use bytes::BytesMut;
use futures_util::StreamExt;
use protocol::tool::arguments::ReadEmbedded;
use protocol::tool::{Block, Given};
use resource::{
    Body, Content, Error, ErrorKind, Part, Place, Resource, Result, Source, Uri, Window,
};
use serde_json::{Value, json};

use super::Failed;
use crate::exchange::Exchange;
use crate::methods::collection;
use crate::server::Server;

/// Default and upper bound of `max_bytes`, for all resources of a call together.
const USUAL: u64 = 256 << 10;
const MOST: u64 = 8 << 20;

/// The outcome of reading one resource.
enum Came {
    Parts(Vec<Part>, u64),
    /// The resource does not fit into the remaining budget; the result links to it.
    Left(Arc<Resource>),
}

/// Reads the resources in order until the byte budget is used up; the others become links.
pub(super) async fn read(
    server: &Server,
    exchange: &Exchange,
    read: ReadEmbedded,
) -> Result<Given> {
    let mut budget = read.max_bytes.unwrap_or(USUAL).min(MOST);
    let (mut blocks, mut embedded, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut failed = Failed::new();
    for uri in read.uris.0 {
        match open(server, exchange, &uri, budget).await {
            Ok(Came::Parts(parts, length)) => {
                budget -= length;
                for part in parts {
                    embedded.push(shape(&part));
                    blocks.push(match read.media {
                        true => Block::Media(part),
                        false => Block::Embedded(part),
                    });
                }
            }
            Ok(Came::Left(resource)) => {
                let (link, shape) = link(resource);
                left.push(shape);
                blocks.push(link);
            }
            Err(error) => failed.add(server, &uri, &error),
        }
    }
    if !left.is_empty() {
        let words = "linked resources did not fit; read them in windows with resources_read";
        blocks.push(Block::Text(words.to_owned()));
    }
    blocks.extend(failed.words());
    let is_error = embedded.is_empty() && left.is_empty();
    let mut structured = json!({ "embedded": embedded });
    if !left.is_empty() {
        structured["left"] = left.into();
    }
    if !failed.0.is_empty() {
        structured["failed"] = failed.into_json();
    }
    let structured = Some(structured).filter(|_| !is_error);
    Ok(Given { blocks, structured, is_error, facts: None })
}

async fn open(server: &Server, exchange: &Exchange, uri: &Uri, budget: u64) -> Result<Came> {
    let ctx = &exchange.ctx;
    let window = Window::Whole { limit: budget };
    let read = match server.provider.read(ctx, uri, &window).await {
        Err(error) if error.kind == ErrorKind::TooLarge => {
            let resource = server.provider.stat(ctx, uri).await?;
            return Ok(Came::Left(Arc::new(resource)));
        }
        read => read?,
    };
    let parts = match read.content {
        Content::Parts(parts) => parts,
        Content::Collection(resource) => collection::open(server, ctx, resource).await?,
        Content::Question(_) => {
            let words = "this resource needs user input; read it with resources/read";
            return Err(Error::new(ErrorKind::NeedsInput, words).about(uri));
        }
    };
    let (mut whole, mut length) = (Vec::new(), 0);
    for part in parts {
        let Part { resource, body, slice } = part;
        let (body, size) = collected(body).await?;
        length += size;
        if length > budget {
            return Ok(Came::Left(resource));
        }
        whole.push(Part { resource, body, slice });
    }
    Ok(Came::Parts(whole, length))
}

/// Buffers a body, so that a stream that fails midway does not break the other resources.
async fn collected(body: Body) -> Result<(Body, u64)> {
    let (source, is_text) = match body {
        Body::Text(source) => (source, true),
        Body::Blob(source) => (source, false),
    };
    let bytes = match source {
        Source::Bytes(bytes) => bytes,
        Source::Stream(mut stream) => {
            let mut all = BytesMut::new();
            while let Some(chunk) = stream.next().await {
                all.extend_from_slice(&chunk?);
            }
            all.freeze()
        }
    };
    let length = bytes.len() as u64;
    let source = Source::Bytes(bytes);
    Ok((if is_text { Body::Text(source) } else { Body::Blob(source) }, length))
}

fn shape(part: &Part) -> Value {
    let (Body::Text(source) | Body::Blob(source)) = &part.body;
    let returned = match source {
        Source::Bytes(bytes) => bytes.len(),
        Source::Stream(_) => 0,
    };
    let mut shape = json!({ "uri": part.resource.uri.as_str(), "returned": returned });
    if let Some(mime) = &part.resource.mime {
        shape["mimeType"] = mime.as_str().into();
    }
    shape
}

/// A link to a resource that did not fit, with the first window to read.
fn link(mut resource: Arc<Resource>) -> (Block, Value) {
    let mut shape = json!({ "uri": resource.uri.as_str(), "next": { "offset": 0 } });
    if let Some(size) = resource.size {
        shape["total_bytes"] = size.into();
    }
    let window = json!({ "offset": 0 }).to_string();
    Arc::make_mut(&mut resource).extra.put(Place::Meta, "dev.refdesk/window", window);
    (Block::Link(resource), shape)
}
