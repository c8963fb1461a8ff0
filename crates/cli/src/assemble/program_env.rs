//! Environment of the programs behind mounts: which variables of refdesk they inherit.
//!
//! refdesk's own environment holds the tokens of all mounts, and often cloud keys. A program gets
//! only what programs need to start, and what its mount names.

use std::path::Path;

use anyhow::ensure;

/// Counts how many refdesks started each other; every program gets one more than its own refdesk.
pub(super) const DEPTH: &str = "REFDESK_DEPTH";

/// The most refdesks that may start each other, the first one not counted.
const MAX_DEPTH: u32 = 3;

/// How many refdesks started each other down to this one.
pub(super) fn depth() -> u32 {
    std::env::var(DEPTH).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// Refuses to serve in a long row of refdesks that start each other: their settings form a circle.
pub(crate) fn check_depth() -> anyhow::Result<()> {
    let depth = depth();
    ensure!(
        depth <= MAX_DEPTH,
        "too many refdesks start each other ({DEPTH} is {depth}, at most {MAX_DEPTH}); \
         a mount of their settings leads back to refdesk, so remove it"
    );
    Ok(())
}

/// The variables that every program inherits; `*` stands for any characters.
///
/// - who and where: the user, the home folder, the shell, folders, language and time zone;
/// - the way to the network: proxies and certificates;
/// - where a runtime finds itself and its libraries. Not `NODE_*` or `npm_config_*` as a whole:
///   they also name registry tokens.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TMPDIR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "NODE_PATH",
    "NODE_OPTIONS",
    "NVM_*",
    "VOLTA_HOME",
    "PYTHON*",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "JAVA_HOME",
    "LD_LIBRARY_PATH",
];

/// Variables that hold no secret, though a mount with a glob of many inherits them.
const HARMLESS: &[&str] = &[
    DEPTH,
    "COLORTERM",
    "DESKTOP_SESSION",
    "DISPLAY",
    "EDITOR",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "MANPATH",
    "OLDPWD",
    "OSTYPE",
    "PAGER",
    "PWD",
    "SHLVL",
    "TERM_PROGRAM",
    "VISUAL",
];

/// The names of the variables in `environment` that a program inherits: those that every program
/// does, and those that match one of the mount's `patterns`.
pub(super) fn inherited_names(
    environment: impl Iterator<Item = String>,
    patterns: &[String],
) -> Vec<String> {
    let patterns = || INHERITED.iter().copied().chain(patterns.iter().map(String::as_str));
    let is_inherited = |name: &String| patterns().any(|pattern| matches(pattern, name));
    let mut names: Vec<String> = environment.filter(is_inherited).collect();
    names.sort();
    names
}

/// Whether the variable `name`, which a mount names itself, may hold a secret. Those that every
/// program inherits hold none, and neither does one whose value is a path that is there.
pub(super) fn may_be_secret(name: &str, value: &str) -> bool {
    let is_usual = INHERITED.iter().any(|pattern| matches(pattern, name));
    let is_path = value.starts_with('/') && Path::new(value).exists();
    !is_usual && !is_path && !HARMLESS.contains(&name)
}

/// Whether `name` matches `pattern`, in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::{inherited_names, matches, may_be_secret};

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, fits) in [
            ("A", "A", true),
            ("A", "AB", false),
            ("A*", "A", true),
            ("A*", "BA", false),
            ("*_KEY", "MY_KEY", true),
            ("*_KEY", "MY_KEYS", false),
            ("A*B*C", "AxBxC", true),
            ("A*B*C", "AxCxB", false),
            ("A*A", "A", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn tokens_are_inherited_only_by_a_mount_that_names_them() {
        let names = ["PATH", "LC_ALL", "OTHER_TOKEN", "AWS_REGION", "NODE_AUTH_TOKEN"];
        let environment = || names.iter().map(|name| (*name).to_owned());
        assert_eq!(inherited_names(environment(), &[]), ["LC_ALL", "PATH"]);
        let named = inherited_names(environment(), &["AWS_*".to_owned()]);
        assert_eq!(named, ["AWS_REGION", "LC_ALL", "PATH"]);
    }

    #[test]
    fn usual_variables_and_paths_that_are_there_hold_no_secret() {
        for (name, value, may_be) in [
            ("GITHUB_TOKEN", "t0k3n-t0k3n", true),
            ("GITHUB_TOKEN", "/n0t/a/path/here", true),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/proc/self", false),
            ("LC_ALL", "en_US.UTF-8", false),
            ("PWD", "/home/of/one/that/left", false),
        ] {
            assert_eq!(may_be_secret(name, value), may_be, "{name}={value}");
        }
    }
}
