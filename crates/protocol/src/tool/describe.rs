//! What is each tool, what does it take and what does it give?

use serde_json::{Map, Value, json};

use super::Tool;

/// The description of `tool` as `tools/list` shows it.
pub(super) fn describe(tool: Tool) -> Value {
    let (title, description, input, output) = match tool {
        Tool::List => list(),
        Tool::Templates => templates(),
        Tool::Metadata => metadata(),
        Tool::Read => read(),
        Tool::ReadEmbedded => read_embedded(),
        Tool::Grep => grep(),
        Tool::Watch => watch(),
        Tool::Unwatch => unwatch(),
        Tool::Changes => changes(),
    };
    let hints = json!({
        "readOnlyHint": true, "destructiveHint": false,
        "idempotentHint": tool != Tool::Changes, "openWorldHint": false,
    });
    json!({
        "name": tool.name(), "title": title, "description": description,
        "inputSchema": input, "outputSchema": output, "annotations": hints,
    })
}

type Description = (&'static str, &'static str, Value, Value);

/// An object with these members, some of them required.
fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.into()
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn count(least: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": description })
}

fn list_of(items: Value) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "array".into());
    schema.insert("items".to_owned(), items);
    schema.into()
}

fn uris(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 100,
        "description": description })
}

/// What narrows a list.
fn filters() -> Map<String, Value> {
    let filters = json!({
        "collection": text("Only what lies in this collection, by its URI"),
        "recursive": json!({ "type": "boolean", "description": "Also what lies deeper" }),
        "name": text("Part of the name or title, in any case"),
        "uri": text("A glob over the URI: * within a segment, ** across, {a,b}; e.g. **/*.md"),
        "mime": text("A MIME type, or the beginning of one: text/markdown, image/"),
        "audience": json!({ "type": "string", "enum": ["user", "assistant"],
            "description": "For whom it is meant; what says nothing is meant for both" }),
        "min_priority": json!({ "type": "number", "minimum": 0, "maximum": 1,
            "description": "At least this important; what says nothing is not" }),
        "modified_since": text("Changed since then: RFC 3339, e.g. 2026-01-31T12:00:00Z"),
        "mount": text("Only of this mount, by its name"),
    });
    match filters {
        Value::Object(filters) => filters,
        _ => Map::new(),
    }
}

fn with_filters(more: Value, required: &[&str]) -> Value {
    let mut properties = filters();
    if let Value::Object(more) = more {
        properties.extend(more);
    }
    object(properties.into(), required)
}

/// A resource as lists show it.
fn resource() -> Value {
    let properties = json!({
        "uri": { "type": "string" }, "name": { "type": "string" },
        "title": { "type": "string" }, "description": { "type": "string" },
        "mimeType": { "type": "string" }, "size": { "type": "integer" },
        "isCollection": { "type": "boolean" }, "annotations": { "type": "object" },
    });
    object(properties, &["uri", "name"])
}

fn absent() -> Value {
    list_of(object(json!({ "what": { "type": "string" }, "why": { "type": "string" } }), &[]))
}

fn list() -> Description {
    let more = json!({
        "sort": json!({ "type": "string", "enum": ["name", "priority", "modified", "size"],
            "description": "Priority, modified and size: the highest first" }),
        "cursor": text("Go on where the last page ended"),
    });
    let output = json!({
        "resources": list_of(resource()),
        "cursor": text("What to pass to go on; absent at the end"),
        "absent": absent(),
    });
    (
        "List resources",
        "List the resources that are there, a page at a time, with filters. Start here; then \
         read what you need with resources_read.",
        with_filters(more, &[]),
        object(output, &["resources"]),
    )
}

fn templates() -> Description {
    let template = json!({
        "uriTemplate": { "type": "string" }, "name": { "type": "string" },
        "description": { "type": "string" }, "mimeType": { "type": "string" },
        "variables": list_of(json!({ "type": "string" })),
        "completable": list_of(json!({ "type": "string" })),
    });
    let output = json!({
        "templates": list_of(object(template, &["uriTemplate", "name", "variables"])),
        "cursor": text("What to pass to go on; absent at the end"),
        "absent": absent(),
    });
    (
        "List resource templates",
        "List URI templates: patterns of URIs that can be read once the variables in braces are \
         filled in.",
        object(json!({ "cursor": text("Go on where the last page ended") }), &[]),
        object(output, &["templates"]),
    )
}

fn metadata() -> Description {
    let mut described = resource();
    described["properties"]["tokens"] = count(0, "An estimate of how many tokens it has");
    let output = json!({ "resources": list_of(described), "failed": failed() });
    (
        "Describe resources",
        "Describe one or several resources without their content: type, size, an estimate of \
         tokens, when they changed.",
        object(json!({ "uris": uris("The URIs") }), &["uris"]),
        object(output, &["resources"]),
    )
}

fn failed() -> Value {
    let one = json!({ "uri": { "type": "string" }, "message": { "type": "string" } });
    list_of(object(one, &["uri", "message"]))
}

fn next() -> Value {
    let next = json!({ "offset": { "type": "integer" }, "start_line": { "type": "integer" } });
    object(next, &[])
}

fn read() -> Description {
    let input = json!({
        "uri": text("The URI"),
        "offset": count(0, "Where to begin, in bytes; 0 if not given"),
        "max_bytes": count(1, "How many bytes at most; 25000 if nothing else is given"),
        "start_line": count(1, "By lines: the first line, counted from 1"),
        "max_lines": count(1, "By lines: how many lines at most"),
        "max_tokens": count(1, "By tokens: about how many tokens at most"),
        "etag": text("The version that the last window was of; a change is then reported"),
        "use_content_blocks": json!({ "type": "boolean",
            "description": "Give the window as an embedded resource" }),
    });
    let part = json!({
        "uri": { "type": "string" }, "mimeType": { "type": "string" },
        "text": { "type": "string" }, "blob": { "type": "string" },
        "offset": { "type": "integer" }, "returned": { "type": "integer" },
        "total_bytes": { "type": "integer" },
        "start_line": { "type": "integer" }, "lines": { "type": "integer" },
    });
    let output = json!({
        "uri": { "type": "string" }, "mimeType": { "type": "string" }, "etag": { "type": "string" },
        "total_bytes": { "type": "integer" }, "returned": { "type": "integer" },
        "eof": { "type": "boolean" }, "next": next(),
        "parts": list_of(object(part, &["uri", "offset", "returned"])),
    });
    (
        "Read a resource",
        "Read a resource, or a window of it: by bytes, by lines or by tokens. Where eof is false, \
         call again with what `next` says, and the etag.",
        object(input, &["uri"]),
        object(output, &["uri", "total_bytes", "returned", "eof", "parts"]),
    )
}

fn read_embedded() -> Description {
    let input = json!({
        "uris": uris("The URIs"),
        "max_bytes": count(1, "How many bytes of content in all; 262144 if not given"),
        "media": json!({ "type": "boolean",
            "description": "Give images and sound as blocks of their own kind" }),
    });
    let embedded = json!({
        "uri": { "type": "string" }, "mimeType": { "type": "string" },
        "returned": { "type": "integer" },
    });
    let left = json!({
        "uri": { "type": "string" }, "total_bytes": { "type": "integer" }, "next": next(),
    });
    let output = json!({
        "embedded": list_of(object(embedded, &["uri", "returned"])),
        "left": list_of(object(left, &["uri", "next"])),
        "failed": failed(),
    });
    (
        "Embed resources",
        "Give whole resources as embedded content, several at once. What does not fit is given as \
         a link, with what to ask resources_read for.",
        object(input, &["uris"]),
        object(output, &["embedded"]),
    )
}

fn grep() -> Description {
    let more = json!({
        "pattern": text("A regular expression (no look-around, no back-references)"),
        "ignore_case": json!({ "type": "boolean", "description": "Match in any case" }),
        "context": json!({ "type": "integer", "minimum": 0, "maximum": 20,
            "description": "How many lines around each match; 2 if not given" }),
        "max_matches": json!({ "type": "integer", "minimum": 1, "maximum": 1000,
            "description": "How many matches at most; 100 if not given" }),
        "cursor": text("Go on where the last call ended"),
    });
    let found = json!({
        "uri": { "type": "string" }, "line": { "type": "integer" }, "text": { "type": "string" },
        "start_line": { "type": "integer" }, "context": { "type": "string" },
    });
    let output = json!({
        "matches": list_of(object(found, &["uri", "line", "text"])),
        "searched": count(0, "How many resources were searched"),
        "skipped": count(0, "How many were left out: binary, too large, or not readable"),
        "cursor": text("What to pass to go on; absent at the end"),
        "absent": absent(),
    });
    (
        "Search in resources",
        "Search the text of resources for a regular expression, with the filters of \
         resources_list. Each match has its URI, line and some lines around it.",
        with_filters(more, &["pattern"]),
        object(output, &["matches", "searched"]),
    )
}

fn watch() -> Description {
    let input = json!({
        "uris": uris("What to watch; of a collection, what lies in it"),
        "handle": text("Add to what this handle watches"),
    });
    let output = json!({
        "handle": text("What to pass to resources_changes and resources_unwatch"),
        "watching": list_of(json!({ "type": "string" })),
        "failed": failed(),
    });
    (
        "Watch resources",
        "Begin to watch resources for changes. Ask resources_changes later what has changed.",
        object(input, &["uris"]),
        object(output, &["handle", "watching"]),
    )
}

fn unwatch() -> Description {
    let input = json!({
        "uris": uris("What to watch no more; everything, if not given"),
        "handle": text("The handle that resources_watch gave"),
    });
    let output = json!({ "watching": list_of(json!({ "type": "string" })) });
    (
        "Watch resources no more",
        "Watch some resources no more, or all of them.",
        object(input, &[]),
        object(output, &["watching"]),
    )
}

fn changes() -> Description {
    let input = json!({
        "handle": text("The handle that resources_watch gave"),
        "peek": json!({ "type": "boolean",
            "description": "Tell the same changes again at the next call" }),
        "wait_ms": json!({ "type": "integer", "minimum": 0, "maximum": 60000,
            "description": "How long to wait if nothing has changed; 0 if not given" }),
    });
    let output = json!({
        "changed": list_of(json!({ "type": "string" })),
        "watching": count(0, "How many resources are watched"),
    });
    (
        "What has changed",
        "Tell which watched resources have changed since the last call, each once.",
        object(input, &[]),
        object(output, &["changed"]),
    )
}
