//! Tests of `refdesk host-config`: the document of each host, and edits of its file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::program::{HttpProgram, output_text, project, refdesk};

/// The command with a home of its own: nothing here may touch the files of who runs the tests.
fn host_config(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = refdesk(folder, &["host-config"]);
    command.args(arguments).env("HOME", folder.join("home"));
    for variable in ["XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME"] {
        command.env_remove(variable);
    }
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    host_config(folder, arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", output_text(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const JSON_HOSTS: [(&str, &str, &str); 13] = [
    ("claude", "mcpServers", "url"),
    ("vscode", "servers", "url"),
    ("cursor", "mcpServers", "url"),
    ("windsurf", "mcpServers", "serverUrl"),
    ("zed", "context_servers", "url"),
    ("gemini", "mcpServers", "httpUrl"),
    ("qwen", "mcpServers", "httpUrl"),
    ("opencode", "mcp", "url"),
    ("jetbrains", "mcpServers", "url"),
    ("lm-studio", "mcpServers", "url"),
    ("copilot", "mcpServers", "url"),
    ("generic", "mcpServers", "url"),
    ("claude-code", "mcpServers", "url"),
];

#[test]
fn standard_output_is_one_document_and_words_go_to_standard_error() {
    let folder = project();
    for (host, key, url) in JSON_HOSTS {
        let output = run(folder.path(), &[host, "project"]);
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let server = &json[key]["refdesk"];
        let mut words: Vec<&str> =
            server["args"].as_array().into_iter().flatten().map(text).collect();
        let command = server["command"].as_array().into_iter().flatten().map(text);
        words.extend(command.skip(1));
        let program = server["command"].as_str().or_else(|| server["command"][0].as_str());
        assert_eq!(program, Some(env!("CARGO_BIN_EXE_refdesk")), "{host}");
        assert_eq!(words[..2], ["serve", "--stdio"], "{host}");
        assert!(words[2].starts_with('/') && words[2].ends_with("/project"), "{words:?}");
        assert!(!stderr(&output).is_empty(), "{host}");
        let output = run(folder.path(), &[host, "--http"]);
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(json[key]["refdesk"][url], "http://127.0.0.1:7878/mcp", "{host}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn each_form_of_a_host_is_written_as_the_host_reads_it() {
    let folder = project();
    let mut told = String::new();
    for host in ["vscode", "codex", "opencode", "goose", "cline", "continue", "copilot"] {
        for way in [vec!["project"], vec!["--url", "http://127.0.0.1:9/mcp"]] {
            let mut arguments = vec![host];
            arguments.extend(way);
            told.push_str(&format!("--- {host}\n{}", stdout(&run(folder.path(), &arguments))));
        }
    }
    let whole = folder.path().canonicalize().unwrap();
    let told = told.replace(env!("CARGO_BIN_EXE_refdesk"), "REFDESK");
    insta::assert_snapshot!("host-config", told.replace(whole.to_str().unwrap(), "FOLDER"));
}

#[test]
fn what_serve_is_told_the_host_tells_it_too() {
    let folder = project();
    let told = ["--mount", "notes=http://127.0.0.1:9/mcp", "--start-wait", "1m 30s"];
    let words = [&["generic", "project"], &told[..]].concat();
    let json: Value = serde_json::from_str(&stdout(&run(folder.path(), &words))).unwrap();
    let words = json["mcpServers"]["refdesk"]["args"].as_array().unwrap().clone();
    let words: Vec<&str> = words.iter().map(text).collect();
    assert_eq!(words[2..6], told, "{words:?}");
    assert!(words[6].ends_with("/project"), "{words:?}");
}

#[test]
fn a_host_that_only_starts_servers_gets_no_url() {
    let folder = project();
    let output = run(folder.path(), &["claude-desktop", "--http"]);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(stderr(&output).contains("leave out --http"), "{}", stderr(&output));
    stdout(&run(folder.path(), &["claude-desktop"]));
}

#[test]
fn the_settings_file_is_named_as_serve_would_choose_it() {
    let folder = project();
    fs::write(folder.path().join("refdesk.toml"), "[server]\nlisten = \"127.0.0.1:9123\"\n")
        .unwrap();
    let json: Value = serde_json::from_str(&stdout(&run(folder.path(), &[]))).unwrap();
    assert_eq!(json["mcpServers"]["refdesk"]["args"][2], "--settings");
    let json: Value = serde_json::from_str(&stdout(&run(folder.path(), &["--http"]))).unwrap();
    assert_eq!(json["mcpServers"]["refdesk"]["url"], "http://127.0.0.1:9123/mcp");
    for (listen, url) in [("0.0.0.0:9", "http://127.0.0.1:9/mcp"), ("[::]:9", "http://[::1]:9/mcp")]
    {
        let settings = format!("[server]\nlisten = \"{listen}\"\n");
        fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
        let output = run(folder.path(), &["--http"]);
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(json["mcpServers"]["refdesk"]["url"], url);
        assert!(stderr(&output).contains("asks for a token"), "{}", stderr(&output));
    }
    let token = format!("[tokens.ada]\nhash = \"blake3:{}\"\n", "0".repeat(64));
    let settings = format!("[server]\nlisten = \"0.0.0.0:9\"\n{token}");
    fs::write(folder.path().join("refdesk.toml"), settings).unwrap();
    let told = stderr(&run(folder.path(), &["--http"]));
    assert_eq!(told.matches("asks for a token").count(), 1, "{told}");
    fs::write(folder.path().join("refdesk.toml"), "[server]\nlisten = \"unix:a.sock\"\n").unwrap();
    let output = run(folder.path(), &["--http"]);
    assert!(stderr(&output).contains("leave out --http"), "{}", stderr(&output));
}

#[test]
fn the_address_is_that_of_the_running_server() {
    let folder = project();
    let served = folder.path().join("project");
    let url = |arguments: &[&str]| -> Value {
        let mut command = host_config(folder.path(), arguments);
        let output = command.env("XDG_STATE_HOME", served.join(".state")).output().unwrap();
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        json["mcpServers"]["refdesk"]["url"].clone()
    };
    assert_eq!(url(&["--http"]), "http://127.0.0.1:7878/mcp");
    let running = HttpProgram::start(&served, &["."]);
    assert_eq!(url(&["--http"]), running.url());
    let other = HttpProgram::start(&served, &["."]);
    let several = host_config(folder.path(), &["--http"])
        .env("XDG_STATE_HOME", served.join(".state"))
        .output()
        .unwrap();
    assert!(!several.status.success());
    let told = stderr(&several);
    assert!(told.contains(&running.url()) && told.contains(&other.url()), "{told}");
}

/// A file of a host before the edit, and how it begins.
const FILES: [(&str, &str, &str); 4] = [
    (
        "zed",
        "home/.config/zed/settings.json",
        "// My settings\n{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {\n    /* mine */\n    \
         \"other\": { \"command\": \"x\" },\n  },\n}\n",
    ),
    (
        "codex",
        "home/.codex/config.toml",
        "# Mine\nmodel = \"o\"   # the model\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[z]\na = 1\n",
    ),
    (
        "goose",
        "home/.config/goose/config.yaml",
        "# Mine\nGOOSE_MODEL: o\nextensions:\n  # built in\n  developer:\n    enabled: true\n    \
         type: builtin\n\nLAST: 1\n",
    ),
    ("claude", ".mcp.json", "{\"mcpServers\":{\"other\":{\"command\":\"x\"}},\"z\":1,\"a\":2}"),
];

#[test]
fn writing_keeps_everything_else_and_a_copy_and_can_be_undone() {
    for (host, file, before) in FILES {
        let folder = project();
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, before).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let output = run(folder.path(), &[host, "--write", "project"]);
        assert_eq!(stdout(&output), "", "{host}");
        assert!(stderr(&output).contains("added refdesk"), "{}", stderr(&output));
        let after = fs::read_to_string(&path).unwrap();
        for line in before.lines().filter(|line| line.len() < 40) {
            assert!(after.contains(line.trim_end_matches(',')), "{host}: {line}\n{after}");
        }
        assert!(after.contains("--stdio"), "{after}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let copy =
            path.with_file_name(format!("{}.refdesk-bak", path.file_name().unwrap().display()));
        assert_eq!(fs::read_to_string(&copy).unwrap(), before);
        let again = run(folder.path(), &[host, "--write", "project"]);
        assert!(stderr(&again).contains("nothing to do"), "{}", stderr(&again));
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
        assert_eq!(fs::read_to_string(&copy).unwrap(), before, "an edit that is none has no copy");
        let changed = run(folder.path(), &[host, "--write", "project", "--url", "http://a/mcp"]);
        assert!(changed.status.success(), "{}", output_text(&changed));
        let changed = fs::read_to_string(&path).unwrap();
        assert!(changed.contains("http://a/mcp") && !changed.contains("--stdio"), "{changed}");
        stdout(&run(folder.path(), &[host, "--remove"]));
        let removed = fs::read_to_string(&path).unwrap();
        assert!(!removed.contains("refdesk"), "{removed}");
        for line in before.lines().filter(|line| line.len() < 40) {
            assert!(removed.contains(line.trim_end_matches(',')), "{host}: {line}\n{removed}");
        }
        let none = run(folder.path(), &[host, "--remove"]);
        assert!(stderr(&none).contains("nothing to do"), "{}", stderr(&none));
    }
}

#[test]
fn a_missing_file_is_made_and_a_link_stays_a_link() {
    let folder = project();
    stdout(&run(folder.path(), &["vscode", "--write", "project"]));
    let json: Value =
        serde_json::from_slice(&fs::read(folder.path().join(".vscode/mcp.json")).unwrap()).unwrap();
    assert_eq!(json["servers"]["refdesk"]["type"], "stdio");
    fs::write(folder.path().join("dotfile.json"), "{}").unwrap();
    std::os::unix::fs::symlink("dotfile.json", folder.path().join(".mcp.json")).unwrap();
    stdout(&run(folder.path(), &["claude", "--write", "project", "--name", "desk"]));
    let link = fs::symlink_metadata(folder.path().join(".mcp.json")).unwrap();
    assert!(link.file_type().is_symlink());
    assert!(fs::read_to_string(folder.path().join("dotfile.json")).unwrap().contains("\"desk\""));
    stdout(&run(folder.path(), &["continue", "--write", "project"]));
    let own = folder.path().join(".continue/mcpServers/refdesk.yaml");
    assert!(own.is_file());
    stdout(&run(folder.path(), &["continue", "--remove"]));
    assert!(!own.exists());
}

#[test]
fn a_file_that_cannot_be_edited_is_left_alone_and_the_document_is_shown() {
    for (host, file, content) in [
        ("claude", ".mcp.json", "{ not json"),
        ("claude", ".mcp.json", "{\"mcpServers\": []}"),
        ("claude", ".mcp.json", "[]"),
        ("codex", "home/.codex/config.toml", "mcp_servers = 1\n"),
        ("goose", "home/.config/goose/config.yaml", "extensions: {a: {enabled: true}}\n"),
        ("goose", "home/.config/goose/config.yaml", "a: [\n"),
    ] {
        let folder = project();
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let output = run(folder.path(), &[host, "--write", "project"]);
        assert_eq!(output.status.code(), Some(1), "{content}");
        assert!(output.stdout.is_empty());
        let told = stderr(&output);
        assert!(told.contains("paste this yourself") && told.contains("--stdio"), "{told}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert_eq!(
            fs::read_dir(path.parent().unwrap())
                .unwrap()
                .flatten()
                .filter(|entry| { entry.file_name().display().to_string().contains("refdesk-bak") })
                .count(),
            0
        );
    }
}

#[test]
fn a_host_without_a_known_file_wants_one_named_and_programs_read_json() {
    let folder = project();
    let output = run(folder.path(), &["jetbrains", "--write", "project"]);
    assert!(stderr(&output).contains("--file"), "{}", stderr(&output));
    let output =
        run(folder.path(), &["generic", "--write", "--json", "--file", "my.json", "project"]);
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&told["file"], &told["change"]), (&json!("my.json"), &json!("created")));
    assert!(folder.path().join("my.json").is_file());
    let output = run(folder.path(), &["generic", "--json", "project"]);
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(told["document"].as_str().unwrap().contains("mcpServers"));
    let wrong = run(folder.path(), &["claude", "--name", "my desk"]);
    assert!(stderr(&wrong).contains("1 to 64 ASCII letters"), "{}", stderr(&wrong));
}

#[test]
fn the_command_of_a_host_that_adds_the_server_can_be_run_as_it_is() {
    let folder = project();
    let spaced = folder.path().join("my files");
    fs::create_dir(&spaced).unwrap();
    let program = env!("CARGO_BIN_EXE_refdesk");
    let spaced = fs::canonicalize(spaced).unwrap();
    let stdio = format!("-- {program} serve --stdio '{}'", spaced.display());
    let url = "http://127.0.0.1:7999/mcp";
    for (arguments, line) in [
        (&["claude", "my files"][..], format!("or run: claude mcp add refdesk {stdio}\n")),
        (&["codex", "my files"], format!("or run: codex mcp add refdesk {stdio}\n")),
        (
            &["claude", "--url", url],
            format!("or run: claude mcp add --transport http refdesk {url}\n"),
        ),
        (&["codex", "--url", url], format!("or run: codex mcp add refdesk --url {url}\n")),
    ] {
        let told = stderr(&run(folder.path(), arguments));
        assert!(told.contains(&line), "{arguments:?}: {told}");
    }
}
