//! Reads the entry of a server from the config of any host, and writes it as a mount of refdesk.

use std::path::Path;

use serde_json::{Map, Value};

use super::config_value::ConfigValue;

/// Arguments before the name of a package.
const PACKAGE_FLAGS: [&str; 5] = ["-y", "--yes", "-m", "run", "tool"];

/// A server in the config of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerEntry {
    target: EntryTarget,
    /// Environment variables of a program, or headers of a URL.
    values: Vec<(String, String)>,
    cwd: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum EntryTarget {
    Program(Vec<String>),
    Url(String),
}

impl ServerEntry {
    /// Reads an entry of a file whose project is `folder`. The error says why refdesk cannot use it.
    pub(crate) fn read(entry: &Value, folder: &Path) -> Result<Self, &'static str> {
        if entry["disabled"] == true || entry["enabled"] == false {
            return Err("disabled in the host");
        }
        // Cline writes what others write at the top into a member.
        let told = entry.get("transport").filter(|inner| inner.is_object()).unwrap_or(entry);
        let target = read_target(told).ok_or("neither a program nor a URL")?;
        let mut values = Vec::new();
        let names: &[&str] = match target {
            EntryTarget::Program(_) => &["env", "envs", "environment"],
            EntryTarget::Url(_) => &["headers", "http_headers"],
        };
        for (name, value) in names.iter().filter_map(|name| told[*name].as_object()).flatten() {
            values.push((name.clone(), scalar_text(value)));
        }
        // Codex names variables in place of values.
        let named = told["env_http_headers"].as_object().into_iter().flatten();
        values.extend(
            named.map(|(name, value)| (name.clone(), format!("${{{}}}", scalar_text(value)))),
        );
        if let Some(variable) = told["bearer_token_env_var"].as_str() {
            values.push(("Authorization".to_owned(), format!("Bearer ${{{variable}}}")));
        }
        let cwd = told["cwd"].as_str().map(|cwd| folder.join(cwd).display().to_string());
        Self { target, values, cwd }.resolve(folder)
    }

    /// Replaces the variables that only the host knows.
    fn resolve(mut self, folder: &Path) -> Result<Self, &'static str> {
        let folder = folder.display().to_string();
        let texts: Vec<&mut String> = match &mut self.target {
            EntryTarget::Program(words) => words.iter_mut().collect(),
            EntryTarget::Url(url) => vec![url],
        };
        let values = self.values.iter_mut().map(|(_, value)| value);
        for text in texts.into_iter().chain(values).chain(&mut self.cwd) {
            *text = text
                .replace("${workspaceFolder}", &folder)
                .replace("{env:", "${env:")
                .replace("$${", "${");
            if text.contains("${input:") {
                return Err("the host asks a person for a value");
            }
        }
        if let EntryTarget::Program(words) = &mut self.target
            && let Some(program) = words.first_mut().filter(|word| word.starts_with('.'))
        {
            *program = Path::new(&folder).join(&program).display().to_string();
        }
        Ok(self)
    }

    /// Whether this server is refdesk itself.
    pub(crate) fn is_refdesk(&self) -> bool {
        let EntryTarget::Program(words) = &self.target else { return false };
        let program = words.first().and_then(|word| Path::new(word).file_name());
        program.is_some_and(|name| name == "refdesk")
    }

    /// The mount that serves it.
    pub(crate) fn mount_value(&self) -> ConfigValue {
        let mut pairs = vec![("kind".to_owned(), ConfigValue::text("upstream"))];
        let values_key = match &self.target {
            EntryTarget::Program(words) => {
                pairs.push(("command".to_owned(), ConfigValue::texts(words)));
                "env"
            }
            EntryTarget::Url(url) => {
                pairs.push(("url".to_owned(), ConfigValue::text(url)));
                "headers"
            }
        };
        pairs.extend(self.cwd.as_ref().map(|cwd| ("cwd".to_owned(), ConfigValue::text(cwd))));
        if !self.values.is_empty() {
            let pair = |(name, value): &(String, String)| (name.clone(), ConfigValue::text(value));
            let values = ConfigValue::Table(self.values.iter().map(pair).collect());
            pairs.push((values_key.to_owned(), values));
        }
        ConfigValue::Table(pairs)
    }

    /// What it is, for a person. Arguments, queries and values may be secrets and are not shown.
    pub(crate) fn summary(&self) -> String {
        match &self.target {
            EntryTarget::Program(words) => {
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
                let url = url.split(['?', '#']).next().unwrap_or_default();
                let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
                let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
                format!("{scheme}://{host}")
            }
        }
    }

    /// The names of the values that stand in the entry as they are.
    pub(crate) fn secret_names(&self) -> impl Iterator<Item = &str> {
        let plain = self.values.iter().filter(|(_, value)| !value.contains("${"));
        plain.map(|(name, _)| name.as_str())
    }
}

fn read_target(told: &Value) -> Option<EntryTarget> {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(scalar_text).collect()
    };
    if let Some(url) =
        ["url", "serverUrl", "httpUrl", "uri"].iter().find_map(|key| told[*key].as_str())
    {
        return Some(EntryTarget::Url(url.to_owned()));
    }
    let mut words = match told.get("command").or_else(|| told.get("cmd"))? {
        Value::String(program) => vec![program.clone()],
        list => texts(list),
    };
    words.extend(texts(&told["args"]));
    (!words.is_empty()).then_some(EntryTarget::Program(words))
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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

    use super::ServerEntry;

    fn read(entry: &Value) -> Result<ServerEntry, &'static str> {
        ServerEntry::read(entry, Path::new("/srv/app"))
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
