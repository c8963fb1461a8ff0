//! Builds the upstream provider (an MCP client) from the settings of a mount.

use std::sync::Arc;

use client::{Client, Target};
use providers::upstream::relay::Nobody;
use providers::upstream::{Options, Upstream};
use toml::Spanned;

use super::TIMEOUT;
use crate::settings::{Command, Flaw, Secret, Settings, UpstreamMount};

/// Builds the provider of the server in `declared`; does not connect yet.
pub(super) fn make(
    settings: &Settings,
    name: &str,
    at: std::ops::Range<usize>,
    declared: &UpstreamMount,
) -> Result<Upstream, Flaw> {
    let target = match (&declared.command, &declared.url) {
        (Some(command), None) => program(settings, command, declared)?,
        (None, Some(url)) => Target::Http {
            url: filled(settings, url)?,
            headers: pairs(settings, &declared.headers)?,
        },
        _ => {
            let message = format!("mount `{name}` needs either `command` or `url`");
            return Err(settings.flaw(at, message, None));
        }
    };
    let usual = client::Options::default();
    let (timeout, reading) = match declared.timeout() {
        Some(span) => (span.0, span.0),
        None => (usual.timeout, TIMEOUT),
    };
    let options = client::Options {
        timeout,
        reading,
        capabilities: Some(client::asking::everything()),
        handler: Some(Arc::new(Nobody)),
        ..usual
    };
    let client = Client::new(target, options);
    let usual = Options::new(client);
    let listing = declared.listing.map_or(usual.listing, |span| span.0);
    let poll = declared.poll.map(|span| span.0);
    Ok(Upstream::new(Options { listing, poll, ..usual }))
}

fn program(
    settings: &Settings,
    command: &Spanned<Command>,
    declared: &UpstreamMount,
) -> Result<Target, Flaw> {
    let mut words = Vec::new();
    match command.get_ref() {
        Command::One(one) => words.push(Spanned::new(command.span(), one.clone())),
        Command::Many(many) => {
            words.extend(many.iter().map(|one| Spanned::new(command.span(), one.clone())));
        }
    }
    words.extend(declared.args.iter().cloned());
    let mut words = words.iter().map(|word| filled(settings, word));
    let Some(command) = words.next().transpose()? else {
        return Err(settings.flaw(command.span(), "`command` names no program", None));
    };
    Ok(Target::Child {
        command,
        args: words.collect::<Result<_, _>>()?,
        env: pairs(settings, &declared.env)?,
        cwd: declared.cwd.as_deref().map(|cwd| settings.path(cwd)),
    })
}

fn pairs(
    settings: &Settings,
    pairs: &std::collections::BTreeMap<String, Spanned<Secret>>,
) -> Result<Vec<(String, String)>, Flaw> {
    pairs.iter().map(|(name, value)| Ok((name.clone(), filled(settings, value)?))).collect()
}

/// Expands the environment variables in a text of the settings.
fn filled(settings: &Settings, text: &Spanned<Secret>) -> Result<String, Flaw> {
    text.get_ref().filled(|name| std::env::var(name).ok()).map_err(|name| {
        let message = format!("the environment variable `{name}` is not set");
        let hint = format!("set it, or give a default: ${{{name}:-default}}");
        settings.flaw(text.span(), message, Some(hint))
    })
}
