//! Content of a collection for `resources/read`.
//!
//! The first part has exactly the requested URI and holds a short Markdown listing. Small children
//! follow with their bodies, up to a byte limit. For the complete list a client uses
//! `resources/list`.

use std::fmt::Write;
use std::sync::Arc;

use resource::{
    Body, ByteSource, Content, Context, Page, PageRequest, Part, ReadRequest, Reading, Resource,
    Result, one_line,
};

use crate::server::Server;

/// Maximum children in the listing.
const MAX_LISTED: usize = 100;
/// Maximum children included with their bodies.
const MAX_BODIES: usize = 16;
/// Maximum bytes of one such body, and of all of them together.
const MAX_BODY_BYTES: u64 = 32 << 10;
const MAX_TOTAL_BYTES: u64 = 128 << 10;

/// Builds the listing of a collection and reads its first small children.
pub(crate) async fn read_collection(
    server: &Server,
    ctx: &Context,
    collection: Arc<Resource>,
) -> Result<Vec<Part>> {
    let uri = &collection.uri;
    let page = server.provider.list(ctx, Some(uri), &PageRequest::first(MAX_LISTED)).await?;
    let mut parts = vec![listing_part(&collection, &page)];
    let mut left = MAX_TOTAL_BYTES;
    let small = |child: &&Arc<Resource>| {
        let is_read = child.listable == Some(false) || child.is_page();
        is_read && child.size.is_some_and(|size| size <= MAX_BODY_BYTES)
    };
    for child in page.items.iter().filter(small).take(MAX_BODIES) {
        let request = ReadRequest::whole(MAX_BODY_BYTES.min(left));
        // A child that is gone or has grown appears only in the listing.
        let Ok(reading) = server.provider.read(ctx, &child.uri, &request).await else { continue };
        if let Reading { content: Content::Parts(opened), .. } = reading {
            left = left.saturating_sub(child.size.unwrap_or(0));
            parts.extend(opened.into_iter().take(1));
        }
    }
    Ok(parts)
}

fn listing_part(collection: &Arc<Resource>, page: &Page<Resource>) -> Part {
    let heading = collection.title.as_ref().unwrap_or(&collection.name);
    let mut text = format!("# {}\n", link_text(heading));
    if page.items.is_empty() {
        text.push_str("\nThis collection is empty.\n");
    }
    for child in &page.items {
        let is_folder = child.listable == Some(true) && !child.is_page();
        let slash = if is_folder { "/" } else { "" };
        let name = link_text(&child.name);
        let size = child.size.map(|size| format!(", {size} bytes")).unwrap_or_default();
        let mime = child.mime.as_deref().map_or("unknown type".into(), one_line);
        // Writing into a string cannot fail.
        let _ = write!(text, "\n- [{name}{slash}]({}) {mime}{size}", child.uri);
    }
    if page.next.is_some() {
        text.push_str("\n\nThere is more: list this collection to see all of it.");
    }
    let mut resource = Resource::clone(collection);
    resource.mime = Some("text/markdown".to_owned());
    resource.size = Some(text.len() as u64);
    let body = Body::Text(ByteSource::Bytes(text.into()));
    Part { resource: Arc::new(resource), body, slice: None }
}

/// Makes a name safe inside a Markdown link: file names may contain line breaks and brackets.
fn link_text(name: &str) -> String {
    one_line(name).replace(['[', ']'], "")
}
