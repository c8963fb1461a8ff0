//! Placement lint: which code may appear in which folder, recognised by words.
//!
//! The checks, as far as a search for words can decide them.

mod lines;

use self::lines::{error_codes, log_fields, protocol_reexports, refusal_conversions};
use super::Violation;
use super::sources::SourceFile;

/// Words that may appear only under some paths.
#[derive(Debug)]
pub struct PlacementRule {
    /// The rule, as a sentence.
    pub sentence: &'static str,
    /// The words that identify an offending line.
    pub words: &'static [&'static str],
    /// The paths where such a line is allowed.
    pub allowed_paths: &'static [&'static str],
}

/// The rules for `crates/`, in the order of their numbers.
pub const RULES: &[PlacementRule] = &[
    PlacementRule {
        sentence: "1: method names and JSON-RPC members appear only in protocol, and in doctor, which \
                   checks the wire of others",
        words: &[
            "jsonrpc",
            "\"initialize\"",
            "\"ping\"",
            "\"server/discover\"",
            "\"resources/",
            "\"tools/",
            "\"prompts/",
            "\"completion/",
            "\"subscriptions/",
            "\"notifications/",
            "\"logging/",
            "\"roots/",
            "\"elicitation/",
            "\"sampling/",
        ],
        allowed_paths: &["crates/protocol", "crates/doctor"],
    },
    PlacementRule {
        sentence: "2: only these compare revisions: protocol/revision, protocol/inbound/shape and \
                   server/lifecycle",
        words: &[
            "Revision::V*",
            "revision ==",
            "revision !=",
            "revision <",
            "revision >",
            "match revision",
            "match self.revision",
            "matches!(revision",
        ],
        allowed_paths: &[
            "crates/protocol/src/revision",
            "crates/protocol/src/inbound/shape",
            "crates/server/src/lifecycle",
        ],
    },
    PlacementRule {
        sentence: "3: only protocol, client, terminal and cli serialize what a peer sees, and \
                   upstream/stat the time at which it fetched something",
        words: &["Serialize", "base64_simd", "humantime::format*"],
        allowed_paths: &[
            "crates/protocol",
            "crates/client",
            "crates/cli",
            "crates/terminal",
            "crates/providers/src/upstream/stat",
        ],
    },
    PlacementRule {
        sentence: "3: only protocol, client (raw pass-through), terminal, cli, doctor (the wire of others), \
                   convert (JSON documents) and embedding (files of models, its own wire format) \
                   know JSON",
        words: &["serde_json", "json!"],
        allowed_paths: &[
            "crates/protocol",
            "crates/client",
            "crates/cli",
            "crates/terminal",
            "crates/doctor",
            "crates/convert",
            "crates/embedding/src/model",
            "crates/embedding/src/remote/wire",
        ],
    },
    PlacementRule {
        sentence: "4: only providers, transports, the index, embedding/{model,store}, testkit/fuzz \
                   (its own memory), terminal and cli open files, sockets and processes",
        words: &[
            "std::fs",
            "tokio::fs",
            "fs::read*",
            "fs::write",
            "File::open",
            "File::create",
            "TcpListener",
            "TcpStream",
            "UnixListener",
            "UnixStream",
            "Command::new",
            "cap_std",
        ],
        allowed_paths: &[
            "crates/providers/src/*/*",
            "crates/*/src/transport",
            "crates/search/src/index",
            "crates/convert/src/pdf/poppler",
            "crates/embedding/src/model",
            "crates/embedding/src/store",
            "crates/testkit/src/fuzz",
            "crates/cli",
            "crates/terminal",
        ],
    },
    PlacementRule {
        sentence: "5: Fs is named only in its own folder and in cli/assemble",
        words: &["Fs"],
        allowed_paths: &[
            "crates/providers/src/fs",
            "crates/providers/src/lib",
            "crates/providers/src/config/tests",
            "crates/providers/src/docs/tests",
            "crates/cli/src/assemble",
        ],
    },
    PlacementRule {
        sentence: "5: Documentation is named only in its own folder and in cli/assemble",
        words: &["Documentation::new"],
        allowed_paths: &["crates/providers/src/docs", "crates/cli/src/assemble"],
    },
    PlacementRule {
        sentence: "5: ConfigFiles is named only in its own folder and in cli/assemble",
        words: &["ConfigFiles"],
        allowed_paths: &[
            "crates/providers/src/config",
            "crates/providers/src/lib",
            "crates/cli/src/assemble",
        ],
    },
    PlacementRule {
        sentence: "5: EnvVariables is named only in its own folder and in cli/assemble",
        words: &["EnvVariables"],
        allowed_paths: &[
            "crates/providers/src/env",
            "crates/providers/src/lib",
            "crates/cli/src/assemble",
        ],
    },
    PlacementRule {
        sentence: "5: Statics is named only in its own folder and in cli/assemble",
        words: &["Statics"],
        allowed_paths: &[
            "crates/providers/src/statics",
            "crates/providers/src/lib",
            "crates/cli/src/assemble",
        ],
    },
    PlacementRule {
        sentence: "5: Upstream is named only in its own folder and in cli/assemble",
        words: &["Upstream"],
        allowed_paths: &[
            "crates/providers/src/upstream",
            "crates/providers/src/lib",
            "crates/cli/src/assemble",
        ],
    },
    PlacementRule {
        sentence: "6: only catalog/address adds a mount's name to a URI or removes it",
        words: &["://{mount*", ":///{mount*", "://{name*", ":///{name*", "file:///{}"],
        // The name of a mount in a search is what is searched, and no address.
        allowed_paths: &["crates/catalog/src/address", "crates/search/src/provider"],
    },
    PlacementRule {
        sentence: "7: only catalog/layers/allowed and the providers deny access",
        words: &["new(ErrorKind::Denied"],
        allowed_paths: &[
            "crates/resource",
            "crates/catalog/src/layers/allowed",
            "crates/providers/src/*/*",
        ],
    },
    PlacementRule {
        sentence: "9: only these use tasks, sleep and the clock: subscriptions, \
                   machinery/{cache,work_pool}, \
                   providers/{config/watch,file_watch,fs/budget,permits,upstream/{poll,starting,watch}}, \
                   search/{index,keeper,service}, embedding/remote, \
                   transports, client/{reconnect,listen}, \
                   server/{baskets,clients,mount_contents,rate_limit,watchers}, \
                   server/tools/{grep,list,resolve,suggest}, catalog/changes, \
                   layers, testkit/contract, terminal and cli",
        words: &[
            "tokio::spawn",
            "task::spawn",
            "thread::spawn",
            "JoinSet",
            "time::sleep",
            concat!("thread", "::sleep"),
            "time::timeout",
            "time::interval",
            "Instant::now",
        ],
        allowed_paths: &[
            "crates/subscriptions",
            "crates/machinery/src/cache",
            "crates/machinery/src/work_pool",
            "crates/providers/src/config/watch",
            "crates/providers/src/file_watch",
            "crates/providers/src/fs/budget",
            "crates/providers/src/permits",
            "crates/providers/src/upstream/poll",
            "crates/providers/src/upstream/starting",
            "crates/providers/src/upstream/watch",
            "crates/search/src/index",
            "crates/search/src/keeper",
            "crates/search/src/service",
            "crates/embedding/src/remote",
            "crates/*/src/transport",
            "crates/catalog/src/changes",
            "crates/catalog/src/layers/allowed",
            "crates/catalog/src/layers/rendered",
            "crates/catalog/src/layers/timed",
            "crates/catalog/src/layers/redacted",
            "crates/catalog/src/layers/cached",
            "crates/catalog/src/layers/unpacked",
            "crates/catalog/src/layers/withheld",
            "crates/server/src/baskets",
            "crates/server/src/clients",
            "crates/server/src/mount_contents",
            "crates/server/src/rate_limit",
            "crates/server/src/watchers",
            "crates/server/src/tools/grep",
            "crates/server/src/tools/list",
            "crates/server/src/tools/resolve",
            "crates/server/src/tools/suggest",
            "crates/client/src/reconnect",
            "crates/client/src/listen",
            "crates/testkit/src/contract",
            "crates/cli",
            "crates/terminal",
        ],
    },
    PlacementRule {
        sentence: "9: only cli, terminal, the providers (age of their stamps), the hub (last change), the search \
                   (age of hits and of indexes), the signed requestState and access tokens (expiry), \
                   and the client registry (when a client was last seen) read the date",
        words: &["SystemTime::now"],
        allowed_paths: &[
            "crates/providers/src/*/*",
            "crates/subscriptions/src/hub",
            "crates/search/src/index",
            "crates/search/src/service",
            "crates/server/src/clients",
            "crates/server/src/request_state",
            "crates/server/src/transport/http/tokens",
            "crates/cli",
            "crates/terminal",
        ],
    },
    PlacementRule {
        sentence: "10: only cli, terminal and testkit/fuzz read the environment, only cli and terminal print",
        words: &[
            "std::env",
            "env::var*",
            "env::args*",
            "print!",
            "println!",
            "eprint!",
            "eprintln!",
            "process::exit",
        ],
        allowed_paths: &["crates/cli", "crates/terminal", "crates/testkit/src/fuzz"],
    },
    PlacementRule {
        sentence: "11: only client, server, terminal and cli name protocol",
        words: &["protocol::"],
        allowed_paths: &[
            "crates/protocol",
            "crates/client",
            "crates/server",
            "crates/cli",
            "crates/terminal",
        ],
    },
];

/// Finds the violations of the checks in one file.
pub fn check(source: &SourceFile) -> Vec<Violation> {
    // These files contain the words because they search for them.
    if !source.is_under("crates") || source.is_under("crates/testkit/src/house") {
        return Vec::new();
    }
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule.check(source)).collect();
    violations.extend(error_codes(source));
    violations.extend(refusal_conversions(source));
    violations.extend(protocol_reexports(source));
    violations.extend(log_fields(source));
    violations
}

impl PlacementRule {
    /// Finds the lines of `source` that break the rule.
    pub fn check(&self, source: &SourceFile) -> Vec<Violation> {
        if self.allowed_paths.iter().any(|room| source.is_under(room)) {
            return Vec::new();
        }
        let lines = source.program_lines().filter_map(|(number, line)| {
            let word = self.words.iter().find(|word| contains_word(line, word))?;
            Some(source.violation(number, format!("{} (found {word})", self.sentence)))
        });
        lines.collect()
    }
}

/// Whether `line` contains `word` as a whole word; a `*` at its end allows longer ones.
pub(super) fn contains_word(line: &str, word: &str) -> bool {
    let (stem, may_go_on) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let begins_word = stem.starts_with(is_part);
    let ends_word = stem.ends_with(is_part) && !may_go_on;
    line.match_indices(stem).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_part);
        let after = line[at + stem.len()..].chars().next().is_some_and(is_part);
        !(begins_word && before || ends_word && after)
    })
}

#[cfg(test)]
mod tests;
