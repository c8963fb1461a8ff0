//! `refdesk grep`: lines by a regular expression, as `file:line: text`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::args::GrepArgs;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::local_search::{FoundLine, compile};
use crate::output::{Output, Style, one_line, tell};

const TOOL: &str = "resources_grep";
/// How many matches one call of the tool returns at most.
const MAX_PER_CALL: usize = 1_000;

pub(super) async fn run(
    args: &GrepArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let pattern = compile(&args.pattern, args.ignore_case)?;
    let start = match &args.uri {
        Some(written) => Some(connection.resolve_uri(written).await?),
        None => None,
    };
    let mut printer = MatchPrinter {
        args,
        connection,
        output,
        found: 0,
        named: BTreeSet::new(),
        rows: Vec::new(),
    };
    // The tool of a refdesk searches collections; a single resource is read from here.
    let is_collection = match &start {
        Some(uri) if connection.peer.capabilities.has_metadata => {
            let about = |error| CommandError::about(uri.as_str(), error);
            connection.client.metadata(uri).await.map_err(about)?.0.listable != Some(false)
        }
        _ => true,
    };
    if is_collection && connection.is_refdesk() && connection.has_tool(TOOL).await? {
        printer.ask_server(start.as_ref().map(|uri| uri.as_str())).await?;
    } else {
        let wanted = (&pattern, args.context);
        connection.grep_here(start.as_ref(), wanted, |found| printer.print(&found)).await?;
    }
    let (found, rows) = (printer.found, printer.rows);
    if args.server.json {
        output.json(&json!({ "matches": rows }))?;
    }
    if found == 0 { Err(CommandError::NothingFound) } else { Ok(()) }
}

struct MatchPrinter<'a> {
    args: &'a GrepArgs,
    connection: &'a ServerConnection,
    output: &'a mut Output,
    found: usize,
    /// The resources that `--files` has printed.
    named: BTreeSet<String>,
    rows: Vec<Value>,
}

impl MatchPrinter<'_> {
    /// Follows the cursors of the server's own search.
    async fn ask_server(&mut self, start: Option<&str>) -> Result<(), CommandError> {
        let mut cursor: Option<String> = None;
        loop {
            let mut arguments = json!({
                "pattern": self.args.pattern,
                "ignore_case": self.args.ignore_case,
                "context": self.args.context,
                "max_matches": self.args.limit.saturating_sub(self.found).clamp(1, MAX_PER_CALL),
            });
            if let Some(start) = start {
                arguments["collection"] = start.into();
            }
            if let Some(cursor) = &cursor {
                arguments["cursor"] = cursor.as_str().into();
            }
            let result = self.connection.call_tool(TOOL, &arguments).await?;
            if result["isError"] == true {
                let words = crate::content::failure_words(&result, "");
                return Err(CommandError::Failed(words));
            }
            let answer = &result["structuredContent"];
            for found in decode_matches(answer) {
                if !self.print(&found)? {
                    return Ok(());
                }
            }
            match answer["cursor"].as_str() {
                Some(next) if cursor.as_deref() != Some(next) => cursor = Some(next.to_owned()),
                _ => return Ok(()),
            }
        }
    }

    fn print(&mut self, found: &FoundLine) -> Result<bool, CommandError> {
        if found.is_match {
            if self.found == self.args.limit {
                tell(&format!("there is more than {}; raise --limit", self.args.limit));
                return Ok(false);
            }
            self.found += 1;
        }
        let FoundLine { uri, line, text, is_match } = found;
        if self.args.server.json {
            self.rows.push(json!({ "uri": uri, "line": line, "text": text, "match": is_match }));
            return Ok(true);
        }
        let place = self.connection.place(uri);
        let place = self.output.paint(Style::Place, &place);
        if self.args.files {
            if *is_match && self.named.insert(uri.clone()) {
                self.output.line(&place)?;
            }
            return Ok(true);
        }
        let mark = if *is_match { ':' } else { '-' };
        self.output.line(&format!("{place}{mark}{line}{mark}{}", one_line(text)))?;
        Ok(true)
    }
}

/// The lines in an answer of the tool: by URI below a base, each with its number before it.
fn decode_matches(answer: &Value) -> Vec<FoundLine> {
    let base = answer["base"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for (key, lines) in answer["matches"].as_object().into_iter().flatten() {
        for line in lines.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let (Ok(number), Some(mark)) = (line[..digits].parse(), line[digits..].chars().next())
            else {
                continue;
            };
            found.push(FoundLine {
                uri: format!("{base}{key}"),
                line: number,
                text: line[digits + mark.len_utf8()..].to_owned(),
                is_match: mark == ':',
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::decode_matches;

    #[test]
    fn matches_of_the_tool_have_their_whole_uri_and_line() {
        let answer =
            json!({ "base": "file:///a/", "matches": { "x.rs": ["11-fn", "12:  a:b", "no"] } });
        let found = decode_matches(&answer);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].is_match), (11, false));
        assert_eq!((found[1].uri.as_str(), found[1].text.as_str()), ("file:///a/x.rs", "  a:b"));
    }
}
