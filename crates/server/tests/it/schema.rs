//! Schema check: parses answers with third-party types generated from the published schemas.

use protocol::BuiltinTool;
use schema_2024_11_05::mcp_2024_11_05;
use schema_2025_03_26::mcp_2025_03_26;
use schema_2025_06_18::mcp_2025_06_18;
use schema_2025_11_25::mcp_2025_11_25;
use schema_2026_07_28::mcp_2026_07_28;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks that every answer has what its revision requires, with the right types.
pub(crate) fn check(revision: &str, answers: &[(String, Value)]) {
    for (method, answer) in answers {
        let read = round_trip(revision, method, answer);
        read.unwrap_or_else(|flaw| panic!("{revision} {method}: {flaw}\n{answer:#}"));
    }
}

/// Checks also that no answer has members which its revision does not define.
pub(crate) fn check_exactly(revision: &str, answers: &[(String, Value)]) {
    for (method, answer) in answers {
        let read = round_trip(revision, method, answer);
        let (ours, theirs) =
            read.unwrap_or_else(|flaw| panic!("{revision} {method}: {flaw}\n{answer:#}"));
        assert_eq!(ours, theirs, "{revision} {method}");
    }
}

/// A result, and the same after a round trip through the types of the schema.
fn round_trip(revision: &str, method: &str, answer: &Value) -> Result<(Value, Value), String> {
    assert_eq!(answer["jsonrpc"], "2.0");
    if let Some(error) = answer.get("error") {
        let code = error["code"].as_i64().ok_or("an error without a code")?;
        let message = error["message"].as_str().ok_or("an error without a message")?;
        let known = [-32700, -32600, -32601, -32602, -32603, -32002, -32022].contains(&code);
        return (known && !message.is_empty())
            .then_some((Value::Null, Value::Null))
            .ok_or_else(|| format!("not an error of the protocol: {error}"));
    }
    let result = answer.get("result").ok_or("neither a result nor an error")?;
    macro_rules! types {
        ($schema:ident) => {
            match method {
                "initialize" => round_trip_as::<$schema::InitializeResult>(result),
                other => types!($schema, other),
            }
        };
        ($schema:ident, $method:ident) => {
            match $method {
                "resources/list" | "resources/directory/read" => {
                    round_trip_as::<$schema::ListResourcesResult>(result)
                }
                "resources/templates/list" => {
                    round_trip_as::<$schema::ListResourceTemplatesResult>(result)
                }
                "resources/read" => round_trip_as::<$schema::ReadResourceResult>(result),
                "tools/list" => round_trip_as::<$schema::ListToolsResult>(result),
                "tools/call" if result["resultType"] == "input_required" => {
                    round_trip_as::<serde_json::Map<String, Value>>(result)
                }
                "tools/call" => round_trip_as::<$schema::CallToolResult>(result),
                "prompts/list" => round_trip_as::<$schema::ListPromptsResult>(result),
                "prompts/get" => round_trip_as::<$schema::GetPromptResult>(result),
                "completion/complete" => round_trip_as::<$schema::CompleteResult>(result),
                "resources/metadata" => round_trip_as::<$schema::Resource>(&result["resource"]),
                "ping" | "resources/subscribe" | "resources/unsubscribe" => {
                    round_trip_as::<serde_json::Map<String, Value>>(result)
                }
                other => Err(format!("no type for the result of {other}")),
            }
        };
    }
    match revision {
        "2024-11-05" => types!(mcp_2024_11_05),
        "2025-03-26" => types!(mcp_2025_03_26),
        "2025-06-18" => types!(mcp_2025_06_18),
        "2025-11-25" => types!(mcp_2025_11_25),
        _ => match method {
            "server/discover" => round_trip_as::<mcp_2026_07_28::DiscoverResult>(result),
            other => types!(mcp_2026_07_28, other),
        },
    }
}

/// Checks that the structured content of one of our tools is what its output schema says.
pub(crate) fn check_output(tool: &str, output: &Value) {
    let Some(tool) = BuiltinTool::ALL.iter().find(|known| known.name() == tool) else { return };
    let definition: Value = serde_json::from_str(tool.definition().json.as_str()).unwrap();
    let schema = &definition["outputSchema"];
    assert!(schema.is_object(), "{} has no output schema", tool.name());
    check_value(schema, output, tool.name());
}

/// Checks the part of JSON Schema that our schemas use, and that no member is undeclared.
fn check_value(schema: &Value, value: &Value, at: &str) {
    let is_right = match schema["type"].as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("{at}: unknown type {other}"),
    };
    assert!(is_right, "{at}: {value} is not {}", schema["type"]);
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{at}: {name} is missing in {value}");
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let declared = schema["properties"].get(name).or(schema.get("additionalProperties"));
        let declared = declared.unwrap_or_else(|| panic!("{at}: {name} is not declared"));
        check_value(declared, member, &format!("{at}.{name}"));
    }
    for item in value.as_array().into_iter().flatten() {
        check_value(&schema["items"], item, &format!("{at}[]"));
    }
}

fn round_trip_as<T: DeserializeOwned + Serialize>(value: &Value) -> Result<(Value, Value), String> {
    let read: T = serde_json::from_value(value.clone()).map_err(|flaw| flaw.to_string())?;
    let written = serde_json::to_value(read).map_err(|flaw| flaw.to_string())?;
    Ok((value.clone(), written))
}
