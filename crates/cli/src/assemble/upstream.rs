//! Builds the upstream provider (an MCP client) from the settings of a mount.

use client::{Client, RevisionChoice, ServerTarget};
use providers::upstream::{Options, Upstream};
use toml::Spanned;

use super::DEFAULT_TIMEOUT;
use super::program_env::inherited_names;
use crate::settings::{CommandSetting, Diagnostic, MountSettings, Secret, Settings, UpstreamMount};

/// This program, whose command `supervise` starts the programs of mounts. The link also leads to it
/// after its file was replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Builds the provider of the server in `declared`; does not connect yet.
pub(super) fn build_upstream(
    settings: &Settings,
    name: &str,
    mount: &MountSettings,
    declared: &UpstreamMount,
) -> Result<Upstream, Diagnostic> {
    let target = match (&declared.command, &declared.url) {
        (Some(command), None) => program_target(settings, name, (command, declared))?,
        (None, Some(url)) => ServerTarget::Http {
            url: expand_variables(settings, url)?,
            headers: expand_pairs(settings, &declared.headers)?,
        },
        _ => {
            let message = format!("mount `{name}` needs either `command` or `url`");
            return Err(settings.diagnostic(mount.span.clone(), message, None));
        }
    };
    let usual = client::Options::default();
    let (timeout, reading) = match mount.shared.timeout {
        Some(span) => (span.0, span.0),
        None => (usual.timeout, DEFAULT_TIMEOUT),
    };
    let options = client::Options {
        timeout,
        resource_timeout: reading,
        relays_requests: true,
        revision: revision_choice(settings, declared)?,
        supervisor: Some(OWN_PROGRAM.into()),
        ..usual
    };
    let client = Client::new(target, options);
    let usual = Options::new(client);
    let listing = declared.listing.map_or(usual.listing_ttl, |span| span.0);
    let poll = declared.poll.map(|span| span.0);
    let start_wait = settings.server.start_wait.map_or(usual.start_wait, |span| span.0);
    Ok(Upstream::new(Options { listing_ttl: listing, poll_interval: poll, start_wait, ..usual }))
}

/// The protocol revision that the settings name, or any.
fn revision_choice(
    settings: &Settings,
    declared: &UpstreamMount,
) -> Result<RevisionChoice, Diagnostic> {
    let Some(date) = &declared.revision else { return Ok(RevisionChoice::Newest) };
    RevisionChoice::only(date.get_ref()).ok_or_else(|| {
        let message = format!("there is no protocol revision {:?}", date.get_ref());
        let dates: Vec<&str> = RevisionChoice::dates().collect();
        settings.diagnostic(date.span(), message, Some(format!("one of {}", dates.join(", "))))
    })
}

fn program_target(
    settings: &Settings,
    name: &str,
    (command, declared): (&Spanned<CommandSetting>, &UpstreamMount),
) -> Result<ServerTarget, Diagnostic> {
    let mut words = Vec::new();
    match command.get_ref() {
        CommandSetting::One(one) => words.push(Spanned::new(command.span(), one.clone())),
        CommandSetting::Many(many) => {
            words.extend(many.iter().map(|one| Spanned::new(command.span(), one.clone())));
        }
    }
    words.extend(declared.args.iter().cloned());
    let mut words = words.iter().map(|word| expand_variables(settings, word));
    let Some(command) = words.next().transpose()? else {
        return Err(settings.diagnostic(command.span(), "`command` names no program", None));
    };
    let environment = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let names = inherited_names(environment, &declared.inherit_env);
    let inherited = names.join(" ");
    tracing::info!(
        mount = name,
        inherited,
        "the program inherits these environment variables only"
    );
    Ok(ServerTarget::Child {
        inherited_env: names
            .into_iter()
            .filter_map(|name| std::env::var_os(&name).map(|value| (name, value)))
            .collect(),
        command,
        args: words.collect::<Result<_, _>>()?,
        env: expand_pairs(settings, &declared.env)?,
        cwd: declared.cwd.as_deref().map(|cwd| settings.resolve_path(cwd)),
    })
}

fn expand_pairs(
    settings: &Settings,
    pairs: &std::collections::BTreeMap<String, Spanned<Secret>>,
) -> Result<Vec<(String, String)>, Diagnostic> {
    pairs
        .iter()
        .map(|(name, value)| Ok((name.clone(), expand_variables(settings, value)?)))
        .collect()
}

/// Expands the environment variables in a text of the settings.
fn expand_variables(settings: &Settings, text: &Spanned<Secret>) -> Result<String, Diagnostic> {
    text.get_ref().expand(|name| std::env::var(name).ok()).map_err(|name| {
        let message = format!("the environment variable `{name}` is not set");
        let hint = format!("set it, or give a default: ${{{name}:-default}}");
        settings.diagnostic(text.span(), message, Some(hint))
    })
}
