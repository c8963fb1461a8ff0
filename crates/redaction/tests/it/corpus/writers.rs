//! Writers: a key and a value in each format, beside values that are no secrets.

use super::NEIGHBOURS;

/// A format: the name of a file in it, and what writes a pair. `None` if the format cannot hold
/// the value.
pub(super) struct Writer {
    pub(super) file: &'static str,
    pub(super) write: fn(&str, &str) -> Option<String>,
}

pub(super) const WRITERS: &[Writer] = &[
    Writer { file: "app.toml", write: toml },
    Writer { file: "app.toml", write: toml_table },
    Writer { file: "app.yaml", write: yaml_plain },
    Writer { file: "app.yaml", write: yaml_single },
    Writer { file: "app.yml", write: yaml_block },
    Writer { file: "app.yml", write: yaml_folded },
    Writer { file: "app.yml", write: yaml_anchor },
    Writer { file: "app.json", write: json },
    Writer { file: "app.json5", write: json5 },
    Writer { file: "app.ini", write: ini },
    Writer { file: "app.env", write: env },
    Writer { file: ".env", write: env_export },
    Writer { file: "app.properties", write: properties },
    Writer { file: "app.xml", write: xml },
    Writer { file: "app.tfvars", write: hcl },
    Writer { file: "app.toml", write: comment },
];

fn one_line(value: &str) -> Option<&str> {
    (!value.contains('\n')).then_some(value)
}

/// Whether YAML reads `value` as a text without quotes.
fn is_plain(value: &str) -> bool {
    let begins = value.starts_with(|first: char| first.is_alphanumeric() || "/$.-".contains(first));
    begins && !value.contains(": ") && !value.contains(" #") && !value.contains('\n')
}

fn toml(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let quotes = if value.contains('\n') { "\"\"\"" } else { "\"" };
    let value = value.replace('\\', "\\\\");
    Some(format!(
        "name = \"{name}\"\n\"{key}\" = {quotes}{value}{quotes} # note\nhost = '{host}'\n"
    ))
}

fn toml_table(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value)?;
    Some(format!(
        "name = '{name}'\n[server]\ninline = {{ host = \"{host}\", \"{key}\" = '{value}' }}\n"
    ))
}

fn yaml_plain(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    is_plain(value)
        .then(|| format!("name: {name}\nserver:\n  {key}: {value} # note\n  host: {host}\n"))
}

fn yaml_single(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value)?;
    Some(format!("{{name: {name}, \"{key}\": '{value}', host: {host}}}\n"))
}

fn yaml_block(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = value.replace('\n', "\n      ");
    Some(format!("name: {name}\nserver:\n  '{key}': |\n      {value}\n  host: {host}\n"))
}

fn yaml_folded(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value)?;
    Some(format!("- name: {name}\n- {key}: >-\n    {value}\n  host: {host}\n"))
}

fn yaml_anchor(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    is_plain(value).then(|| {
        format!("base: &it {value}\nname: {name}\nserver:\n  {key}: *it\n  host: {host}\n")
    })
}

fn json(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = serde_json::to_string(value).expect("a string is JSON");
    Some(format!(
        "{{\"name\": \"{name}\", \"a\": [{{\"{key}\": {value}}}], \"host\": \"{host}\"}}\n"
    ))
}

fn json5(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value)?.replace('\\', "\\\\");
    Some(format!(
        "{{\n  // note\n  name: '{name}',\n  '{key}': '{value}',\n  host: \"{host}\",\n}}\n"
    ))
}

fn ini(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value)?;
    Some(format!("; note\n[server]\nname = {name}\n{key} = {value}\nhost: {host}\n"))
}

fn env(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value).filter(|value| !value.contains(' '))?;
    Some(format!("NAME={name}\n{key}={value}\nHOST=\"{host}\"\n"))
}

fn env_export(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    Some(format!("export NAME='{name}'\nexport {key}=\"{value}\" # note\nexport HOST={host}\n"))
}

fn properties(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value)?.replace('\\', "\\\\");
    Some(format!("# note\napp.name={name}\napp.{key} = {value}\napp.host: {host}\n"))
}

fn xml(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = value.replace('&', "&amp;").replace('<', "&lt;");
    let is_name = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| {
        format!("<app name=\"{name}\">\n  <{key}>{value}</{key}>\n  <host>{host}</host>\n</app>\n")
    })
}

fn hcl(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value).filter(|value| !value.contains('\\'))?;
    Some(format!(
        "name = \"{name}\"\nserver \"a\" {{\n  \"{key}\" = \"{value}\"\n  host = \"{host}\"\n}}\n"
    ))
}

fn comment(key: &str, value: &str) -> Option<String> {
    let [name, host] = NEIGHBOURS;
    let value = one_line(value)?;
    Some(format!("name = \"{name}\"\n# {key} = \"{value}\"\nhost = \"{host}\"\n"))
}
