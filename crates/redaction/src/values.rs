//! Values that are no secrets under any key, and values that look random.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::key_words::words_in;
use crate::mask::{is_mask, mask_length};

/// Beginnings of references to a secret that is kept elsewhere.
const REFERENCE_PREFIXES: &[&str] = &[
    "op://",
    "vault:",
    "ref+",
    "arn:aws:",
    "arn:aws-",
    "ssm://",
    "ssm:/",
    "awssm://",
    "aws-sm://",
    "aws-ssm://",
    "gsm://",
    "gcpsm://",
    "sm://",
    "azkv://",
    "akv://",
    "bws://",
    "doppler://",
    "keyring:",
    "keychain:",
    "secret://",
    "secrets://",
    "sops://",
    "env:",
    "env://",
    "file:",
    "file://",
    "infisical://",
    "@Microsoft.KeyVault(",
    "berglas://",
    "projects/",
    "kms:",
    // Encrypted in place.
    "ENC[",
    "ENC(",
    "$ANSIBLE_VAULT;",
    "AQICAH",
    "pkcs7:",
    "{cipher}",
];

/// Names in `${name:…}` that look something up. Any other name has a default behind the colon.
static RESOLVERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     env secret secrets file vault ssm sm cf self opt param aws gcp azure op keyring keychain sys \
     oc.env input prompt config command sops secretsmanager const var kms akv",
    )
});

/// Beginnings of public keys, certificates and encrypted or public texts.
const PUBLIC_PREFIXES: &[&str] = &[
    "ssh-rsa ",
    "ssh-ed25519 ",
    "ssh-dss ",
    "ecdsa-sha2-",
    "sk-ssh-ed25519@",
    "sk-ecdsa-sha2-",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN RSA PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----",
    "-----BEGIN PGP MESSAGE-----",
    "---- BEGIN SSH2 PUBLIC",
    "age1",
];

/// Ways to authenticate: what `auth = …` holds where it holds no secret.
static SCHEMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     anonymous basic bearer cert certificate cram-md5 delegated digest disabled enabled gssapi iam \
     jwt kerberos key keycloak ldap local login md5 mtls negotiate no none ntlm oauth oauth2 off \
     oidc on optional pam password plain rbac required saml scram-sha-1 scram-sha-256 scram-sha-512 \
     sso tls token trust webhook xoauth2 yes",
    )
});

/// Folders that paths to secrets begin with.
const PATH_STARTS: &[&str] = &[
    "/run/",
    "/etc/",
    "/var/",
    "/home/",
    "/opt/",
    "/usr/",
    "/mnt/",
    "/tmp/",
    "/root/",
    "/srv/",
    "/secrets/",
    "/vault/",
    "/app/",
    "/data/",
    "/config/",
    "/certs/",
    "~/",
    "./",
    "../",
];

/// Words of prose.
pub(crate) const PROSE: &[&str] = &[
    "the", "a", "an", "to", "for", "of", "is", "be", "your", "must", "in", "on", "with", "used",
    "if", "or", "and", "this", "that", "required", "optional", "default", "see", "when", "by",
    "from", "will", "should", "not",
];

/// Whether `value` holds no secret, whatever its key is: empty, a reference, a template, a public
/// key, a mask.
pub(crate) fn is_harmless(value: &str) -> bool {
    let value = value.trim();
    let is_word = |words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    value.is_empty()
        || is_word(&[
            "null",
            "~",
            "none",
            "nil",
            "undefined",
            "true",
            "false",
            "yes",
            "no",
            "on",
            "off",
            "[]",
            "{}",
        ])
        || value.chars().all(|character| matches!(character, '*' | '•' | '.' | '…'))
        || is_masked(value)
        || is_reference(value)
        || is_documented_key(value)
        || PUBLIC_PREFIXES.iter().any(|prefix| value.starts_with(prefix))
}

/// Whether `value` is the access key of AWS's documentation.
fn is_documented_key(value: &str) -> bool {
    value.len() == 20 && value.starts_with("AKIA") && value.ends_with("EXAMPLE")
}

/// Whether `value` is made of masks. A broken text may hold one without its quotes, so that its
/// brackets are read as those of a list.
fn is_masked(value: &str) -> bool {
    let (mut rest, mut has_mask) = (value, false);
    while let Some(first) = rest.chars().next() {
        if let Some(length) = mask_length(rest) {
            has_mask = true;
            rest = &rest[length..];
        } else if first.is_alphanumeric() {
            return value.starts_with("redacted ") && is_mask(&format!("[{value}]"));
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    has_mask
}

/// Whether `value` names a way to authenticate, or a switch for it.
pub(crate) fn is_scheme(value: &str) -> bool {
    let value = value.trim();
    SCHEMES.contains(value.to_ascii_lowercase().as_str())
        || (value.len() == 1 && value.as_bytes()[0].is_ascii_digit())
}

/// Whether `value` is the address of a service, with nothing secret in it.
pub(crate) fn is_endpoint(value: &str) -> bool {
    let value = value.trim();
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:{}~".contains(&byte);
    rest.is_some_and(|rest| {
        rest.bytes().all(is_plain) && rest.split('/').skip(1).all(|part| !looks_random(part))
    })
}

/// Whether `value` stands for a secret that is kept elsewhere: a variable, a template, a
/// reference of a secret store. A default behind a variable's name is a value.
pub(crate) fn is_reference(value: &str) -> bool {
    let value = value.trim();
    if let Some(inner) = value.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        return !inner.contains(['<', '>']);
    }
    if REFERENCE_PREFIXES.iter().any(|prefix| value.starts_with(prefix)) {
        return true;
    }
    let (mut rest, mut has_reference) = (value, false);
    while let Some(first) = rest.chars().next() {
        match reference_at(rest) {
            ReferenceAt::Closed(length) => {
                has_reference = true;
                rest = &rest[length..];
            }
            ReferenceAt::Literal => return false,
            ReferenceAt::Nothing if first.is_alphanumeric() => return false,
            ReferenceAt::Nothing => rest = &rest[first.len_utf8()..],
        }
    }
    has_reference
}

/// What a text begins with.
enum ReferenceAt {
    /// A variable or template of this length.
    Closed(usize),
    /// A variable with a literal default, or a template without an end.
    Literal,
    /// Something else.
    Nothing,
}

/// Templates, by what opens and what closes them.
const TEMPLATES: [(&str, &str); 7] = [
    ("${{", "}}"),
    ("{{", "}}"),
    ("#{", "}"),
    ("{%", "%}"),
    ("<%", "%>"),
    ("%(", ")s"),
    ("$(", ")"),
];

fn reference_at(text: &str) -> ReferenceAt {
    let closed = |length: Option<usize>| length.map_or(ReferenceAt::Literal, ReferenceAt::Closed);
    for (open, close) in TEMPLATES {
        if text.starts_with(open) {
            return closed(text.find(close).map(|at| at + close.len()));
        }
    }
    if let Some(rest) = text.strip_prefix("${") {
        let length = balanced(rest).filter(|length| has_no_default(&rest[..*length]));
        return closed(length.map(|length| length + 3));
    }
    if let Some(rest) = text.strip_prefix('$') {
        let is_name = rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let length = name_length(rest);
        // Fields of a password hash: `$apr1$salt$hash`.
        let is_hash = rest[length..].starts_with('$') && !rest[length..].starts_with("${");
        return match is_name {
            true if is_hash => ReferenceAt::Literal,
            true => closed(Some(length + 1)),
            false => ReferenceAt::Nothing,
        };
    }
    let Some(rest) = text.strip_prefix('%') else { return ReferenceAt::Nothing };
    let length = name_length(rest);
    let is_variable = length > 1 && rest[length..].starts_with('%');
    if is_variable { closed(Some(length + 2)) } else { ReferenceAt::Nothing }
}

/// The length of `text` before the brace that closes it.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether the inside of `${…}` has no literal default.
fn has_no_default(inner: &str) -> bool {
    let inner = inner.trim();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.!#".contains(&byte);
    let length = inner.bytes().take_while(|byte| is_name(*byte)).count();
    let (name, rest) = inner.split_at(length);
    let default = if let Some(rest) = rest.strip_prefix(":-").or_else(|| rest.strip_prefix(":=")) {
        rest
    } else if rest.starts_with(":?") || rest.starts_with('?') || rest.starts_with('[') {
        return true;
    } else if let Some(rest) = rest.strip_prefix(['-', '=']) {
        rest
    } else if let Some(rest) = rest.strip_prefix(':') {
        if RESOLVERS.contains(name) {
            return true;
        }
        rest
    } else {
        // An expression: a function call, an operator.
        return true;
    };
    // One level of recursion for each `${` in the default; a default longer than this is a value.
    default.is_empty() || (default.len() < 128 && is_reference(default))
}

fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// Whether `value` is the path of a file: it begins like one, and its names are no generated keys.
pub(crate) fn is_path(value: &str) -> bool {
    let value = value.trim();
    let is_plain = |character: char| character.is_alphanumeric() || "-._~@ ".contains(character);
    let rest = match PATH_STARTS.iter().find_map(|start| value.strip_prefix(start)) {
        Some(rest) => rest,
        None => match windows_path(value) {
            Some(rest) => rest,
            None => return false,
        },
    };
    rest.split(['/', '\\']).all(|name| name.chars().all(is_plain) && !looks_random(name))
}

/// What stands behind the drive of `value`, if that is two names or one with an extension.
fn windows_path(value: &str) -> Option<&str> {
    let (drive, rest) = value.split_at_checked(3)?;
    let is_drive =
        drive.as_bytes()[0].is_ascii_alphabetic() && [":\\", ":/"].contains(&&drive[1..]);
    let (folder, name) = rest.rsplit_once(['/', '\\']).unwrap_or(("", rest));
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_extension = (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_named = !rest.starts_with(['/', '\\']) && (is_extension || !folder.is_empty());
    (is_drive && is_named).then_some(rest)
}

/// Whether `value` is a text for people: words with a word of prose among them, or a sentence's end
/// behind them.
pub(crate) fn is_sentence(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let count = words.clone().count();
    let is_prose = |word: &str| PROSE.contains(&word.to_lowercase().as_str());
    count > 1
        && (value.trim_end().ends_with(['.', '?', '!', '。', '…', ':']) || words.any(is_prose))
}

/// Whether `value` looks random, as generated keys do: long, of letters and digits without words.
pub(crate) fn looks_random(value: &str) -> bool {
    let value = value.trim();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-.~:!@#$%^&*".contains(&byte);
    if !(16..=1024).contains(&value.len()) || !value.bytes().all(is_token) {
        return false;
    }
    let has_both = value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let least = if is_hex { 3.0 } else { 3.4 };
    has_both && !is_uuid(value) && !is_worded(value) && entropy(value.as_bytes()) >= least
}

/// Whether `value` has the shape of a UUID.
pub(crate) fn is_uuid(value: &str) -> bool {
    let parts: Vec<&str> = value.trim().splitn(6, '-').collect();
    parts.len() == 5
        && parts.iter().zip([8, 4, 4, 4, 12]).all(|(part, length)| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

/// Whether `value` is made of words and short numbers, as identifiers are.
fn is_worded(value: &str) -> bool {
    let is_word = |part: &str| {
        let letters = part.bytes().all(|byte| byte.is_ascii_alphabetic());
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        (letters && part.len() <= 14) || (digits && part.len() <= 6) || part.len() <= 3
    };
    let is_separator = |character: char| "-_./:@=&".contains(character);
    value.contains(is_separator) && value.split(is_separator).all(is_word)
}

/// Shannon's entropy in bits for each byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = bytes.len() as f64;
    let share = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    -share.map(|share| share * share.log2()).sum::<f64>()
}

#[cfg(test)]
mod tests;
