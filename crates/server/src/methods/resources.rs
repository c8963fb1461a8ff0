//! The `resources/*` methods that list, describe and read.

use protocol::Reply;
use protocol::inbound::call::{WindowExtent, WindowRequest};
use protocol::inbound::reply::ReplyPage;
use protocol::inbound::shape::relayed_result::adapt_result;
use resource::{
    Content, Context, Cursor, Error, Freshness, Page, PageRequest, ReadRequest, Result,
    UnknownMembers, Uri, Window,
};

use super::collection_content;
use crate::exchange::Exchange;
use crate::request_state::StateBinding;
use crate::server::Server;
use crate::window::{self, FormatWindow, WindowRange, WindowSpan};

/// The list name that the cursors of the template list are bound to.
const TEMPLATES: &str = "templates";

/// Lists one page of the top level, or of the collection `parent`.
pub(crate) async fn list_resources(
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
    let ask = page_request(server, ctx, &list, cursor)?;
    let page = server.provider.list(ctx, parent.as_ref(), &ask).await?;
    Ok(Reply::Resources(seal_page(server, ctx, &list, page)))
}

/// Lists one page of a directory; fails if `parent` is not one.
pub(crate) async fn list_directory(
    server: &Server,
    ctx: &Context,
    parent: Uri,
    cursor: Option<String>,
) -> Result<Reply> {
    let target = server.provider.stat(ctx, &parent).await?;
    if target.listable == Some(false) {
        return Err(Error::invalid("not a directory").about(&parent));
    }
    list_resources(server, ctx, Some(parent), cursor).await
}

/// Lists one page of templates.
pub(crate) async fn list_templates(
    server: &Server,
    ctx: &Context,
    cursor: Option<String>,
) -> Result<Reply> {
    let ask = page_request(server, ctx, TEMPLATES, cursor)?;
    let page = server.provider.templates(ctx, &ask).await?;
    Ok(Reply::Templates(seal_page(server, ctx, TEMPLATES, page)))
}

/// Reads a resource, or a window of it.
pub(crate) async fn read_resource(
    server: &Server,
    exchange: &Exchange,
    uri: &Uri,
    window: Option<WindowRequest>,
) -> Result<Reply> {
    let ctx = &exchange.ctx;
    let request = match window {
        None => ReadRequest::whole(u64::MAX),
        Some(WindowRequest {
            extent: WindowExtent::Bytes { offset, length },
            etag,
            format,
            part,
        }) => {
            let window = Window::Part { offset, length: length.unwrap_or(u64::MAX), etag };
            ReadRequest { window, format, part }
        }
        Some(WindowRequest { extent, etag, format, part }) => {
            let range = match extent {
                WindowExtent::Lines { start, max_lines: most } => {
                    WindowRange::Lines { start, most, bytes: window::MAX_WINDOW_BYTES }
                }
                WindowExtent::Tokens { offset, max_tokens: most } => {
                    WindowRange::Tokens { offset, most }
                }
                WindowExtent::Bytes { offset, length } => {
                    let length = length.unwrap_or(window::MAX_WINDOW_BYTES);
                    WindowRange::Bytes { offset, length }
                }
            };
            let span = WindowSpan { range, etag, format, part: part.unwrap_or(0) };
            return read_measured_window(server, ctx, uri, &span).await;
        }
    };
    let mut reading = server.provider.read(ctx, uri, &request).await?;
    if let Content::Parts(parts) = &mut reading.content {
        let (part, total) = (request.part.unwrap_or(0), reading.total_parts);
        for slice in parts.iter_mut().filter_map(|part| part.slice.as_mut()) {
            (slice.part, slice.total_parts) = (part, total);
        }
    }
    let parts = match reading.content {
        Content::Parts(parts) => parts,
        Content::Collection(resource) => {
            collection_content::read_collection(server, ctx, resource).await?
        }
        Content::InputRequired(asked) => {
            let principal = ctx.principal();
            let binding = StateBinding { principal, about: uri.as_str(), arguments: "" };
            let asked = server.state_seal.seal_result(binding, &asked)?;
            return Ok(Reply::UpstreamResult(adapt_result(&asked, exchange.dialect)?));
        }
    };
    Ok(Reply::Read(parts, reading.freshness, reading.extra))
}

/// Reads a window by lines or tokens, which providers do not support themselves.
async fn read_measured_window(
    server: &Server,
    ctx: &Context,
    uri: &Uri,
    span: &WindowSpan,
) -> Result<Reply> {
    let windowed = window::read_window(server, ctx, uri, span).await?;
    let parts = windowed.windows.into_iter().map(FormatWindow::into_part).collect();
    Ok(Reply::Read(parts, windowed.freshness, UnknownMembers::default()))
}

/// Describes a resource.
pub(crate) async fn describe_resource(server: &Server, ctx: &Context, uri: &Uri) -> Result<Reply> {
    let resource = server.provider.stat(ctx, uri).await?;
    Ok(Reply::Metadata(resource, Freshness::default()))
}

pub(super) fn page_request(
    server: &Server,
    ctx: &Context,
    list: &str,
    cursor: Option<String>,
) -> Result<PageRequest> {
    let unseal = |text: String| server.cursors.unseal(ctx, list, &text);
    let from: Option<Cursor> = cursor.map(unseal).transpose()?;
    Ok(PageRequest::new(from, server.limits.page))
}

pub(super) fn seal_page<T>(
    server: &Server,
    ctx: &Context,
    list: &str,
    page: Page<T>,
) -> ReplyPage<T> {
    let next = page.next.as_ref().map(|cursor| server.cursors.seal(ctx, list, cursor));
    ReplyPage { page, next }
}
