//! `refdesk token new`: makes an access token, and the settings that accept it.

use std::time::{Duration, SystemTime};

use anyhow::Context;
use serde_json::json;

use crate::args::NewTokenArgs;
use crate::output;
use crate::settings;
use crate::token::{HASH_PREFIX, NewToken};

/// Prints a new token once, the settings to paste, and how a host sends it.
pub(crate) fn run(args: &NewTokenArgs) -> anyhow::Result<()> {
    let NewTokenArgs { name, expires, scope, json: is_json } = args;
    settings::check_token_name(name)
        .map_err(|why| anyhow::anyhow!("`{name}` is not a valid token name: {why}"))?;
    let token = NewToken::generate()?;
    let hash = blake3::Hash::from_bytes(token.hash()).to_hex();
    // A name with a dot must be quoted in TOML.
    let mut table = format!("[tokens.\"{name}\"]\nhash = \"{HASH_PREFIX}{hash}\"\n");
    let end = expires.map(end_after).transpose()?;
    if let Some(end) = &end {
        table.push_str(&format!("expires = {end}\n"));
    }
    if !scope.is_empty() {
        table.push_str(&format!("scopes = {}\n", json!(scope)));
    }
    if *is_json {
        let told = json!({
            "name": name, "token": token.reveal(), "hash": format!("{HASH_PREFIX}{hash}"),
            "expires": end, "scopes": scope, "settings": table,
        });
        return output::print(&format!("{told}\n"));
    }
    output::print(&format!(
        "# The token of {name}. It is shown only now; refdesk keeps only its hash.\n{token}\n\n\
         # Paste into refdesk.toml. A running server takes it up at once.\n{table}\n\
         # Send it from a host:\n{hint}\n",
        token = token.reveal(),
        hint = host_line("https://refdesk.example.com/mcp", token.reveal()),
    ))
}

/// The command that adds a server with a token to a host.
pub(crate) fn host_line(url: &str, token: &str) -> String {
    format!(
        "claude mcp add --transport http refdesk {url} --header \"Authorization: Bearer {token}\""
    )
}

fn end_after(span: Duration) -> anyhow::Result<String> {
    let end = SystemTime::now().checked_add(span).context("--expires is too far away")?;
    Ok(humantime::format_rfc3339_seconds(end).to_string())
}
