//! Tests of `refdesk import`: the servers of hosts become mounts.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::person::open_terminal;
use crate::program::{output_text, project, refdesk, run as run_refdesk};

fn import_command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = refdesk(folder, &["import"]);
    command.args(arguments).env("HOME", folder.join("home")).stdin(Stdio::null());
    for variable in ["XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME"] {
        command.env_remove(variable);
    }
    command
}

fn import(folder: &Path, arguments: &[&str]) -> Output {
    import_command(folder, arguments).output().unwrap()
}

fn write(folder: &Path, file: &str, content: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Files of hosts of every format, with a secret in most.
fn hosts(folder: &Path) {
    write(
        folder,
        ".mcp.json",
        r#"{"mcpServers": {"git": {"command": "npx", "args": ["-y", "server-git", "--key", "s3cret"]},
           "refdesk": {"command": "/opt/refdesk", "args": ["serve", "--stdio"]}}}"#,
    );
    write(
        folder,
        ".vscode/mcp.json",
        "{ // mine\n \"servers\": {\"asks\": {\"command\": \"x\", \"env\": {\"K\": \"${input:k}\"}},}\n}",
    );
    write(
        folder,
        "home/.codex/config.toml",
        "[mcp_servers.team]\nurl = \"https://me:s3cret@example.com/mcp?k=s3cret\"\nbearer_token_env_var = \"TEAM\"\n",
    );
    write(
        folder,
        "home/.config/goose/config.yaml",
        "extensions:\n  developer:\n    enabled: true\n    type: builtin\n  git:\n    enabled: true\n    \
         type: stdio\n    cmd: uvx\n    args: [server-git]\n    envs:\n      TOKEN: s3cret\n",
    );
    write(
        folder,
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"same": {"command": "npx",
           "args": ["-y", "server-git", "--key", "s3cret"]}}}"#,
    );
    write(folder, "home/.gemini/settings.json", "{\"s3cret\": s3cret");
    write(folder, ".codex/config.toml", "a = 1\nkey = s3cret\n");
    write(folder, ".continue/mcpServers/refdesk.yaml", "a: 1\nb: [s3cret\nc: \"s3cret\n");
}

#[test]
fn the_servers_of_all_hosts_become_mounts_and_no_secret_is_shown() {
    let folder = project();
    hosts(folder.path());
    write(
        folder.path(),
        "refdesk.toml",
        "# Mine\n[mounts.code] # this\nkind = \"fs\"\npath = \"project\"\n",
    );
    let before = fs::read_to_string(folder.path().join("refdesk.toml")).unwrap();
    let output = import(folder.path(), &["--yes"]);
    let told = output_text(&output).replace(folder.path().to_str().unwrap(), "FOLDER");
    assert!(output.status.success(), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
    insta::assert_snapshot!("import", told);
    let settings = fs::read_to_string(folder.path().join("refdesk.toml")).unwrap();
    assert!(settings.starts_with("# Mine\n[mounts.code] # this\n"), "{settings}");
    insta::assert_snapshot!("import-settings", settings);
    let copy = fs::read_to_string(folder.path().join("refdesk.toml.refdesk-bak")).unwrap();
    assert_eq!(copy, before);
    let checked = run_refdesk(folder.path(), &["check"]);
    let told = output_text(&checked);
    assert!(told.contains("TEAM"), "the missing variable is named: {told}");
    let again = import(folder.path(), &["--yes", "--json"]);
    let told: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(told["changed"], false);
    assert!(told["servers"].as_array().unwrap().iter().all(|server| server["outcome"] != "new"));
    assert_eq!(fs::read_to_string(folder.path().join("refdesk.toml")).unwrap(), settings);
}

#[test]
fn nothing_is_written_without_a_yes() {
    let folder = project();
    hosts(folder.path());
    let listed = import(folder.path(), &["--dry-run"]);
    assert!(listed.status.success() && output_text(&listed).contains("new: git"));
    let unasked = import(folder.path(), &[]);
    assert_eq!(unasked.status.code(), Some(1));
    assert!(output_text(&unasked).contains("pass --yes"), "{}", output_text(&unasked));
    assert!(!folder.path().join("refdesk.toml").exists());
    let one = import(folder.path(), &["--host", "claude", "--yes", "--settings", "mine.toml"]);
    assert!(one.status.success(), "{}", output_text(&one));
    let path = folder.path().join("mine.toml");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&path).unwrap().matches("[mounts.").count(), 1);
    let checked = run_refdesk(folder.path(), &["check", "mine.toml"]);
    assert!(checked.status.success(), "{}", output_text(&checked));
}

#[test]
fn a_machine_without_hosts_is_told_so() {
    let folder = project();
    let output = import(folder.path(), &["--yes"]);
    assert!(output.status.success());
    assert!(output_text(&output).contains("no host on this machine"), "{}", output_text(&output));
    assert!(!folder.path().join("refdesk.toml").exists());
}

#[test]
fn on_a_terminal_the_person_is_asked_and_only_a_yes_writes() {
    for (answer, is_written) in [("y\n", true), ("YES\n", true), ("n\n", false), ("\n", false)] {
        let folder = project();
        hosts(folder.path());
        let (mut terminal, end) = open_terminal();
        terminal.write_all(answer.as_bytes()).unwrap();
        let output = import_command(folder.path(), &[]).stdin(end).output().unwrap();
        assert!(output.status.success(), "{}", output_text(&output));
        let asked = String::from_utf8(output.stderr).unwrap();
        assert!(asked.contains("add these servers to refdesk.toml? [y/N] "), "{asked}");
        let file = folder.path().join("refdesk.toml");
        assert_eq!(file.exists(), is_written, "{answer:?}: {asked}");
        assert_eq!(asked.contains("wrote refdesk.toml"), is_written, "{answer:?}: {asked}");
    }
}
