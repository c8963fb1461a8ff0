//! Reads the MCP config file of a host (`.mcp.json`, `claude_desktop_config.json`, …).
//!
//! Accepts `mcpServers`, or `servers` as VS Code writes it, with comments and trailing commas.
//! Ignores unknown keys. An entry that makes no sense costs that server only.

use std::path::{Path, PathBuf};

use anyhow::Context;
use toml::Spanned;

use super::MountSettings;
use super::fingerprint::Fingerprint;
use super::mount::{self, MountKind, SharedSettings};
use super::upstream::{Secret, UpstreamMount};
use crate::hosts::{EntryFault, EntryTarget, ServerEntry, parse_json};

/// The entry of a host's file that declares a mount.
#[derive(Debug, Clone)]
pub(crate) struct HostEntry {
    pub(crate) file: PathBuf,
    /// The server's name in the file.
    pub(crate) server: String,
}

/// Reads the servers of `file` as mounts; skips disabled ones.
pub(super) fn read_host_file(file: &Path) -> anyhow::Result<Vec<(String, MountSettings)>> {
    let content =
        super::read_text_file(file).with_context(|| format!("cannot read {}", file.display()))?;
    parse_host_file(file, &content)
}

/// Parses the text of `file`.
pub(super) fn parse_host_file(
    file: &Path,
    content: &str,
) -> anyhow::Result<Vec<(String, MountSettings)>> {
    let shown = file.display();
    let read = parse_json(content)
        .map_err(|error| anyhow::anyhow!("{shown}: this is not JSON: {error}"))?;
    let servers = ["mcpServers", "servers"].iter().find_map(|key| read.get(key)?.as_object());
    let servers = servers.with_context(|| {
        format!("{shown}: expected JSON with an object of servers under \"mcpServers\"")
    })?;
    let mut mounts = Vec::new();
    for (server, entry) in servers {
        let kind = match ServerEntry::read(entry) {
            Ok(entry) => MountKind::UpstreamServer(Box::new(entry.into())),
            Err(EntryFault::Disabled) => continue,
            Err(EntryFault::NoTarget) => {
                MountKind::Invalid("it needs either \"command\" or \"url\"".to_owned())
            }
            Err(EntryFault::Invalid(why)) => MountKind::Invalid(why),
        };
        let mount = MountSettings {
            span: 0..0,
            kind,
            shared: SharedSettings::default(),
            fingerprint: Some(Fingerprint::of_text(&entry.to_string())),
            host_entry: Some(HostEntry { file: file.to_owned(), server: server.clone() }),
        };
        mounts.push((mount::to_mount_name(server), mount));
    }
    Ok(mounts)
}

impl From<ServerEntry> for UpstreamMount {
    fn from(ServerEntry { target, values, cwd }: ServerEntry) -> Self {
        let spanned = |secret: Secret| Spanned::new(0..0, secret);
        let values = values.into_iter().map(|(name, value)| (name, spanned(value))).collect();
        let cwd = cwd.map(spanned);
        match target {
            EntryTarget::Program { command, args } => Self {
                command: Some(Spanned::new(0..0, command)),
                args: args.into_iter().map(spanned).collect(),
                env: values,
                cwd,
                ..Self::default()
            },
            EntryTarget::Url(url) => {
                Self { url: Some(spanned(url)), headers: values, cwd, ..Self::default() }
            }
        }
    }
}
