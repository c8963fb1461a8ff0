//! Metadata rules of a mount, and the roles, priorities and icons of the settings.

use catalog::{MetadataRule, MetadataRules, RuleEffect};
use resource::{Icon, Role};
use toml::Spanned;

use crate::settings::{Diagnostic, IconSettings, RoleSetting, RuleSettings, Settings};

pub(super) fn build_rule(
    settings: &Settings,
    rule: &RuleSettings,
) -> Result<MetadataRule, Diagnostic> {
    let glob = rule.glob.get_ref();
    MetadataRules::parse_glob(glob).map_err(|error| {
        let message = format!("not a glob: {error}");
        settings.diagnostic(rule.glob.span(), message, Some("example: `docs/**/*.md`".to_owned()))
    })?;
    let icons = rule.icons.as_ref().map(|icons| build_icons(settings, icons)).transpose()?;
    Ok(MetadataRule {
        glob: glob.clone(),
        effect: RuleEffect {
            priority: check_priority(settings, rule.priority.as_ref())?,
            audience: rule.audience.as_deref().map(to_roles),
            title: rule.title.clone(),
            description: rule.description.clone(),
            icons,
            hide: rule.hide,
        },
    })
}

pub(super) fn to_roles(roles: &[RoleSetting]) -> Vec<Role> {
    let role = |role: &RoleSetting| match role {
        RoleSetting::User => Role::User,
        RoleSetting::Assistant => Role::Assistant,
    };
    roles.iter().map(role).collect()
}

pub(super) fn check_priority(
    settings: &Settings,
    said: Option<&Spanned<f64>>,
) -> Result<Option<f64>, Diagnostic> {
    let Some(said) = said else { return Ok(None) };
    let fits = (0.0..=1.0).contains(said.get_ref());
    fits.then_some(Some(*said.get_ref()))
        .ok_or_else(|| settings.diagnostic(said.span(), "a priority must be between 0 and 1", None))
}

pub(super) fn build_icons(
    settings: &Settings,
    icons: &[IconSettings],
) -> Result<Vec<Icon>, Diagnostic> {
    let icon = |icon: &IconSettings| {
        let src = icon.src.get_ref();
        if !(src.starts_with("https://") || src.starts_with("data:")) {
            let message = "an icon must be an https: or data: URI";
            return Err(settings.diagnostic(icon.src.span(), message, None));
        }
        let theme = icon.theme.clone();
        if theme.as_deref().is_some_and(|theme| theme != "light" && theme != "dark") {
            let message = "an icon theme must be \"light\" or \"dark\"";
            return Err(settings.diagnostic(icon.src.span(), message, None));
        }
        Ok(Icon { src: src.clone(), mime: icon.mime.clone(), sizes: icon.sizes.clone(), theme })
    };
    icons.iter().map(icon).collect()
}
