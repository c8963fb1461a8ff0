//! Does every URI belong to one mount only?

use catalog::Address;
use resource::{Uri, UriTemplate};
use toml::Spanned;

use crate::settings::{Flaw, Kind, Settings};

/// One thing that a mount declares, and where.
struct Claim<'a> {
    mount: &'a str,
    written: &'a Spanned<String>,
    stands_for: Stands,
}

enum Stands {
    One(Uri),
    Many(UriTemplate),
}

/// Refuses a URI that two mounts, or two entries of one, would answer for.
pub(super) fn check(settings: &Settings) -> Result<(), Flaw> {
    let claims = claims(settings)?;
    for (at, claim) in claims.iter().enumerate() {
        if let Some(folder) = folder_of(settings, claim) {
            let (uri, mount) = (claim.written.get_ref(), claim.mount);
            let message =
                format!("`{uri}` of mount `{mount}` lies in the folder of mount `{folder}`");
            let hint = "use a scheme of your own".to_owned();
            return Err(settings.flaw(claim.written.span(), message, Some(hint)));
        }
        if let Some(other) = claims[..at].iter().find(|other| collide(other, claim)) {
            let uri = claim.written.get_ref();
            let (one, two) = (other.mount, claim.mount);
            let message = format!("`{uri}` is declared by mount `{one}` and by mount `{two}`");
            let hint = Some("give one of them another URI".to_owned());
            return Err(settings.flaw(claim.written.span(), message, hint));
        }
    }
    Ok(())
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

/// A template of the settings, whose scheme at least must be settled.
pub(super) fn template(settings: &Settings, text: &Spanned<String>) -> Result<UriTemplate, Flaw> {
    let flawed = |error: &resource::Error| super::flawed(settings, text.span(), error);
    let template = UriTemplate::parse(text.get_ref()).map_err(|error| flawed(&error))?;
    let literal = text.get_ref().split('{').next().unwrap_or_default();
    Uri::parse(literal).map_err(|error| flawed(&error))?;
    Ok(template)
}

/// Whether both would answer for one URI. Two entries of one mount may overlap by template: there
/// the order of the file decides.
fn collide(one: &Claim<'_>, other: &Claim<'_>) -> bool {
    let same_mount = one.mount == other.mount;
    match (&one.stands_for, &other.stands_for) {
        (Stands::One(one), Stands::One(other)) => one == other,
        (Stands::Many(one), Stands::Many(other)) => one.as_str() == other.as_str(),
        (Stands::One(uri), Stands::Many(template)) | (Stands::Many(template), Stands::One(uri)) => {
            !same_mount && template.matches(uri).is_some()
        }
    }
}

/// The folder that already answers for what is claimed.
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
