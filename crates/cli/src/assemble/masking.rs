//! Builds the redaction of a mount: what it masks by default, and what its settings say.

use std::sync::Arc;

use machinery::PathGlob;
use redaction::{Redaction, RedactionScope, Redactor, RedactorOptions};

use crate::settings::{Diagnostic, MountKind, MountSettings, RedactSetting, Settings};

/// What `mount` masks.
pub(crate) fn build_redaction(
    settings: &Settings,
    mount: &MountSettings,
) -> Result<Redaction, Diagnostic> {
    let usual = match &mount.kind {
        // Values of these are likely secrets.
        MountKind::Config(_) | MountKind::Env(_) => RedactSetting::Everything,
        MountKind::Folder(_) | MountKind::Git(_) | MountKind::Static(_) | MountKind::Docs(_) => {
            RedactSetting::SensitiveFiles
        }
        // The servers behind refdesk give what their users let them give.
        MountKind::UpstreamServer(_) | MountKind::Invalid(_) => RedactSetting::Off,
    };
    let scope = match mount.shared.redact.unwrap_or(usual) {
        RedactSetting::Everything => RedactionScope::Everything,
        RedactSetting::SensitiveFiles if usual == RedactSetting::Everything => {
            RedactionScope::Everything
        }
        RedactSetting::SensitiveFiles => RedactionScope::SensitiveFiles,
        RedactSetting::Off => RedactionScope::Off,
    };
    let reveal = mount.shared.reveal.iter().map(|glob| {
        PathGlob::parse(glob.get_ref()).map_err(|error| {
            let message = format!("`{}` is not a glob: {error}", glob.get_ref());
            let hint = "a glob over key paths, such as `db/*/user_token` or `**/session_key`";
            settings.diagnostic(glob.span(), message, Some(hint.to_owned()))
        })
    });
    let reveal: Vec<PathGlob> = reveal.collect::<Result<_, _>>()?;
    let hmac_key = settings.server.redact_key.as_ref().map(|key| key.clone().into_bytes());
    let redactor = Redactor::new(RedactorOptions { reveal, hmac_key });
    let redaction = Redaction::new(scope, Arc::new(redactor));
    Ok(match etag_key(settings, mount) {
        Some(key) => redaction.with_etag_key(key),
        None => redaction,
    })
}

/// The key of etags, if the settings name a secret from which to make one. Another mask of the same
/// text has another etag, so what the mask depends on goes into it.
fn etag_key(settings: &Settings, mount: &MountSettings) -> Option<[u8; 32]> {
    let (secret, key) = (&settings.server.secret, &settings.server.redact_key);
    let reveal: Vec<&str> =
        mount.shared.reveal.iter().map(|glob| glob.get_ref().as_str()).collect();
    let material = format!("{secret:?} {key:?} {reveal:?}");
    (secret.is_some() || key.is_some())
        .then(|| blake3::derive_key("refdesk 2026 masked etags", material.as_bytes()))
}
