//! `refdesk search`: passages by words or by meaning.

use serde_json::{Value, json};

use crate::args::SearchArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::local_search::compile;
use crate::output::{Output, Style, one_line, tell};

const TOOL: &str = "resources_search";
/// What the tool puts around a match.
const MARK: &str = "**";

pub(super) async fn run(
    args: &SearchArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let query = args.query.join(" ");
    if connection.has_tool(TOOL).await? {
        return ask_server(args, connection, output, &query).await;
    }
    if args.mode.as_deref().is_some_and(|mode| mode != "words") {
        let words = "this server has no search by meaning; leave out --mode";
        return Err(CommandError::Usage(words.to_owned()));
    }
    search_here(args, connection, output, &query).await
}

async fn ask_server(
    args: &SearchArgs,
    connection: &ServerConnection,
    output: &mut Output,
    query: &str,
) -> Result<(), CommandError> {
    let mut arguments = json!({ "query": query, "limit": args.limit });
    if let Some(mode) = &args.mode {
        arguments["mode"] = mode.as_str().into();
    }
    let result = connection.call_tool(TOOL, &arguments).await?;
    if result["isError"] == true {
        return Err(CommandError::Failed(crate::content::failure_words(&result, query)));
    }
    let answer = &result["structuredContent"];
    let base = answer["base"].as_str().unwrap_or_default();
    let mut hits = answer["hits"].as_array().cloned().unwrap_or_default();
    for hit in &mut hits {
        hit["uri"] = format!("{base}{}", hit["uri"].as_str().unwrap_or_default()).into();
    }
    for name in ["note", "suggestion", "coverage"] {
        if let Some(words) = answer[name].as_str() {
            tell(words);
        }
    }
    for absent in answer["absent"].as_array().into_iter().flatten() {
        let text = |name: &str| one_line(absent[name].as_str().unwrap_or_default());
        tell(&format!("not reached: {} ({})", text("what"), text("why")));
    }
    if args.server.json {
        output.json(&json!({ "hits": hits }))?;
    } else {
        hits.iter().try_for_each(|hit| print_hit(connection, output, hit))?;
    }
    if hits.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}

fn print_hit(
    connection: &ServerConnection,
    output: &mut Output,
    hit: &Value,
) -> Result<(), CommandError> {
    let uri = hit["uri"].as_str().unwrap_or_default();
    let line = hit["start_line"].as_u64().unwrap_or(1);
    let place = format!("{}:{line}", connection.place(uri));
    let heading =
        hit["where"].as_str().map_or_else(String::new, |words| format!(": {}", one_line(words)));
    let from = hit["from"].as_str();
    let from = from.map_or_else(String::new, |mount| format!(" [from {}]", one_line(mount)));
    output.line(&format!("{}{heading}{from}", output.paint(Style::Place, &place)))?;
    let snippet = one_line(hit["snippet"].as_str().unwrap_or_default());
    let painted: String = snippet
        .split(MARK)
        .enumerate()
        .map(|(at, piece)| match at % 2 {
            1 => output.paint(Style::Match, piece),
            _ => piece.to_owned(),
        })
        .collect();
    output.line(&format!("    {painted}"))
}

/// Lines that have the most of the words, read from here.
async fn search_here(
    args: &SearchArgs,
    connection: &ServerConnection,
    output: &mut Output,
    query: &str,
) -> Result<(), CommandError> {
    tell("this server has no search; refdesk reads its resources and looks for the words");
    let words: Vec<String> = query.split_whitespace().map(escape).collect();
    let pattern = compile(&words.join("|"), true)?;
    let one_by_one: Vec<_> =
        words.iter().map(|word| compile(word, true)).collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    let wanted = (&pattern, 0);
    connection
        .grep_here(None, wanted, |line| {
            let count = one_by_one.iter().filter(|word| word.is_match(line.text.as_str())).count();
            found.push((count, line));
            Ok(found.len() < 10_000)
        })
        .await?;
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.truncate(args.limit);
    let hits: Vec<Value> = found
        .iter()
        .map(|(_, line)| json!({ "uri": line.uri, "start_line": line.line, "snippet": line.text.trim() }))
        .collect();
    if args.server.json {
        output.json(&json!({ "hits": hits }))?;
    } else {
        hits.iter().try_for_each(|hit| print_hit(connection, output, hit))?;
    }
    if hits.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}

/// A word as an expression that matches it and nothing else.
fn escape(word: &str) -> String {
    let mut escaped = String::new();
    for letter in word.chars() {
        if letter.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
