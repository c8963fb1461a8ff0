//! Charsets by the rules of a mount: which file has which, instead of the one that is detected.

use std::sync::Arc;

use catalog::MetadataRules;
use providers::fs::{Charset, CharsetRule};

use crate::settings::{Diagnostic, MountSettings, Settings};

/// The charsets that the rules of a folder mount set; `None` if they set none.
pub(super) fn build_charsets(
    settings: &Settings,
    mount: &MountSettings,
) -> Result<Option<CharsetRule>, Diagnostic> {
    let mut charsets = Vec::new();
    for rule in &mount.shared.rules {
        let Some(label) = &rule.charset else { continue };
        let charset = Charset::for_label(label.get_ref()).ok_or_else(|| {
            let message = format!("there is no charset `{}`", label.get_ref());
            let hint = "example: `shift_jis`, `euc-jp`, `utf-16le`, `windows-1251`";
            settings.diagnostic(label.span(), message, Some(hint.to_owned()))
        })?;
        let glob = MetadataRules::parse_glob(rule.glob.get_ref()).map_err(|error| {
            settings.diagnostic(rule.glob.span(), format!("not a glob: {error}"), None)
        })?;
        charsets.push((glob.into_matcher(), charset));
    }
    if charsets.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(move |path: &str| {
        let mut later_first = charsets.iter().rev();
        later_first.find(|(is_match, _)| is_match(path)).map(|(_, charset)| *charset)
    })))
}

/// An error if a rule of a mount that is no folder sets a charset.
pub(super) fn refuse_charsets(
    settings: &Settings,
    mount: &MountSettings,
) -> Result<(), Diagnostic> {
    let Some(label) = mount.shared.rules.iter().find_map(|rule| rule.charset.as_ref()) else {
        return Ok(());
    };
    let message = "only the rules of a folder (`kind = \"fs\"` or `\"docs\"`) can set a charset";
    Err(settings.diagnostic(label.span(), message, Some("remove this key".to_owned())))
}
