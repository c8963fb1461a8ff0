//! Reads the MCP config file of a host (`.mcp.json`, `claude_desktop_config.json`, …).
//!
//! Accepts `mcpServers`, or `servers` as VS Code writes it. Ignores unknown keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use toml::Spanned;

use super::MountSettings;
use super::fingerprint::Fingerprint;
use super::mount::{self, MountKind, SharedSettings};
use super::upstream::{CommandSetting, Secret, UpstreamMount};

#[derive(Deserialize)]
struct HostFile {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct HostServer {
    command: Option<Secret>,
    #[serde(default)]
    args: Vec<Secret>,
    #[serde(default)]
    env: BTreeMap<String, Secret>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<Secret>,
    #[serde(default)]
    headers: BTreeMap<String, Secret>,
    #[serde(default)]
    disabled: bool,
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
    let read: HostFile = serde_json::from_str(content).with_context(|| {
        format!("{}: expected JSON with servers under \"mcpServers\"", file.display())
    })?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut mounts = Vec::new();
    for (name, said) in read.servers {
        let server = HostServer::deserialize(&said).with_context(|| {
            format!("{}: invalid entry for the server {name:?}", file.display())
        })?;
        if server.disabled {
            continue;
        }
        if server.command.is_none() && server.url.is_none() {
            anyhow::bail!(
                "{}: the server {name:?} has neither \"command\" nor \"url\"",
                file.display()
            );
        }
        let fingerprint = Fingerprint::of_text(&said.to_string());
        mounts.push((mount::to_mount_name(&name), server.into_mount(folder, fingerprint)));
    }
    Ok(mounts)
}

impl HostServer {
    fn into_mount(self, folder: &Path, fingerprint: Fingerprint) -> MountSettings {
        let spanned = |secret| Spanned::new(0..0, secret);
        let named = |pairs: BTreeMap<String, Secret>| {
            pairs.into_iter().map(|(name, value)| (name, spanned(value))).collect()
        };
        let upstream = UpstreamMount {
            command: self.command.map(|one| Spanned::new(0..0, CommandSetting::One(one))),
            args: self.args.into_iter().map(spanned).collect(),
            env: named(self.env),
            cwd: self.cwd.map(|cwd| folder.join(cwd)),
            url: self.url.map(spanned),
            headers: named(self.headers),
            ..UpstreamMount::default()
        };
        MountSettings {
            span: 0..0,
            kind: MountKind::UpstreamServer(Box::new(upstream)),
            shared: SharedSettings::default(),
            fingerprint: Some(fingerprint),
        }
    }
}
