//! Reads the entry of a server from the config of any host, and writes it as a mount of refdesk.
//!
//! `--mcp-config` and `refdesk import` read entries here.

use std::path::Path;

use serde_json::{Map, Value};

use super::config_value::ConfigValue;
use crate::settings::{CommandSetting, Secret};

/// Arguments before the name of a package.
const PACKAGE_FLAGS: [&str; 5] = ["-y", "--yes", "-m", "run", "tool"];

/// A server in the config of a host.
#[derive(Debug, Clone)]
pub(crate) struct ServerEntry {
    pub(crate) target: EntryTarget,
    /// Environment variables of a program, or headers of a URL.
    pub(crate) values: Vec<(String, Secret)>,
    pub(crate) cwd: Option<Secret>,
}

#[derive(Debug, Clone)]
pub(crate) enum EntryTarget {
    Program { command: CommandSetting, args: Vec<Secret> },
    Url(Secret),
}

/// Why an entry is no server that refdesk can use. No value is repeated: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryFault {
    /// It is disabled in the host.
    Disabled,
    /// It has neither a program nor a URL.
    NoTarget,
    /// A value is wrong.
    Invalid(String),
}

impl EntryFault {
    fn wrong_type(key: &str, expected: &str) -> Self {
        Self::Invalid(format!("\"{key}\" must be {expected}"))
    }
}

/// The members of an entry, with checked types. One that is `null` counts as absent.
struct EntryMembers<'a>(&'a Map<String, Value>);

impl<'a> EntryMembers<'a> {
    /// The value of the first of `keys` that is there, as `read` takes it.
    fn first<T>(
        &self,
        keys: &[&str],
        read: impl Fn(&'a Value) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, EntryFault> {
        for key in keys {
            if let Some(value) = self.0.get(*key).filter(|value| !value.is_null()) {
                let read = read(value).ok_or_else(|| EntryFault::wrong_type(key, expected))?;
                return Ok(Some(read));
            }
        }
        Ok(None)
    }

    fn text(&self, keys: &[&str]) -> Result<Option<Secret>, EntryFault> {
        self.first(keys, read_text, "a text")
    }

    fn texts(&self, keys: &[&str]) -> Result<Vec<(String, Secret)>, EntryFault> {
        let pairs = |value: &Value| {
            let pairs = value.as_object()?.iter();
            pairs.map(|(name, value)| Some((name.clone(), read_scalar(value)?))).collect()
        };
        Ok(self.first(keys, pairs, "an object of texts")?.unwrap_or_default())
    }

    fn is(&self, key: &str, wanted: bool) -> Result<bool, EntryFault> {
        Ok(self.first(&[key], Value::as_bool, "true or false")? == Some(wanted))
    }

    fn target(&self) -> Result<EntryTarget, EntryFault> {
        let url = self.text(&["url", "serverUrl", "httpUrl", "uri"])?;
        let read_command = |value: &Value| match value {
            Value::Array(_) => read_list(value).map(CommandSetting::Many),
            _ => read_text(value).map(CommandSetting::One),
        };
        let command = self.first(&["command", "cmd"], read_command, "a text")?;
        let args = self.first(&["args"], read_list, "a list of texts")?.unwrap_or_default();
        match (command, url) {
            (Some(command), None) => Ok(EntryTarget::Program { command, args }),
            (None, Some(url)) => Ok(EntryTarget::Url(url)),
            (None, None) => Err(EntryFault::NoTarget),
            (Some(_), Some(_)) => {
                Err(EntryFault::Invalid("it needs either \"command\" or \"url\"".to_owned()))
            }
        }
    }
}

/// A text, with variables as refdesk writes them.
fn read_text(value: &Value) -> Option<Secret> {
    let text = value.as_str()?;
    // OpenCode writes `{env:NAME}`.
    Some(Secret(text.replace("{env:", "${env:").replace("$${", "${")))
}

/// A text; numbers and truth values are written as such.
fn read_scalar(value: &Value) -> Option<Secret> {
    match value {
        Value::Number(_) | Value::Bool(_) => Some(Secret(value.to_string())),
        _ => read_text(value),
    }
}

fn read_list(value: &Value) -> Option<Vec<Secret>> {
    value.as_array()?.iter().map(read_scalar).collect()
}

/// The words of a command; a text that cannot be split is one word.
fn command_words(command: &CommandSetting) -> Vec<Secret> {
    command.words().unwrap_or_else(|_| match command {
        CommandSetting::One(line) => vec![line.clone()],
        CommandSetting::Many(words) => words.clone(),
    })
}

impl ServerEntry {
    /// Reads an entry.
    pub(crate) fn read(entry: &Value) -> Result<Self, EntryFault> {
        let not_object = || EntryFault::Invalid("an entry must be an object".to_owned());
        let outer = EntryMembers(entry.as_object().ok_or_else(not_object)?);
        if outer.is("disabled", true)? || outer.is("enabled", false)? {
            return Err(EntryFault::Disabled);
        }
        // Cline writes what others write at the top into a member.
        let inner = entry.get("transport").and_then(Value::as_object);
        let members = inner.map_or(outer, EntryMembers);
        let target = members.target()?;
        let mut values = match target {
            EntryTarget::Program { .. } => members.texts(&["env", "envs", "environment"])?,
            EntryTarget::Url(_) => members.texts(&["headers", "http_headers"])?,
        };
        // Codex names variables in place of values.
        let named = members.texts(&["env_http_headers"])?.into_iter();
        values.extend(named.map(|(name, value)| (name, Secret(format!("${{{}}}", value.0)))));
        if let Some(variable) = members.text(&["bearer_token_env_var"])? {
            let value = Secret(format!("Bearer ${{{}}}", variable.0));
            values.push(("Authorization".to_owned(), value));
        }
        Self { target, values, cwd: members.text(&["cwd"])? }.without_questions()
    }

    fn without_questions(mut self) -> Result<Self, EntryFault> {
        let mut asks = false;
        self.each_text(|text| asks |= text.contains("${input:"));
        let question = || EntryFault::Invalid("the host asks a person for a value".to_owned());
        (!asks).then_some(self).ok_or_else(question)
    }

    fn each_text(&mut self, mut visit: impl FnMut(&mut String)) {
        let texts: Vec<&mut Secret> = match &mut self.target {
            EntryTarget::Program { command: CommandSetting::One(line), args } => {
                std::iter::once(line).chain(args).collect()
            }
            EntryTarget::Program { command: CommandSetting::Many(words), args } => {
                words.iter_mut().chain(args).collect()
            }
            EntryTarget::Url(url) => vec![url],
        };
        let values = self.values.iter_mut().map(|(_, value)| value);
        texts.into_iter().chain(values).chain(&mut self.cwd).for_each(|text| visit(&mut text.0));
    }

    /// The same server, for a settings file in any folder: `folder` is the project of the host's
    /// file.
    pub(crate) fn resolve(mut self, folder: &Path) -> Self {
        let shown = folder.display().to_string();
        self.each_text(|text| *text = text.replace("${workspaceFolder}", &shown));
        if let Some(Secret(cwd)) = &mut self.cwd {
            *cwd = folder.join(&*cwd).display().to_string();
        }
        if let EntryTarget::Program { command, .. } = &mut self.target {
            let mut words = command_words(command);
            if let Some(Secret(program)) = words.first_mut().filter(|word| word.0.starts_with('.'))
            {
                *program = folder.join(&*program).display().to_string();
            }
            *command = CommandSetting::Many(words);
        }
        self
    }

    /// The words of a program.
    pub(crate) fn words(&self) -> Option<Vec<String>> {
        let EntryTarget::Program { command, args } = &self.target else { return None };
        let mut words = command_words(command);
        words.extend(args.iter().cloned());
        Some(words.into_iter().map(|word| word.0).collect())
    }

    /// Whether this server is refdesk itself.
    pub(crate) fn is_refdesk(&self) -> bool {
        let Some(words) = self.words() else { return false };
        let program = words.first().and_then(|word| Path::new(word).file_name());
        program.is_some_and(|name| name == "refdesk")
    }

    /// The mount that serves it.
    pub(crate) fn mount_value(&self) -> ConfigValue {
        let mut pairs = vec![("kind".to_owned(), ConfigValue::text("upstream"))];
        let values_key = match &self.target {
            EntryTarget::Program { .. } => {
                let words = self.words().unwrap_or_default();
                pairs.push(("command".to_owned(), ConfigValue::texts(&words)));
                "env"
            }
            EntryTarget::Url(url) => {
                pairs.push(("url".to_owned(), ConfigValue::text(&url.0)));
                "headers"
            }
        };
        pairs.extend(self.cwd.as_ref().map(|cwd| ("cwd".to_owned(), ConfigValue::text(&cwd.0))));
        if !self.values.is_empty() {
            let pair =
                |(name, value): &(String, Secret)| (name.clone(), ConfigValue::text(&value.0));
            let values = ConfigValue::Table(self.values.iter().map(pair).collect());
            pairs.push((values_key.to_owned(), values));
        }
        ConfigValue::Table(pairs)
    }

    /// What it is, for a person. Arguments, queries and values may be secrets and are not shown.
    pub(crate) fn summary(&self) -> String {
        match &self.target {
            EntryTarget::Program { .. } => {
                let words = self.words().unwrap_or_default();
                let name = |word: &String| {
                    Path::new(word).file_name().map(|name| name.display().to_string())
                };
                let program = words.first().and_then(name).unwrap_or_default();
                let behind = words.get(1..).unwrap_or_default();
                let flags =
                    behind.iter().take_while(|word| PACKAGE_FLAGS.contains(&&***word)).count();
                let package = behind.get(flags).filter(|word| !word.starts_with('-'));
                package.map_or(program.clone(), |package| format!("{program} {package}"))
            }
            EntryTarget::Url(url) => {
                let url = url.0.split(['?', '#']).next().unwrap_or_default();
                let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
                let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
                format!("{scheme}://{host}")
            }
        }
    }

    /// The names of the values that stand in the entry as they are.
    pub(crate) fn secret_names(&self) -> impl Iterator<Item = &str> {
        let plain = self.values.iter().filter(|(_, value)| !value.0.contains("${"));
        plain.map(|(name, _)| name.as_str())
    }
}

/// The servers of a file of Continue, which has a list of them.
pub(super) fn servers_of_list(root: &Value) -> Map<String, Value> {
    let list = root["mcpServers"].as_array().into_iter().flatten();
    list.filter_map(|server| Some((server["name"].as_str()?.to_owned(), server.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{EntryFault, ServerEntry};

    fn read(entry: &Value) -> Result<ServerEntry, EntryFault> {
        Ok(ServerEntry::read(entry)?.resolve(Path::new("/srv/app")))
    }

    #[test]
    fn every_hosts_form_becomes_a_mount() {
        let program =
            json!({ "kind": "upstream", "command": ["npx", "-y", "s"], "env": { "A": "b" } });
        let remote = json!({ "kind": "upstream", "url": "https://a/mcp" });
        for (entry, mount) in [
            (json!({ "command": "npx", "args": ["-y", "s"], "env": { "A": "b" } }), &program),
            (
                json!({ "type": "local", "command": ["npx", "-y", "s"], "environment": { "A": "b" } }),
                &program,
            ),
            (
                json!({ "cmd": "npx", "args": ["-y", "s"], "envs": { "A": "b" }, "enabled": true }),
                &program,
            ),
            (
                json!({ "transport": { "type": "stdio", "command": "npx", "args": ["-y", "s"], "env": { "A": "b" } } }),
                &program,
            ),
            (json!({ "command": "npx -y s", "env": { "A": "b" } }), &program),
            (json!({ "type": "http", "url": "https://a/mcp" }), &remote),
            (json!({ "serverUrl": "https://a/mcp" }), &remote),
            (json!({ "httpUrl": "https://a/mcp" }), &remote),
            (json!({ "uri": "https://a/mcp" }), &remote),
        ] {
            assert_eq!(&Value::from(&read(&entry).unwrap().mount_value()), mount, "{entry}");
        }
        let codex = json!({ "url": "https://a", "bearer_token_env_var": "T", "env_http_headers": { "X": "Y" } });
        let mount = Value::from(&read(&codex).unwrap().mount_value());
        assert_eq!(mount["headers"], json!({ "X": "${Y}", "Authorization": "Bearer ${T}" }));
        let local = json!({ "command": "./run", "args": ["${workspaceFolder}/a", "{env:B}", "${C}"], "cwd": "sub" });
        let mount = Value::from(&read(&local).unwrap().mount_value());
        assert_eq!(mount["command"], json!(["/srv/app/./run", "/srv/app/a", "${env:B}", "${C}"]));
        assert_eq!(mount["cwd"], "/srv/app/sub");
    }

    #[test]
    fn what_refdesk_cannot_use_is_told_and_no_secret_is_shown() {
        for entry in [
            json!({ "command": "a", "disabled": true }),
            json!({ "type": "builtin", "enabled": true }),
            json!({ "command": "a", "env": { "K": "${input:key}" } }),
        ] {
            assert!(read(&entry).is_err(), "{entry}");
        }
        for (entry, why) in [
            (json!("s3"), "an entry must be an object"),
            (json!({ "command": 3 }), "\"command\" must be a text"),
            (json!({ "command": "a", "args": "--token s3" }), "\"args\" must be a list of texts"),
            (
                json!({ "command": "a", "env": { "K": ["s3"] } }),
                "\"env\" must be an object of texts",
            ),
            (json!({ "command": "a", "disabled": "s3" }), "\"disabled\" must be true or false"),
            (json!({ "command": "a", "url": "b" }), "it needs either \"command\" or \"url\""),
        ] {
            assert_eq!(read(&entry).unwrap_err(), EntryFault::Invalid(why.to_owned()), "{entry}");
        }
        assert_eq!(read(&json!({ "type": "builtin" })).unwrap_err(), EntryFault::NoTarget);
        for (entry, summary) in [
            (
                json!({ "command": "/usr/bin/npx", "args": ["-y", "@a/b", "--token", "s3"] }),
                "npx @a/b",
            ),
            (json!({ "command": "run-it", "args": ["--token", "s3"] }), "run-it"),
            (json!({ "url": "https://me:s3@a/mcp?key=s3" }), "https://a/mcp"),
        ] {
            assert_eq!(read(&entry).unwrap().summary(), summary);
        }
        let entry = json!({ "command": "a", "env": { "K": "s3", "L": "${L}" } });
        let server = read(&entry).unwrap();
        assert_eq!(server.secret_names().collect::<Vec<_>>(), ["K"]);
        assert!(read(&json!({ "command": "/opt/refdesk" })).unwrap().is_refdesk());
    }
}
