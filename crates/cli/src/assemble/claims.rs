//! Detects URI conflicts: every URI must belong to exactly one mount.

use std::collections::HashMap;

use catalog::Address;
use resource::{Uri, UriTemplate};
use toml::Spanned;

use crate::settings::{Flaw, Kind, Settings};

/// A URI or template that a static mount declares, with its location in the settings.
struct Claim<'a> {
    mount: &'a str,
    written: &'a Spanned<String>,
    stands_for: Stands,
}

enum Stands {
    One(Uri),
    Many(UriTemplate),
}

/// Rejects a URI that two mounts, or two entries of one mount, declare.
pub(super) fn check(settings: &Settings) -> Result<(), Flaw> {
    one_rest(settings)?;
    let claims = claims(settings)?;
    let is_many = |claim: &&Claim<'_>| matches!(claim.stands_for, Stands::Many(_));
    let templates: Vec<&Claim<'_>> = claims.iter().filter(is_many).collect();
    let mut seen = HashMap::new();
    for claim in &claims {
        let (uri, mount) = (claim.written.get_ref(), claim.mount);
        if let Some(folder) = folder_of(settings, claim) {
            let message =
                format!("`{uri}` of mount `{mount}` is inside the folder of mount `{folder}`");
            let hint = "use another URI scheme".to_owned();
            return Err(settings.flaw(claim.written.span(), message, Some(hint)));
        }
        let same = seen.insert(uri.as_str(), claim);
        let overlapping = || templates.iter().find(|template| overlap(template, claim)).copied();
        if let Some(other) = same.or_else(overlapping) {
            let other = other.mount;
            let message = format!("`{uri}` is declared by mount `{other}` and by mount `{mount}`");
            let hint = Some("give one of them another URI".to_owned());
            return Err(settings.flaw(claim.written.span(), message, hint));
        }
    }
    Ok(())
}

/// Rejects a second upstream mount without a prefix: it would claim the same remaining URIs.
fn one_rest(settings: &Settings) -> Result<(), Flaw> {
    let mut mounts = settings.mounts.iter().filter_map(|(name, mount)| match &mount.kind {
        Kind::Server(server) => Some((name, server.unprefixed()?)),
        Kind::Files(_) | Kind::Static(_) => None,
    });
    let (Some((one, _)), Some((other, span))) = (mounts.next(), mounts.next()) else {
        return Ok(());
    };
    let message = format!("mounts `{one}` and `{other}` both set `prefix = false`");
    let hint = "only one mount may set `prefix = false`".to_owned();
    Err(settings.flaw(span, message, Some(hint)))
}

fn claims(settings: &Settings) -> Result<Vec<Claim<'_>>, Flaw> {
    let mut claims = Vec::new();
    for (mount, declared) in &settings.mounts {
        let Kind::Static(declared) = &declared.kind else { continue };
        for entry in &declared.resources {
            let stands_for = Stands::One(super::uri(settings, &entry.uri)?);
            claims.push(Claim { mount, written: &entry.uri, stands_for });
        }
        for entry in &declared.templates {
            let stands_for = Stands::Many(template(settings, &entry.uri)?);
            claims.push(Claim { mount, written: &entry.uri, stands_for });
        }
    }
    Ok(claims)
}

/// Parses a URI template of the settings. Its scheme must be literal.
pub(super) fn template(settings: &Settings, text: &Spanned<String>) -> Result<UriTemplate, Flaw> {
    let flawed = |error: &resource::Error| super::flawed(settings, text.span(), error);
    let template = UriTemplate::parse(text.get_ref()).map_err(|error| flawed(&error))?;
    let literal = text.get_ref().split('{').next().unwrap_or_default();
    Uri::parse(literal).map_err(|error| flawed(&error))?;
    Ok(template)
}

/// Whether `template` matches the URI `one` of another mount. Within one mount an exact URI wins,
/// then the order in the file.
fn overlap(template: &Claim<'_>, one: &Claim<'_>) -> bool {
    match (&template.stands_for, &one.stands_for) {
        (Stands::Many(template_uri), Stands::One(uri)) => {
            template.mount != one.mount && template_uri.matches(uri).is_some()
        }
        _ => false,
    }
}

/// The folder mount whose URI space already contains the claim.
fn folder_of<'a>(settings: &'a Settings, claim: &Claim<'_>) -> Option<&'a str> {
    let folders = settings.mounts.iter().filter(|(_, mount)| matches!(mount.kind, Kind::Files(_)));
    folders.map(|(name, _)| name.as_str()).find(|name| {
        let address = Address::Path { scheme: "file", name: (*name).to_owned() };
        match &claim.stands_for {
            Stands::One(uri) => address.split(uri).is_some(),
            Stands::Many(template) => address.split_template(template.as_str()).is_some(),
        }
    })
}
