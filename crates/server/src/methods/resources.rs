//! The `resources/*` methods that list, describe and read.

use std::sync::Arc;

use protocol::Reply;
use protocol::call::{Extent, Stretch};
use protocol::reply::Listing;
use protocol::shape::outcome::outcome;
use resource::{Ask, Content, Context, Cursor, Error, Freshness, Page, Result, Truth, Uri, Window};

use super::collection;
use crate::exchange::Exchange;
use crate::reminder;
use crate::server::Server;
use crate::window::{self, By, Piece, Span};

/// The list name that the cursors of the template list are bound to.
const TEMPLATES: &str = "templates";

/// Lists one page of the top level, or of the collection `parent`.
pub(crate) async fn list(
    server: &Server,
    ctx: &Context,
    parent: Option<Uri>,
    cursor: Option<String>,
) -> Result<Reply> {
    if parent.is_some() && !server.has_collections() {
        // Ignoring `parent` would return the top-level list as if it were the collection.
        return Err(Error::invalid("uri: this server does not list collections"));
    }
    let list = parent.as_ref().map_or("resources".to_owned(), |uri| format!("in {uri}"));
    let ask = ask(server, &list, cursor)?;
    let page = server.provider.list(ctx, parent.as_ref(), &ask).await?;
    Ok(Reply::Resources(sealed(server, &list, page)))
}

/// Lists one page of a directory; fails if `parent` is not one.
pub(crate) async fn directory(
    server: &Server,
    ctx: &Context,
    parent: Uri,
    cursor: Option<String>,
) -> Result<Reply> {
    let target = server.provider.stat(ctx, &parent).await?;
    if target.listable == Truth::No {
        return Err(Error::invalid("not a directory").about(&parent));
    }
    list(server, ctx, Some(parent), cursor).await
}

/// Lists one page of templates.
pub(crate) async fn templates(
    server: &Server,
    ctx: &Context,
    cursor: Option<String>,
) -> Result<Reply> {
    let page = server.provider.templates(ctx, &ask(server, TEMPLATES, cursor)?).await?;
    Ok(Reply::Templates(sealed(server, TEMPLATES, page)))
}

/// Reads a resource, or a window of it.
pub(crate) async fn read(
    server: &Server,
    exchange: &Exchange,
    uri: &Uri,
    stretch: Option<Stretch>,
) -> Result<Reply> {
    let ctx = &exchange.ctx;
    let window = match stretch {
        None => Window::Whole { limit: u64::MAX },
        Some(Stretch { extent: Extent::Bytes { offset, length }, etag }) => {
            Window::Part { offset, length: length.unwrap_or(u64::MAX), etag }
        }
        Some(Stretch { extent: Extent::Lines { start, most }, etag }) => {
            let by = By::Lines { start, most, bytes: window::MOST };
            return cut(server, ctx, uri, &Span { by, etag }).await;
        }
        Some(Stretch { extent: Extent::Tokens { offset, most }, etag }) => {
            return cut(server, ctx, uri, &Span { by: By::Tokens { offset, most }, etag }).await;
        }
    };
    let reading = server.provider.read(ctx, uri, &window).await?;
    let parts = match reading.content {
        Content::Parts(parts) => parts,
        Content::Collection(resource) => collection::open(server, ctx, resource).await?,
        Content::Question(asked) => {
            let asked = reminder::close(server, uri.as_str(), &asked);
            return Ok(Reply::Relayed(outcome(&asked, exchange.terms.revision)?));
        }
    };
    Ok(Reply::Read(parts, reading.freshness))
}

/// Reads a window by lines or tokens, which providers do not support themselves.
async fn cut(server: &Server, ctx: &Context, uri: &Uri, span: &Span) -> Result<Reply> {
    let windowed = window::read(server, ctx, uri, span).await?;
    let parts = windowed.pieces.into_iter().map(Piece::into_part).collect();
    Ok(Reply::Read(parts, windowed.freshness))
}

/// Describes a resource.
pub(crate) async fn metadata(server: &Server, ctx: &Context, uri: &Uri) -> Result<Reply> {
    let resource = server.provider.stat(ctx, uri).await?;
    Ok(Reply::Metadata(Arc::new(resource), Freshness::default()))
}

pub(super) fn ask(server: &Server, list: &str, cursor: Option<String>) -> Result<Ask> {
    let from: Option<Cursor> = cursor.map(|text| server.seal.open(list, &text)).transpose()?;
    Ok(Ask { from, limit: server.limits.page })
}

pub(super) fn sealed<T>(server: &Server, list: &str, page: Page<T>) -> Listing<T> {
    let next = page.next.as_ref().map(|cursor| server.seal.close(list, cursor));
    Listing { page, next }
}
