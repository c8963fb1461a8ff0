//! JSON encoding of embedded resources: content blocks of a tool result.
//!
//! SEP-2093 puts annotations inside the resource; older clients look for them beside it. A client
//! that declares SEP-2093 gets them inside only, any other client gets them in both places.

use resource::Part;

use super::contents;
use super::resource::annotations_shape;
use crate::json::outgoing::Outgoing;
use crate::revision::Dialect;

/// Adds a content block that embeds `part`. `head` is the JSON before the block; returns the start
/// of the JSON after it.
pub fn push_embedded(
    part: Part,
    dialect: Dialect,
    mut head: Vec<u8>,
    into: &mut Outgoing,
) -> Vec<u8> {
    let beside = annotations_shape(&part.resource.annotations, &part.resource.extra, dialect)
        .filter(|_| !dialect.knows_sep2093);
    head.extend_from_slice(b"{\"type\":\"resource\",");
    if let Some(beside) = beside {
        head.extend_from_slice(b"\"annotations\":");
        serde_json::to_writer(&mut head, &beside).expect("writing to a vector cannot fail");
        head.push(b',');
    }
    head.extend_from_slice(b"\"resource\":");
    // Annotations belong inside in any case, so the element gets its full metadata.
    let mut tail =
        contents::push_content(part, Dialect { full_metadata: true, ..dialect }, head, into);
    tail.push(b'}');
    tail
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resource::{Body, ByteSource, Part, Resource, Role, Uri};
    use serde_json::{Value, json};

    use super::push_embedded;
    use crate::json::outgoing::Outgoing;
    use crate::revision::{Dialect, Revision};

    fn block(dialect: Dialect) -> Value {
        let mut resource = Resource::new(Uri::parse("note://a").unwrap(), "a");
        resource.annotations.audience = vec![Role::User];
        resource.annotations.priority = Some(0.5);
        let body = Body::Text(ByteSource::Bytes("hello \"you\"".into()));
        let part = Part { resource: Arc::new(resource), body, slice: None };
        let mut message = Outgoing::default();
        let tail = push_embedded(part, dialect, Vec::new(), &mut message);
        message.push_json(tail);
        serde_json::from_slice(&message.into_bytes().unwrap()).unwrap()
    }

    /// S2093-26, B-14.
    #[test]
    fn annotations_stand_inside_for_all_and_beside_for_those_who_look_there() {
        let own = json!({"audience": ["user"], "priority": 0.5});
        for revision in Revision::ALL {
            let unaware = block(Dialect { revision, knows_sep2093: false, full_metadata: false });
            assert_eq!(unaware["annotations"], own);
            assert_eq!(unaware["resource"]["annotations"], own);
            let aware = block(Dialect { revision, knows_sep2093: true, full_metadata: true });
            assert_eq!(aware.get("annotations"), None);
            assert_eq!(aware["resource"]["annotations"], own);
            assert_eq!(aware["resource"]["text"], "hello \"you\"");
        }
    }
}
