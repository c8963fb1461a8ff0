//! The result of a built-in tool, and its JSON encoding.
//!
//! Hosts show a model the structured content or the text blocks, so that each says all. Both are
//! encoded as the client's revision defines them.

use std::sync::Arc;

use resource::{Body, Error, ErrorKind, MemberPlace, Part, Resource};
use serde_json::{Value, json};

use super::output::ToolOutput;
use super::text::single_line;
use crate::inbound::shape::embedded;
use crate::inbound::shape::resource::ResourceShape;
use crate::json::outgoing::Outgoing;
use crate::revision::Dialect;

/// The result of a built-in tool.
#[derive(Debug, Default)]
pub struct ToolResult {
    /// The content blocks, in order.
    pub blocks: Vec<ContentBlock>,
    /// The structured content.
    pub structured: Option<ToolOutput>,
    /// Whether the call failed.
    pub is_error: bool,
    /// The error, whose kind, URI and facts `_meta` repeats for programs.
    pub error: Option<Error>,
}

/// A content block.
#[derive(Debug)]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// A link to a resource.
    Link(Arc<Resource>),
    /// A link to a resource that the client is to read in windows.
    WindowLink(Arc<Resource>),
    /// An embedded resource.
    Embedded(Part),
    /// Lines of a resource, with the numbers of those that match a search.
    Match(Part, Vec<u64>),
    /// An image or audio; any other content is embedded.
    Media(Part),
}

impl ContentBlock {
    /// A text of one line.
    pub fn line(text: &str) -> Self {
        Self::Text(single_line(text).into_owned())
    }
}

impl ToolResult {
    /// A failed call, with its error message, on one line.
    pub fn error(words: impl AsRef<str>) -> Self {
        Self { blocks: vec![ContentBlock::line(words.as_ref())], is_error: true, ..Self::default() }
    }

    /// A result with text and structured content.
    pub fn with_text(words: impl Into<String>, structured: ToolOutput) -> Self {
        let blocks = vec![ContentBlock::Text(words.into())];
        Self { blocks, structured: Some(structured), ..Self::default() }
    }
}

/// Encodes a tool result. `head` is the JSON before it, `common` an object with the members that
/// every result has.
pub(crate) fn encode_tool_result(
    result: ToolResult,
    dialect: Dialect,
    common: &str,
    head: Vec<u8>,
) -> Outgoing {
    let ToolResult { blocks, structured, is_error, error } = result;
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
    let mut member = |name: &str, json: &str| {
        tail.extend_from_slice(format!(",\"{name}\":{json}").as_bytes());
    };
    if let Some(structured) = structured.filter(|_| dialect.revision.knows_structure()) {
        member("structuredContent", &structured.to_json());
    }
    // The common members and the facts may both have members in `_meta`.
    let mut rest: Value = serde_json::from_str(common).unwrap_or_default();
    if let Some(error) = error {
        rest["_meta"]["dev.refdesk/error"] = error_facts(&error);
    }
    for (name, value) in rest.as_object().into_iter().flatten() {
        member(name, &value.to_string());
    }
    tail.extend_from_slice(b"}}");
    message.push_json(tail);
    message
}

/// The machine-readable part of an error: kind, URI and facts.
fn error_facts(error: &Error) -> Value {
    let kind = match error.kind {
        ErrorKind::NotFound | ErrorKind::Denied => "not_found",
        ErrorKind::Invalid => "invalid",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::TooLarge => "too_large",
        ErrorKind::Changed => "changed",
        ErrorKind::NeedsInput => "needs_input",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Internal => "internal",
    };
    let mut facts = json!({ "kind": kind });
    if let Some(uri) = &error.uri {
        facts["uri"] = uri.as_str().into();
    }
    for (name, value) in &error.facts {
        facts[*name] = value.as_str().into();
    }
    if !error.formats.is_empty() {
        facts["formats"] = error.formats.to_vec().into();
    }
    facts
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
        ContentBlock::WindowLink(mut resource) => {
            set_meta(&mut resource, "dev.refdesk/window", &json!({ "offset": 0 }));
            return push_content_block(ContentBlock::Link(resource), dialect, head, into);
        }
        ContentBlock::Match(mut part, lines) => {
            let mut found = json!({ "line": lines.first() });
            if lines.len() > 1 {
                found["lines"] = lines.into();
            }
            set_meta(&mut part.resource, "dev.refdesk/match", &found);
            return embedded::push_embedded(part, dialect, head, into);
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

/// The JSON of a resource as lists show it.
fn resource_json(resource: &Resource, dialect: Dialect) -> Value {
    let shape = ResourceShape::for_list(resource, Dialect { full_metadata: true, ..dialect });
    // Unknown members were sanitized on the way in; should one fail, it costs only this resource.
    serde_json::to_value(shape).unwrap_or_else(|_| json!({ "uri": resource.uri.as_str() }))
}

fn set_meta(resource: &mut Arc<Resource>, name: &str, json: &Value) {
    Arc::make_mut(resource).extra.set(MemberPlace::Meta, name, json.to_string());
}

/// The block type for an image or audio; `None` if the revision has no such block.
fn media_block_type(part: &Part, dialect: Dialect) -> Option<&'static str> {
    let mime = part.resource.mime.as_deref().filter(|_| matches!(part.body, Body::Blob(_)))?;
    if mime.starts_with("image/") {
        return Some("image");
    }
    (mime.starts_with("audio/") && dialect.revision.knows_audio()).then_some("audio")
}
