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

/// The secrets of one server, the longest first.
#[derive(Default)]
pub(crate) struct SecretMask(Vec<String>);

impl SecretMask {
    /// The values of a program's environment, or the headers and the credentials in the URL of an
    /// HTTP server.
    pub(crate) fn for_target(target: &ServerTarget) -> Self {
        let mut secrets: Vec<String> = match target {
            ServerTarget::Child { env, .. } => env.iter().map(|(_, value)| value.clone()).collect(),
            ServerTarget::Http { url, headers } => {
                // `Bearer <token>`: a server may repeat the token alone.
                let token = |value: &str| value.rsplit(' ').next().unwrap_or(value).to_owned();
                let values = headers.iter().flat_map(|(_, value)| [value.clone(), token(value)]);
                values.chain(url_secrets(url)).collect()
            }
            ServerTarget::Pipes(_) => Vec::new(),
        };
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
        SecretMask::for_target(&ServerTarget::Http { url: url.to_owned(), headers })
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
}
