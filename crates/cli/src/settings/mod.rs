//! Loads and parses the settings: the TOML file, host config files and command-line mounts.
//!
//! Parsing is strict: an unknown key is an error with its location and a suggestion.

mod access;
mod config;
mod diagnostic;
mod docs;
mod env;
mod fingerprint;
mod folders;
mod git;
mod host_file;
mod mount;
mod render;
mod search;
mod server;
mod tokens;
mod units;
mod upstream;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ::server::transport::http::AccessToken;
use anyhow::Context;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::args::{ServeArgs, SourceArgs};
use crate::listen::ListenAddress;
use crate::state_file::read_regular_file;
use access::AccessList;
pub(crate) use access::{AccessSettings, MethodClassSetting};
pub(crate) use config::ConfigMount;
use diagnostic::SettingsText;
pub(crate) use diagnostic::{Diagnostic, did_you_mean};
pub(crate) use docs::DocsMount;
pub(crate) use env::EnvMount;
pub(crate) use fingerprint::Fingerprint;
pub(crate) use folders::split_named_folder;
pub(crate) use git::GitMount;
pub(crate) use host_file::HostEntry;
use mount::SharedSettings;
pub(crate) use mount::{
    FileApiSetting, FolderMount, FormatSettings, IconSettings, ListingSetting, MountKind,
    MountSettings, RedactSetting, RoleSetting, RuleSettings, StaticMount, StaticResource,
    StaticTemplate, VariableKindSetting, WatchSetting, to_mount_name,
};
pub(crate) use render::RenderSettings;
pub(crate) use search::SearchSettings;
pub(crate) use server::{AuditSettings, ServerSettings, TlsSettings};
pub(crate) use tokens::check_token_name;
use units::TimeSpan;
pub(crate) use upstream::{
    CommandSetting, Secret, ServerSearchSettings, ToolsOffer, ToolsSetting, UpstreamMount,
};

/// The default settings file.
pub(crate) const DEFAULT_FILE: &str = "refdesk.toml";

/// Most bytes of a settings file or a host's file: far more than one written by hand has, and
/// parsed in an instant.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The parsed settings.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The source text, if the settings come from a file.
    pub(crate) text: Option<SettingsText>,
    pub(crate) server: ServerSettings,
    pub(crate) tokens: Vec<AccessToken>,
    pub(crate) tls: Option<TlsSettings>,
    pub(crate) render: RenderSettings,
    pub(crate) search: SearchSettings,
    pub(crate) mounts: BTreeMap<String, MountSettings>,
    /// Access rules for all mounts.
    pub(crate) access: AccessList,
    /// Where this process listens; `None` over stdio, or if it does not serve.
    pub(crate) address: Option<ListenAddress>,
}

impl Settings {
    /// Loads the settings that the arguments select.
    pub(crate) fn load(source: &SourceArgs) -> anyhow::Result<Self> {
        let usual = Path::new(DEFAULT_FILE);
        let servers = !(source.mcp_config.is_empty() && source.mount.is_empty());
        let mut settings = match &source.settings {
            Some(file) => Self::read_file(file)?,
            // With servers or folders as arguments, the default settings file is not used.
            None if servers || !source.paths.is_empty() => Self::for_folders(&source.paths)?,
            None if usual.exists() => Self::read_file(usual)?,
            None => Self::for_folders(&[PathBuf::from(".")])?,
        };
        if let Some(wait) = source.start_wait {
            settings.server.start_wait = Some(TimeSpan(wait));
        }
        for file in &source.mcp_config {
            settings.add_host_file(file)?;
        }
        for server in &source.mount {
            settings.add_from_argument(server)?;
        }
        Ok(settings)
    }

    /// Loads the settings of the current folder.
    pub(crate) fn load_here() -> anyhow::Result<Self> {
        Self::load(&SourceArgs::default())
    }

    /// Loads the settings for serving, with the address at which `args` let it listen.
    pub(crate) fn load_for_serving(args: &ServeArgs) -> anyhow::Result<Self> {
        let mut settings = Self::load(&args.source)?;
        if !args.stdio {
            let address = args.listen.clone().or_else(|| settings.server.listen.clone());
            settings.address = Some(address.unwrap_or_default());
        }
        Ok(settings)
    }

    /// Reads a settings file.
    pub(crate) fn read_file(file: &Path) -> anyhow::Result<Self> {
        let content = read_text_file(file)
            .with_context(|| format!("cannot read the settings file {}", file.display()))?;
        let text = SettingsText { file: file.to_owned(), content };
        Ok(parse(text)?)
    }

    /// `name`, if it is a valid mount name that no mount has.
    fn check_new_name<'a>(&self, name: &'a str) -> anyhow::Result<&'a str> {
        if !mount::is_mount_name(name) {
            let better = mount::to_mount_name(name);
            anyhow::bail!("`{name}` is not a valid mount name; try `{better}`");
        }
        anyhow::ensure!(
            !self.mounts.contains_key(name),
            "the mount name `{name}` is already in use"
        );
        Ok(name)
    }

    /// Adds the servers of a host config file, renamed where a name is taken.
    pub(crate) fn add_host_file(&mut self, file: &Path) -> anyhow::Result<()> {
        for (name, mount) in host_file::read_host_file(file)? {
            let name = self.unused_name(&name);
            self.mounts.insert(name, mount);
        }
        Ok(())
    }

    /// Adds a server from the command line: `NAME=URL` or `NAME=PROGRAM ARGS`.
    pub(crate) fn add_from_argument(&mut self, text: &str) -> anyhow::Result<()> {
        let form = "write a server as notes=\"npx -y server\" or team=https://host/mcp";
        let (name, rest) = text.split_once('=').with_context(|| format!("{text}: {form}"))?;
        self.check_new_name(name)?;
        let upstream = UpstreamMount::from_argument(rest)
            .map_err(|why| anyhow::anyhow!("{name}: {why}; {form}"))?;
        let said = Some(Fingerprint::of_text(text));
        let mount = MountSettings {
            span: 0..0,
            kind: MountKind::UpstreamServer(Box::new(upstream)),
            shared: SharedSettings::default(),
            fingerprint: said,
            host_entry: None,
        };
        self.mounts.insert(name.to_owned(), mount);
        Ok(())
    }

    /// `stem`, with a number appended if a mount already has that name.
    fn unused_name(&self, stem: &str) -> String {
        let mut name = stem.to_owned();
        for number in 2.. {
            if !self.mounts.contains_key(&name) {
                break;
            }
            name = format!("{stem}-{number}");
        }
        name
    }

    /// Drops what only building the mounts needs: the text of the file and the mounts.
    pub(crate) fn forget_mounts(&mut self) {
        self.mounts.clear();
        if let Some(text) = &mut self.text {
            text.content = String::new();
        }
    }

    /// An error at `span` of the settings file.
    pub(crate) fn diagnostic(
        &self,
        span: std::ops::Range<usize>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Diagnostic {
        match &self.text {
            Some(text) => text.diagnostic(Some(span), message.into(), hint),
            None => Diagnostic::without_location(message.into(), hint),
        }
    }

    /// An error about the value of `key` of a mount, which may be a secret: it shows where the value
    /// stands, and not the value.
    pub(crate) fn mount_diagnostic(
        &self,
        (name, mount): (&str, &MountSettings),
        (key, span): (&str, std::ops::Range<usize>),
        message: &str,
        hint: Option<String>,
    ) -> Diagnostic {
        if let Some(HostEntry { file, server }) = &mount.host_entry {
            let place = format!("{}: server \"{server}\", key \"{key}\"", file.display());
            return Diagnostic::without_location(format!("{place}: {message}"), hint);
        }
        let message = format!("mount `{name}`, key `{key}`: {message}");
        match &self.text {
            Some(text) if span != (0..0) => {
                text.diagnostic(Some(span), message, hint).without_excerpt()
            }
            _ => Diagnostic::without_location(message, hint),
        }
    }

    /// An error about the whole entry of a mount.
    pub(crate) fn entry_diagnostic(
        &self,
        (name, mount): (&str, &MountSettings),
        message: &str,
    ) -> Diagnostic {
        let place = match &mount.host_entry {
            Some(HostEntry { file, server }) => format!("{}: server \"{server}\"", file.display()),
            None => format!("mount `{name}`"),
        };
        Diagnostic::without_location(format!("{place}: {message}"), None)
    }

    /// The file that declares a mount; `None` for one of the command line.
    pub(crate) fn declaring_file<'a>(&'a self, mount: &'a MountSettings) -> Option<&'a Path> {
        let own = || self.text.as_ref().filter(|_| mount.span != (0..0)).map(|text| &text.file);
        mount.host_entry.as_ref().map(|entry| &entry.file).or_else(own).map(PathBuf::as_path)
    }

    /// Resolves a path of the settings relative to the settings file.
    pub(crate) fn resolve_path(&self, path: &Path) -> PathBuf {
        let folder = self.text.as_ref().and_then(|text| text.file.parent());
        folder.map_or_else(|| path.to_owned(), |folder| folder.join(path))
    }
}

/// Reads a settings file or a host's file.
fn read_text_file(file: &Path) -> anyhow::Result<String> {
    Ok(String::from_utf8(read_regular_file(file, MAX_FILE_BYTES)?)?)
}

/// The tables of a settings file.
const TABLES: [&str; 7] = ["server", "mounts", "access", "tokens", "tls", "render", "search"];

fn parse(text: SettingsText) -> Result<Settings, Diagnostic> {
    let mut settings = Settings::default();
    let table = DeTable::parse(&text.content).map_err(|error| text.toml_diagnostic(&error))?;
    for (key, value) in table.into_inner() {
        match &**key.get_ref() {
            "server" => settings.server = text.deserialize(value)?,
            "mounts" => settings.mounts = read_mounts(&text, value)?,
            "access" => settings.access = text.deserialize(value)?,
            "render" => settings.render = text.deserialize(value)?,
            "search" => settings.search = text.deserialize(value)?,
            "tls" => settings.tls = Some(text.deserialize(value)?),
            "tokens" => settings.tokens = tokens::read_tokens(&text, value)?,
            other => {
                let message = format!("unknown table `{other}`");
                let hint = diagnostic::did_you_mean(other, TABLES);
                return Err(text.diagnostic(Some(key.span()), message, hint));
            }
        }
    }
    settings.text = Some(text);
    Ok(settings)
}

fn read_mounts(
    text: &SettingsText,
    value: Spanned<DeValue<'_>>,
) -> Result<BTreeMap<String, MountSettings>, Diagnostic> {
    let span = value.span();
    let DeValue::Table(table) = value.into_inner() else {
        return Err(text.diagnostic(
            Some(span),
            "`mounts` must hold a table for each mount".into(),
            None,
        ));
    };
    let mut mounts = BTreeMap::new();
    for (key, value) in table {
        let name = key.get_ref().to_string();
        if !mount::is_mount_name(&name) {
            let message = format!("`{name}` is not a valid mount name");
            let hint = "use lower-case letters, digits, dots and dashes, a letter first";
            let better = mount::to_mount_name(&name);
            return Err(text.diagnostic(
                Some(key.span()),
                message,
                Some(format!("{hint}: `{better}`")),
            ));
        }
        let fingerprint = Some(Fingerprint::of_toml(value.get_ref()));
        let mount = read_mount(text, key.span(), value)?;
        mounts.insert(name, MountSettings { fingerprint, ..mount });
    }
    Ok(mounts)
}

/// Reads one mount: first its kind, which decides the allowed keys.
fn read_mount(
    text: &SettingsText,
    at: std::ops::Range<usize>,
    value: Spanned<DeValue<'_>>,
) -> Result<MountSettings, Diagnostic> {
    const KINDS: [&str; 7] = ["fs", "docs", "git", "config", "env", "static", "upstream"];
    let span = value.span();
    let DeValue::Table(mut table) = value.into_inner() else {
        return Err(text.diagnostic(Some(span), "a mount must be a table".into(), None));
    };
    let Some(kind) = table.remove("kind") else {
        let hint = Some(format!("add kind = \"fs\", or one of: {}", KINDS.join(", ")));
        return Err(text.diagnostic(Some(at), "this mount has no `kind`".into(), hint));
    };
    let shared = take_shared(text, span.clone(), &mut table)?;
    let rest = Spanned::new(span, DeValue::Table(table));
    let named = kind.get_ref().as_str().unwrap_or_default().to_owned();
    let kind = match named.as_str() {
        "fs" => MountKind::Folder(text.deserialize(rest)?),
        "static" => MountKind::Static(text.deserialize(rest)?),
        "upstream" => MountKind::UpstreamServer(text.deserialize(rest)?),
        "config" => MountKind::Config(text.deserialize(rest)?),
        "env" => MountKind::Env(text.deserialize(rest)?),
        "git" => MountKind::Git(text.deserialize(rest)?),
        "docs" => MountKind::Docs(text.deserialize(rest)?),
        other => {
            let message = format!("unknown mount kind `{other}`");
            let hint = diagnostic::did_you_mean(other, KINDS)
                .or_else(|| Some(format!("known kinds: {}", KINDS.join(", "))));
            return Err(text.diagnostic(Some(kind.span()), message, hint));
        }
    };
    Ok(MountSettings { span: at, kind, shared, fingerprint: None, host_entry: None })
}

/// Takes the keys that every kind of mount has out of `table`.
fn take_shared<'a>(
    text: &SettingsText,
    span: std::ops::Range<usize>,
    table: &mut DeTable<'a>,
) -> Result<SharedSettings, Diagnostic> {
    let mut shared = DeTable::new();
    for key in SharedSettings::KEYS {
        if let Some((key, value)) = table.remove_entry(*key) {
            shared.insert(key, value);
        }
    }
    text.deserialize(Spanned::new(span, DeValue::Table(shared)))
}

impl SettingsText {
    fn deserialize<'de, T: Deserialize<'de>>(
        &self,
        value: Spanned<DeValue<'de>>,
    ) -> Result<T, Diagnostic> {
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| self.toml_diagnostic(&error))
    }
}

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod tests;
