//! Tests of the placement lint: each check finds a line in a forbidden path only.

use super::{check, contains_word};
use crate::house::sources::SourceFile;

/// A check, a line, a path where it is forbidden, and one where it is allowed.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "1:",
        "let m = \"resources/read\";",
        "crates/server/src/dispatch.rs",
        "crates/protocol/src/call.rs",
    ),
    (
        "1:",
        "write(\"jsonrpc\")",
        "crates/server/src/transport/http.rs",
        "crates/protocol/src/frame.rs",
    ),
    (
        "1:",
        "code == -32602",
        "crates/server/src/server.rs",
        "crates/protocol/src/json/error_code.rs",
    ),
    (
        "1:",
        "code == -32_602",
        "crates/protocol/src/inbound/refusal.rs",
        "crates/protocol/src/json/error_code.rs",
    ),
    (
        "2:",
        "Revision::V2025_06_18 => 1,",
        "crates/server/src/server.rs",
        "crates/server/src/lifecycle/mod.rs",
    ),
    (
        "2:",
        "if revision < other {",
        "crates/protocol/src/reply.rs",
        "crates/protocol/src/inbound/shape/resource.rs",
    ),
    (
        "3:",
        "#[derive(Serialize)]",
        "crates/server/src/server.rs",
        "crates/protocol/src/inbound/shape/x.rs",
    ),
    (
        "3:",
        "base64_simd::STANDARD",
        "crates/catalog/src/merge.rs",
        "crates/protocol/src/inbound/shape/x.rs",
    ),
    (
        "1:",
        "if method == \"roots/list\" {",
        "crates/providers/src/upstream/relay.rs",
        "crates/protocol/src/outbound/input_request.rs",
    ),
    (
        "3:",
        "let status = json!({ \"a\": 1 });",
        "crates/server/src/watchers/watcher.rs",
        "crates/cli/src/mount_status.rs",
    ),
    (
        "3:",
        "use serde_json::value::RawValue;",
        "crates/server/src/tools/list.rs",
        "crates/client/src/session.rs",
    ),
    ("4:", "use std::fs::File;", "crates/catalog/src/mount.rs", "crates/providers/src/git/tree.rs"),
    (
        "4:",
        "TcpListener::bind(a)",
        "crates/server/src/server.rs",
        "crates/server/src/transport/http.rs",
    ),
    ("4:", "fs::read_to_string(p)", "crates/protocol/src/call.rs", "crates/cli/src/settings.rs"),
    ("5:", "let fs = Fs::new(o);", "crates/server/src/server.rs", "crates/cli/src/assemble.rs"),
    ("5:", "Fs::new(o)", "crates/providers/src/statics/mod.rs", "crates/providers/src/fs/mod.rs"),
    ("5:", "Statics::new(o)", "crates/cli/src/settings.rs", "crates/cli/src/assemble.rs"),
    (
        "6:",
        "format!(\"file:///{name}/a\")",
        "crates/server/src/server.rs",
        "crates/catalog/src/address.rs",
    ),
    (
        "6:",
        "format!(\"git://{mount_name}\")",
        "crates/providers/src/git/mod.rs",
        "crates/catalog/src/address.rs",
    ),
    (
        "7:",
        "Error::new(ErrorKind::Denied, why)",
        "crates/server/src/server.rs",
        "crates/catalog/src/layers/allowed.rs",
    ),
    (
        "9:",
        "tokio::spawn(work)",
        "crates/server/src/dispatch.rs",
        "crates/server/src/transport/http.rs",
    ),
    ("9:", "Instant::now()", "crates/catalog/src/catalog.rs", "crates/catalog/src/layers/timed.rs"),
    ("10:", "println!(\"hello\")", "crates/server/src/server.rs", "crates/cli/src/output.rs"),
    (
        "10:",
        "std::env::var(\"HOME\")",
        "crates/providers/src/config/mod.rs",
        "crates/cli/src/args.rs",
    ),
    ("11:", "use protocol::Peer;", "crates/providers/src/upstream/x.rs", "crates/client/src/x.rs"),
    ("11:", "pub use protocol::Peer;", "crates/client/src/lib.rs", "crates/server/src/lib.rs"),
    ("11:", "pub type X = protocol::Peer;", "crates/client/src/x.rs", "crates/server/src/x.rs"),
];

#[test]
fn each_check_sees_its_line_in_the_wrong_room_only() {
    for (rule, line, wrong, right) in CASES {
        let told = |path: &str| check(&SourceFile::new(path, format!("//! Why?\n{line}\n")));
        let seen = told(wrong);
        let found = seen.iter().any(|seen| seen.rule.starts_with(rule) && seen.line == 2);
        assert!(found, "{line} in {wrong} was not seen by {rule} but by {seen:?}");
        let seen: Vec<_> =
            told(right).into_iter().filter(|seen| seen.rule.starts_with(rule)).collect();
        assert!(seen.is_empty(), "{line} in {right}: {seen:?}");
    }
}

#[test]
fn all_checks_but_the_one_of_refusals_have_a_case() {
    for number in [1, 2, 3, 4, 5, 6, 7, 9, 10, 11] {
        let rule = format!("{number}:");
        assert!(CASES.iter().any(|case| case.0 == rule), "{rule}");
    }
}

#[test]
fn a_second_way_from_error_to_refusal_is_seen() {
    let one =
        "//! Why?\nimpl Refusal {\n    pub fn of(error: &Error) -> Self {\n        x\n    }\n";
    let path = "crates/protocol/src/inbound/refusal.rs";
    assert_eq!(check(&SourceFile::new(path, one)), []);
    let two = format!("{one}    pub fn other(\n        why: &resource::Error,\n    ) -> Self {{\n");
    let seen = check(&SourceFile::new(path, two));
    assert_eq!(seen.len(), 1);
    assert!(seen[0].rule.starts_with("8:") && seen[0].line == 6, "{seen:?}");
    let from = format!("{one}}}\nimpl From<Error> for Refusal {{\n");
    assert_eq!(check(&SourceFile::new(path, from)).len(), 1);
}

#[test]
fn conversations_and_tests_may_say_what_the_program_may_not() {
    let line = "//! Why?\nsay(\"resources/read\");\n";
    assert_eq!(check(&SourceFile::new("crates/server/tests/it/main.rs", line)), []);
    let inside = format!("//! Why?\n#[cfg(test)]\nmod tests {{\n{line}}}\n");
    assert_eq!(check(&SourceFile::new("crates/server/src/server.rs", inside)), []);
    assert_eq!(check(&SourceFile::new("interop/client.rs", line)), []);
}

#[test]
fn what_client_may_pass_on_is_listed() {
    let line = "//! Why?\npub use protocol::RpcError;\n";
    assert_eq!(check(&SourceFile::new("crates/client/src/lib.rs", line)), []);
}

#[test]
fn a_word_is_not_seen_inside_a_longer_one() {
    assert!(contains_word("Fs::new()", "Fs"));
    assert!(!contains_word("FsRoot::new()", "Fs"));
    assert!(!contains_word("task::spawn_blocking(f)", "task::spawn"));
    assert!(contains_word("Revision::V2024_11_05", "Revision::V*"));
    assert!(!contains_word("Revision::named(date)", "Revision::V*"));
}

#[test]
fn a_line_of_the_log_for_people_is_a_sentence() {
    let found = |line: &str| {
        let text = format!("//! A file.\nfn f() {{\n{line}\n}}\n");
        check(&SourceFile::new("crates/cli/src/output.rs", text)).len()
    };
    assert_eq!(found("tracing::warn!(?peer, \"refused\");"), 1);
    assert_eq!(found("tracing::error!(%error, \"it failed\");"), 1);
    assert_eq!(found("tracing::warn!(\"it failed: {error}\");"), 0);
    assert_eq!(found("tracing::warn!(target: COUNTS, \"it failed\");"), 0);
    assert_eq!(found("tracing::warn!(target: COUNTS, ?peer, \"refused\");"), 1);
    assert_eq!(found("tracing::warn!("), 0);
    assert_eq!(found("tracing::debug!(?peer, \"refused\");"), 0);
}
