//! Parsers of configuration syntaxes: from text to a tree, within bounds.
//!
//! An error says where, and never what stands there: it could be a secret.

mod dotenv;
mod hcl;
mod ini;
mod json;
mod properties;
mod toml;
mod yaml;

use std::fmt;

use redaction::Syntax;

use super::tree::ConfigNode;

/// The most values of one file, those that aliases repeat included.
pub(super) const MAX_NODES: usize = 200_000;

/// The deepest nesting of values.
pub(super) const MAX_DEPTH: usize = 100;

/// How a configuration file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigSyntax {
    Toml,
    Yaml,
    Json,
    Json5,
    Ini,
    Dotenv,
    Properties,
    Hcl,
}

/// Where and why a file cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParseFailure {
    line: usize,
    column: usize,
    reason: FailureReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureReason {
    Syntax(&'static str),
    TooManyValues,
    TooDeep,
}

/// The values that a file may still have.
struct NodeBudget(usize);

impl ConfigSyntax {
    /// The syntax of the file at `path`, by its name.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        if name == ".env" || name.starts_with(".env.") || name == ".envrc" {
            return Some(Self::Dotenv);
        }
        match name.as_str() {
            "cargo.lock" | "poetry.lock" | "uv.lock" | "pipfile" => return Some(Self::Toml),
            ".gitconfig" | ".gitmodules" | ".editorconfig" | ".npmrc" | ".pypirc" => {
                return Some(Self::Ini);
            }
            _ => {}
        }
        match name.rsplit_once('.')?.1 {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "jsonc" | "json5" => Some(Self::Json5),
            "ini" | "cfg" | "cnf" | "service" | "desktop" => Some(Self::Ini),
            "env" => Some(Self::Dotenv),
            "properties" => Some(Self::Properties),
            "hcl" | "tf" | "tfvars" | "nomad" => Some(Self::Hcl),
            _ => None,
        }
    }

    /// The MIME type of a file.
    pub(super) fn mime(self) -> &'static str {
        match self {
            Self::Toml => "application/toml",
            Self::Yaml => "application/yaml",
            Self::Json => "application/json",
            Self::Json5 => "application/json5",
            Self::Ini | Self::Dotenv => "text/plain",
            Self::Properties => "text/x-java-properties",
            Self::Hcl => "text/x-hcl",
        }
    }

    /// A file name of this syntax that every other part of the program takes for it.
    pub(super) fn typical_name(self) -> &'static str {
        match self {
            Self::Toml => "x.toml",
            Self::Yaml => "x.yaml",
            Self::Json => "x.json",
            Self::Json5 => "x.json5",
            Self::Ini => "x.ini",
            Self::Dotenv => ".env",
            Self::Properties => "x.properties",
            Self::Hcl => "x.hcl",
        }
    }

    /// The syntax by which a text of this one is masked.
    pub(super) fn redaction_syntax(self) -> Syntax {
        Syntax::of_path(self.typical_name())
    }

    /// Parses `text`.
    pub(super) fn parse(self, text: &str) -> Result<ConfigNode, ParseFailure> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let budget = NodeBudget(MAX_NODES);
        match self {
            Self::Toml => toml::parse(text, budget),
            Self::Yaml => yaml::parse(text, budget),
            Self::Json | Self::Json5 => json::parse(text, budget),
            Self::Ini => ini::parse(text, budget),
            Self::Dotenv => dotenv::parse(text, budget),
            Self::Properties => properties::parse(text, budget),
            Self::Hcl => hcl::parse(text, budget),
        }
    }
}

impl ParseFailure {
    /// Not valid in `syntax`, at this line and column, counted from 1.
    fn syntax(syntax: &'static str, (line, column): (usize, usize)) -> Self {
        Self { line, column, reason: FailureReason::Syntax(syntax) }
    }

    /// Whether the text is over a bound, not wrong.
    pub(super) fn is_bound(&self) -> bool {
        !matches!(self.reason, FailureReason::Syntax(_))
    }
}

impl fmt::Display for ParseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        match self.reason {
            FailureReason::Syntax(syntax) => write!(f, "this is not valid {syntax}"),
            FailureReason::TooManyValues => {
                write!(f, "more than {MAX_NODES} values, repeated ones included; split the file")
            }
            FailureReason::TooDeep => write!(f, "values are nested deeper than {MAX_DEPTH}"),
        }
    }
}

impl NodeBudget {
    /// Takes `count` values of the budget, at `line`.
    fn take(&mut self, count: usize, line: usize) -> Result<(), ParseFailure> {
        let left = self.0.checked_sub(count);
        let over = ParseFailure { line, column: 1, reason: FailureReason::TooManyValues };
        self.0 = left.ok_or(over)?;
        Ok(())
    }

    /// Fails at a depth over the limit.
    fn check_depth(depth: usize, line: usize) -> Result<(), ParseFailure> {
        let over = ParseFailure { line, column: 1, reason: FailureReason::TooDeep };
        (depth <= MAX_DEPTH).then_some(()).ok_or(over)
    }
}

/// The lines of a text, by byte offset.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect())
    }

    /// The line of the byte at `offset`, counted from 1.
    fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }

    /// Line and column of the byte at `offset`, counted from 1. The column counts bytes.
    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        (line, offset - self.0[line - 1] + 1)
    }
}

#[cfg(test)]
mod tests;
