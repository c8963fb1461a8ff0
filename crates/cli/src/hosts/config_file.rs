//! The config file of a host: one entry set, removed or read, and everything else left as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Map, Value};

use super::config_value::ConfigValue;
use super::{json_config, server_entry, toml_config, yaml_config};
use crate::state_file::{read_regular_file, replace_file};

/// Most bytes of a host's file: Claude Code keeps its history in it.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The form of a config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigFormat {
    /// JSON, with comments where the host reads them.
    Json,
    Toml,
    Yaml,
    /// YAML in a file that holds only this entry.
    OwnFile,
}

/// A config file, and the place of the servers in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConfigFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) format: ConfigFormat,
    pub(crate) keys: &'a [&'a str],
}

/// What an edit did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// The file was as wanted.
    Unchanged,
    /// The file is new.
    Created,
    /// The file was edited; its old content is in this copy.
    Edited(PathBuf),
    /// The file held nothing else and is gone; its content is in this copy.
    Deleted(PathBuf),
}

impl ConfigFile<'_> {
    /// Sets the entry `name`.
    pub(crate) fn set_entry(&self, name: &str, value: &ConfigValue) -> anyhow::Result<FileChange> {
        if self.format == ConfigFormat::OwnFile {
            let before = self.read()?;
            return self.save(before.as_deref(), &yaml_config::write_document(value));
        }
        self.set_entries(&[(name.to_owned(), value.clone())])
    }

    /// Sets several entries in one edit.
    pub(crate) fn set_entries(
        &self,
        entries: &[(String, ConfigValue)],
    ) -> anyhow::Result<FileChange> {
        let before = self.read()?;
        let mut text = before.clone().unwrap_or_default();
        let parsed = self.format.parse(&text).with_context(|| self.complaint())?;
        let mut wanted = parsed.clone();
        let servers = servers_mut(&mut wanted, self.keys)?;
        for (name, value) in entries {
            servers.insert(name.clone(), Value::from(value));
        }
        if parsed == wanted {
            return Ok(FileChange::Unchanged);
        }
        for (name, value) in entries {
            text = self.format.set(&text, self.keys, name, value)?;
        }
        self.check(&text, &wanted)?;
        self.save(before.as_deref(), &text)
    }

    /// Removes the entry `name`.
    pub(crate) fn remove_entry(&self, name: &str) -> anyhow::Result<FileChange> {
        let Some(text) = self.read()? else { return Ok(FileChange::Unchanged) };
        if self.format == ConfigFormat::OwnFile {
            let copy = self.keep_copy(&text)?;
            fs::remove_file(self.path).with_context(|| self.complaint())?;
            return Ok(FileChange::Deleted(copy));
        }
        let parsed = self.format.parse(&text).with_context(|| self.complaint())?;
        let mut wanted = parsed.clone();
        let servers = servers_mut(&mut wanted, self.keys)?;
        if servers.remove(name).is_none() {
            return Ok(FileChange::Unchanged);
        }
        let edited = self.format.remove(&text, self.keys, name)?;
        self.check(&edited, &wanted)?;
        self.save(Some(&text), &edited)
    }

    /// The servers of the file; `None` without a file.
    pub(crate) fn servers(&self) -> anyhow::Result<Option<Map<String, Value>>> {
        let Some(text) = self.read()? else { return Ok(None) };
        let mut parsed = self.format.parse(&text).with_context(|| self.complaint())?;
        if self.format == ConfigFormat::OwnFile {
            return Ok(Some(server_entry::servers_of_list(&parsed)));
        }
        Ok(Some(std::mem::take(servers_mut(&mut parsed, self.keys)?)))
    }

    fn read(&self) -> anyhow::Result<Option<String>> {
        match read_regular_file(self.path, MAX_FILE_BYTES) {
            Ok(bytes) => Ok(Some(String::from_utf8(bytes).with_context(|| self.complaint())?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| self.complaint()),
        }
    }

    fn complaint(&self) -> String {
        format!("cannot use {}", self.path.display())
    }

    /// An edit that changed anything else must not reach the disk.
    fn check(&self, edited: &str, wanted: &Value) -> anyhow::Result<()> {
        let is_right = self
            .format
            .parse(edited)
            .is_ok_and(|parsed| without_empty(&parsed) == without_empty(wanted));
        anyhow::ensure!(
            is_right,
            "{}: the file has a form that refdesk cannot edit",
            self.path.display()
        );
        Ok(())
    }

    fn save(&self, before: Option<&str>, edited: &str) -> anyhow::Result<FileChange> {
        let Some(before) = before else {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder).with_context(|| self.complaint())?;
            }
            replace_file(self.path, edited.as_bytes()).with_context(|| self.complaint())?;
            return Ok(FileChange::Created);
        };
        if before == edited {
            return Ok(FileChange::Unchanged);
        }
        let copy = self.keep_copy(before)?;
        replace_file(self.path, edited.as_bytes()).with_context(|| self.complaint())?;
        Ok(FileChange::Edited(copy))
    }

    fn keep_copy(&self, before: &str) -> anyhow::Result<PathBuf> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".refdesk-bak");
        let copy = self.path.with_file_name(name);
        replace_file(&copy, before.as_bytes())
            .with_context(|| format!("cannot keep a copy in {}", copy.display()))?;
        Ok(copy)
    }
}

impl ConfigFormat {
    /// A document that holds only the entry `name`.
    pub(crate) fn document(
        self,
        keys: &[&str],
        name: &str,
        value: &ConfigValue,
    ) -> anyhow::Result<String> {
        match self {
            Self::OwnFile => Ok(yaml_config::write_document(value)),
            other => Ok(other.set("", keys, name, value)?.trim_end().to_owned() + "\n"),
        }
    }

    fn parse(self, text: &str) -> anyhow::Result<Value> {
        match self {
            Self::Json => json_config::parse(text),
            Self::Toml => toml_config::parse(text),
            Self::Yaml | Self::OwnFile => yaml_config::parse(text),
        }
    }

    fn set(
        self,
        text: &str,
        keys: &[&str],
        name: &str,
        value: &ConfigValue,
    ) -> anyhow::Result<String> {
        match self {
            Self::Json => json_config::set(text, keys, name, value),
            Self::Toml => toml_config::set(text, keys, name, value),
            Self::Yaml | Self::OwnFile => Ok(yaml_config::set(text, keys[0], name, value)),
        }
    }

    fn remove(self, text: &str, keys: &[&str], name: &str) -> anyhow::Result<String> {
        match self {
            Self::Json => json_config::remove(text, keys, name),
            Self::Toml => toml_config::remove(text, keys, name),
            Self::Yaml | Self::OwnFile => yaml_config::remove(text, keys[0], name),
        }
    }
}

/// The servers at `keys`, which are added where they are missing.
fn servers_mut<'a>(
    root: &'a mut Value,
    keys: &[&str],
) -> anyhow::Result<&'a mut Map<String, Value>> {
    let mut object = root.as_object_mut().context("the file holds no table of keys")?;
    for key in keys {
        let member = object.entry(*key).or_insert_with(|| Value::Object(Map::new()));
        if member.is_null() {
            *member = Value::Object(Map::new());
        }
        object = member.as_object_mut().with_context(|| format!("{key:?} holds no servers"))?;
    }
    Ok(object)
}

/// `value` without members that are empty: formats differ in how they write those.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), without_empty(value)));
            let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
            members.filter(|(_, value)| !value.is_null() && !is_empty(value)).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ConfigFile, ConfigFormat, FileChange, without_empty};
    use crate::hosts::ConfigValue;

    const TEXTS: &[(ConfigFormat, &str)] = &[
        (ConfigFormat::Json, ""),
        (ConfigFormat::Json, "\n"),
        (ConfigFormat::Json, "{}"),
        (ConfigFormat::Json, "// a comment\n{ /* b */ }\n"),
        (ConfigFormat::Json, "{\r\n\t\"s\": {\r\n\t\t\"a\": 1, // one\r\n\t},\r\n}\r\n"),
        (ConfigFormat::Json, "{\"s\":{}}"),
        (ConfigFormat::Json, "{\"s\": {\"x\": {\"old\": [1, {\"deep\": true}]}}, \"t\": 1.50}"),
        (ConfigFormat::Toml, ""),
        (ConfigFormat::Toml, "# only a comment"),
        (ConfigFormat::Toml, "s = { a = { b = 1 } }\n"),
        (ConfigFormat::Toml, "s.a.b = 1\nt = 2\n"),
        (ConfigFormat::Toml, "[s]\n[s.a] # here\nb = 1\n[t]\nc = 1979-05-27T07:32:00Z\n"),
        (ConfigFormat::Toml, "[s.x]\nold = 1\n\n[s.x.env]\nA = \"b\"\n\n[[l]]\na = 1\n"),
        (ConfigFormat::Toml, "a = 1\r\n\r\n[s.a]\r\nb = 1\r\n"),
        (ConfigFormat::Yaml, ""),
        (ConfigFormat::Yaml, "# only a comment\n"),
        (ConfigFormat::Yaml, "s:\nt: 1"),
        (ConfigFormat::Yaml, "s: {}\n"),
        (
            ConfigFormat::Yaml,
            "t: |\n  s:\n    x: 1\ns:\n  a:\n    b: |\n\n      text\n  # last\n\nu: 1\n",
        ),
        (ConfigFormat::Yaml, "s:\n  x:\n    old: 1\n\n    list:\n    - 1\n  \"y\": {a: 1}\n"),
    ];

    #[test]
    fn an_edit_changes_its_entry_and_nothing_else_in_any_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let value = ConfigValue::table([
            ("command", ConfigValue::text("a \"b\" \\ \u{7}資料")),
            ("args", ConfigValue::texts(&["--c".to_owned(), String::new()])),
        ]);
        for (format, text) in TEXTS {
            let file = ConfigFile { path: &path, format: *format, keys: &["s"] };
            fs::write(&path, text).unwrap();
            // The edit itself compares everything else.
            let change = file.set_entry("x", &value).expect(text);
            assert!(matches!(change, FileChange::Edited(_)), "{text}");
            assert_eq!(file.set_entry("x", &value).unwrap(), FileChange::Unchanged, "{text}");
            assert!(matches!(file.remove_entry("x").unwrap(), FileChange::Edited(_)), "{text}");
            let left = format.parse(&fs::read_to_string(&path).unwrap()).unwrap();
            let mut before = format.parse(text).unwrap();
            if let Some(servers) = before["s"].as_object_mut() {
                servers.remove("x");
            }
            assert_eq!(without_empty(&left), without_empty(&before), "{text}");
        }
    }
}
