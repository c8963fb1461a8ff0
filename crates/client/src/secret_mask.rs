//! Masking of the secrets that refdesk hands to a server, wherever the server repeats them.
//!
//! Servers put their token into error messages, or print it to stderr. Neither a client nor the log
//! may see it.

use std::borrow::Cow;

use protocol::RpcError;
use serde_json::value::RawValue;

use crate::options::ServerTarget;

/// Shorter values, such as `1` or `true`, are no secrets, and masking them would spoil other text.
const MIN_LENGTH: usize = 8;
const MASK: &str = "[masked]";

/// Authentication schemes: a server may repeat a token without its scheme.
const SCHEMES: [&str; 3] = ["basic", "bearer", "token"];

/// The secrets of one server, the longest first.
#[derive(Default)]
pub(crate) struct SecretMask(Vec<String>);

impl SecretMask {
    /// The values of a program's environment, or the headers and the credentials in the URL of an
    /// HTTP server; `more` are secrets that the server gets in other ways.
    pub(crate) fn new(target: &ServerTarget, more: &[String]) -> Self {
        let mut secrets: Vec<String> = match target {
            ServerTarget::Child { env, inherited_env, .. } => {
                let inherited = inherited_env.iter().filter_map(|(_, value)| value.to_str());
                let values = env.iter().flat_map(|(_, value)| secrets_in(value));
                values.chain(inherited.filter_map(url_password).map(str::to_owned)).collect()
            }
            ServerTarget::Http { url, headers } => {
                // `Bearer <token>`: a server may repeat the token alone.
                let token = |value: &str| value.rsplit(' ').next().unwrap_or(value).to_owned();
                let values = headers.iter().flat_map(|(_, value)| [value.clone(), token(value)]);
                values.chain(url_secrets(url)).collect()
            }
            ServerTarget::Pipes(_) => Vec::new(),
        };
        secrets.extend(more.iter().flat_map(|value| secrets_in(value)));
        // As it stands in the JSON of an error.
        let escaped = |secret: &String| {
            let json = serde_json::value::to_raw_value(secret).ok()?;
            let inside = json.get().strip_prefix('"')?.strip_suffix('"')?;
            Some(inside.to_owned()).filter(|inside| inside != secret)
        };
        let more: Vec<String> = secrets.iter().filter_map(escaped).collect();
        secrets.extend(more);
        secrets.retain(|secret| secret.chars().count() >= MIN_LENGTH);
        secrets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        secrets.dedup();
        Self(secrets)
    }

    /// The text without secrets.
    pub(crate) fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for secret in &self.0 {
            if masked.contains(secret.as_str()) {
                masked = Cow::Owned(masked.replace(secret.as_str(), MASK));
            }
        }
        masked
    }

    /// The text, whose end was cut off, without secrets; also without the start of one at the cut.
    pub(crate) fn apply_cut_end(&self, text: &str) -> String {
        // The cut may have halved a character.
        let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        let starts = self.0.iter().filter_map(|secret| {
            let ends = secret.char_indices().map(|(at, _)| at).chain([secret.len()]).rev();
            ends.filter(|end| *end > 0).find(|end| text.ends_with(&secret[..*end]))
        });
        let Some(length) = starts.max() else { return self.apply(text).into_owned() };
        self.apply(&text[..text.len() - length]).into_owned() + MASK
    }

    /// The text, whose start was cut off, without secrets; also without the end of one at the cut.
    pub(crate) fn apply_cut_start(&self, text: &str) -> String {
        let text = text.trim_start_matches(char::REPLACEMENT_CHARACTER);
        let ends = self.0.iter().filter_map(|secret| {
            let mut starts = secret.char_indices().map(|(at, _)| at);
            starts.find(|start| text.starts_with(&secret[*start..])).map(|at| secret.len() - at)
        });
        let Some(length) = ends.max() else { return self.apply(text).into_owned() };
        MASK.to_owned() + &self.apply(&text[length..])
    }

    /// The JSON without secrets.
    pub(crate) fn apply_json(&self, json: Box<RawValue>) -> Box<RawValue> {
        match self.apply(json.get()) {
            Cow::Borrowed(_) => json,
            // A secret that is no whole string may have been a part of the syntax.
            Cow::Owned(masked) => RawValue::from_string(masked).unwrap_or_default(),
        }
    }

    /// The error without secrets.
    pub(crate) fn apply_error(&self, error: RpcError) -> RpcError {
        let message = self.apply(&error.message).into_owned();
        RpcError { message, data: error.data.map(|data| self.apply_json(data)), ..error }
    }
}

/// A value that is a secret, and what a server may repeat of it alone: a token without its scheme, a
/// password without its URL, a line.
fn secrets_in(value: &str) -> impl Iterator<Item = String> {
    let scheme = value.trim().split_once(' ');
    let token = scheme.filter(|(scheme, _)| SCHEMES.contains(&scheme.to_lowercase().as_str()));
    let lines = value.lines().filter(|line| line.len() < value.len());
    let parts = [Some(value), token.map(|(_, token)| token.trim()), url_password(value)];
    let parts = parts.into_iter().flatten().chain(lines.map(str::trim));
    parts.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// The password in a URL, or the user if it has no password: a token may stand there.
fn url_password(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (user, _) = rest.split(['/', '?', '#']).next()?.rsplit_once('@')?;
    Some(user.split_once(':').map_or(user, |(_, password)| password))
}

/// The credentials in a URL: user, password, and the values of its query.
fn url_secrets(url: &str) -> impl Iterator<Item = String> {
    let (plain, query) = url.split_once('?').unwrap_or((url, ""));
    let authority = plain.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    let user = authority.and_then(|authority| Some(authority.rsplit_once('@')?.0));
    let user = user.into_iter().flat_map(|user| user.split(':'));
    let values = query.split(['&', '#']).filter_map(|pair| Some(pair.split_once('=')?.1));
    user.chain(values).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::SecretMask;
    use crate::options::ServerTarget;

    fn http(url: &str, header: &str) -> SecretMask {
        let headers = vec![("authorization".to_owned(), header.to_owned())];
        SecretMask::new(&ServerTarget::Http { url: url.to_owned(), headers }, &[])
    }

    fn program(inherited: &str, env: &str, more: &[&str]) -> SecretMask {
        let target = ServerTarget::Child {
            command: "run".to_owned(),
            args: Vec::new(),
            inherited_env: vec![("A".to_owned(), inherited.into())],
            env: vec![("B".to_owned(), env.to_owned())],
            cwd: None,
        };
        SecretMask::new(&target, &more.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_was_handed_out_is_masked_wherever_it_comes_back() {
        let mask =
            http("https://user:pa55w0rd!@h/mcp?key=k3yk3yk3y&n=1#x", "Bearer t0k3n-\"quoted\"");
        for (said, masked) in [
            ("bad token t0k3n-\"quoted\"!", "bad token [masked]!"),
            ("sent: Bearer t0k3n-\"quoted\"", "sent: [masked]"),
            (r#"{"t":"t0k3n-\"quoted\""}"#, r#"{"t":"[masked]"}"#),
            ("k3yk3yk3y of user with pa55w0rd!", "[masked] of user with [masked]"),
            ("n is 1", "n is 1"),
        ] {
            assert_eq!(mask.apply(said), masked);
        }
    }

    #[test]
    fn what_a_program_repeats_of_a_value_alone_is_masked() {
        let mask = program(
            "http://proxy-user:pr0xy-pass@proxy:3128",
            "bearer t0k3n-t0k3n",
            &["postgres://postgres:pa55w0rd!@h/db?x=1", "first line\nsecond line", "t0k3n/args"],
        );
        for (said, masked) in [
            ("bad t0k3n-t0k3n", "bad [masked]"),
            ("postgres refused pa55w0rd!", "postgres refused [masked]"),
            ("no second line here", "no [masked] here"),
            (
                "proxy proxy:3128 of proxy-user: pr0xy-pass",
                "proxy proxy:3128 of proxy-user: [masked]",
            ),
            ("t0k3n/args", "[masked]"),
        ] {
            assert_eq!(mask.apply(said), masked);
        }
    }

    #[test]
    fn no_part_of_a_secret_stands_at_a_cut() {
        let secret = "s3cret-ü-\"end";
        let mask = program("", secret, &[]);
        let text = format!("with {secret} in it");
        let halves = (5..5 + secret.len()).filter(|at| text.is_char_boundary(*at));
        for at in halves.skip(1) {
            assert_eq!(mask.apply_cut_end(&text[..at]), "with [masked]", "{at}");
            assert_eq!(mask.apply_cut_start(&text[at..]), "[masked] in it", "{at}");
        }
        assert_eq!(mask.apply_cut_end("a s3cret-\u{fffd}"), "a [masked]");
        assert_eq!(mask.apply_cut_start("\u{fffd}-\"end it"), "[masked] it");
        assert_eq!(mask.apply_cut_end(&text), "with [masked] in it");
        assert_eq!(mask.apply_cut_start(&text), "with [masked] in it");
    }
}
