//! The definitions of the built-in tools: title, description, input and output schema.
//!
//! Models read these texts and pay for each token: short sentences, common words, an example.

use serde_json::{Map, Value, json};

use super::Tool;

/// The definition of `tool`, as `tools/list` shows it.
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

/// The schema of an object.
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

/// The filter arguments of lists and searches.
fn filters() -> Map<String, Value> {
    let filters = json!({
        "collection": text("Only resources in the collection with this URI"),
        "recursive": json!({ "type": "boolean", "description": "Include nested collections" }),
        "name": text("Part of the name or title, ignoring case"),
        "uri": text("Glob on the whole URI: * within a segment, ** across; e.g. **/*.{md,txt}"),
        "mime": text("MIME type, or a prefix that ends in /: text/markdown, image/"),
        "audience": json!({ "type": "string", "enum": ["user", "assistant"],
            "description": "Intended audience. Resources without one match both" }),
        "min_priority": json!({ "type": "number", "minimum": 0, "maximum": 1,
            "description": "Minimum priority. Resources without a priority are excluded" }),
        "modified_since": text("Modified since this date or time, e.g. 2026-01-31T12:00:00Z"),
        "mount": text("Only resources of the mount with this name"),
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

/// The schema of a resource in a list.
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
            "description": "Sort order. priority, modified and size: highest first" }),
        "cursor": text("Cursor of the previous page. Keep the other arguments the same"),
    });
    let output = json!({
        "resources": list_of(resource()),
        "cursor": text("Pass it to get more; absent at the end"),
        "absent": absent(),
    });
    (
        "List resources",
        "List resources, one page at a time. All filters are optional and must all match. Start \
         here, then read with resources_read. Example: {\"uri\": \"**/*.md\", \"recursive\": true}",
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
        "cursor": text("Pass it to get more; absent at the end"),
        "absent": absent(),
    });
    (
        "List resource templates",
        "List URI templates. Fill in the variables in braces to get a URI to read: note://{id} \
         becomes note://42.",
        object(json!({ "cursor": text("Cursor of the previous page") }), &[]),
        object(output, &["templates"]),
    )
}

fn metadata() -> Description {
    let mut described = resource();
    described["properties"]["tokens"] = count(0, "Estimated number of tokens");
    let output = json!({ "resources": list_of(described), "failed": failed() });
    (
        "Describe resources",
        "Get the metadata of resources without their content: type, size, estimated tokens, last \
         change. Useful before you read something large.",
        object(json!({ "uris": uris("URIs of the resources") }), &["uris"]),
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
        "uri": text("URI of the resource"),
        "offset": count(0, "First byte; default 0"),
        "max_bytes": count(1, "Maximum number of bytes; default 25000"),
        "start_line": count(1, "First line, counted from 1"),
        "max_lines": count(1, "Maximum number of lines"),
        "max_tokens": count(1, "Maximum number of tokens, estimated"),
        "etag": text("etag of the previous window. The call fails if the resource changed"),
        "use_content_blocks": json!({ "type": "boolean",
            "description": "Return an embedded resource instead of text" }),
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
        "Read a resource or a part of it: by bytes (offset, max_bytes), by lines (start_line, \
         max_lines) or by tokens (offset, max_tokens). If eof is false, call again with `next` \
         and the etag. Example: {\"uri\": \"file:///a.md\", \"start_line\": 1, \"max_lines\": 200}",
        object(input, &["uri"]),
        object(output, &["uri", "total_bytes", "returned", "eof", "parts"]),
    )
}

fn read_embedded() -> Description {
    let input = json!({
        "uris": uris("URIs of the resources"),
        "max_bytes": count(1, "Maximum bytes of content in total; default 262144"),
        "media": json!({ "type": "boolean",
            "description": "Return images and audio as image and audio blocks" }),
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
        "Read several resources",
        "Read several whole resources at once, as embedded resources. A resource that does not \
         fit comes as a link: read it in parts with resources_read.",
        object(input, &["uris"]),
        object(output, &["embedded"]),
    )
}

fn grep() -> Description {
    let more = json!({
        "pattern": text("Regular expression for a line. No look-around, no back-references"),
        "ignore_case": json!({ "type": "boolean", "description": "Ignore case" }),
        "context": json!({ "type": "integer", "minimum": 0, "maximum": 20,
            "description": "Lines of context around each match; default 2" }),
        "max_matches": json!({ "type": "integer", "minimum": 1, "maximum": 1000,
            "description": "Maximum number of matches; default 100" }),
        "cursor": text("Cursor of the previous call. Keep pattern and filters the same"),
    });
    let found = json!({
        "uri": { "type": "string" }, "line": { "type": "integer" }, "text": { "type": "string" },
        "start_line": { "type": "integer" }, "context": { "type": "string" },
    });
    let output = json!({
        "matches": list_of(object(found, &["uri", "line", "text"])),
        "searched": count(0, "Number of resources searched"),
        "skipped": count(0, "Number of resources skipped: binary, too large, or not readable"),
        "cursor": text("Pass it to get more; absent at the end"),
        "absent": absent(),
    });
    (
        "Search resources",
        "Search the text of resources for lines that match a regular expression. Filters as in \
         resources_list; nested collections are always included. Each match has its URI, line \
         number and context. Example: {\"pattern\": \"TODO|FIXME\", \"uri\": \"**/*.py\"}",
        with_filters(more, &["pattern"]),
        object(output, &["matches", "searched"]),
    )
}

fn watch() -> Description {
    let input = json!({
        "uris": uris("URIs to watch. For a collection, its direct contents"),
        "handle": text("Add to the watch with this handle"),
    });
    let output = json!({
        "handle": text("Pass it to resources_changes and resources_unwatch"),
        "watching": list_of(json!({ "type": "string" })),
        "failed": failed(),
    });
    (
        "Watch resources",
        "Start watching resources. Call resources_changes later to see which ones changed.",
        object(input, &["uris"]),
        object(output, &["handle", "watching"]),
    )
}

fn unwatch() -> Description {
    let input = json!({
        "uris": uris("URIs to stop watching; default all"),
        "handle": text("Handle from resources_watch"),
    });
    let output = json!({ "watching": list_of(json!({ "type": "string" })) });
    (
        "Stop watching resources",
        "Stop watching some resources, or all of them.",
        object(input, &[]),
        object(output, &["watching"]),
    )
}

fn changes() -> Description {
    let input = json!({
        "handle": text("Handle from resources_watch"),
        "peek": json!({ "type": "boolean",
            "description": "Keep the changes, so that the next call returns them again" }),
        "wait_ms": json!({ "type": "integer", "minimum": 0, "maximum": 60000,
            "description": "Milliseconds to wait if nothing has changed yet; default 0" }),
    });
    let output = json!({
        "changed": list_of(json!({ "type": "string" })),
        "watching": count(0, "Number of watched resources"),
    });
    (
        "List changed resources",
        "List the watched resources that changed since the last call, each once.",
        object(input, &[]),
        object(output, &["changed"]),
    )
}
