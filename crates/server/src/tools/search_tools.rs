//! The tools `tools_search` and `tools_call`: find and call tools that the list leaves out.

use protocol::Reply;
use protocol::inbound::tool::arguments::{CallToolArguments, SearchToolsArguments};
use protocol::inbound::tool::output::{SearchToolsOutput, ToolRow};
use protocol::inbound::tool::{TextLines, ToolOutput, ToolResult};
use resource::{Component, ComponentKind, ErrorKind, Json, Page, PageRequest, Result};

use super::error_result;
use super::rows::{absent_sources, write_absences};
use crate::exchange::Exchange;
use crate::methods::components::{IdentityRewrite, call_relayed, require_relay};
use crate::server::Server;

/// The most tools that one search looks at, and how many it fetches at a time.
const MAX_TOOLS: usize = 10_000;
const PAGE_SIZE: usize = 1_000;

/// How much more a word counts in the name than in the description.
const NAME_WEIGHT: usize = 4;

/// The shortest word that an asked one may go on from.
const MIN_STEM: usize = 4;

/// The most words of a query that count.
const MAX_WORDS: usize = 16;

/// Finds tools by the words of a query.
pub(super) async fn search_tools(
    server: &Server,
    exchange: &Exchange,
    search: &SearchToolsArguments,
) -> Result<ToolResult> {
    let page = fetch_tools(server, exchange).await?;
    let mut words = words_of(search.query.as_deref().unwrap_or_default());
    words.truncate(MAX_WORDS);
    let rows = page.items.iter().map(|tool| ToolRow::new(tool));
    let mut found: Vec<(usize, ToolRow)> =
        rows.map(|row| (score(&row, &words), row)).filter(|(score, _)| *score > 0).collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let total = found.len();
    let most = usize::try_from(search.max_tools).unwrap_or(usize::MAX);
    let tools: Vec<ToolRow> = found.into_iter().take(most).map(|(_, row)| row).collect();
    let mut lines = TextLines::default();
    for tool in &tools {
        let about = tool.description.as_deref().unwrap_or_default();
        lines.push(&format!("{}: {about}", tool.name));
        if let Some(schema) = tool.schema_text() {
            lines.push(&format!("  inputSchema: {schema}"));
        }
    }
    match total {
        0 => lines.push("no tool matches; try other words, or no query for all tools"),
        _ if total > tools.len() => {
            lines.push(&format!("{} of {total} tools; more words find fewer", tools.len()));
        }
        _ => {}
    }
    let absent = absent_sources(page.absent);
    write_absences(&mut lines, &absent);
    let output = ToolOutput::SearchTools(SearchToolsOutput { tools, total, absent });
    Ok(ToolResult::with_text(lines, output))
}

/// Calls a tool by its name.
pub(super) async fn call_tool(
    server: &Server,
    exchange: &Exchange,
    call: &CallToolArguments,
    params: &Json,
) -> Result<Reply> {
    let inner = call.inner_params(params);
    let called = call_relayed(server, exchange, ComponentKind::Tool, &call.name, &inner).await;
    match called {
        Err(error) if matches!(error.kind, ErrorKind::Invalid | ErrorKind::Unavailable) => {
            Ok(Reply::ToolResult(error_result(server, exchange, error).await))
        }
        called => called,
    }
}

/// All tools that are found by search, up to a bound.
async fn fetch_tools(server: &Server, exchange: &Exchange) -> Result<Page<Component>> {
    let relay = require_relay(server)?;
    let mut all: Page<Component> = Page::empty();
    let mut ask = PageRequest::first(PAGE_SIZE);
    loop {
        let page = relay.list_searched_tools(&exchange.ctx, &IdentityRewrite, &ask).await?;
        all.items.extend(page.items);
        all.absent.extend(page.absent);
        if page.next.is_none() || all.items.len() >= MAX_TOOLS {
            return Ok(all);
        }
        ask.cursor = page.next;
    }
}

/// How well a tool matches: by the words that its name and its description share with the query.
/// Without words every tool matches.
fn score(tool: &ToolRow, words: &[String]) -> usize {
    if words.is_empty() {
        return 1;
    }
    let name = words_of(&tool.name);
    let about = words_of(tool.description.as_deref().unwrap_or_default());
    let hit = |all: &[String], word: &String| all.iter().any(|one| is_same_word(one, word));
    let points = |word: &String| {
        NAME_WEIGHT * usize::from(hit(&name, word)) + usize::from(hit(&about, word))
    };
    words.iter().map(points).sum()
}

/// Whether one is the beginning of the other, as of `ticket` and `tickets`. A short word of a tool
/// is not: `is` begins too many.
fn is_same_word(tools: &str, asked: &str) -> bool {
    tools.starts_with(asked) || tools.chars().count() >= MIN_STEM && asked.starts_with(tools)
}

/// The words of a text in lower case. `createIssue` is two.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_in_word = false;
    let mut was_lower = false;
    for letter in text.chars() {
        let starts_word = !is_in_word || (was_lower && letter.is_uppercase());
        is_in_word = letter.is_alphanumeric();
        was_lower = letter.is_lowercase();
        if !is_in_word {
            continue;
        }
        if starts_word {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use protocol::inbound::tool::output::ToolRow;
    use resource::Component;

    use super::{score, words_of};

    fn tool(name: &str, about: &str) -> ToolRow {
        let json = format!("{{\"name\":\"{name}\",\"description\":\"{about}\"}}").into();
        ToolRow::new(&Component { name: name.to_owned(), json })
    }

    #[test]
    fn words_are_split_at_marks_and_capitals() {
        assert_eq!(words_of("hub_createIssue-v2 Übung"), ["hub", "create", "issue", "v2", "übung"]);
        assert_eq!(words_of(" "), [""; 0]);
    }

    #[test]
    fn a_name_counts_more_than_a_description() {
        let words = words_of("create issues");
        let [named, told, other] = [
            tool("hub_create_issue", "New"),
            tool("hub_new", "creates an issue"),
            tool("hub_list", "lists"),
        ]
        .map(|tool| score(&tool, &words));
        assert!(named > told && told > other && other == 0, "{named} {told} {other}");
        assert!(score(&tool("x", ""), &[]) > 0);
    }
}
