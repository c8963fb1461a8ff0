//! Syntaxes of texts that hold secrets, by file name.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::key_words::names_secrets;

/// How keys and values are written in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Any other text: only shapes are masked.
    Text,
    /// TOML.
    Toml,
    /// YAML, kubeconfig too.
    Yaml,
    /// JSON, with the comments and the loose forms of JSONC and JSON5.
    Json,
    /// Sections with `key = value` or `key: value`.
    Ini,
    /// `KEY=value` lines, as of `.env`.
    Env,
    /// Java properties.
    Properties,
    /// `.netrc`.
    Netrc,
    /// `.pgpass`.
    Pgpass,
    /// `.htpasswd`.
    Htpasswd,
    /// XML.
    Xml,
    /// HCL, of Terraform for one.
    Hcl,
    /// Plain text of a file that is named after secrets: names and values, or values alone.
    SecretList,
    /// Comma-separated values of a file that is named after secrets.
    SecretTable,
}

/// Extensions, the syntax of each, and whether its files hold configuration or keys.
const EXTENSIONS: &[(&str, Syntax, bool)] = &[
    ("toml", Syntax::Toml, true),
    ("yaml", Syntax::Yaml, true),
    ("yml", Syntax::Yaml, true),
    ("kubeconfig", Syntax::Yaml, true),
    ("json", Syntax::Json, false),
    ("json5", Syntax::Json, false),
    ("jsonc", Syntax::Json, false),
    ("tfstate", Syntax::Json, true),
    ("dockerconfigjson", Syntax::Json, true),
    ("dockercfg", Syntax::Json, true),
    ("ini", Syntax::Ini, true),
    ("cfg", Syntax::Ini, true),
    ("conf", Syntax::Ini, true),
    ("cnf", Syntax::Ini, true),
    ("config", Syntax::Ini, true),
    ("service", Syntax::Ini, true),
    ("env", Syntax::Env, true),
    ("properties", Syntax::Properties, true),
    ("tfvars", Syntax::Hcl, true),
    ("hcl", Syntax::Hcl, true),
    ("tf", Syntax::Hcl, false),
    ("nomad", Syntax::Hcl, false),
    ("xml", Syntax::Xml, false),
    ("plist", Syntax::Xml, false),
    ("htpasswd", Syntax::Htpasswd, true),
    ("netrc", Syntax::Netrc, true),
    ("pgpass", Syntax::Pgpass, true),
    ("pem", Syntax::Text, true),
    ("key", Syntax::Text, true),
    ("p8", Syntax::Text, true),
    ("ppk", Syntax::Text, true),
    ("asc", Syntax::Text, true),
    ("gpg", Syntax::Text, true),
    ("age", Syntax::Text, true),
    ("ovpn", Syntax::Text, true),
    ("keystore", Syntax::Text, true),
    ("p12", Syntax::Text, true),
    ("pfx", Syntax::Text, true),
    ("pkcs12", Syntax::Text, true),
    ("jks", Syntax::Text, true),
    ("jceks", Syntax::Text, true),
    ("bks", Syntax::Text, true),
    ("kdb", Syntax::Text, true),
    ("kdbx", Syntax::Text, true),
    ("keychain", Syntax::Text, true),
    ("keychain-db", Syntax::Text, true),
    ("keytab", Syntax::Text, true),
    ("der", Syntax::Text, true),
    ("pk8", Syntax::Text, true),
];

/// Extensions of plain texts and tables, which a file that is named after secrets may have.
const PLAIN_EXTENSIONS: &[(&str, Syntax)] = &[
    ("", Syntax::SecretList),
    ("txt", Syntax::SecretList),
    ("text", Syntax::SecretList),
    ("lst", Syntax::SecretList),
    ("list", Syntax::SecretList),
    ("dat", Syntax::SecretList),
    ("csv", Syntax::SecretTable),
    ("tsv", Syntax::SecretTable),
];

/// Endings that say that a file is a template or a copy.
const COPIES: &[&str] =
    &[".example", ".sample", ".template", ".tmpl", ".dist", ".bak", ".old", ".orig", ".tpl"];

/// Whole names, in lower case.
const NAMES: &[(&str, Syntax)] = &[
    (".npmrc", Syntax::Ini),
    (".pypirc", Syntax::Ini),
    (".gitconfig", Syntax::Ini),
    (".my.cnf", Syntax::Ini),
    (".s3cfg", Syntax::Ini),
    (".boto", Syntax::Ini),
    (".wgetrc", Syntax::Ini),
    (".curlrc", Syntax::Ini),
    (".hgrc", Syntax::Ini),
    (".condarc", Syntax::Yaml),
    (".yarnrc", Syntax::Yaml),
    ("credentials", Syntax::Ini),
    (".git-credentials", Syntax::Text),
    (".netrc", Syntax::Netrc),
    ("_netrc", Syntax::Netrc),
    (".authinfo", Syntax::Netrc),
    (".pgpass", Syntax::Pgpass),
    ("pgpass.conf", Syntax::Pgpass),
    (".htpasswd", Syntax::Htpasswd),
    ("htpasswd", Syntax::Htpasswd),
    ("kubeconfig", Syntax::Yaml),
    (".dockercfg", Syntax::Json),
    (".envrc", Syntax::Env),
    ("environment", Syntax::Env),
    ("web.config", Syntax::Xml),
    ("app.config", Syntax::Xml),
    ("nuget.config", Syntax::Xml),
    ("machine.config", Syntax::Xml),
    ("settings.xml", Syntax::Xml),
    ("id_rsa", Syntax::Text),
    ("id_dsa", Syntax::Text),
    ("id_ecdsa", Syntax::Text),
    ("id_ed25519", Syntax::Text),
    ("id_ecdsa_sk", Syntax::Text),
    ("id_ed25519_sk", Syntax::Text),
];

/// Files named `config` in these folders.
const CONFIG_FOLDERS: &[(&str, Syntax)] = &[
    (".kube", Syntax::Yaml),
    (".aws", Syntax::Ini),
    (".git", Syntax::Ini),
    (".ssh", Syntax::Text),
];

/// Parts of the names of JSON and XML files that hold configuration.
const CONFIG_WORDS: &[&str] = &[
    "config",
    "setting",
    "credential",
    "secret",
    "auth",
    "kube",
    "docker",
    "service-account",
    "service_account",
    "serviceaccount",
    "appsettings",
    "password",
    "local.settings",
    "values",
    "env",
    "key",
];

/// Files that lock dependencies, besides those that end in `.lock`: they are full of hashes and hold no
/// secrets.
const LOCK_FILES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "go.sum",
    "packages.lock.json",
    ".terraform.lock.hcl",
];

/// The two tables by name: each text that is read is looked up. Nobody can choose the keys, so that a
/// fast hash is safe.
static BY_NAME: LazyLock<FxHashMap<&str, Syntax>> =
    LazyLock::new(|| NAMES.iter().rev().copied().collect());
static BY_EXTENSION: LazyLock<FxHashMap<&str, &(&str, Syntax, bool)>> =
    LazyLock::new(|| EXTENSIONS.iter().rev().map(|row| (row.0, row)).collect());

impl Syntax {
    /// The syntax of the file at `path`, by its name.
    pub fn of_path(path: &str) -> Self {
        judge_name(path).0
    }

    /// The syntax of a text of this MIME type.
    pub fn of_mime(mime: &str) -> Self {
        let essence = mime.split(';').next().unwrap_or(mime).trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" | "application/json5" => Self::Json,
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => Self::Yaml,
            "application/toml" | "text/x-toml" => Self::Toml,
            "application/xml" | "text/xml" => Self::Xml,
            essence if essence.ends_with("+json") => Self::Json,
            essence if essence.ends_with("+yaml") => Self::Yaml,
            _ => Self::Text,
        }
    }

    /// Whether the name of the file at `path` says that it holds configuration, keys or
    /// credentials.
    pub fn is_sensitive(path: &str) -> bool {
        Self::of_sensitive(path).is_some()
    }

    /// The syntax of the file at `path`, if its name says that it holds configuration, keys or
    /// credentials.
    pub fn of_sensitive(path: &str) -> Option<Self> {
        let (syntax, is_sensitive) = judge_name(path);
        is_sensitive.then_some(syntax)
    }

    /// Whether keys are read, so that the text must be masked as a whole. A text of any other
    /// syntax can be masked as a stream.
    pub fn has_keys(self) -> bool {
        self != Self::Text
    }
}

/// The syntax of the file at `path`, and whether its name says that it holds configuration, keys or
/// credentials.
fn judge_name(path: &str) -> (Syntax, bool) {
    let mut names = path.rsplit('/').map(lowercase);
    let name = &*names.next().unwrap_or_default();
    let mut folder = || names.next().unwrap_or_default();
    if let Some(syntax) = BY_NAME.get(name) {
        return (*syntax, true);
    }
    let is_public = is_lock(name) || name.ends_with(".pub");
    if is_env_name(name) {
        return (Syntax::Env, !is_public);
    }
    if name == "config" {
        let folder = folder();
        let known = CONFIG_FOLDERS.iter().find(|(known, _)| *known == folder);
        return (known.map_or(Syntax::Ini, |(_, syntax)| *syntax), folder.starts_with('.'));
    }
    let original = without_copy(name);
    let known = extension(original);
    // The modules of PAM are configured by files such as `common-password`.
    let secret = || secret_syntax(original).filter(|_| folder() != "pam.d");
    let syntax = known.map(|(_, syntax, _)| *syntax).or_else(secret).unwrap_or(Syntax::Text);
    let is_sensitive = || match syntax {
        Syntax::Json | Syntax::Xml => {
            let is_rc = name.starts_with('.') && name.trim_end_matches(".json").ends_with("rc");
            let is_state = name.ends_with(".tfstate") || name.ends_with("dockerconfigjson");
            let has_word = CONFIG_WORDS.iter().any(|word| name.contains(word));
            is_rc || is_state || has_word || names_secrets(stem_of(original))
        }
        Syntax::SecretList | Syntax::SecretTable => true,
        _ => {
            let is_rc = name.starts_with('.') && name.ends_with("rc");
            let is_credentials =
                name.starts_with("credentials") || name.starts_with(".credentials");
            is_rc || is_credentials || known.is_some_and(|(_, _, is_sensitive)| *is_sensitive)
        }
    };
    (syntax, !is_public && is_sensitive())
}

/// The name of a file, without an ending that says that it is a copy.
fn without_copy(name: &str) -> &str {
    let name = name.trim_end_matches('~');
    COPIES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The syntax of a plain text or table that is named after secrets.
fn secret_syntax(name: &str) -> Option<Syntax> {
    let stem = stem_of(name);
    let extension = name.strip_prefix('.').unwrap_or(name)[stem.len()..].trim_start_matches('.');
    let plain = PLAIN_EXTENSIONS.iter().find(|(known, _)| *known == extension);
    plain.filter(|_| names_secrets(stem)).map(|(_, syntax)| *syntax)
}

/// The name of a file without the dot before it and without its extension.
fn stem_of(name: &str) -> &str {
    let name = name.strip_prefix('.').unwrap_or(name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn lowercase(name: &str) -> Cow<'_, str> {
    let is_lowercase = name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lowercase { Cow::Borrowed(name) } else { Cow::Owned(name.to_lowercase()) }
}

fn is_env_name(name: &str) -> bool {
    name == ".env"
        || name.starts_with(".env.")
        || name.starts_with(".env-")
        || name.ends_with(".env")
}

fn is_lock(name: &str) -> bool {
    name.ends_with(".lock") || LOCK_FILES.contains(&name)
}

fn extension(name: &str) -> Option<&'static (&'static str, Syntax, bool)> {
    let (_, extension) = name.rsplit_once('.')?;
    BY_EXTENSION.get(extension).copied()
}

#[cfg(test)]
mod tests;
