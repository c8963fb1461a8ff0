//! Servers that break rules about tools and prompts.

use serde_json::{Value, json};

use crate::base_server::error;
use crate::cases::{Case, case};
use crate::faults::Fault;

pub(crate) fn cases() -> Vec<Case> {
    let tool = |change: fn(&mut Value)| {
        Fault::result("tools/list", move |result| change(&mut result["tools"][0]))
    };
    vec![
        case("tool-name", tool(|tool| tool["name"] = json!("my echo"))),
        case("tool-unique", tool(|tool| tool["name"] = json!("add"))),
        case("tool-description", tool(|tool| tool["description"] = json!(" "))),
        case("tool-input-schema", tool(|tool| tool["inputSchema"] = json!({ "type": "string" }))),
        case(
            "tool-schema-valid",
            tool(|tool| {
                tool["inputSchema"]["properties"]["text"]["type"] = json!("text");
            }),
        ),
        case("tool-output-schema", tool(|tool| tool["outputSchema"] = json!({ "type": "string" }))),
        case("tool-required", tool(|tool| tool["inputSchema"]["required"] = json!(["other"]))),
        case("tool-annotations", tool(|tool| tool["annotations"]["readOnlyHint"] = json!("yes"))),
        case(
            "tool-size",
            tool(|tool| {
                tool["description"] = json!("Returns the text. ".repeat(1_000));
            }),
        ),
        case(
            "tools-size",
            Fault::result("tools/list", |result| {
                let mut tool = result["tools"][0].clone();
                tool["description"] = json!("Returns the text. ".repeat(300));
                let tools = (0..15).map(|number| {
                    tool["name"] = json!(format!("tool_{number}"));
                    tool.clone()
                });
                result["tools"] = tools.collect();
            }),
        ),
        case(
            "unknown-tool",
            Fault::reply("tools/call", "result", json!({ "content": [], "isError": true })),
        ),
        case("unknown-prompt", Fault::reply("prompts/get", "error", error(-32603, "broken"))),
    ]
}
