//! `refdesk host-config`: prints the JSON to paste into a host's MCP configuration.

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use crate::args::{Host, HostConfigArgs, SourceArgs};
use crate::{output, settings};

/// Prints the JSON for stdio, for HTTP, or for both.
pub(crate) fn run(args: &HostConfigArgs) -> anyhow::Result<()> {
    let piped = pretty_json(&wrap_server(args.host, &stdio_entry(args)?))?;
    let remote = pretty_json(&wrap_server(args.host, &http_entry(args)))?;
    let text = match (args.stdio, args.http) {
        (true, _) => piped,
        (_, true) => remote,
        (false, false) => format!(
            "# {}\n# The host starts refdesk itself:\n{piped}\n\
             # Or it connects to a running server (refdesk serve):\n{remote}",
            config_location(args.host)
        ),
    };
    output::print(&text)
}

fn config_location(host: Host) -> &'static str {
    match host {
        Host::Claude => "Claude: claude_desktop_config.json, or .mcp.json of a project",
        Host::Vscode => "VS Code: .vscode/mcp.json",
        Host::Cursor => "Cursor: .cursor/mcp.json",
        Host::Generic => "any host that reads mcpServers",
    }
}

fn wrap_server(host: Host, server: &Value) -> Value {
    match host {
        Host::Vscode => json!({ "servers": { "refdesk": server } }),
        Host::Claude | Host::Cursor | Host::Generic => {
            json!({ "mcpServers": { "refdesk": server } })
        }
    }
}

fn stdio_entry(args: &HostConfigArgs) -> anyhow::Result<Value> {
    let program = std::env::current_exe().context("cannot find the path of the refdesk program")?;
    let mut words = vec!["serve".to_owned(), "--stdio".to_owned()];
    // The same defaults as `serve` here, written out because a host starts in another folder.
    let SourceArgs { paths, settings, mcp_config, mount, start_wait: _ } = &args.source;
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
    for path in paths {
        words.push(absolute_path(path)?);
    }
    let mut server = json!({ "command": program.display().to_string(), "args": words });
    if args.host == Host::Vscode {
        server["type"] = "stdio".into();
    }
    Ok(server)
}

fn http_entry(args: &HostConfigArgs) -> Value {
    match args.host {
        Host::Cursor => json!({ "url": args.url }),
        Host::Claude | Host::Vscode | Host::Generic => json!({ "type": "http", "url": args.url }),
    }
}

/// The absolute path: a host starts refdesk in another folder.
fn absolute_path(path: &Path) -> anyhow::Result<String> {
    let whole = path.canonicalize().with_context(|| format!("no such path: {}", path.display()))?;
    Ok(whole.display().to_string())
}

fn pretty_json(value: &Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
