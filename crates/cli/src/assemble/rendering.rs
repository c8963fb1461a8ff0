//! Builds the rendering of a mount: which documents it gives in other forms.

use catalog::layers::rendered::Rendered;
use redaction::Redaction;
use resource::Accept;

use crate::conversion;
use crate::settings::{Diagnostic, MountKind, MountSettings, Settings};

/// How `mount` renders documents; `None` if it does not.
pub(super) fn build_rendering(
    settings: &Settings,
    mount: &MountSettings,
    redaction: &Redaction,
) -> Result<Option<Rendered>, Diagnostic> {
    let is_usual =
        matches!(mount.kind, MountKind::Folder(_) | MountKind::Git(_) | MountKind::Docs(_));
    let texts = mount.shared.formats.iter();
    for format in texts.clone() {
        if let Err(error) = Accept::parse([format.get_ref().as_str()]) {
            return Err(settings.diagnostic(format.span(), error.to_string(), None));
        }
    }
    let formats = Accept::parse(texts.map(|format| format.get_ref().as_str()))
        .map_err(|error| settings.diagnostic(mount.span.clone(), error.to_string(), None))?;
    if !mount.shared.render.is_on(is_usual) {
        return Ok(None);
    }
    // What an upstream server gives may be for one principal.
    let keep = !matches!(mount.kind, MountKind::UpstreamServer(_));
    let converter = conversion::shared_pool(settings.render.limits());
    let redaction = redaction.clone();
    Ok(Some(Rendered { converter, redaction, formats, keep }))
}
