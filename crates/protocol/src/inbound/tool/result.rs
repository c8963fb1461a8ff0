//! The result of a built-in tool, and its JSON encoding.
//!
//! Content blocks are for models, structured content is for programs. Each is encoded as the
//! client's revision defines it.

use std::sync::Arc;

use resource::{Body, Part, Resource};
use serde_json::{Value, json};

use crate::inbound::shape::embedded;
use crate::inbound::shape::resource::ResourceShape;
use crate::json::outgoing::Outgoing;
use crate::revision::Dialect;

/// The result of a built-in tool.
#[derive(Debug, Default)]
pub struct ToolResult {
    /// The content blocks, in order.
    pub blocks: Vec<ContentBlock>,
    /// The structured content, an object.
    pub structured: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Facts about the error for programs, in `_meta`.
    pub error_facts: Option<Value>,
}

/// A content block.
#[derive(Debug)]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// A link to a resource.
    Link(Arc<Resource>),
    /// An embedded resource.
    Embedded(Part),
    /// An image or audio; any other content is embedded.
    Media(Part),
}

impl ToolResult {
    /// A failed call, with its error message.
    pub fn error(words: impl Into<String>) -> Self {
        Self { blocks: vec![ContentBlock::Text(words.into())], is_error: true, ..Self::default() }
    }

    /// A result with text and structured content.
    pub fn with_text(words: impl Into<String>, structured: Value) -> Self {
        let blocks = vec![ContentBlock::Text(words.into())];
        Self { blocks, structured: Some(structured), ..Self::default() }
    }
}

/// The JSON of a resource as lists show it, for structured content.
pub fn resource_json(resource: &Resource, dialect: Dialect) -> Value {
    let shape = ResourceShape::for_list(resource, Dialect { full_metadata: true, ..dialect });
    serde_json::to_value(shape).expect("the JSON has only string keys")
}

/// Bytes as base64, for structured content.
pub fn base64_json(bytes: &[u8]) -> Value {
    base64_simd::STANDARD.encode_to_string(bytes).into()
}

/// Encodes a tool result. `head` is the JSON before it, `common` an object with the members that
/// every result has.
pub(crate) fn encode_tool_result(
    result: ToolResult,
    dialect: Dialect,
    common: &str,
    head: Vec<u8>,
) -> Outgoing {
    let ToolResult { blocks, structured, is_error, error_facts: facts } = result;
    let mut message = Outgoing::default();
    let mut tail = head;
    tail.extend_from_slice(b"{\"content\":[");
    for (at, block) in blocks.into_iter().enumerate() {
        if at > 0 {
            tail.push(b',');
        }
        tail = push_content_block(block, dialect, tail, &mut message);
    }
    tail.push(b']');
    if is_error {
        tail.extend_from_slice(b",\"isError\":true");
    }
    let mut member = |name: &str, value: &Value| {
        tail.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
    };
    if let Some(structured) = structured.filter(|_| dialect.revision.knows_structure()) {
        member("structuredContent", &structured);
    }
    // The common members and the facts may both have members in `_meta`.
    let mut rest: Value = serde_json::from_str(common).unwrap_or_default();
    if let Some(facts) = facts {
        rest["_meta"]["dev.refdesk/error"] = facts;
    }
    for (name, value) in rest.as_object().into_iter().flatten() {
        member(name, value);
    }
    tail.extend_from_slice(b"}}");
    message.push_json(tail);
    message
}

fn push_content_block(
    block: ContentBlock,
    dialect: Dialect,
    mut head: Vec<u8>,
    into: &mut Outgoing,
) -> Vec<u8> {
    let mut write = |value: Value| head.extend_from_slice(value.to_string().as_bytes());
    match block {
        ContentBlock::Text(text) => write(json!({ "type": "text", "text": text })),
        ContentBlock::Link(resource) if dialect.revision.knows_links() => {
            let mut link = resource_json(&resource, dialect);
            link["type"] = "resource_link".into();
            write(link);
        }
        ContentBlock::Link(resource) => {
            let words = format!("{} <{}>", resource.name, resource.uri);
            write(json!({ "type": "text", "text": words }));
        }
        ContentBlock::Media(part) => match media_block_type(&part, dialect) {
            Some(kind) => {
                let mime = part.resource.mime.as_deref().unwrap_or_default();
                let opening = json!({ "type": kind, "mimeType": mime }).to_string();
                head.extend_from_slice(&opening.as_bytes()[..opening.len() - 1]);
                head.extend_from_slice(b",\"data\":\"");
                into.push_json(head);
                into.push_body(part.body);
                return b"\"}".to_vec();
            }
            None => return embedded::push_embedded(part, dialect, head, into),
        },
        ContentBlock::Embedded(part) => return embedded::push_embedded(part, dialect, head, into),
    }
    head
}

/// The block type for an image or audio; `None` if the revision has no such block.
fn media_block_type(part: &Part, dialect: Dialect) -> Option<&'static str> {
    let mime = part.resource.mime.as_deref().filter(|_| matches!(part.body, Body::Blob(_)))?;
    if mime.starts_with("image/") {
        return Some("image");
    }
    (mime.starts_with("audio/") && dialect.revision.knows_audio()).then_some("audio")
}
