//! Detects URI conflicts: every URI must belong to exactly one mount.

use std::collections::HashMap;

use catalog::Address;
use resource::{Uri, UriTemplate};
use toml::Spanned;

use crate::settings::{Diagnostic, MountKind, Settings};

/// A URI or template that a static mount declares, with its location in the settings.
struct UriClaim<'a> {
    mount: &'a str,
    written: &'a Spanned<String>,
    uris: ClaimedUris,
}

enum ClaimedUris {
    Exact(Uri),
    Template(UriTemplate),
}

/// Rejects a URI that two mounts, or two entries of one mount, declare.
pub(super) fn check_conflicts(settings: &Settings) -> Result<(), Diagnostic> {
    check_single_unprefixed(settings)?;
    let claims = collect_claims(settings)?;
    let is_many = |claim: &&UriClaim<'_>| matches!(claim.uris, ClaimedUris::Template(_));
    let templates: Vec<&UriClaim<'_>> = claims.iter().filter(is_many).collect();
    let mut seen = HashMap::new();
    for claim in &claims {
        let (uri, mount) = (claim.written.get_ref(), claim.mount);
        if let Some(folder) = folder_containing(settings, claim) {
            let message =
                format!("`{uri}` of mount `{mount}` is inside the folder of mount `{folder}`");
            let hint = "use another URI scheme".to_owned();
            return Err(settings.diagnostic(claim.written.span(), message, Some(hint)));
        }
        let same = seen.insert(uri.as_str(), claim);
        let overlapping = || templates.iter().find(|template| overlaps(template, claim)).copied();
        if let Some(other) = same.or_else(overlapping) {
            let other = other.mount;
            let message = format!("`{uri}` is declared by mount `{other}` and by mount `{mount}`");
            let hint = Some("give one of them another URI".to_owned());
            return Err(settings.diagnostic(claim.written.span(), message, hint));
        }
    }
    Ok(())
}

/// Rejects a second upstream mount without a prefix: it would claim the same remaining URIs.
fn check_single_unprefixed(settings: &Settings) -> Result<(), Diagnostic> {
    let mut mounts = settings.mounts.iter().filter_map(|(name, mount)| match &mount.kind {
        MountKind::UpstreamServer(server) => Some((name, server.unprefixed_span()?)),
        MountKind::Folder(_)
        | MountKind::Static(_)
        | MountKind::Config(_)
        | MountKind::Env(_)
        | MountKind::Git(_)
        | MountKind::Docs(_)
        | MountKind::Invalid(_) => None,
    });
    let (Some((one, _)), Some((other, span))) = (mounts.next(), mounts.next()) else {
        return Ok(());
    };
    let message = format!("mounts `{one}` and `{other}` both set `prefix = false`");
    let hint = "only one mount may set `prefix = false`".to_owned();
    Err(settings.diagnostic(span, message, Some(hint)))
}

fn collect_claims(settings: &Settings) -> Result<Vec<UriClaim<'_>>, Diagnostic> {
    let mut claims = Vec::new();
    for (mount, declared) in &settings.mounts {
        let MountKind::Static(declared) = &declared.kind else { continue };
        for entry in &declared.resources {
            let stands_for = ClaimedUris::Exact(super::parse_uri(settings, &entry.uri)?);
            claims.push(UriClaim { mount, written: &entry.uri, uris: stands_for });
        }
        for entry in &declared.templates {
            let stands_for = ClaimedUris::Template(parse_template(settings, &entry.uri)?);
            claims.push(UriClaim { mount, written: &entry.uri, uris: stands_for });
        }
    }
    Ok(claims)
}

/// Parses a URI template of the settings. Its scheme must be literal.
pub(super) fn parse_template(
    settings: &Settings,
    text: &Spanned<String>,
) -> Result<UriTemplate, Diagnostic> {
    let flawed = |error: &resource::Error| super::to_diagnostic(settings, text.span(), error);
    let template = UriTemplate::parse(text.get_ref()).map_err(|error| flawed(&error))?;
    let literal = text.get_ref().split('{').next().unwrap_or_default();
    Uri::parse(literal).map_err(|error| flawed(&error))?;
    Ok(template)
}

/// Whether `template` matches the URI `one` of another mount. Within one mount an exact URI wins,
/// then the order in the file.
fn overlaps(template: &UriClaim<'_>, one: &UriClaim<'_>) -> bool {
    match (&template.uris, &one.uris) {
        (ClaimedUris::Template(template_uri), ClaimedUris::Exact(uri)) => {
            template.mount != one.mount && template_uri.matches(uri).is_some()
        }
        _ => false,
    }
}

/// The mount whose URI space, which its name and kind give it, already contains the claim.
fn folder_containing<'a>(settings: &'a Settings, claim: &UriClaim<'_>) -> Option<&'a str> {
    let found = settings.mounts.iter().find(|(name, mount)| {
        let name = (*name).clone();
        let address = match &mount.kind {
            MountKind::Folder(_) => Address::Path { scheme: "file", name },
            MountKind::Config(_) => Address::Authority { scheme: "config", name },
            MountKind::Env(_) => Address::Authority { scheme: "env", name },
            MountKind::Git(_) => Address::Authority { scheme: "git", name },
            MountKind::Docs(_) => Address::Docs { name },
            MountKind::Static(_) | MountKind::UpstreamServer(_) | MountKind::Invalid(_) => {
                return false;
            }
        };
        match &claim.uris {
            ClaimedUris::Exact(uri) => address.split(uri).is_some(),
            ClaimedUris::Template(template) => address.split_template(template.as_str()).is_some(),
        }
    });
    found.map(|(name, _)| name.as_str())
}
