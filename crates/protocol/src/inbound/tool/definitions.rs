//! The definitions of the built-in tools: title, description and output schema.
//!
//! Models read these texts and pay for each token: short sentences, common words, an example.

use serde_json::{Value, json};

use super::BuiltinTool;
use crate::json::raw_object::ObjectWriter;

/// The definition of `tool`, as `tools/list` shows it.
pub(super) fn definition_json(tool: BuiltinTool) -> String {
    let (title, description, output) = match tool {
        BuiltinTool::List => list_tool(),
        BuiltinTool::Templates => templates_tool(),
        BuiltinTool::Metadata => metadata_tool(),
        BuiltinTool::Read => read_tool(),
        BuiltinTool::ReadEmbedded => read_embedded_tool(),
        BuiltinTool::Grep => grep_tool(),
        BuiltinTool::Search => search_tool(),
        BuiltinTool::Pack => pack_tool(),
        BuiltinTool::Watch => watch_tool(),
        BuiltinTool::Unwatch => unwatch_tool(),
        BuiltinTool::Changes => changes_tool(),
        BuiltinTool::SearchTools => search_tools_tool(),
        BuiltinTool::CallTool => call_tool_tool(),
    };
    let hints = match tool {
        // The tool that is called may do anything.
        BuiltinTool::CallTool => json!({ "readOnlyHint": false, "openWorldHint": true }),
        _ => json!({
            "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": tool != BuiltinTool::Changes, "openWorldHint": false,
        }),
    };
    let mut definition = ObjectWriter::new();
    definition.put_string("name", tool.name());
    definition.put_string("title", title);
    definition.put_string("description", description);
    definition.put_raw("inputSchema", &tool.input_schema());
    if let Some(output) = output {
        definition.put_raw("outputSchema", &output.to_string());
    }
    definition.put_raw("annotations", &hints.to_string());
    definition.finish()
}

/// A title, a description and an output schema. A tool whose result is content blocks has no
/// output schema: it would have to return the content twice.
type ToolDefinition = (&'static str, &'static str, Option<Value>);

/// The schema of an object.
fn object_schema(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object" });
    schema["properties"] = properties;
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn string_schema() -> Value {
    json!({ "type": "string" })
}

fn integer_schema() -> Value {
    json!({ "type": "integer" })
}

fn array_schema(items: Value) -> Value {
    let mut schema = json!({ "type": "array" });
    schema["items"] = items;
    schema
}

/// The schema of an object with a value for each URI.
fn uri_map_schema(values: Value, description: &str) -> Value {
    let mut schema = json!({ "type": "object", "description": description });
    schema["additionalProperties"] = values;
    schema
}

/// The schema of a resource in a list.
fn resource_schema() -> Value {
    let properties = json!({
        "uri": string_schema(), "title": string_schema(), "description": string_schema(),
        "mimeType": string_schema(), "size": integer_schema(), "tokens": integer_schema(),
        "isCollection": { "type": "boolean" }, "lastModified": string_schema(),
        "priority": { "type": "number" },
    });
    object_schema(properties, &["uri"])
}

fn absent_schema() -> Value {
    let one = json!({ "what": string_schema(), "why": string_schema() });
    array_schema(object_schema(one, &["what", "why"]))
}

fn failed_schema() -> Value {
    let one = json!({ "uri": string_schema(), "message": string_schema() });
    array_schema(object_schema(one, &["uri", "message"]))
}

fn list_tool() -> ToolDefinition {
    let mount = json!({
        "name": string_schema(), "kind": string_schema(), "uri": string_schema(),
        "state": string_schema(),
    });
    let output = json!({
        "resources": array_schema(resource_schema()),
        "mounts": array_schema(object_schema(mount, &["name", "kind"])),
        "cursor": string_schema(), "absent": absent_schema(), "note": string_schema(),
    });
    (
        "List resources",
        "List resources, a page at a time. Without arguments: the mounts, one line each. Then \
         {\"mount\": \"code\"} for a mount, {\"collection\": \"code/src\"} for a folder, \
         {\"uri\": \"**/*.md\", \"recursive\": true} to find files. Filters must all match.",
        Some(object_schema(output, &[])),
    )
}

fn templates_tool() -> ToolDefinition {
    let variable = json!({
        "name": string_schema(), "description": string_schema(), "type": string_schema(),
        "default": string_schema(), "enum": array_schema(string_schema()),
        "list": { "type": "boolean" },
    });
    let template = json!({
        "uriTemplate": string_schema(), "name": string_schema(), "description": string_schema(),
        "variables": array_schema(object_schema(variable, &["name"])),
    });
    let output = json!({
        "templates": array_schema(object_schema(template, &["uriTemplate", "name"])),
        "cursor": string_schema(), "absent": absent_schema(),
    });
    (
        "List resource templates",
        "List URI templates. Fill in the variables in braces to get a URI to read: note://{id} \
         becomes note://42.",
        Some(object_schema(output, &["templates"])),
    )
}

fn metadata_tool() -> ToolDefinition {
    let mut resource = resource_schema();
    resource["properties"]["sections"] = string_schema();
    let output = json!({ "resources": array_schema(resource), "failed": failed_schema() });
    (
        "Describe resources",
        "Get the metadata of resources without their content: type, size, estimated tokens, pages, \
         last change. Useful before you read something large.",
        Some(object_schema(output, &["resources"])),
    )
}

fn read_tool() -> ToolDefinition {
    let next = json!({
        "offset": integer_schema(), "start_line": integer_schema(), "part": integer_schema(),
    });
    let output = json!({
        "uri": string_schema(), "text": string_schema(), "mimeType": string_schema(),
        "total_bytes": integer_schema(), "part": integer_schema(),
        "total_parts": integer_schema(), "next": object_schema(next, &[]),
        "etag": string_schema(), "note": string_schema(),
    });
    (
        "Read a resource",
        "Read a resource or a part of it: by bytes (offset, max_bytes), by lines (start_line, \
         max_lines) or by tokens (offset, max_tokens). If \
         the result has `next`, call again with it and the etag. A folder gives its listing. Example: {\"uri\": \"code/src/main.rs\", \
         \"start_line\": 1, \"max_lines\": 200}",
        Some(object_schema(output, &[])),
    )
}

fn read_embedded_tool() -> ToolDefinition {
    (
        "Read several resources",
        "Read several whole resources at once, as embedded resources. A resource that does not \
         fit comes as a link: read it in parts with resources_read.",
        None,
    )
}

fn grep_tool() -> ToolDefinition {
    let lines = "Lines by URI: 12:text is a match, 13-text is context";
    let base = "Put it before each key to get the URI";
    let output = json!({
        "base": { "type": "string", "description": base },
        "matches": uri_map_schema(array_schema(string_schema()), lines),
        "files": uri_map_schema(integer_schema(), "Number of matching lines by URI"),
        "names": uri_map_schema(string_schema(), "Decoded names of encoded keys"),
        "searched": integer_schema(), "skipped": integer_schema(),
        "cursor": string_schema(), "absent": absent_schema(), "note": string_schema(),
    });
    (
        "Grep resources",
        "Search the text of resources for lines that match a regular expression. Filters as in \
         resources_list. Example: {\"pattern\": \"raise .*Error\", \"uri\": \"**/*.py\"}",
        Some(object_schema(output, &["searched"])),
    )
}

fn search_tool() -> ToolDefinition {
    let hit = json!({
        "uri": string_schema(), "title": string_schema(), "where": string_schema(),
        "start_line": integer_schema(), "max_lines": integer_schema(),
        "snippet": string_schema(), "from": string_schema(), "why": string_schema(),
    });
    let output = json!({
        "base": { "type": "string", "description": "Put it before each uri" },
        "hits": array_schema(object_schema(hit, &["uri"])),
        "cursor": string_schema(), "suggestion": string_schema(), "absent": absent_schema(),
        "note": string_schema(),
    });
    (
        "Search resources",
        "Find passages by words, the best first, in any language. Pass uri, start_line and \
         max_lines of a hit to resources_read. Filters as in resources_list. Example: \
         {\"query\": \"rotate the signing key\"}",
        Some(object_schema(output, &["hits"])),
    )
}

fn pack_tool() -> ToolDefinition {
    (
        "Gather context for a question",
        "Gather what answers a question, within a budget of tokens: whole resources and passages \
         as embedded resources, then what was left out. Filters as in resources_list. Example: \
         {\"question\": \"How are cursors signed?\", \"budget\": 4000}",
        None,
    )
}

fn watch_tool() -> ToolDefinition {
    let output = json!({
        "handle": string_schema(), "watching": array_schema(string_schema()),
        "failed": failed_schema(),
    });
    (
        "Watch resources",
        "Start watching resources. Call resources_changes with the handle later to see which ones \
         changed.",
        Some(object_schema(output, &["handle", "watching"])),
    )
}

fn unwatch_tool() -> ToolDefinition {
    let output = json!({ "watching": array_schema(string_schema()) });
    (
        "Stop watching resources",
        "Stop watching some resources, or all of them.",
        Some(object_schema(output, &["watching"])),
    )
}

fn changes_tool() -> ToolDefinition {
    let output = json!({
        "changed": array_schema(string_schema()), "watching": integer_schema(),
        "more": { "type": "boolean" },
    });
    (
        "List changed resources",
        "List the watched resources that changed since the last call, each once. If `more` is \
         true, call again.",
        Some(object_schema(output, &["changed"])),
    )
}

fn search_tools_tool() -> ToolDefinition {
    let tool = json!({
        "name": string_schema(), "description": string_schema(),
        "inputSchema": { "type": "object" },
    });
    let output = json!({
        "tools": array_schema(object_schema(tool, &["name"])), "total": integer_schema(),
        "absent": absent_schema(),
    });
    (
        "Find tools",
        "Find tools of the servers behind this one by words. Call the tool you find with \
         tools_call. Example: {\"query\": \"create issue\"}",
        Some(object_schema(output, &["tools", "total"])),
    )
}

fn call_tool_tool() -> ToolDefinition {
    (
        "Call a tool",
        "Call a tool that tools_search found. Example: {\"name\": \"github_create_issue\", \
         \"arguments\": {\"title\": \"Crash\"}}",
        None,
    )
}
