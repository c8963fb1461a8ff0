//! `refdesk host-config`: prints the config of a host, or writes it into the host's file.

use std::env;
use std::path::Path;

use anyhow::Context;
use serde_json::json;

use crate::args::{HostConfigArgs, SourceArgs};
use crate::hosts::{ConfigFile, FileChange, Host, HostConnection, HostInfo, entry_value};
use crate::output;
use crate::running_server::RunningServer;
use crate::settings::{self, Settings, split_named_folder};

const TOKEN_HINT: &str = "the server asks for a token: add the header \"Authorization: Bearer \
    TOKEN\" to the entry (refdesk token new)\n";

/// Prints the document for the host, or edits the host's file.
pub(crate) fn run(args: &HostConfigArgs) -> anyhow::Result<()> {
    check_server_name(&args.name)?;
    let info = args.host.info();
    let path = args.file.clone().or_else(|| info.file());
    if args.remove {
        let file = config_file(info, path.as_deref())?;
        let change = file.remove_entry(&args.name)?;
        return report(args, file.path, &change, None);
    }
    let connection = find_connection(args)?;
    let entry = entry_value(args.host, &args.name, &connection).with_context(|| {
        format!("{} starts servers itself and cannot use a URL; leave out --http", info.title)
    })?;
    let document = info.format.document(info.keys, &args.name, &entry)?;
    if args.write {
        let file = config_file(info, path.as_deref())?;
        let change = file.set_entry(&args.name, &entry).map_err(|error| {
            error.context(format!("nothing is written; paste this yourself:\n{document}\n"))
        })?;
        return report(args, file.path, &change, Some(&document));
    }
    if args.json {
        let told = json!({
            "host": info.title,
            "file": path,
            "document": document,
            "next": info.next,
        });
        return output::print(&format!("{told}\n"));
    }
    output::print(&document)?;
    output::tell(&advice(args, info, path.as_deref(), &connection));
    Ok(())
}

fn config_file<'a>(
    info: &'static HostInfo,
    path: Option<&'a Path>,
) -> anyhow::Result<ConfigFile<'a>> {
    let path = path.with_context(|| {
        format!(
            "refdesk does not know the file of {}; name it with --file, or {}",
            info.title, info.next
        )
    })?;
    Ok(ConfigFile { path, format: info.format, keys: info.keys })
}

/// Hosts make tool names from it.
fn check_server_name(name: &str) -> anyhow::Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_valid = !name.is_empty() && name.len() <= 64 && name.chars().all(fits);
    anyhow::ensure!(is_valid, "--name {name:?}: use 1 to 64 ASCII letters, digits, - and _");
    Ok(())
}

fn report(
    args: &HostConfigArgs,
    path: &Path,
    change: &FileChange,
    document: Option<&str>,
) -> anyhow::Result<()> {
    let info = args.host.info();
    let file = path.display();
    let (outcome, copy) = match change {
        FileChange::Unchanged => ("unchanged", None),
        FileChange::Created => ("created", None),
        FileChange::Edited(copy) => ("edited", Some(copy)),
        FileChange::Deleted(copy) => ("deleted", Some(copy)),
    };
    if args.json {
        let told = json!({
            "host": info.title,
            "file": path,
            "change": outcome,
            "copy": copy,
            "document": document,
            "next": info.next,
        });
        return output::print(&format!("{told}\n"));
    }
    let name = &args.name;
    let mut text = match (change, document) {
        (FileChange::Unchanged, Some(_)) => format!("{file} has {name} already; nothing to do\n"),
        (FileChange::Unchanged, None) => format!("{file} has no {name}; nothing to do\n"),
        (_, Some(_)) => format!("added {name} to {file}\n"),
        (_, None) => format!("removed {name} from {file}\n"),
    };
    if let Some(copy) = copy {
        text.push_str(&format!("the old file is {}\n", copy.display()));
    }
    if document.is_some() && *change != FileChange::Unchanged {
        text.push_str(&format!("next: {}\n", info.next));
    }
    output::tell(&text);
    Ok(())
}

/// Where the document belongs, and the other ways to the same end.
fn advice(
    args: &HostConfigArgs,
    info: &HostInfo,
    path: Option<&Path>,
    connection: &HostConnection,
) -> String {
    let host = info.title;
    let mut text = match path {
        Some(path) => format!(
            "{host}: paste this into {}, or let refdesk add it: --write\nnext: {}\n",
            path.display(),
            info.next
        ),
        None => format!("{host}: {}\n", info.next),
    };
    text.extend(
        add_command(args.host, &args.name, connection).map(|line| format!("or run: {line}\n")),
    );
    if matches!(connection, HostConnection::Stdio { .. }) && args.host != Host::ClaudeDesktop {
        text.push_str("to connect to a running server (refdesk serve) instead: --http\n");
    }
    text
}

/// The host's own command that adds the server, where it has one.
fn add_command(host: Host, name: &str, connection: &HostConnection) -> Option<String> {
    let program = match host {
        Host::Claude => "claude",
        Host::Codex => "codex",
        _ => return None,
    };
    Some(match connection {
        HostConnection::Stdio { command, args } => {
            let words = [command].into_iter().chain(args).map(|word| shell_word(word));
            let words: Vec<String> = words.collect();
            format!("{program} mcp add {name} -- {}", words.join(" "))
        }
        HostConnection::Http { url } if host == Host::Claude => {
            format!("{program} mcp add --transport http {name} {}", shell_word(url))
        }
        HostConnection::Http { url } => {
            format!("{program} mcp add {name} --url {}", shell_word(url))
        }
    })
}

fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/_.,:=@%+-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn find_connection(args: &HostConfigArgs) -> anyhow::Result<HostConnection> {
    if let Some(url) = &args.url {
        return Ok(HostConnection::Http { url: url.clone() });
    }
    if args.http {
        return Ok(HostConnection::Http { url: find_url(&args.source)? });
    }
    let program = env::current_exe().context("cannot find the path of the refdesk program")?;
    let command = program.display().to_string();
    Ok(HostConnection::Stdio { command, args: serve_arguments(&args.source)? })
}

/// The URL of the running server: the one of this folder, the only one, the one of the settings.
fn find_url(source: &SourceArgs) -> anyhow::Result<String> {
    if source.settings.is_none() {
        let mut running = RunningServer::find_all();
        // A host cannot use the socket of a daemon.
        running.retain(|server| server.url.starts_with("http"));
        let here = env::current_dir().unwrap_or_default();
        let mut of_folder = running.iter().filter(|server| server.folder == here);
        match (of_folder.next(), of_folder.next(), &running[..]) {
            (Some(only), None, _) | (None, None, [only]) => {
                return local_url(&only.url, only.wants_token);
            }
            (None, None, []) => {}
            _ => {
                let urls: Vec<&str> = running.iter().map(|server| &*server.url).collect();
                anyhow::bail!("several servers run; choose one: --url {}", urls.join(", --url "));
            }
        }
    }
    let usual = Path::new(settings::DEFAULT_FILE);
    let file = source.settings.as_deref().or_else(|| Some(usual).filter(|file| file.exists()));
    let settings = file.map(Settings::read_file).transpose()?.unwrap_or_default();
    let address = settings.server.listen.clone().unwrap_or_default();
    local_url(&address.url(settings.tls.is_some()), !settings.tokens.is_empty())
}

/// `url` as a host on this machine can use it. A server for other machines wants a token too.
fn local_url(url: &str, wants_token: bool) -> anyhow::Result<String> {
    anyhow::ensure!(
        url.starts_with("http"),
        "the server listens on {url}, and hosts connect only over TCP; leave out --http"
    );
    let local = url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:");
    if local != url || wants_token {
        output::tell(TOKEN_HINT);
    }
    Ok(local)
}

/// The arguments with which a host serves, from any folder, what `serve` would serve here.
fn serve_arguments(source: &SourceArgs) -> anyhow::Result<Vec<String>> {
    let mut words = vec!["serve".to_owned(), "--stdio".to_owned()];
    let SourceArgs { paths, settings, mcp_config, mount, start_wait } = source;
    let usual = Path::new(settings::DEFAULT_FILE);
    let nothing = paths.is_empty() && mcp_config.is_empty() && mount.is_empty();
    match settings.as_deref().or(Some(usual).filter(|file| nothing && file.exists())) {
        Some(file) => words.extend(["--settings".to_owned(), absolute_path(file)?]),
        None if nothing => words.push(absolute_path(Path::new("."))?),
        None => {}
    }
    for file in mcp_config {
        words.extend(["--mcp-config".to_owned(), absolute_path(file)?]);
    }
    for server in mount {
        words.extend(["--mount".to_owned(), server.clone()]);
    }
    // The environment of this shell is not the host's, so what it says is not for the host.
    let of_shell = env::var("REFDESK_START_WAIT").ok();
    let of_shell = of_shell.and_then(|text| humantime::parse_duration(&text).ok());
    if let Some(wait) = start_wait.filter(|wait| Some(*wait) != of_shell) {
        words.extend(["--start-wait".to_owned(), humantime::format_duration(wait).to_string()]);
    }
    for path in paths {
        let (name, folder) = split_named_folder(path);
        let prefix = name.map(|name| format!("{name}=")).unwrap_or_default();
        words.push(format!("{prefix}{}", absolute_path(&folder)?));
    }
    Ok(words)
}

/// The absolute path: a host starts refdesk in another folder.
fn absolute_path(path: &Path) -> anyhow::Result<String> {
    let whole = path.canonicalize().with_context(|| format!("no such path: {}", path.display()))?;
    Ok(whole.display().to_string())
}
