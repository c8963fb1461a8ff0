//! The `resources/*` methods that list, describe and read.

use std::sync::Arc;

use protocol::Reply;
use protocol::inbound::call::{WindowExtent, WindowRequest};
use protocol::inbound::reply::ReplyPage;
use protocol::inbound::shape::relayed_result::adapt_result;
use resource::{
    Accept, Content, Context, Cursor, Error, Freshness, Page, PageRequest, ReadRequest, Resource,
    Result, UnknownMembers, Uri, Window,
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

/// The best of the formats that a client accepts; `None` if it has no preference.
pub(crate) async fn accepted_format(
    server: &Server,
    ctx: &Context,
    uri: &Uri,
    accept: &[String],
) -> Result<Option<String>> {
    match Accept::parse(accept.iter().map(String::as_str)) {
        Ok(accept) => choose_format(server, ctx, uri, &accept).await,
        Err(error) => {
            let resource = server.provider.stat(ctx, uri).await?;
            let formats = resource.mime_types().map(str::to_owned).collect();
            Err(error.with_formats(formats).about(uri))
        }
    }
}

/// The best format by `accept`; `None` if it is empty.
pub(crate) async fn choose_format(
    server: &Server,
    ctx: &Context,
    uri: &Uri,
    accept: &Accept,
) -> Result<Option<String>> {
    if accept.is_empty() {
        return Ok(None);
    }
    let resource = server.provider.stat(ctx, uri).await?;
    let formats: Vec<String> = resource.mime_types().map(str::to_owned).collect();
    match accept.choose(formats.iter().map(String::as_str)) {
        Some(at) => Ok(Some(formats[at].clone())),
        None => Err(Error::no_format(formats).about(uri)),
    }
}

/// Reads a resource, or a window of it.
pub(crate) async fn read_resource(
    server: &Server,
    exchange: &Exchange,
    uri: &Uri,
    (window, accepted): (Option<WindowRequest>, Option<String>),
) -> Result<Reply> {
    let ctx = &exchange.ctx;
    let request = match window {
        None => ReadRequest { format: accepted, ..ReadRequest::whole(u64::MAX) },
        Some(WindowRequest {
            extent: WindowExtent::Bytes { offset, length },
            etag,
            format,
            part,
            section,
        }) => {
            let window = Window::Part { offset, length: length.unwrap_or(u64::MAX), etag };
            ReadRequest { window, format: format.or(accepted), part, section }
        }
        Some(WindowRequest { extent, etag, format, part, section }) => {
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
            let (format, part) = (format.or(accepted), part.unwrap_or(0));
            let span = WindowSpan { range, etag, format, part, section, prefers_text: true };
            return Box::pin(read_measured_window(server, ctx, uri, &span)).await;
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
            let binding = StateBinding { principal, about: uri.as_str(), params: None };
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
    let resource = count_sections(server, ctx, resource).await;
    Ok(Reply::Metadata(resource, Freshness::default()))
}

/// Counts the pages, sheets or slides of a document, which has to be converted for it.
pub(crate) async fn count_sections(
    server: &Server,
    ctx: &Context,
    mut resource: Arc<Resource>,
) -> Arc<Resource> {
    let is_uncounted = resource.outline.as_ref().is_some_and(|outline| outline.total.is_none());
    let Some(form) = resource.text_form().filter(|_| is_uncounted) else { return resource };
    let window = Window::Part { offset: 0, length: 1, etag: None };
    let request = ReadRequest { format: Some(form.to_owned()), ..window.into() };
    let read = server.provider.read(ctx, &resource.uri, &request).await;
    let described = Arc::make_mut(&mut resource);
    match read.map(|reading| reading.content) {
        Ok(Content::Parts(parts)) => {
            if let Some(part) = parts.first() {
                described.outline.clone_from(&part.resource.outline);
                described.formats.clone_from(&part.resource.formats);
                described.notes.clone_from(&part.resource.notes);
            }
        }
        Ok(Content::Collection(_) | Content::InputRequired(_)) => {}
        Err(error) => described.notes.push(format!("it cannot be converted: {error}")),
    }
    resource
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
