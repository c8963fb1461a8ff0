//! Schema of the `[tokens.<name>]` tables.

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use server::transport::http::AccessToken;
use toml::Spanned;
use toml::de::DeValue;
use toml::value::{Date, Datetime, Offset};

use super::diagnostic::{Diagnostic, SettingsText};
use super::mount;
use super::upstream::Secret;
use crate::token::HASH_PREFIX;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A `[tokens.<name>]` table. The hash is secret too: a token may be in its place by mistake.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenSettings {
    hash: Spanned<Secret>,
    expires: Option<Spanned<Datetime>>,
    #[serde(default)]
    scopes: Vec<String>,
}

/// Reads the tokens.
pub(super) fn read_tokens(
    text: &SettingsText,
    value: Spanned<DeValue<'_>>,
) -> Result<Vec<AccessToken>, Diagnostic> {
    let span = value.span();
    let DeValue::Table(table) = value.into_inner() else {
        let message = "`tokens` must hold a table for each token".to_owned();
        return Err(text.diagnostic(Some(span), message, None));
    };
    let mut tokens = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().to_string();
        if let Err(why) = check_token_name(&name) {
            let message = format!("`{name}` is not a valid token name");
            return Err(text.diagnostic(Some(key.span()), message, Some(why.to_owned())));
        }
        tokens.push(to_access_token(text, name, text.deserialize(value)?)?);
    }
    Ok(tokens)
}

/// Accepts a name for a token, or says which names are valid.
pub(crate) fn check_token_name(name: &str) -> Result<(), &'static str> {
    if name == "local" {
        return Err("`local` is the principal of clients that need no token; take another name");
    }
    match mount::is_mount_name(name) {
        true => Ok(()),
        false => Err("use lower-case letters, digits, dots and dashes, a letter first"),
    }
}

fn to_access_token(
    text: &SettingsText,
    name: String,
    settings: TokenSettings,
) -> Result<AccessToken, Diagnostic> {
    let TokenSettings { hash, expires, scopes } = settings;
    let parsed = hash.get_ref().0.strip_prefix(HASH_PREFIX).map(blake3::Hash::from_hex);
    let Some(Ok(parsed)) = parsed else {
        let message = "this is not the hash of a token".to_owned();
        let hint = format!("make a token and its hash with: refdesk token new {name}");
        return Err(text.diagnostic(Some(hash.span()), message, Some(hint)));
    };
    let end = |expires: Spanned<Datetime>| {
        end_of(expires.get_ref()).ok_or_else(|| {
            let message = "`expires` must be a date, or a date with a time".to_owned();
            let hint = "for example 2027-01-31, or 2027-01-31T12:00:00Z".to_owned();
            text.diagnostic(Some(expires.span()), message, Some(hint))
        })
    };
    let expires = expires.map(end).transpose()?;
    Ok(AccessToken { name, hash: *parsed.as_bytes(), expires, scopes })
}

/// The moment at which a token that `expires` then ends: a date includes its whole day, and a time
/// without an offset is in UTC.
fn end_of(expires: &Datetime) -> Option<SystemTime> {
    let Date { year, month, day } = expires.date?;
    let time = expires.time.map_or("00:00:00".to_owned(), |time| {
        let (hour, minute, second) = (time.hour, time.minute, time.second.unwrap_or(0));
        format!("{hour:02}:{minute:02}:{second:02}")
    });
    let text = format!("{year:04}-{month:02}-{day:02}T{time}Z");
    let utc = humantime::parse_rfc3339(&text).ok()?;
    if expires.time.is_none() {
        return utc.checked_add(DAY);
    }
    let minutes = match expires.offset {
        Some(Offset::Custom { minutes }) => minutes,
        Some(Offset::Z) | None => 0,
    };
    let shift = Duration::from_secs(u64::from(minutes.unsigned_abs()) * 60);
    if minutes < 0 { utc.checked_add(shift) } else { utc.checked_sub(shift) }
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn a_date_includes_its_day_and_a_time_is_exact() {
        let ends = |text: &str| {
            let end = end_of(&text.parse().unwrap());
            end.map(|end| humantime::format_rfc3339_seconds(end).to_string())
        };
        for (expires, end) in [
            ("2026-12-31", "2027-01-01T00:00:00Z"),
            ("2026-12-31T12:00:00Z", "2026-12-31T12:00:00Z"),
            ("2026-12-31T12:00:00", "2026-12-31T12:00:00Z"),
            ("2026-12-31T12:00:00+09:00", "2026-12-31T03:00:00Z"),
            ("2026-12-31T12:00:00-01:30", "2026-12-31T13:30:00Z"),
        ] {
            assert_eq!(ends(expires).as_deref(), Some(end), "{expires}");
        }
        assert_eq!(ends("12:00:00"), None);
    }
}
