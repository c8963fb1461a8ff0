//! Builds the access rules of a mount: its own first, then those for all mounts.

use std::sync::Arc;

use catalog::{AccessRule, AccessRules, MetadataRules, MethodClass};

use crate::settings::{AccessSettings, Diagnostic, MethodClassSetting, Settings};

/// The rules of a mount with the rules `own`.
pub(super) fn build_access(
    settings: &Settings,
    own: &[toml::Spanned<AccessSettings>],
) -> Result<Arc<AccessRules>, Diagnostic> {
    let all = own.iter().chain(&settings.access);
    let rules: Vec<AccessRule> =
        all.map(|rule| build_rule(settings, rule)).collect::<Result<_, _>>()?;
    let rules = AccessRules::new(rules);
    rules.map(Arc::new).map_err(|error| settings.diagnostic(0..0, error.to_string(), None))
}

fn build_rule(
    settings: &Settings,
    rule: &toml::Spanned<AccessSettings>,
) -> Result<AccessRule, Diagnostic> {
    let refuse = |message: String, hint: &str| {
        Err(settings.diagnostic(rule.span(), message, Some(hint.to_owned())))
    };
    let AccessSettings { allow, deny, principals, scopes, methods } = rule.get_ref();
    let (allows, globs) = match (allow, deny) {
        (Some(globs), None) => (true, globs),
        (None, Some(globs)) => (false, globs),
        _ => {
            let message = "an access rule has either `allow` or `deny`".to_owned();
            return refuse(message, "example: { allow = [\"docs/**\"], principals = [\"ada\"] }");
        }
    };
    if globs.is_empty() {
        return refuse("this access rule names no globs".to_owned(), "write [\"**\"] for all");
    }
    if let Some((glob, error)) =
        globs.iter().find_map(|glob| Some((glob, MetadataRules::parse_glob(glob).err()?)))
    {
        return refuse(format!("`{glob}` is not a glob: {error}"), "example: `docs/**/*.md`");
    }
    let class = |setting: &MethodClassSetting| match setting {
        MethodClassSetting::List => MethodClass::List,
        MethodClassSetting::Read => MethodClass::Read,
        MethodClassSetting::Watch => MethodClass::Watch,
        MethodClassSetting::Complete => MethodClass::Complete,
        MethodClassSetting::Tool => MethodClass::Tool,
        MethodClassSetting::Prompt => MethodClass::Prompt,
    };
    Ok(AccessRule {
        allows,
        globs: globs.clone(),
        principals: principals.clone(),
        scopes: scopes.clone(),
        classes: methods.iter().map(class).collect(),
    })
}
