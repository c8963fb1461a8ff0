//! `refdesk call`: calls a tool, with arguments checked by its schema.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::args::CallArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::output::{Output, Style, one_line, visible};
use crate::table::{self, Cell};
use crate::tool_arguments::{check_arguments, parse_arguments, unknown_words};
use crate::tools::ToolDescription;

/// How much of standard input is read for `--input -`.
const MAX_INPUT: u64 = 16 << 20;

pub(super) async fn run(
    args: &CallArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let tools = connection.tools().await?;
    let Some(name) = &args.tool else { return print_tools(args, output, tools) };
    let tool = tools.iter().find(|tool| tool.name == *name).ok_or_else(|| {
        let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        CommandError::NotFound(unknown_words(name, names.iter()))
    })?;
    let arguments = match &args.input {
        Some(input) => read_input(input, tool.schema())?,
        None => parse_arguments(&args.arguments, tool.schema())?,
    };
    let result = connection.call_for_person(name, &arguments).await?;
    if args.server.json {
        output.json(&result)?;
    } else {
        print_result(output, &result)?;
    }
    match result["isError"] == true {
        true => {
            output.finish()?;
            Err(CommandError::Failed(format!("the tool {name} says that it failed")))
        }
        false => Ok(()),
    }
}

fn read_input(input: &str, schema: &Value) -> Result<Value, CommandError> {
    let mut text = input.to_owned();
    if input == "-" {
        text.clear();
        std::io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text)?;
    }
    let arguments = serde_json::from_str(&text)
        .map_err(|error| CommandError::Usage(format!("--input is not JSON: {error}")))?;
    check_arguments(&arguments, schema)?;
    Ok(arguments)
}

fn print_tools(
    args: &CallArgs,
    output: &mut Output,
    tools: &[ToolDescription],
) -> Result<(), CommandError> {
    if args.server.json {
        let tools: Vec<&Value> = tools.iter().map(|tool| &tool.json).collect();
        return output.json(&json!({ "tools": tools }));
    }
    let row = |tool: &ToolDescription| {
        let first = tool.description().lines().next().unwrap_or_default();
        vec![
            Cell::styled(Style::Collection, one_line(&tool.name)),
            Cell::styled(Style::Dim, one_line(&argument_names(tool.schema()))),
            Cell::text(one_line(first)),
        ]
    };
    let rows: Vec<Vec<Cell>> = tools.iter().map(row).collect();
    for line in table::lines(output, &rows) {
        output.line(&line)?;
    }
    if tools.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}

/// The required arguments of a tool, and how many others there are.
fn argument_names(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let all = schema["properties"].as_object().map_or(0, serde_json::Map::len);
    let others = all.saturating_sub(required.len());
    let mut text: Vec<String> = required.iter().map(|name| format!("{name}=")).collect();
    if others > 0 {
        text.push(format!("[{others} more]"));
    }
    text.join(" ")
}

/// Prints content blocks: texts as they are, the rest in a line each.
fn print_result(output: &mut Output, result: &Value) -> Result<(), CommandError> {
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    let has_text = blocks.iter().any(|block| block["type"] == "text");
    for block in &blocks {
        let shown = match block["type"].as_str() {
            Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
            Some("resource") => match block["resource"]["text"].as_str() {
                Some(text) => text.to_owned(),
                None => blob_words(&block["resource"], "blob"),
            },
            Some("resource_link") => block["uri"].as_str().unwrap_or_default().to_owned(),
            Some("image" | "audio") => blob_words(block, "data"),
            _ => block.to_string(),
        };
        let shown = if output.is_terminal { visible(&shown) } else { shown };
        output.line(shown.trim_end_matches('\n'))?;
    }
    if !has_text && !result["structuredContent"].is_null() {
        output.json(&result["structuredContent"])?;
    }
    Ok(())
}

fn blob_words(block: &Value, member: &str) -> String {
    let mime = one_line(block["mimeType"].as_str().unwrap_or("a blob"));
    let bytes = block[member].as_str().unwrap_or_default().len() as u64 / 4 * 3;
    format!("[{mime}, {} bytes; --json has it]", table::size(bytes))
}
