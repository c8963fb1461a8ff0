//! Reads the MCP config file of a host (`.mcp.json`, `claude_desktop_config.json`, …).
//!
//! Accepts `mcpServers`, or `servers` as VS Code writes it, with comments and trailing commas.
//! Ignores unknown keys. An entry that makes no sense costs that server only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Map, Value};
use toml::Spanned;

use super::MountSettings;
use super::fingerprint::Fingerprint;
use super::mount::{self, MountKind, SharedSettings};
use super::upstream::{CommandSetting, Secret, UpstreamMount};
use crate::hosts::parse_json;

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
        let kind = match read_entry(entry) {
            Ok(None) => continue,
            Ok(Some(upstream)) => MountKind::UpstreamServer(Box::new(upstream)),
            Err(why) => MountKind::Invalid(why),
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

/// Reads the entry of one server; `None` if it is disabled. An error repeats no value: it may be a
/// secret.
fn read_entry(entry: &Value) -> Result<Option<UpstreamMount>, String> {
    let entry = entry.as_object().ok_or("an entry must be an object")?;
    let flag = |key: &str| read_key(entry, key, Value::as_bool, "true or false");
    if flag("disabled")? == Some(true) || flag("enabled")? == Some(false) {
        return Ok(None);
    }
    let mut url = None;
    for key in ["url", "serverUrl", "httpUrl"] {
        url = url.or(read_key(entry, key, read_secret, "a text")?);
    }
    let command = read_key(entry, "command", read_secret, "a text")?;
    if command.is_some() == url.is_some() {
        return Err("it needs either \"command\" or \"url\"".to_owned());
    }
    let list = |value: &Value| value.as_array()?.iter().map(read_secret).collect();
    let pairs = |value: &Value| -> Option<BTreeMap<String, Spanned<Secret>>> {
        value
            .as_object()?
            .iter()
            .map(|(name, value)| Some((name.clone(), read_secret(value)?)))
            .collect()
    };
    let texts = "an object of texts";
    let command = command.map(|one| Spanned::new(0..0, CommandSetting::One(one.into_inner())));
    Ok(Some(UpstreamMount {
        command,
        args: read_key(entry, "args", list, "a list of texts")?.unwrap_or_default(),
        env: read_key(entry, "env", pairs, texts)?.unwrap_or_default(),
        cwd: read_key(entry, "cwd", read_secret, "a text")?,
        url,
        headers: read_key(entry, "headers", pairs, texts)?.unwrap_or_default(),
        ..UpstreamMount::default()
    }))
}

/// The value of a key; one that is `null` counts as absent.
fn read_key<T>(
    entry: &Map<String, Value>,
    key: &str,
    read: impl Fn(&Value) -> Option<T>,
    expected: &str,
) -> Result<Option<T>, String> {
    match entry.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(format!("\"{key}\" must be {expected}")),
        },
    }
}

fn read_secret(value: &Value) -> Option<Spanned<Secret>> {
    Some(Spanned::new(0..0, Secret(value.as_str()?.to_owned())))
}
