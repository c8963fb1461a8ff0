//! The entry of refdesk in the config file of each host.

use super::config_value::ConfigValue;
use super::host_table::Host;

/// How a host reaches refdesk.
#[derive(Debug, Clone)]
pub(crate) enum HostConnection {
    /// The host starts refdesk and talks to it over pipes.
    Stdio { command: String, args: Vec<String> },
    /// The host connects to a server that runs already.
    Http { url: String },
}

/// The entry that makes `host` use refdesk under `name`; `None` if it cannot connect in this way.
pub(crate) fn entry_value(
    host: Host,
    name: &str,
    connection: &HostConnection,
) -> Option<ConfigValue> {
    let text = |text: &str| ConfigValue::text(text);
    let entry = match connection {
        HostConnection::Stdio { command, args } => stdio_entry(host, command, args),
        HostConnection::Http { url } => http_entry(host, text(url))?,
    };
    Some(match (host, entry) {
        (Host::Goose, ConfigValue::Table(rest)) => {
            let mut pairs = vec![
                ("enabled".to_owned(), ConfigValue::Flag(true)),
                ("name".to_owned(), text(name)),
                ("description".to_owned(), text("Files and MCP servers as resources")),
                ("timeout".to_owned(), ConfigValue::Number(300)),
            ];
            pairs.extend(rest);
            ConfigValue::Table(pairs)
        }
        (Host::Continue, ConfigValue::Table(rest)) => {
            let mut server = vec![("name".to_owned(), text(name))];
            server.extend(rest);
            ConfigValue::table([
                ("name", text(name)),
                ("version", text("1.0.0")),
                ("schema", text("v1")),
                ("mcpServers", ConfigValue::List(vec![ConfigValue::Table(server)])),
            ])
        }
        (Host::Copilot, ConfigValue::Table(mut pairs)) => {
            pairs.push(("tools".to_owned(), ConfigValue::List(vec![text("*")])));
            ConfigValue::Table(pairs)
        }
        (Host::Opencode, ConfigValue::Table(mut pairs)) => {
            pairs.push(("enabled".to_owned(), ConfigValue::Flag(true)));
            ConfigValue::Table(pairs)
        }
        (Host::Cline, transport) => ConfigValue::table([("transport", transport)]),
        (_, entry) => entry,
    })
}

fn stdio_entry(host: Host, command: &str, args: &[String]) -> ConfigValue {
    let kind = match host {
        Host::Vscode | Host::Cline | Host::Goose | Host::Continue => Some("stdio"),
        Host::Copilot | Host::Opencode => Some("local"),
        _ => None,
    };
    let mut pairs = Vec::new();
    pairs.extend(kind.map(|kind| ("type".to_owned(), ConfigValue::text(kind))));
    if host == Host::Opencode {
        let words: Vec<String> = [command.to_owned()].into_iter().chain(args.to_vec()).collect();
        pairs.push(("command".to_owned(), ConfigValue::texts(&words)));
    } else {
        let key = if host == Host::Goose { "cmd" } else { "command" };
        pairs.push((key.to_owned(), ConfigValue::text(command)));
        pairs.push(("args".to_owned(), ConfigValue::texts(args)));
    }
    ConfigValue::Table(pairs)
}

fn http_entry(host: Host, url: ConfigValue) -> Option<ConfigValue> {
    let (kind, key) = match host {
        // It skips an entry with a URL, or ends because of it.
        Host::ClaudeDesktop => return None,
        Host::Claude | Host::Vscode | Host::Copilot | Host::Generic => (Some("http"), "url"),
        Host::Opencode => (Some("remote"), "url"),
        Host::Cline => (Some("streamableHttp"), "url"),
        Host::Goose => (Some("streamable_http"), "uri"),
        Host::Continue => (Some("streamable-http"), "url"),
        Host::Windsurf => (None, "serverUrl"),
        Host::Gemini | Host::Qwen => (None, "httpUrl"),
        Host::Cursor | Host::Zed | Host::Codex | Host::Jetbrains | Host::LmStudio => (None, "url"),
    };
    let mut pairs = Vec::new();
    pairs.extend(kind.map(|kind| ("type".to_owned(), ConfigValue::text(kind))));
    pairs.push((key.to_owned(), url));
    Some(ConfigValue::Table(pairs))
}
