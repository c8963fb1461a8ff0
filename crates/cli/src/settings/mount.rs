//! Schema of the `[mounts.<name>]` tables.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use toml::Spanned;

use super::access::AccessList;
use super::config::ConfigMount;
use super::docs::DocsMount;
use super::env::EnvMount;
use super::fingerprint::Fingerprint;
use super::git::GitMount;
use super::host_file::HostEntry;
use super::units::{ByteSize, TimeSpan};
use super::upstream::UpstreamMount;

/// Longest name that is made from a folder's or a server's: tool names begin with it, and hosts
/// cut those at 64 characters.
const MAX_MADE_NAME: usize = 32;

/// The settings of one mount, with its location in the file.
#[derive(Debug)]
pub(crate) struct MountSettings {
    pub(crate) span: Range<usize>,
    pub(crate) kind: MountKind,
    pub(crate) shared: SharedSettings,
    /// Tells on reload whether an edit changed the mount.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// The entry of a host's file, if the mount comes from one.
    pub(crate) host_entry: Option<HostEntry>,
}

#[derive(Debug)]
pub(crate) enum MountKind {
    Folder(FolderMount),
    Static(StaticMount),
    UpstreamServer(Box<UpstreamMount>),
    Config(ConfigMount),
    Env(EnvMount),
    Git(GitMount),
    Docs(DocsMount),
    /// An entry of a host's file that makes no sense, for this reason.
    Invalid(String),
}

/// Declares the keys that every kind of mount has, once: as a struct, and by name.
macro_rules! shared_settings {
    ($($key:ident: $type:ty,)*) => {
        /// The settings that every kind of mount has.
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct SharedSettings {
            $(pub(crate) $key: $type,)*
        }

        impl SharedSettings {
            /// The keys.
            pub(super) const KEYS: &[&str] = &[$(stringify!($key)),*];
        }
    };
}

shared_settings! {
    description: Option<String>,
    max_read: Option<ByteSize>,
    timeout: Option<TimeSpan>,
    required: bool,
    rules: Vec<RuleSettings>,
    access: AccessList,
    redact: Option<RedactSetting>,
    reveal: Vec<Spanned<String>>,
    render: RenderSetting,
    formats: Vec<Spanned<String>>,
    archives: Option<Spanned<bool>>,
    index: Option<bool>,
}

/// Which texts of a mount are masked: `true`, `false` or `"auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedactSetting {
    Everything,
    SensitiveFiles,
    Off,
}

impl<'de> Deserialize<'de> for RedactSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scopes;
        impl Visitor<'_> for Scopes {
            type Value = RedactSetting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or \"auto\"")
            }
            fn visit_bool<E: de::Error>(self, is_on: bool) -> Result<RedactSetting, E> {
                Ok(if is_on { RedactSetting::Everything } else { RedactSetting::Off })
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<RedactSetting, E> {
                match text {
                    "auto" => Ok(RedactSetting::SensitiveFiles),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Scopes)
    }
}

/// Whether a mount gives documents in other forms: `true`, `false` or `"auto"`, by its kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RenderSetting(Option<bool>);

impl RenderSetting {
    /// Whether it does, if `usual` is what its kind does.
    pub(crate) fn is_on(self, usual: bool) -> bool {
        self.0.unwrap_or(usual)
    }
}

impl<'de> Deserialize<'de> for RenderSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match RedactSetting::deserialize(deserializer)? {
            RedactSetting::Everything => Some(true),
            RedactSetting::SensitiveFiles => None,
            RedactSetting::Off => Some(false),
        }))
    }
}

/// A folder mount (`kind = "fs"`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderMount {
    pub(crate) path: Spanned<PathBuf>,
    #[serde(default)]
    pub(crate) listing: ListingSetting,
    #[serde(default)]
    pub(crate) hidden: bool,
    #[serde(default = "yes")]
    pub(crate) builtin_rules: bool,
    pub(crate) ttl: Option<TimeSpan>,
    #[serde(default)]
    pub(crate) watch: WatchSetting,
    pub(crate) poll: Option<TimeSpan>,
    pub(crate) watches: Option<usize>,
    #[serde(default)]
    pub(crate) file_api: FileApiSetting,
}

/// A mount of resources declared in the settings (`kind = "static"`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StaticMount {
    #[serde(default)]
    pub(crate) resources: Vec<StaticResource>,
    #[serde(default)]
    pub(crate) templates: Vec<StaticTemplate>,
    pub(crate) ttl: Option<TimeSpan>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ListingSetting {
    #[default]
    Auto,
    Flat,
    Tree,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WatchSetting {
    #[default]
    Auto,
    Poll,
    Off,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileApiSetting {
    #[default]
    Native,
    Portable,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleSetting {
    User,
    Assistant,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleSettings {
    pub(crate) glob: Spanned<String>,
    pub(crate) priority: Option<Spanned<f64>>,
    pub(crate) audience: Option<Vec<RoleSetting>>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) icons: Option<Vec<IconSettings>>,
    pub(crate) hide: Option<bool>,
    pub(crate) charset: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IconSettings {
    pub(crate) src: Spanned<String>,
    pub(crate) mime: Option<String>,
    #[serde(default)]
    pub(crate) sizes: Vec<String>,
    pub(crate) theme: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StaticResource {
    pub(crate) uri: Spanned<String>,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) priority: Option<Spanned<f64>>,
    #[serde(default)]
    pub(crate) audience: Vec<RoleSetting>,
    #[serde(default)]
    pub(crate) icons: Vec<IconSettings>,
    pub(crate) mime: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) base64: Option<Spanned<String>>,
    pub(crate) file: Option<Spanned<PathBuf>>,
    #[serde(default)]
    pub(crate) formats: Vec<FormatSettings>,
}

/// One format of a resource that has several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormatSettings {
    pub(crate) mime: Spanned<String>,
    pub(crate) text: Option<String>,
    pub(crate) base64: Option<Spanned<String>>,
    pub(crate) file: Option<Spanned<PathBuf>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StaticTemplate {
    pub(crate) uri: Spanned<String>,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) priority: Option<Spanned<f64>>,
    #[serde(default)]
    pub(crate) audience: Vec<RoleSetting>,
    #[serde(default)]
    pub(crate) icons: Vec<IconSettings>,
    pub(crate) mime: Option<String>,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) variables: BTreeMap<Spanned<String>, VariableSettings>,
}

/// What a template says of one of its variables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariableSettings {
    pub(crate) description: Option<String>,
    #[serde(rename = "type", default)]
    pub(crate) kind: VariableKindSetting,
    pub(crate) default: Option<String>,
    #[serde(default)]
    pub(crate) allowed: Vec<String>,
}

/// The type of a variable's values.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VariableKindSetting {
    #[default]
    String,
    Integer,
    Number,
    Boolean,
}

fn yes() -> bool {
    true
}

impl MountSettings {
    /// A folder mount with default settings.
    pub(crate) fn folder(path: PathBuf) -> Self {
        let files = FolderMount {
            path: Spanned::new(0..0, path),
            listing: ListingSetting::Auto,
            hidden: false,
            builtin_rules: true,
            ttl: None,
            watch: WatchSetting::Auto,
            poll: None,
            watches: None,
            file_api: FileApiSetting::Native,
        };
        let fingerprint = Some(Fingerprint::of_text(&format!("{files:?}")));
        Self {
            span: 0..0,
            kind: MountKind::Folder(files),
            shared: SharedSettings::default(),
            fingerprint,
            host_entry: None,
        }
    }
}

/// Whether `name` is a valid mount name: it must be usable inside a URI scheme.
pub(super) fn is_mount_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
}

/// Turns `text`, in any script, into a valid mount name.
pub(crate) fn to_mount_name(text: &str) -> String {
    // URI schemes and tool names are ASCII, so other scripts are transliterated.
    let latin = deunicode::deunicode_with_tofu(text, "-").to_ascii_lowercase();
    let mut name = String::new();
    for c in latin.chars() {
        let fits = c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.';
        // Apostrophes stand for soft signs and glottal stops.
        if fits || (c != '\'' && !name.ends_with('-')) {
            name.push(if fits { c } else { '-' });
        }
    }
    let is_edge = |c: char| !c.is_ascii_alphanumeric();
    let name = name.trim_matches(is_edge);
    let name = name.get(..MAX_MADE_NAME).unwrap_or(name).trim_end_matches(is_edge);
    match name.chars().next() {
        Some(first) if first.is_ascii_lowercase() => name.to_owned(),
        Some(_) => format!("m{name}"),
        None => "folder".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_mount_name, to_mount_name};

    #[test]
    fn a_name_is_made_from_anything() {
        for (text, name) in [
            ("project", "project"),
            ("My Project", "my-project"),
            ("2024", "m2024"),
            ("資料", "zi-liao"),
            ("Документы", "dokumenty"),
            ("Объявления", "obiavleniia"),
            ("Übersicht für Ämter", "ubersicht-fur-amter"),
            ("メモ", "memo"),
            ("한국어", "hangugeo"),
            ("ملاحظات", "mlhzt"),
            ("a - b", "a-b"),
            ("example.com", "example.com"),
            ("…", "folder"),
            ("", "folder"),
        ] {
            assert_eq!(to_mount_name(text), name);
            assert!(is_mount_name(name));
        }
        let long = to_mount_name(&"very long names ".repeat(9));
        assert!(is_mount_name(&long) && long.len() <= 33, "{long}");
    }
}
