//! Tools and prompts: names, schemas, sizes, and calls of names that do not exist.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::schema::schema_fault;
use super::{MISSING_NAME, Visit};
use crate::plain_text::{plain, plain_json};

/// How many tokens one tool may have without a word about it.
const MAX_TOOL_TOKENS: u64 = 2_000;
/// How many tokens all tools may have without a word about it.
const MAX_LIST_TOKENS: u64 = 10_000;
/// The longest name.
const MAX_NAME: usize = 128;

impl Visit<'_> {
    pub(super) async fn check_tools(&mut self) {
        let tools = std::mem::take(&mut self.tools);
        let mut total = 0;
        for tool in &tools {
            let name = tool["name"].as_str().unwrap_or_default();
            self.check_tool(name, tool);
            let tokens = resource::tokens::estimate(&tool.to_string());
            total += tokens;
            self.log.judge_at("tool-size", name, tokens <= MAX_TOOL_TOKENS, || {
                format!("it has about {tokens} tokens")
            });
        }
        if !tools.is_empty() {
            self.log.judge("tools-size", total <= MAX_LIST_TOKENS, || {
                format!("{} tools have about {total} tokens", tools.len())
            });
        }
        self.tools = tools;
        self.check_unknown_names().await;
    }

    fn check_tool(&mut self, name: &str, tool: &Value) {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let is_name = (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_letter);
        self.log.judge_at("tool-name", name, is_name, || {
            format!("the name is {}", plain_json(&tool["name"]))
        });
        let is_described = tool["description"].as_str().is_some_and(|text| !text.trim().is_empty());
        // A description that is no text breaks a rule of its own.
        let is_text = tool.get("description").is_none_or(Value::is_string);
        self.log.judge_at("tool-description", name, is_described || !is_text, || {
            "there is no description".to_owned()
        });
        self.check_input(name, &tool["inputSchema"]);
        if self.revision.has_output_schema() {
            self.check_output(name, tool.get("outputSchema"));
        }
        if self.revision.has_tool_annotations() {
            self.check_hints(name, &tool["annotations"]);
        }
    }

    fn check_input(&mut self, name: &str, schema: &Value) {
        let is_object = schema["type"].as_str() == Some("object");
        self.log.judge_at("tool-input-schema", name, is_object, || {
            format!("inputSchema is {}", plain_json(schema))
        });
        if !is_object {
            return;
        }
        let fault = schema_fault(schema);
        self.log.judge_at("tool-schema-valid", name, fault.is_none(), || {
            format!("inputSchema: {}", plain(&fault.unwrap_or_default()))
        });
        let required = schema["required"].as_array().into_iter().flatten();
        let names: HashSet<&str> = required.filter_map(Value::as_str).collect();
        let missing = names.into_iter().find(|name| schema["properties"].get(name).is_none());
        self.log.judge_at("tool-required", name, missing.is_none(), || {
            format!("{} is no property", plain(missing.unwrap_or_default()))
        });
    }

    fn check_output(&mut self, name: &str, schema: Option<&Value>) {
        let Some(schema) = schema else { return };
        let is_schema = schema.is_object()
            && (!self.revision.needs_object_output() || schema["type"].as_str() == Some("object"));
        self.log.judge_at("tool-output-schema", name, is_schema, || {
            format!("outputSchema is {}", plain_json(schema))
        });
        let fault = schema_fault(schema).filter(|_| is_schema);
        self.log.judge_at("tool-schema-valid", name, fault.is_none(), || {
            format!("outputSchema: {}", plain(&fault.unwrap_or_default()))
        });
    }

    fn check_hints(&mut self, name: &str, hints: &Value) {
        if hints.is_null() {
            return;
        }
        let names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let is_flag = |hint: &str| hints.get(hint).is_none_or(Value::is_boolean);
        let is_right = hints.is_object()
            && names.into_iter().all(is_flag)
            && hints.get("title").is_none_or(Value::is_string);
        self.log.judge_at("tool-annotations", name, is_right, || {
            format!("annotations is {}", plain_json(hints))
        });
    }

    async fn check_unknown_names(&mut self) {
        let probes =
            [("tools", "tools/call", "unknown-tool"), ("prompts", "prompts/get", "unknown-prompt")];
        for (capability, method, rule) in probes {
            if self.capability(capability).is_none() {
                self.log.skipped(rule, format!("the server offers no {capability}"));
                continue;
            }
            let params = json!({ "name": MISSING_NAME, "arguments": {} });
            let reply = self.talk.request(method, params).await;
            if !reply.is_nothing() {
                self.log.judge(rule, reply.code() == Some(-32602), || {
                    format!("{MISSING_NAME} got {}", reply.describe())
                });
            }
        }
    }
}
