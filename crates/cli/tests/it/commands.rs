//! The commands that read a server, as a person runs them: servers by name, windows, JSON, pages of
//! the manual, and a server in the background.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::documents::{pages, write_pdf};
use crate::program::{HttpProgram, output_text, project, refdesk, run};

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", output_text(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).unwrap_or_else(|_| panic!("{}", output_text(output)))
}

#[test]
fn a_server_of_a_hosts_config_is_read_by_its_name() {
    let folder = project();
    let served = folder.path().join("project");
    let entry =
        json!({ "command": env!("CARGO_BIN_EXE_refdesk"), "args": ["serve", "--stdio", served] });
    let config = json!({ "mcpServers": { "mine": entry } });
    fs::write(folder.path().join(".mcp.json"), config.to_string()).unwrap();
    let seen =
        stdout(&run(folder.path(), &["cat", "--server", "mine", "file:///project/README.md"]));
    assert_eq!(seen, "# Project\n");
    let wrong = run(folder.path(), &["ls", "--server", "mien"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(output_text(&wrong).contains("did you mean `mine`?"), "{}", output_text(&wrong));
}

#[test]
fn cat_prints_pages_of_a_document_and_ranges_of_bytes_and_lines() {
    let folder = project();
    let here = folder.path().join("project");
    write_pdf(&here.join("report.pdf"), &pages(5));
    let cat = |words: &[&str]| {
        let arguments: Vec<&str> = ["cat"].iter().chain(words).copied().collect();
        stdout(&run(&here, &arguments))
    };
    let page = cat(&["report.pdf", "--accept", "text/markdown", "--page", "3"]);
    assert!(page.contains("page number 3") && !page.contains("page number 4"), "{page}");
    let two = cat(&["report.pdf", "--accept", "text/markdown", "--page", "4-5"]);
    assert!(!two.contains("number 3") && two.contains("number 4") && two.contains("number 5"));
    let none = run(&here, &["cat", "report.pdf", "--accept", "text/markdown", "--page", "9"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(output_text(&none).contains("5 pages"), "{}", output_text(&none));
    fs::write(here.join("lines.txt"), "one\ntwo\nthree\n").unwrap();
    assert_eq!(cat(&["lines.txt", "--bytes", "-2"]), "one");
    assert_eq!(cat(&["lines.txt", "--bytes=-2"]), "one");
    assert_eq!(cat(&["lines.txt", "--bytes", "4-6"]), "two");
    assert_eq!(cat(&["lines.txt", "--lines", "-2"]), "one\ntwo\n");
    assert_eq!(cat(&["lines.txt", "--lines", "3-"]), "three\n");
}

#[test]
fn a_filled_in_template_and_a_pack_can_be_json() {
    let folder = project();
    let here = folder.path().join("project");
    let template = "file:///project/{+path}";
    let read = json_of(&run(&here, &["get", template, "path=README.md", "--json"]));
    assert_eq!(read["text"], "# Project\n");
    assert_eq!(read["uri"], "file:///project/README.md");
    let uri = json_of(&run(&here, &["get", template, "path=a b", "--uri-only", "--json"]));
    assert_eq!(uri, json!({ "uri": "file:///project/a%20b" }));
    let pack = json_of(&run(&here, &["pack", "project", "--budget", "500", "--json"]));
    assert_eq!(pack["budget"], 500);
    assert!(pack["content"].to_string().contains("file:///project/README.md"), "{pack}");
}

#[test]
fn the_arguments_of_a_tool_can_be_one_json_object_or_come_from_a_pipe() {
    let folder = project();
    let here = folder.path().join("project");
    let input = r#"{"uri": "project/README.md"}"#;
    let given = stdout(&run(&here, &["call", "resources_read", "--input", input]));
    assert!(given.contains("# Project"), "{given}");
    let mut command = refdesk(&here, &["call", "resources_read", "--input", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert_eq!(stdout(&child.wait_with_output().unwrap()), given);
    for wrong in ["{", "[]", r#"{"uri": 7}"#] {
        let output = run(&here, &["call", "resources_read", "--input", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {}", output_text(&output));
    }
}

#[test]
fn for_programs_every_command_has_json() {
    let folder = project();
    let token = json_of(&run(folder.path(), &["token", "new", "ci", "--scope", "docs", "--json"]));
    assert!(token["token"].as_str().unwrap().starts_with("rdk_"), "{token}");
    assert_eq!((&token["name"], &token["scopes"]), (&json!("ci"), &json!(["docs"])));
    assert!(token["settings"].as_str().unwrap().contains(token["hash"].as_str().unwrap()));
    let mut command = refdesk(folder.path(), &["models", "list", "--json"]);
    let models = command.env("XDG_DATA_HOME", folder.path().join("data")).output().unwrap();
    assert_eq!(json_of(&models), json!({ "models": [] }));
    let rule = json_of(&run(folder.path(), &["doctor", "--explain", "list-pages-end", "--json"]));
    assert_eq!((&rule["id"], &rule["severity"]), (&json!("list-pages-end"), &json!("error")));
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = project();
    let place = folder.path().join("man1");
    let told = stdout(&run(folder.path(), &["man", place.to_str().unwrap()]));
    let count = fs::read_dir(&place).unwrap().count();
    assert!(told.starts_with(&format!("wrote {count} pages")), "{told}");
    let help = stdout(&run(folder.path(), &["--help"]));
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // A summary of two lines goes on further to the right.
    let rows = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let names = rows.filter_map(|row| row.split(' ').next()).filter(|name| !name.is_empty());
    for name in names.filter(|name| *name != "help") {
        let page = fs::read_to_string(place.join(format!("refdesk-{name}.1")));
        let page = page.unwrap_or_else(|_| panic!("{name} has no page"));
        assert!(page.contains(".TH ") && page.contains(".SH NAME"), "{name}");
    }
    let page = fs::read_to_string(place.join("refdesk-cat.1")).unwrap();
    assert!(page.contains("\\-\\-accept") && page.contains("Exit status"), "{page}");
    assert!(!place.join("refdesk-supervise.1").exists());
    let first = stdout(&run(folder.path(), &["man", "-"]));
    assert_eq!(first, fs::read_to_string(place.join("refdesk.1")).unwrap());
}

/// A server in the background, with folders of its own for state and sockets.
fn daemon(folder: &Path, arguments: &[&str]) -> Output {
    let runtime = folder.join("runtime");
    fs::create_dir_all(&runtime).unwrap();
    let mut command = refdesk(&folder.join("project"), arguments);
    command.env("XDG_RUNTIME_DIR", &runtime).env("XDG_STATE_HOME", folder.join(".state"));
    command.output().unwrap()
}

#[test]
fn a_server_in_the_background_has_its_socket_in_the_runtime_folder() {
    let folder = project();
    let started = json_of(&daemon(folder.path(), &["serve", "--daemon", "--json"]));
    let url = started["url"].as_str().unwrap();
    let place = format!("unix:{}/refdesk/", folder.path().join("runtime").display());
    let again = daemon(folder.path(), &["serve", "--daemon", "--json"]);
    let seen = daemon(folder.path(), &["ls"]);
    let stopped = daemon(folder.path(), &["serve", "--stop", "--json"]);
    assert!(url.starts_with(&place), "{url}");
    assert_eq!(json_of(&again), json!({ "url": url, "alreadyRunning": true }));
    assert_eq!(stdout(&seen), "fs  ready  file:///project/\n");
    assert_eq!(json_of(&stopped), json!({ "stopped": url }));
}

#[test]
fn a_server_that_wants_a_token_is_used_by_those_who_send_one() {
    let folder = project();
    let made = json_of(&run(folder.path(), &["token", "new", "ada", "--json"]));
    let settings = format!(
        "[mounts.notes]\nkind = \"fs\"\npath = \"project\"\n\n{}",
        made["settings"].as_str().unwrap()
    );
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let listening = HttpProgram::start(folder.path(), &[]);
    // Without the token the command starts a server of its own.
    assert_eq!(stdout(&run(folder.path(), &["ls"])), "fs  ready  file:///notes/\n");
    let top = run(folder.path(), &["top", "--json"]);
    assert_eq!(top.status.code(), Some(1), "{}", output_text(&top));
    let told = output_text(&top);
    assert!(told.contains(&listening.url()) && told.contains("wants a token"), "{told}");
    let header = format!("Authorization: Bearer {}", made["token"].as_str().unwrap());
    let top = json_of(&run(folder.path(), &["top", "--json", "--header", &header]));
    assert!(top["clients"].is_array(), "{top}");
    let refused = run(folder.path(), &["ls", "--header", "Authorization: Bearer rdk_wrong"]);
    assert_eq!(refused.status.code(), Some(3), "{}", output_text(&refused));
    assert!(output_text(&refused).contains("wants a token"), "{}", output_text(&refused));
}
