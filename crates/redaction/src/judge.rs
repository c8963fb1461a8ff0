//! Judges values by their keys: which of them are secrets.

use machinery::PathGlobSet;

use crate::key_words::{KeyMeaning, is_descriptive, is_name_of_secret, meaning_of, words_of};
use crate::mask::MaskWriter;
use crate::values::{
    is_endpoint, is_harmless, is_path, is_scheme, is_sentence, is_uuid, looks_random,
};

/// What every scan of a text needs.
#[derive(Default)]
pub(crate) struct Judge {
    pub(crate) writer: MaskWriter,
    reveal: Option<PathGlobSet>,
}

/// What the keys above a value say about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum KeyContext {
    /// Nothing.
    #[default]
    Neutral,
    /// It stands under a key that holds secrets, such as `secrets`.
    Block(&'static str),
    /// It stands under a key that is a secret, such as `password`.
    Secret(&'static str),
    /// It stands in something that is named after a secret, such as `token_service`.
    Named(&'static str),
    /// It stands under `dependencies` or `features`, whose keys are names of packages.
    Packages,
    /// It stands under a reference, such as `secretKeyRef`.
    Reference,
}

/// Last words of keys that describe a secret, or give its parts an order, in a map under its key:
/// the schema of a password, the volume that a secret is mounted as.
const DESCRIBING_WORDS: &[&str] = &[
    "comment",
    "enum",
    "fields",
    "href",
    "in",
    "items",
    "key",
    "keys",
    "members",
    "namespace",
    "on",
    "options",
    "properties",
    // What a service of continuous integration encrypted.
    "secure",
    "tags",
];

/// Keys of a value that is the secret which the key above it names.
const VALUE_KEYS: &[&str] = &[
    "value",
    "values",
    "plain",
    "plaintext",
    "raw",
    "text",
    "string",
    "data",
    "content",
    "default",
    "current",
    "old",
    "new",
    "previous",
    "next",
    "primary",
    "secondary",
    "dev",
    "development",
    "prod",
    "production",
    "staging",
    "stage",
    "test",
    "qa",
    "local",
    "live",
    "sandbox",
    "access",
    "refresh",
    "main",
    "admin",
    "root",
];

impl Judge {
    pub(crate) fn new(writer: MaskWriter, reveal: Option<PathGlobSet>) -> Self {
        Self { writer, reveal }
    }

    /// Whether any value is shown by its key path.
    pub(crate) fn reveals_any(&self) -> bool {
        self.reveal.is_some()
    }

    /// Whether the value at the key path is shown.
    pub(crate) fn reveals<'k>(&self, path: impl Iterator<Item = &'k str>) -> bool {
        self.reveal.as_ref().is_some_and(|globs| globs.is_match(&join(path)))
    }

    /// The kind of secret that `value` is under `key` in `context`; `None` if it is none.
    pub(crate) fn kind_of(
        &self,
        context: KeyContext,
        key: &str,
        value: &str,
    ) -> Option<&'static str> {
        let kind = if is_harmless(value) { None } else { named_kind(context, key, value) };
        kind.filter(|kind| !is_path_of(kind, key, value))
    }
}

/// The kind of secret that `value`, which is not harmless, is.
fn named_kind(context: KeyContext, key: &str, value: &str) -> Option<&'static str> {
    let is_named = context == KeyContext::Packages && is_version(value);
    if context == KeyContext::Reference || is_named {
        return None;
    }
    match meaning_of(key) {
        KeyMeaning::Secret(kind) => is_secret(kind, key, value).then_some(kind),
        KeyMeaning::Block(kind) => (kind != "token" || !is_count(value)).then_some(kind),
        KeyMeaning::AboutSecret => None,
        KeyMeaning::Suggestive | KeyMeaning::Neutral
            if context_kind(context, key, value).is_some() =>
        {
            context_kind(context, key, value)
        }
        KeyMeaning::Suggestive => {
            let is_secret_id = words_of(key).last().is_some_and(|word| word == "id");
            (looks_random(value) || (is_secret_id && is_uuid(value))).then_some("entropy")
        }
        KeyMeaning::Neutral => None,
    }
}

/// Whether `value` is the path of a file that holds the secret. What is called a password is one,
/// even if it looks like a path.
fn is_path_of(kind: &str, key: &str, value: &str) -> bool {
    let is_password = kind == "password" && words_of(key).last().is_none_or(|word| word != "pass");
    !is_password && is_path(value)
}

impl KeyContext {
    /// The context of what stands under `key`.
    pub(crate) fn under(self, key: &str) -> Self {
        if self == Self::Reference || is_index(key) {
            return self;
        }
        match meaning_of(key) {
            // What stands under the name of a package tells of the package.
            KeyMeaning::Secret(kind) if self == Self::Packages => Self::Named(kind),
            KeyMeaning::Block(kind) | KeyMeaning::Secret(kind) if !is_name_of_secret(key) => {
                Self::Named(kind)
            }
            KeyMeaning::Block(kind) => Self::Block(kind),
            KeyMeaning::Secret(kind) => Self::Secret(kind),
            KeyMeaning::AboutSecret => Self::Reference,
            KeyMeaning::Suggestive | KeyMeaning::Neutral => match self {
                Self::Neutral if is_list_of_packages(key) => Self::Packages,
                Self::Secret(_) if is_describing(key) => Self::Neutral,
                Self::Named(_) | Self::Packages => Self::Neutral,
                other => other,
            },
        }
    }

    /// The context of what stands in a block with this label, whose name is chosen freely.
    pub(crate) fn in_block(self, label: &str) -> Self {
        match self.under(label) {
            Self::Secret(kind) => Self::Named(kind),
            other => other,
        }
    }
}

/// Whether `key` is the index of a list.
pub(crate) fn is_index(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

fn context_kind(context: KeyContext, key: &str, value: &str) -> Option<&'static str> {
    match context {
        KeyContext::Block(kind) => {
            let is_counted = kind == "token" && is_count(value);
            (!is_descriptive(key) && !is_counted).then_some(kind)
        }
        KeyContext::Secret(kind) => {
            let is_one = is_value_key(key) || is_part_of_secret(key, value);
            (is_one && is_secret(kind, key, value)).then_some(kind)
        }
        KeyContext::Named(kind) => {
            (is_value_key(key) && is_secret(kind, key, value)).then_some(kind)
        }
        KeyContext::Neutral | KeyContext::Packages | KeyContext::Reference => None,
    }
}

fn is_value_key(key: &str) -> bool {
    matches!(words_of(key).as_slice(), [word] if VALUE_KEYS.contains(&word.as_str()))
}

/// Whether a value of a map under a secret key may be the secret, or one of several: it is no
/// description, no setting and no sentence for people.
fn is_part_of_secret(key: &str, value: &str) -> bool {
    let is_setting = is_number(value) && digits_of(value) < 3;
    let is_sign = !value.contains(char::is_alphanumeric);
    !is_describing(key) && !is_setting && !is_sign && !is_sentence(value)
}

fn is_describing(key: &str) -> bool {
    let is_known = |word: &String| DESCRIBING_WORDS.contains(&word.as_str());
    is_descriptive(key) || words_of(key).last().is_some_and(is_known)
}

/// Whether a value under a key that names a secret of `kind` is one.
fn is_secret(kind: &str, key: &str, value: &str) -> bool {
    match kind {
        "auth" => !is_scheme(value) && !is_endpoint(value),
        // What a workflow may do with its own token.
        "token" if ["read", "write"].contains(&value) => false,
        "token" | "secret" | "credential" => !is_endpoint(value),
        // The working folder of a shell, and counts of passes.
        "password" => {
            let is_folder = ["PWD", "OLDPWD"].contains(&key) && value.starts_with('/');
            let is_pass = words_of(key).last().is_some_and(|word| word == "pass");
            let is_count = is_pass && value.len() < 3 && is_number(value);
            !is_folder && !is_count
        }
        _ => true,
    }
}

/// Whether the keys under `key` are names of packages or of their features.
fn is_list_of_packages(key: &str) -> bool {
    let is_known =
        |word: &String| ["dependencies", "features", "requires"].contains(&word.as_str());
    words_of(key).last().is_some_and(is_known)
}

/// Whether `value` is the version of a package.
fn is_version(value: &str) -> bool {
    let version = value.trim_start_matches(['^', '~', '=', '>', '<', '*', ' ', 'v']);
    let is_part = |byte: u8| byte.is_ascii_digit() || b". ,<>=*x-".contains(&byte);
    version.len() < 32 && version.contains('.') && version.bytes().all(is_part)
}

/// Whether `value`, in a list of them, is the name of a package or of a feature.
pub(crate) fn is_package(value: &str) -> bool {
    let name = value.strip_prefix("dep:").unwrap_or(value);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-/?.".contains(&byte);
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    name.bytes().all(is_name) && digits <= 2
}

/// Whether `value` is a number of tokens: a small one, or a round one.
fn is_count(value: &str) -> bool {
    let number = value.trim().parse::<u64>();
    let is_round = number.is_ok_and(|number| number.is_power_of_two() || number % 100_000 == 0);
    is_number(value) && (digits_of(value) < 7 || is_round)
}

fn digits_of(value: &str) -> usize {
    value.bytes().filter(u8::is_ascii_digit).count()
}

fn is_number(value: &str) -> bool {
    let value = value.trim();
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || b"._-+e".contains(&byte))
}

/// A key path as globs see it.
fn join<'k>(path: impl Iterator<Item = &'k str>) -> String {
    let mut joined = String::new();
    for (at, key) in path.enumerate() {
        if at > 0 {
            joined.push('/');
        }
        joined.push_str(&key.replace('/', "%2F"));
    }
    joined
}
