//! Placement lint of lines that no single word tells: error codes, lines of the log, conversions to
//! refusals, and names that are passed on.

use super::contains_word;
use crate::house::Violation;
use crate::house::sources::SourceFile;

/// The types of protocol that client passes on: results decoded into types of resource, and the
/// JSON-RPC error that `client::Error` carries.
const CLIENT_REEXPORTS: [&str; 2] = [
    "pub use protocol::RpcError;",
    "pub use protocol::outbound::decode::{ContentElement, DecodedPage, ReadResult};",
];

const CODES: &str = "1: JSON-RPC error codes stand only in protocol/json/error_code and in doctor";
const REEXPORTS: &str = "11: client passes on no other names of protocol";
const SENTENCES: &str = "12: a line of the log at `warn` or `error` is a sentence, without fields";
const REFUSALS: &str = "8: only one function converts an error to a refusal";

/// Finds JSON-RPC error codes, such as minus 32602, where none are defined.
pub(super) fn error_codes(source: &SourceFile) -> Vec<Violation> {
    let rooms = ["crates/protocol/src/json/error_code", "crates/doctor"];
    if rooms.iter().any(|room| source.is_under(room)) {
        return Vec::new();
    }
    let is_code = |line: &str| {
        let plain = line.replace('_', "");
        plain.match_indices("-32").any(|(at, found)| {
            let rest = &plain[at + found.len()..];
            rest.chars().take_while(char::is_ascii_digit).count() == 3
        })
    };
    let lines = source.program_lines().filter(|(_, line)| is_code(line));
    lines.map(|(number, _)| source.violation(number, CODES)).collect()
}

/// Finds lines of the log for people that have fields beside their words, or dump a value.
pub(super) fn log_fields(source: &SourceFile) -> Vec<Violation> {
    let has_field = |line: &str| {
        ["tracing::warn!(", "tracing::error!("].iter().any(|call| {
            let plain = |rest: &str| {
                let target = rest.strip_prefix("target: ").and_then(|rest| rest.split_once(", "));
                let rest = target.map_or(rest, |(_, rest)| rest);
                rest.is_empty() || rest.starts_with('"')
            };
            line.split(call).skip(1).any(|rest| !plain(rest))
        })
    };
    let lines = source.program_lines().filter(|(_, line)| has_field(line));
    lines.map(|(number, _)| source.violation(number, SENTENCES)).collect()
}

/// Finds every public function but the first that converts an error to a refusal.
pub(super) fn refusal_conversions(source: &SourceFile) -> Vec<Violation> {
    if !source.is_under("crates/protocol/src/inbound/refusal") {
        return Vec::new();
    }
    let lines: Vec<(usize, &str)> = source.program_lines().collect();
    let takes_error = |index: usize| {
        let signature: String = lines[index..]
            .iter()
            .scan(false, |ended, (_, line)| {
                let goes_on = !*ended;
                *ended = line.contains('{') || line.contains(';');
                goes_on.then_some(*line)
            })
            .collect();
        let arguments = signature.split("->").next().unwrap_or_default();
        let is_function = signature.trim_start().starts_with("pub fn");
        let is_conversion =
            signature.starts_with("impl From<") && signature.contains("for Refusal");
        (is_function || is_conversion) && contains_word(arguments, "Error")
    };
    let makers = (0..lines.len()).filter(|index| takes_error(*index));
    makers.skip(1).map(|index| source.violation(lines[index].0, REFUSALS)).collect()
}

/// Finds names of protocol that client exports, other than the listed ones.
pub(super) fn protocol_reexports(source: &SourceFile) -> Vec<Violation> {
    if !source.is_under("crates/client/src") {
        return Vec::new();
    }
    let is_export = |line: &str| {
        let line = line.trim();
        let exports = line.starts_with("pub use") || line.starts_with("pub type");
        exports && contains_word(line, "protocol") && !CLIENT_REEXPORTS.contains(&line)
    };
    let lines = source.program_lines().filter(|(_, line)| is_export(line));
    lines.map(|(number, _)| source.violation(number, REEXPORTS)).collect()
}
