//! Schema of an upstream mount (`kind = "upstream"`), with secrets and variable expansion.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::units::TimeSpan;

/// An upstream MCP server: a program to start, or a URL.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UpstreamMount {
    pub(crate) command: Option<Spanned<CommandSetting>>,
    pub(crate) args: Vec<Spanned<Secret>>,
    pub(crate) env: BTreeMap<String, Spanned<Secret>>,
    /// Globs of the environment variables to inherit, besides the usual ones.
    pub(crate) inherit_env: Vec<String>,
    pub(crate) cwd: Option<Spanned<Secret>>,
    pub(crate) url: Option<Spanned<Secret>>,
    pub(crate) headers: BTreeMap<String, Spanned<Secret>>,
    pub(crate) poll: Option<TimeSpan>,
    pub(crate) prefix: Option<Spanned<bool>>,
    pub(crate) listing: Option<TimeSpan>,
    /// The protocol revision to speak, a date; without it refdesk negotiates.
    pub(crate) revision: Option<Spanned<String>>,
    pub(crate) tools: Option<Spanned<ToolsSetting>>,
    pub(crate) search: Option<Spanned<ServerSearchSettings>>,
}

/// The server's own search: a tool, or a template.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSearchSettings {
    pub(crate) tool: Option<Spanned<String>>,
    /// The argument of the tool that takes the query; `query` by default.
    pub(crate) argument: Option<Spanned<String>>,
    pub(crate) template: Option<Spanned<String>>,
}

/// How the tools of a server are offered: a word, or a selection.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"list\", \"search\", or a table with allow, deny, rename and offer"
)]
pub(crate) enum ToolsSetting {
    Word(ToolsOffer),
    Selection(SelectionSettings),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolsOffer {
    /// In the list of tools.
    #[default]
    List,
    /// By `tools_search` and `tools_call`.
    Search,
}

/// Which tools of a server are offered, under which names, and how.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SelectionSettings {
    pub(crate) allow: Option<Vec<String>>,
    pub(crate) deny: Vec<String>,
    pub(crate) rename: BTreeMap<String, String>,
    pub(crate) offer: ToolsOffer,
}

/// A program as a string, or with its arguments as an array.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum CommandSetting {
    One(Secret),
    Many(Vec<Secret>),
}

impl CommandSetting {
    /// The program and its arguments. A single text is split into words, unless a program has that
    /// very name.
    pub(crate) fn words(&self) -> Result<Vec<Secret>, &'static str> {
        match self {
            Self::Many(words) => Ok(words.clone()),
            Self::One(text) if Path::new(&text.0).is_file() => Ok(vec![text.clone()]),
            Self::One(text) => Ok(split_words(&text.0)?.into_iter().map(Secret).collect()),
        }
    }
}

/// A text that may hold a secret; `Debug` does not print it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Secret {
    /// Expands `${env:NAME}`, `${NAME}` and `${NAME:-default}` with the values of `variable`.
    /// The error is the name of a variable that is not set.
    pub(crate) fn expand(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<String, String> {
        let mut text = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            text.push_str(before);
            let Some((inside, behind)) = after.split_once('}') else {
                text.push_str("${");
                rest = after;
                continue;
            };
            let inside = inside.strip_prefix("env:").unwrap_or(inside);
            let (name, otherwise) = match inside.split_once(":-") {
                Some((name, otherwise)) => (name, Some(otherwise)),
                None => (inside, None),
            };
            let known = variable(name).or_else(|| otherwise.map(str::to_owned));
            text.push_str(&known.ok_or_else(|| name.to_owned())?);
            rest = behind;
        }
        text.push_str(rest);
        Ok(text)
    }
}

impl UpstreamMount {
    /// The location of `prefix = false`, if the mount sets it.
    pub(crate) fn unprefixed_span(&self) -> Option<Range<usize>> {
        self.prefix.as_ref().filter(|prefix| !prefix.get_ref()).map(Spanned::span)
    }

    /// Parses a server from the command line: a URL, or a program with its arguments.
    pub(crate) fn from_argument(text: &str) -> Result<Self, &'static str> {
        let secret = |text: String| Spanned::new(0..0, Secret(text));
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(Self { url: Some(secret(text.to_owned())), ..Self::default() });
        }
        let words = split_words(text)?;
        if words.is_empty() {
            return Err("expected a program or a URL");
        }
        let words = words.into_iter().map(Secret).collect();
        let command = Some(Spanned::new(0..0, CommandSetting::Many(words)));
        Ok(Self { command, ..Self::default() })
    }
}

/// Splits a line into words with shell quoting; no other shell syntax is supported.
fn split_words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("unclosed quote")? {
                        end if end == quote => break,
                        '\\' if quote == '"' => word.extend(letters.next()),
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            space if space.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::{CommandSetting, Secret, UpstreamMount, split_words};

    #[test]
    fn variables_are_filled_in_and_missing_ones_named() {
        let variable = |name: &str| (name == "TOKEN").then(|| "t0k".to_owned());
        let filled = |text: &str| Secret(text.to_owned()).expand(variable);
        for (text, told) in [
            ("Bearer ${env:TOKEN}", "Bearer t0k"),
            ("${TOKEN}${TOKEN}", "t0kt0k"),
            ("${NONE:-other}/${TOKEN:-x}", "other/t0k"),
            ("$TOKEN ${ open", "$TOKEN ${ open"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(told));
        }
        assert_eq!(filled("a ${env:NONE}"), Err("NONE".to_owned()));
        assert_eq!(format!("{:?}", Secret("s3cret".to_owned())), "…");
    }

    #[test]
    fn a_line_is_split_into_words() {
        let split = |line: &str| split_words(line).unwrap();
        assert_eq!(split("npx -y  'a b' c\"d e\"f"), ["npx", "-y", "a b", "cd ef"]);
        assert_eq!(split(r#"a\ b "\"" '' \\"#), ["a b", "\"", "", "\\"]);
        assert_eq!(split("  "), Vec::<String>::new());
        assert!(split_words("a 'b").is_err());
    }

    #[test]
    fn a_server_on_the_command_line_is_an_address_or_a_program() {
        let address = UpstreamMount::from_argument("https://mcp.example.com/mcp").unwrap();
        assert!(address.url.is_some() && address.command.is_none());
        let program = UpstreamMount::from_argument("npx -y server").unwrap();
        let Some(CommandSetting::Many(words)) = program.command.map(toml::Spanned::into_inner)
        else {
            panic!("a program");
        };
        assert_eq!(words.len(), 3);
        assert!(UpstreamMount::from_argument(" ").is_err());
    }
}
