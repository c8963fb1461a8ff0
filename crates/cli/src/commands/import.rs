//! `refdesk import`: puts the MCP servers that the hosts of this machine have into the settings.

use std::collections::{BTreeSet, HashSet};
use std::env;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum as _;
use serde_json::{Map, Value, json};

use crate::args::ImportArgs;
use crate::hosts::{
    ConfigFile, ConfigFormat, ConfigValue, EntryFault, FileChange, Host, ServerEntry,
};
use crate::output;
use crate::settings::to_mount_name;

/// A server in a file of a host.
pub(crate) struct ConfiguredServer {
    host: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) name: String,
    pub(crate) entry: Value,
}

/// A server that a host has, and what the import does with it.
struct FoundServer {
    name: String,
    host: &'static str,
    file: PathBuf,
    summary: String,
    outcome: ImportOutcome,
}

enum ImportOutcome {
    /// It becomes this mount.
    Add(String, ServerEntry),
    /// The settings have it, as this mount.
    Present(String),
    /// refdesk cannot use it.
    Skipped(String),
}

/// Finds the servers, lists them, asks, and writes the settings.
pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<()> {
    let keys = ["mounts"];
    let settings = ConfigFile { path: &args.settings, format: ConfigFormat::Toml, keys: &keys };
    let found = plan(find_servers(&args.host)?, settings.servers()?.unwrap_or_default());
    let entries: Vec<(String, ConfigValue)> = found
        .iter()
        .filter_map(|server| match &server.outcome {
            ImportOutcome::Add(mount, entry) => Some((mount.clone(), entry.mount_value())),
            _ => None,
        })
        .collect();
    if !args.json {
        output::print(&list_text(&found))?;
    }
    let is_wanted = !args.dry_run && !entries.is_empty() && confirm(args, entries.len())?;
    let change = match is_wanted {
        true => settings.set_entries(&entries)?,
        false => FileChange::Unchanged,
    };
    if args.json {
        return output::print(&format!("{}\n", report_json(&found, &args.settings, &change)));
    }
    if is_wanted {
        output::tell(&next_steps(&found, &args.settings, &change));
    }
    Ok(())
}

/// All servers of `hosts`, or of all hosts, each with its host, file and entry.
pub(crate) fn find_servers(hosts: &[Host]) -> anyhow::Result<Vec<ConfiguredServer>> {
    let here = env::current_dir().context("cannot find the current folder")?;
    let here_text = here.display().to_string();
    let hosts = if hosts.is_empty() { Host::value_variants() } else { hosts };
    let mut servers = Vec::new();
    for host in hosts {
        let info = host.info();
        for path in info.all_files() {
            let mut places = vec![info.keys.to_vec()];
            if *host == Host::Claude {
                // Claude Code keeps servers for one folder in the file of the home folder.
                places.push(vec!["projects", &here_text, "mcpServers"]);
            }
            for keys in &places {
                let file = ConfigFile { path: &path, format: info.format, keys };
                match file.servers() {
                    Ok(found) => {
                        let server = |(name, entry)| ConfiguredServer {
                            host: info.title,
                            file: path.clone(),
                            name,
                            entry,
                        };
                        servers.extend(found.into_iter().flatten().map(server));
                    }
                    // One broken file must not hide the servers of the others.
                    Err(error) => output::tell(&format!("skipped: {error:#}\n")),
                }
            }
        }
    }
    Ok(servers)
}

/// Decides for each server what becomes of it; `present` are the mounts of the settings.
fn plan(servers: Vec<ConfiguredServer>, mut present: Map<String, Value>) -> Vec<FoundServer> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for ConfiguredServer { host, file, name, entry } in servers {
        if !seen.insert((file.clone(), name.clone())) {
            continue;
        }
        let folder = project_folder(&file);
        let skipped = |why: &str| ImportOutcome::Skipped(why.to_owned());
        let read = ServerEntry::read(&entry).map(|entry| entry.resolve(&folder));
        let (summary, outcome) = match read {
            Err(EntryFault::Disabled) => (String::new(), skipped("disabled in the host")),
            Err(EntryFault::NoTarget) => (String::new(), skipped("neither a program nor a URL")),
            Err(EntryFault::Invalid(why)) => (String::new(), skipped(&why)),
            Ok(entry) if entry.is_refdesk() => (entry.summary(), skipped("refdesk itself")),
            Ok(entry) => {
                let mount = Value::from(&entry.mount_value());
                let same = present.iter().find(|(_, known)| **known == mount);
                let outcome = match same.map(|(name, _)| name.clone()) {
                    Some(name) => ImportOutcome::Present(name),
                    None => {
                        let name = unused_name(&to_mount_name(&name), &present);
                        present.insert(name.clone(), mount);
                        ImportOutcome::Add(name, entry.clone())
                    }
                };
                (entry.summary(), outcome)
            }
        };
        found.push(FoundServer { name, host, file, summary, outcome });
    }
    found
}

/// The folder to which relative paths in `file` belong.
pub(crate) fn project_folder(file: &Path) -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    let folder = file.parent().filter(|_| file.is_absolute());
    folder.map_or(here, Path::to_owned)
}

fn unused_name(stem: &str, taken: &Map<String, Value>) -> String {
    let mut name = stem.to_owned();
    for number in 2.. {
        if !taken.contains_key(&name) {
            break;
        }
        name = format!("{stem}-{number}");
    }
    name
}

fn list_text(found: &[FoundServer]) -> String {
    if found.is_empty() {
        return "no host on this machine has MCP servers in a file that refdesk knows\n".to_owned();
    }
    let rows: Vec<[String; 4]> = found
        .iter()
        .map(|server| {
            let outcome = match &server.outcome {
                ImportOutcome::Add(mount, _) => format!("new: {mount}"),
                ImportOutcome::Present(mount) => format!("is there: {mount}"),
                ImportOutcome::Skipped(why) => format!("skipped: {why}"),
            };
            let place = format!("{} ({})", server.host, server.file.display());
            [server.name.clone(), outcome, server.summary.clone(), place]
        })
        .collect();
    output::format_table(&rows)
}

/// Whether a person, or `--yes`, wants the edit.
fn confirm(args: &ImportArgs, count: usize) -> anyhow::Result<bool> {
    if args.yes {
        return Ok(true);
    }
    let stdin = io::stdin();
    anyhow::ensure!(
        stdin.is_terminal(),
        "nothing is written; pass --yes to write without a question"
    );
    let servers = if count == 1 { "this server" } else { "these servers" };
    output::tell(&format!("add {servers} to {}? [y/N] ", args.settings.display()));
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn next_steps(found: &[FoundServer], settings: &Path, change: &FileChange) -> String {
    let file = settings.display();
    let mut text = format!("wrote {file}\n");
    if let FileChange::Edited(copy) = change {
        text.push_str(&format!("the old file is {}\n", copy.display()));
    }
    let names: BTreeSet<&str> = found
        .iter()
        .filter_map(|server| match &server.outcome {
            ImportOutcome::Add(_, entry) => Some(entry.secret_names()),
            _ => None,
        })
        .flatten()
        .collect();
    if !names.is_empty() {
        let names: Vec<&str> = names.into_iter().collect();
        text.push_str(&format!(
            "{file} now holds the values of {}; keep it private, or write ${{env:NAME}} for a value\n",
            names.join(", ")
        ));
    }
    text.push_str("next: refdesk check, then refdesk host-config HOST --write\n");
    text
}

fn report_json(found: &[FoundServer], settings: &Path, change: &FileChange) -> Value {
    let servers: Vec<Value> = found
        .iter()
        .map(|server| {
            let (outcome, mount, why) = match &server.outcome {
                ImportOutcome::Add(mount, _) => ("new", Some(mount), None),
                ImportOutcome::Present(mount) => ("present", Some(mount), None),
                ImportOutcome::Skipped(why) => ("skipped", None, Some(why)),
            };
            json!({
                "name": server.name,
                "host": server.host,
                "file": server.file,
                "server": server.summary,
                "outcome": outcome,
                "mount": mount,
                "why": why,
            })
        })
        .collect();
    let copy = match change {
        FileChange::Edited(copy) => Some(copy),
        _ => None,
    };
    let changed = *change != FileChange::Unchanged;
    json!({ "servers": servers, "settings": settings, "changed": changed, "copy": copy })
}
