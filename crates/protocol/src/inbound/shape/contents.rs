//! JSON encoding of read content: the elements of `contents`.

use resource::{Body, Part};

use super::resource::ResourceShape;
use crate::json::outgoing::Outgoing;
use crate::revision::Dialect;

/// Adds the elements of `contents` to a message. The message encodes each body as it is sent.
///
/// `head` is the JSON before the elements. Returns the start of the JSON after them, for the caller
/// to continue.
pub(crate) fn push_contents(
    parts: Vec<Part>,
    dialect: Dialect,
    mut head: Vec<u8>,
    into: &mut Outgoing,
) -> Vec<u8> {
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            head.push(b',');
        }
        head = push_content(part, dialect, head, into);
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
    let shape = ResourceShape::for_read(&part.resource, part.slice.as_ref(), dialect);
    serde_json::to_writer(&mut head, &shape).expect("writing to a vector cannot fail");
    let closing = head.pop();
    debug_assert_eq!(closing, Some(b'}'));
    head.extend_from_slice(match part.body {
        Body::Text(_) => b",\"text\":\"",
        Body::Blob(_) => b",\"blob\":\"",
    });
    into.push_json(head);
    into.push_body(part.body);
    b"\"}".to_vec()
}
