//! `refdesk doctor`: targets, output and exit status.

use std::fs;

use serde_json::Value;

use crate::program::{output_text, project, run};

const UNREACHABLE: &str = "/no/such/server --stdio";

#[test]
fn refdesk_on_this_folder_is_the_default_and_breaks_no_rule() {
    let folder = project();
    let report = folder.path().join("doctor.xml");
    let arguments = ["doctor", "--json", "--timeout", "60s", "--junit", report.to_str().unwrap()];
    let output = run(&folder.path().join("project"), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["summary"]["errors"], 0, "{told}");
    assert_eq!(told["summary"]["warnings"], 0, "{told}");
    let revisions = told["revisions"].as_array().unwrap();
    assert!(revisions.len() == 5 && revisions.iter().all(|tried| tried["reached"] == true));
    let junit = fs::read_to_string(report).unwrap();
    assert!(junit.starts_with("<?xml") && junit.contains("failures=\"0\""), "{junit}");
}

#[test]
fn a_server_that_cannot_be_reached_has_status_2() {
    let folder = project();
    for arguments in [&["doctor", UNREACHABLE][..], &["doctor", "--", "/no/such/server"]] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
        assert!(output_text(&output).contains("cannot start /no/such/server"));
    }
    let output = run(folder.path(), &["doctor", "no-such-server"]);
    assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
    assert!(output_text(&output).contains("there is no server or program"));
}

#[test]
fn a_server_with_errors_has_status_1() {
    let folder = project();
    let answer = |result: &str| {
        format!(
            "read line; echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}'; cat >/dev/null"
        )
    };
    let opened = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}"#;
    let usual = ["doctor", "--revision", "2025-11-25", "--timeout", "1s", "--", "sh", "-c"];
    let mut arguments = usual.to_vec();
    let script = answer(opened);
    arguments.push(&script);
    let output = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    assert!(output_text(&output).contains("error answer-in-time:"), "{}", output_text(&output));
}

#[test]
fn a_server_of_a_hosts_config_is_found_by_its_name() {
    let folder = project();
    let config = r#"{"mcpServers": {"broken": {"command": "/no/such/server", "args": ["x"]}}}"#;
    fs::write(folder.path().join(".mcp.json"), config).unwrap();
    let output = run(folder.path(), &["doctor", "broken"]);
    assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
    assert!(output_text(&output).contains("cannot start /no/such/server"));
}

#[test]
fn rules_are_listed_and_explained() {
    let folder = project();
    let output = run(folder.path(), &["doctor", "--explain", "list-pages-end"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output_text(&output).contains("What to do:"), "{}", output_text(&output));
    let output = run(folder.path(), &["doctor", "--rules", "--json"]);
    let rules: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(rules.as_array().unwrap().len() > 40);
    let output = run(folder.path(), &["doctor", "--explain", "list-page-end"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output_text(&output).contains("did you mean `list-pages-end`?"));
    for arguments in [
        &["doctor", "--revision", "2020-01-01"][..],
        &["doctor", "--header", "no colon", "http://127.0.0.1:1/"],
    ] {
        assert_eq!(run(folder.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
}
