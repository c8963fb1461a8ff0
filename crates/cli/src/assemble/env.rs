//! Builds the environment provider from the settings and the environment of this process.

use std::collections::BTreeMap;

use catalog::{Address, Mount};
use machinery::PathGlob;
use providers::env::{EnvVariables, Options};
use toml::Spanned;

use super::{
    MountParts, MountSize, MountSummary, STATIC_TTL, charsets, mount_terms, refuse_archives,
};
use crate::settings::{Diagnostic, EnvMount, MountSettings, Settings};

/// The variables of this process whose name and value are UTF-8.
pub(super) fn own_environment() -> BTreeMap<String, String> {
    let own = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(own).collect()
}

/// Parses a glob of the settings.
pub(super) fn parse_glob(
    settings: &Settings,
    text: &Spanned<String>,
) -> Result<PathGlob, Diagnostic> {
    PathGlob::parse(text.get_ref())
        .map_err(|error| settings.diagnostic(text.span(), format!("not a glob: {error}"), None))
}

/// Builds one environment mount.
pub(super) fn env_mount(
    settings: &Settings,
    name: &str,
    mount: &MountSettings,
    declared: &EnvMount,
) -> Result<MountParts, Diagnostic> {
    charsets::refuse_charsets(settings, mount)?;
    refuse_archives(settings, mount)?;
    let mut terms = mount_terms(settings, mount, std::iter::empty())?;
    let names = declared.names.iter().map(|glob| parse_glob(settings, glob));
    let variables = EnvVariables::new(Options {
        environment: own_environment(),
        names: names.collect::<Result<_, _>>()?,
        // The provider masks each value by its name, so that no layer has to.
        redaction: std::mem::take(&mut terms.redaction),
        ttl: declared.ttl.map_or(STATIC_TTL, |span| span.0),
    })
    .map_err(|error| settings.diagnostic(mount.span.clone(), error.to_string(), None))?;
    let address = Address::Authority { scheme: "env", name: name.to_owned() };
    let part = MountSummary {
        name: name.to_owned(),
        kind: "env",
        root: address.root(),
        size: MountSize::Fixed(variables.len()),
    };
    Ok((Mount::new(name, address, variables, terms), part))
}
