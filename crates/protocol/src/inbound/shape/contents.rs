//! JSON encoding of read content: the elements of `contents`.

use resource::{Body, ByteSource, Part};

use super::resource::ResourceShape;
use crate::inbound::row_cache::RowCache;
use crate::json::outgoing::Outgoing;
use crate::revision::Dialect;

/// What ends a body, and its element.
const CLOSED_BODY: &[u8] = b"\"}";

/// Adds the elements of `contents` to a message. The message encodes each body as it is sent.
///
/// `head` is the JSON before the elements. Returns the start of the JSON after them, for the caller
/// to continue.
pub(crate) fn push_contents(
    parts: Vec<Part>,
    (dialect, rows): (Dialect, &RowCache),
    mut head: Vec<u8>,
    into: &mut Outgoing,
) -> Vec<u8> {
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            head.push(b',');
        }
        if part.slice.is_some() {
            head = push_content(part, dialect, head, into);
            continue;
        }
        head.extend_from_slice(&rows.content_json(&part.resource, dialect));
        let escaped = match &part.body {
            Body::Text(ByteSource::Bytes(text)) => rows.texts.json_of(text),
            Body::Text(ByteSource::Stream(_)) | Body::Blob(_) => None,
        };
        head = match escaped {
            Some(json) => {
                open_body(&part.body, &mut head);
                into.push_json(head);
                into.push_json(json);
                CLOSED_BODY.to_vec()
            }
            None => push_body(part.body, head, into),
        };
    }
    head
}

/// Adds one element: an object that ends in `text` or `blob`.
pub(crate) fn push_content(
    part: Part,
    dialect: Dialect,
    mut head: Vec<u8>,
    into: &mut Outgoing,
) -> Vec<u8> {
    write_description(&part, dialect, &mut head);
    push_body(part.body, head, into)
}

fn write_description(part: &Part, dialect: Dialect, head: &mut Vec<u8>) {
    let shape = ResourceShape::for_read(&part.resource, part.slice.as_ref(), dialect);
    serde_json::to_writer(head, &shape).expect("writing to a vector cannot fail");
}

/// Adds a body to the object that `head` ends with.
fn push_body(body: Body, mut head: Vec<u8>, into: &mut Outgoing) -> Vec<u8> {
    open_body(&body, &mut head);
    into.push_json(head);
    into.push_body(body);
    CLOSED_BODY.to_vec()
}

fn open_body(body: &Body, head: &mut Vec<u8>) {
    let closing = head.pop();
    debug_assert_eq!(closing, Some(b'}'));
    head.extend_from_slice(match body {
        Body::Text(_) => b",\"text\":\"",
        Body::Blob(_) => b",\"blob\":\"",
    });
}
