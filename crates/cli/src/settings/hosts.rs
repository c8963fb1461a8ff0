//! Reads the MCP config file of a host (`.mcp.json`, `claude_desktop_config.json`, …).
//!
//! Accepts `mcpServers`, or `servers` as VS Code writes it. Ignores unknown keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use toml::Spanned;

use super::Mount;
use super::mounts::{self, Kind};
use super::upstream::{Command, Secret, UpstreamMount};

#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Server {
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
pub(super) fn read(file: &Path) -> anyhow::Result<Vec<(String, Mount)>> {
    let content =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let read: File = serde_json::from_str(&content).with_context(|| {
        format!("{}: expected JSON with servers under \"mcpServers\"", file.display())
    })?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut mounts = Vec::new();
    for (name, said) in read.servers {
        let server = Server::deserialize(&said).with_context(|| {
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
        let said = Secret(said.to_string());
        mounts.push((mounts::name_from(&name), server.mount(folder, said)));
    }
    Ok(mounts)
}

impl Server {
    fn mount(self, folder: &Path, said: Secret) -> Mount {
        let spanned = |secret| Spanned::new(0..0, secret);
        let named = |pairs: BTreeMap<String, Secret>| {
            pairs.into_iter().map(|(name, value)| (name, spanned(value))).collect()
        };
        let upstream = UpstreamMount {
            command: self.command.map(|one| Spanned::new(0..0, Command::One(one))),
            args: self.args.into_iter().map(spanned).collect(),
            env: named(self.env),
            cwd: self.cwd.map(|cwd| folder.join(cwd)),
            url: self.url.map(spanned),
            headers: named(self.headers),
            ..UpstreamMount::default()
        };
        Mount { at: 0..0, kind: Kind::Server(Box::new(upstream)), said: Some(said) }
    }
}
