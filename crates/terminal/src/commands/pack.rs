//! `refdesk pack`: what answers a question, as Markdown to pipe into any model, or as JSON.

use serde_json::{Value, json};

use crate::args::PackArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::output::{Output, one_line, tell};

const TOOL: &str = "resources_pack";

pub(super) async fn run(
    args: &PackArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    if !connection.has_tool(TOOL).await? {
        return Err(CommandError::Failed(
            "this server makes no packs; put it behind refdesk: refdesk serve --mount NAME=SERVER, \
             with `index = true` for the mount"
                .to_owned(),
        ));
    }
    let question = args.question.join(" ");
    let arguments = json!({ "question": question, "budget": args.budget });
    let result = connection.call_tool(TOOL, &arguments).await?;
    if result["isError"] == true {
        return Err(CommandError::Failed(crate::content::failure_words(&result, &question)));
    }
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    let resources: Vec<&Value> =
        blocks.iter().map(|block| &block["resource"]).filter(|part| part.is_object()).collect();
    if args.server.json {
        output.json(&json!({ "question": question, "budget": args.budget, "content": blocks }))?;
    } else {
        for part in &resources {
            print_part(output, part)?;
        }
        for words in blocks.iter().filter_map(|block| block["text"].as_str()) {
            // What was chosen and left out is for the person, not for the model that reads on.
            words.lines().for_each(tell);
        }
    }
    if resources.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}

/// A resource as a section of Markdown, in a fence that its text cannot close.
pub(crate) fn print_part(output: &mut Output, part: &Value) -> Result<(), CommandError> {
    let uri = one_line(part["uri"].as_str().unwrap_or_default());
    let text = part["text"].as_str().unwrap_or_default();
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    output.line(&format!("## {uri}\n\n{fence}\n{text}{end}{fence}\n"))
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::longest_run;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!([longest_run("a"), longest_run("``` x ````"), longest_run("")], [0, 4, 0]);
    }
}
