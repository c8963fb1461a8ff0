//! The definitions of the built-in tools: title, description and output schema.
//!
//! Models read these texts and pay for each token: short sentences, common words, an example.

use serde_json::{Map, Value, json};

use super::BuiltinTool;

/// The definition of `tool`, as `tools/list` shows it.
pub(super) fn definition_json(tool: BuiltinTool) -> Value {
    let (title, description, output) = match tool {
        BuiltinTool::List => list_tool(),
        BuiltinTool::Templates => templates_tool(),
        BuiltinTool::Metadata => metadata_tool(),
        BuiltinTool::Read => read_tool(),
        BuiltinTool::ReadEmbedded => read_embedded_tool(),
        BuiltinTool::Grep => grep_tool(),
        BuiltinTool::Watch => watch_tool(),
        BuiltinTool::Unwatch => unwatch_tool(),
        BuiltinTool::Changes => changes_tool(),
    };
    let hints = json!({
        "readOnlyHint": true, "destructiveHint": false,
        "idempotentHint": tool != BuiltinTool::Changes, "openWorldHint": false,
    });
    json!({
        "name": tool.name(), "title": title, "description": description,
        "inputSchema": tool.input_schema(), "outputSchema": output, "annotations": hints,
    })
}

type ToolDefinition = (&'static str, &'static str, Value);

/// The schema of an object.
pub(super) fn object_schema(properties: Value, required: &[&str]) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.into()
}

fn string_schema(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn integer_schema(least: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": description })
}

fn array_schema(items: Value) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "array".into());
    schema.insert("items".to_owned(), items);
    schema.into()
}

/// The schema of a resource in a list.
fn resource_schema() -> Value {
    let properties = json!({
        "uri": { "type": "string" }, "name": { "type": "string" },
        "title": { "type": "string" }, "description": { "type": "string" },
        "mimeType": { "type": "string" }, "size": { "type": "integer" },
        "isCollection": { "type": "boolean" }, "annotations": { "type": "object" },
    });
    object_schema(properties, &["uri", "name"])
}

fn absent_schema() -> Value {
    array_schema(object_schema(
        json!({ "what": { "type": "string" }, "why": { "type": "string" } }),
        &[],
    ))
}

fn list_tool() -> ToolDefinition {
    let output = json!({
        "resources": array_schema(resource_schema()),
        "cursor": string_schema("Pass it to get more; absent at the end"),
        "absent": absent_schema(),
    });
    (
        "List resources",
        "List resources, one page at a time. All filters are optional and must all match. Start \
         here, then read with resources_read. Example: {\"uri\": \"**/*.md\", \"recursive\": true}",
        object_schema(output, &["resources"]),
    )
}

fn templates_tool() -> ToolDefinition {
    let variable = json!({
        "name": { "type": "string" }, "description": { "type": "string" },
        "type": { "type": "string" }, "default": { "type": "string" },
        "enum": array_schema(json!({ "type": "string" })), "list": { "type": "boolean" },
    });
    let template = json!({
        "uriTemplate": { "type": "string" }, "name": { "type": "string" },
        "title": { "type": "string" },
        "description": { "type": "string" }, "mimeType": { "type": "string" },
        "variables": array_schema(json!({ "type": "string" })),
        "completable": array_schema(json!({ "type": "string" })),
        "variable_details": array_schema(object_schema(variable, &["name", "type"])),
    });
    let output = json!({
        "templates": array_schema(object_schema(template, &["uriTemplate", "name", "variables"])),
        "cursor": string_schema("Pass it to get more; absent at the end"),
        "absent": absent_schema(),
    });
    (
        "List resource templates",
        "List URI templates. Fill in the variables in braces to get a URI to read: note://{id} \
         becomes note://42.",
        object_schema(output, &["templates"]),
    )
}

fn metadata_tool() -> ToolDefinition {
    let mut described = resource_schema();
    described["properties"]["tokens"] = integer_schema(0, "Estimated number of tokens");
    let output = json!({ "resources": array_schema(described), "failed": failed_schema() });
    (
        "Describe resources",
        "Get the metadata of resources without their content: type, size, estimated tokens, last \
         change. Useful before you read something large.",
        object_schema(output, &["resources"]),
    )
}

fn failed_schema() -> Value {
    let one = json!({ "uri": { "type": "string" }, "message": { "type": "string" } });
    array_schema(object_schema(one, &["uri", "message"]))
}

fn next_schema() -> Value {
    let next = json!({
        "offset": { "type": "integer" }, "start_line": { "type": "integer" },
        "part": { "type": "integer" },
    });
    object_schema(next, &[])
}

fn read_tool() -> ToolDefinition {
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
        "eof": { "type": "boolean" }, "next": next_schema(),
        "part": { "type": "integer" }, "total_parts": { "type": "integer" },
        "parts": array_schema(object_schema(part, &["uri", "offset", "returned"])),
    });
    (
        "Read a resource",
        "Read a resource or a part of it: by bytes (offset, max_bytes), by lines (start_line, \
         max_lines) or by tokens (offset, max_tokens). If eof is false, call again with `next` \
         and the etag. Example: {\"uri\": \"file:///a.md\", \"start_line\": 1, \"max_lines\": 200}",
        object_schema(output, &["uri", "total_bytes", "returned", "eof", "parts"]),
    )
}

fn read_embedded_tool() -> ToolDefinition {
    let embedded = json!({
        "uri": { "type": "string" }, "mimeType": { "type": "string" },
        "returned": { "type": "integer" },
    });
    let left = json!({
        "uri": { "type": "string" }, "total_bytes": { "type": "integer" }, "next": next_schema(),
    });
    let output = json!({
        "embedded": array_schema(object_schema(embedded, &["uri", "returned"])),
        "left": array_schema(object_schema(left, &["uri", "next"])),
        "failed": failed_schema(),
    });
    (
        "Read several resources",
        "Read several whole resources at once, as embedded resources. A resource that does not \
         fit comes as a link: read it in parts with resources_read.",
        object_schema(output, &["embedded"]),
    )
}

fn grep_tool() -> ToolDefinition {
    let found = json!({
        "uri": { "type": "string" }, "line": { "type": "integer" }, "text": { "type": "string" },
        "start_line": { "type": "integer" }, "context": { "type": "string" },
    });
    let output = json!({
        "matches": array_schema(object_schema(found, &["uri", "line", "text"])),
        "searched": integer_schema(0, "Number of resources searched"),
        "skipped": integer_schema(0, "Number of resources skipped: binary, too large, or not readable"),
        "cursor": string_schema("Pass it to get more; absent at the end"),
        "absent": absent_schema(),
    });
    (
        "Search resources",
        "Search the text of resources for lines that match a regular expression. Filters as in \
         resources_list; nested collections are always included. Each match has its URI, line \
         number and context. Example: {\"pattern\": \"raise .*Error\", \"uri\": \"**/*.py\"}",
        object_schema(output, &["matches", "searched"]),
    )
}

fn watch_tool() -> ToolDefinition {
    let output = json!({
        "handle": string_schema("Pass it to resources_changes and resources_unwatch"),
        "watching": array_schema(json!({ "type": "string" })),
        "failed": failed_schema(),
    });
    (
        "Watch resources",
        "Start watching resources. Call resources_changes later to see which ones changed.",
        object_schema(output, &["handle", "watching"]),
    )
}

fn unwatch_tool() -> ToolDefinition {
    let output = json!({ "watching": array_schema(json!({ "type": "string" })) });
    (
        "Stop watching resources",
        "Stop watching some resources, or all of them.",
        object_schema(output, &["watching"]),
    )
}

fn changes_tool() -> ToolDefinition {
    let output = json!({
        "changed": array_schema(json!({ "type": "string" })),
        "watching": integer_schema(0, "Number of watched resources"),
        "more": { "type": "boolean", "description": "True if more changes are waiting: call again" },
    });
    (
        "List changed resources",
        "List the watched resources that changed since the last call, each once.",
        object_schema(output, &["changed"]),
    )
}
