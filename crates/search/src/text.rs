//! Reads the text of a resource, as any reader would get it.

use bytes::BytesMut;
use futures_util::StreamExt;
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Part, Provider, ReadRequest, Resource,
    Result, Window,
};

/// How much of a text is indexed.
pub(crate) const MAX_TEXT_BYTES: u64 = 16 << 20;

/// A text, and the MIME type of the form that it was read in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceText {
    pub(crate) text: String,
    pub(crate) mime: String,
}

/// Reads the text of `resource`, at most its first 16 MiB; `None` if it has none.
pub(crate) async fn read_text(
    provider: &dyn Provider,
    ctx: &Context,
    resource: &Resource,
) -> Result<Option<ResourceText>> {
    if !may_be_text(resource) {
        return Ok(None);
    }
    let format = resource.text_form().map(str::to_owned);
    let whole = ReadRequest { format, ..ReadRequest::whole(MAX_TEXT_BYTES) };
    let first = Window::Part { offset: 0, length: MAX_TEXT_BYTES, etag: None };
    let read = match provider.read(ctx, &resource.uri, &whole).await {
        Err(error) if error.kind == ErrorKind::TooLarge => {
            provider.read(ctx, &resource.uri, &whole.with_window(first)).await?
        }
        read => read?,
    };
    let Content::Parts(parts) = read.content else { return Ok(None) };
    for part in parts {
        if part.resource.uri == resource.uri
            && let Some(text) = part_text(part, MAX_TEXT_BYTES).await?
        {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// Reads `length` bytes of the text of `resource` from `offset` on.
pub(crate) async fn read_passage(
    provider: &dyn Provider,
    ctx: &Context,
    resource: &Resource,
    (offset, length): (u64, u64),
) -> Result<String> {
    let format = resource.text_form().map(str::to_owned);
    let window = Window::Part { offset, length, etag: None };
    let request = ReadRequest { format, ..window.into() };
    let read = provider.read(ctx, &resource.uri, &request).await?;
    let Content::Parts(parts) = read.content else { return Err(not_text()) };
    for part in parts {
        if let Some(text) = part_text(part, length.saturating_add(4)).await? {
            return Ok(text.text);
        }
    }
    Err(not_text())
}

/// Whether a look at the content may find text. What has a form to read as text has text.
fn may_be_text(resource: &Resource) -> bool {
    let Some(mime) = resource.mime.as_deref() else { return true };
    let is_other = ["image/", "audio/", "video/", "font/", "inode/"];
    let is_other = is_other.iter().any(|kind| mime.starts_with(kind));
    resource.text_form().is_some() || !is_other || mime == "image/svg+xml"
}

async fn part_text(part: Part, most: u64) -> Result<Option<ResourceText>> {
    let Body::Text(source) = part.body else { return Ok(None) };
    let bytes = match source {
        ByteSource::Bytes(bytes) => bytes,
        ByteSource::Stream(mut stream) => {
            let mut all = BytesMut::new();
            while let Some(piece) = stream.next().await {
                all.extend_from_slice(&piece?);
                if all.len() as u64 > most {
                    return Err(Error::too_large(all.len() as u64, most));
                }
            }
            all.freeze()
        }
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.contains('\0') {
        return Ok(None);
    }
    let mime = part.resource.mime.clone().unwrap_or_else(|| "text/plain".to_owned());
    Ok(Some(ResourceText { text, mime }))
}

fn not_text() -> Error {
    Error::invalid("not a text resource")
}
