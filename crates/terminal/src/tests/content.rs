//! `get`, `call`, `watch` and the packs of `pick`: what they print.

use std::sync::Arc;

use clap::Parser as _;
use serde_json::{Value, json};
use testkit::MemoryProvider;

use super::servers::Desk;
use super::{CommandLine, OneServer, PATIENCE, Printed, has_told, run};
use crate::args::TerminalCommand;
use crate::connection::ServerConnection;
use crate::output::Output;

fn desk() -> Arc<Desk> {
    let memory = MemoryProvider::new()
        .text("mem:///one", "plain words\n")
        .blob("mem:///two", &[0, 1, 2])
        .template("mem:///person/{id}", "I am {id}", &[("id", &["ada", "grace"])])
        .with_watches();
    Desk::new(memory)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

#[tokio::test]
async fn a_filled_in_template_is_json_for_a_program() {
    let desk = desk();
    let seen = run(&desk, &["get", "mem:///person/{id}", "id=ada", "--json"]).await;
    let read = parsed(&seen.printed);
    assert_eq!((&read["uri"], &read["text"]), (&json!("mem:///person/ada"), &json!("I am ada")));
    let seen = run(&desk, &["get", "mem:///person/{id}", "id=ada", "--uri-only", "--json"]).await;
    assert_eq!(parsed(&seen.printed), json!({ "uri": "mem:///person/ada" }));
    let seen = run(&desk, &["get", "mem:///person/{id}", "id=ada", "--uri-only"]).await;
    assert_eq!(seen.printed, "mem:///person/ada\n");
}

#[tokio::test]
async fn ranges_may_begin_with_a_dash() {
    let desk = desk();
    for range in [&["--bytes", "-4"][..], &["--bytes=-4"], &["--bytes", "0-4"]] {
        let words = [&["cat", "mem:///one"], range].concat();
        assert_eq!(run(&desk, &words).await.printed, "plain", "{range:?}");
    }
    assert_eq!(run(&desk, &["cat", "mem:///one", "--lines", "-1"]).await.printed, "plain words\n");
}

#[tokio::test]
async fn a_tool_takes_its_arguments_as_one_json_object() {
    let desk = desk();
    let input = r#"{"uri": "mem:///one"}"#;
    let seen = run(&desk, &["call", "resources_read", "--input", input]).await;
    assert!(seen.printed.contains("plain words"), "{}", seen.printed);
    for wrong in ["{", "[]", r#"{"uri": 7}"#, "{}"] {
        let seen = run(&desk, &["call", "resources_read", "--input", wrong]).await;
        assert_eq!(seen.status(), 2, "{wrong}: {:?}", seen.ended);
    }
}

#[tokio::test]
async fn a_person_reads_a_change_in_a_line() {
    let desk = desk();
    let words = ["watch", "--count", "1", "mem:///one"];
    let changing = async {
        while !has_told("watching") {
            tokio::task::yield_now().await;
        }
        desk.memory.write("mem:///one", "other words\n");
    };
    let both = async { tokio::join!(run(&desk, &words), changing) };
    let (seen, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    let (at, rest) = seen.printed.split_once("  ").unwrap();
    assert_eq!(rest, "updated  mem:///one\n");
    assert!(humantime::parse_rfc3339(at).is_ok(), "{at}");
}

/// What `refdesk pick` gives for these words, after a person picked both resources.
async fn given(words: &[&str]) -> String {
    let line = CommandLine::try_parse_from(["refdesk", "pick"].iter().chain(words)).unwrap();
    let resolver = OneServer(desk());
    let connection = ServerConnection::open(line.command.server(), &resolver).await.unwrap();
    let TerminalCommand::Pick(args) = &line.command else { panic!("another command") };
    let printed = Printed::default();
    let mut output = Output::to(Box::new(printed.clone()), None);
    let uris = ["mem:///one", "mem:///two"].map(Arc::from);
    crate::pick::give(args, &connection, &mut output, &uris).await.unwrap();
    output.finish().unwrap();
    String::from_utf8(printed.0.lock().clone()).unwrap()
}

#[tokio::test]
async fn what_is_picked_is_given_as_uris_or_packed_as_markdown_or_json() {
    assert_eq!(given(&[]).await, "mem:///one\nmem:///two\n");
    assert_eq!(parsed(&given(&["--json"]).await), json!(["mem:///one", "mem:///two"]));
    assert_eq!(given(&["--pack"]).await, "## mem:///one\n\n```\nplain words\n```\n\n");
    let packed = parsed(&given(&["--pack", "--json"]).await);
    let resource = &packed["content"][0]["resource"];
    assert_eq!(
        (&resource["uri"], &resource["text"]),
        (&json!("mem:///one"), &json!("plain words\n"))
    );
    assert_eq!(packed["content"].as_array().unwrap().len(), 1, "{packed}");
}
