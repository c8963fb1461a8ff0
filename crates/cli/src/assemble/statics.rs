//! Builds the static provider from the resources and templates in the settings.

use std::ops::Range;
use std::path::PathBuf;

use providers::statics::{
    ContentOrigin, FormatDeclaration, Options, ResourceDeclaration, Statics, TemplateDeclaration,
};
use resource::{
    Annotations, Resource, Template, UnknownMembers, UriTemplate, Variable, VariableKind,
};
use toml::Spanned;

use super::rules::{build_icons, check_priority, to_roles};
use super::{STATIC_TTL, parse_uri, uri_conflicts};
use crate::settings::{
    Diagnostic, FormatSettings, Settings, StaticMount, StaticResource, StaticTemplate,
    VariableKindSetting,
};

/// Builds the provider of one static mount.
pub(super) fn build_statics(
    settings: &Settings,
    mount: &StaticMount,
) -> Result<Statics, Diagnostic> {
    let resources = mount.resources.iter().map(|entry| self::build_entry(settings, entry));
    let templates = mount.templates.iter().map(|entry| build_pattern(settings, entry));
    Ok(Statics::new(Options {
        resources: resources.collect::<Result<_, _>>()?,
        templates: templates.collect::<Result<_, _>>()?,
        ttl: mount.ttl.map_or(STATIC_TTL, |span| span.0),
    }))
}

fn build_entry(
    settings: &Settings,
    entry: &StaticResource,
) -> Result<ResourceDeclaration, Diagnostic> {
    let mut resource = Resource::new(parse_uri(settings, &entry.uri)?, &entry.name);
    resource.title.clone_from(&entry.title);
    resource.description.clone_from(&entry.description);
    resource.icons = build_icons(settings, &entry.icons)?;
    resource.annotations = Annotations {
        audience: to_roles(&entry.audience),
        priority: check_priority(settings, entry.priority.as_ref())?,
        modified: None,
    };
    let own = (&entry.text, &entry.base64, &entry.file);
    let has_own = own.0.is_some() || own.1.is_some() || own.2.is_some();
    let formats = if entry.formats.is_empty() {
        let origin = content_origin(settings, own, entry.uri.span())?;
        vec![FormatDeclaration { mime: entry.mime.clone(), origin }]
    } else if has_own || entry.mime.is_some() {
        let message = "with `formats`, `mime` and content belong in each format";
        return Err(settings.diagnostic(entry.uri.span(), message, None));
    } else {
        build_forms(settings, &entry.formats)?
    };
    Ok(ResourceDeclaration { resource, formats })
}

fn build_forms(
    settings: &Settings,
    formats: &[FormatSettings],
) -> Result<Vec<FormatDeclaration>, Diagnostic> {
    let mut seen = Vec::new();
    let mut forms = Vec::new();
    for format in formats {
        let mime = format.mime.get_ref();
        if seen.contains(&mime) {
            let message = format!("the format `{mime}` is given twice");
            return Err(settings.diagnostic(format.mime.span(), message, None));
        }
        seen.push(mime);
        let source = (&format.text, &format.base64, &format.file);
        let origin = content_origin(settings, source, format.mime.span())?;
        forms.push(FormatDeclaration { mime: Some(mime.clone()), origin });
    }
    Ok(forms)
}

type ContentSources<'a> =
    (&'a Option<String>, &'a Option<Spanned<String>>, &'a Option<Spanned<PathBuf>>);

/// The content source: exactly one of `text`, `base64` and `file`.
fn content_origin(
    settings: &Settings,
    sources: ContentSources<'_>,
    at: Range<usize>,
) -> Result<ContentOrigin, Diagnostic> {
    match sources {
        (Some(text), None, None) => Ok(ContentOrigin::Text(text.clone())),
        (None, Some(base64), None) => {
            let bytes = base64_simd::STANDARD.decode_to_vec(base64.get_ref());
            let bad = |_| settings.diagnostic(base64.span(), "this is not base64", None);
            bytes.map(ContentOrigin::Bytes).map_err(bad)
        }
        (None, None, Some(file)) => {
            let path = settings.resolve_path(file.get_ref());
            if path.is_file() {
                return Ok(ContentOrigin::File(path));
            }
            let message = format!("there is no file `{}`", file.get_ref().display());
            let hint = "paths are relative to the settings file".to_owned();
            Err(settings.diagnostic(file.span(), message, Some(hint)))
        }
        (None, None, None) => {
            let hint = "add one of `text`, `base64`, `file`".to_owned();
            Err(settings.diagnostic(at, "this resource has no content", Some(hint)))
        }
        _ => {
            let hint = "keep one of `text`, `base64`, `file`".to_owned();
            Err(settings.diagnostic(at, "this resource has more than one content", Some(hint)))
        }
    }
}

fn build_pattern(
    settings: &Settings,
    entry: &StaticTemplate,
) -> Result<TemplateDeclaration, Diagnostic> {
    let uri = uri_conflicts::parse_template(settings, &entry.uri)?;
    if let Some(unknown) = entry.values.keys().find(|name| !uri.variables().any(|v| v == **name)) {
        let message = format!("`values` names `{unknown}`, which is no variable of the template");
        return Err(settings.diagnostic(entry.uri.span(), message, None));
    }
    let template = Template {
        variables: build_variables(settings, entry, &uri)?,
        uri,
        name: entry.name.clone(),
        title: entry.title.clone(),
        description: entry.description.clone(),
        mime: entry.mime.clone(),
        icons: build_icons(settings, &entry.icons)?,
        annotations: Annotations {
            audience: to_roles(&entry.audience),
            priority: check_priority(settings, entry.priority.as_ref())?,
            modified: None,
        },
        extra: UnknownMembers::default(),
    };
    Ok(TemplateDeclaration { template, text: entry.text.clone(), values: entry.values.clone() })
}

fn build_variables(
    settings: &Settings,
    entry: &StaticTemplate,
    uri: &UriTemplate,
) -> Result<Vec<Variable>, Diagnostic> {
    let mut variables = Vec::with_capacity(entry.variables.len());
    for (name, declared) in &entry.variables {
        let refuse = |message| Err(settings.diagnostic(name.span(), message, None));
        if !uri.variables().any(|known| known == name.get_ref()) {
            return refuse(format!("`{}` is no variable of the template", name.get_ref()));
        }
        let variable = Variable {
            name: name.get_ref().clone(),
            description: declared.description.clone(),
            kind: match declared.kind {
                VariableKindSetting::String => VariableKind::Text,
                VariableKindSetting::Integer => VariableKind::Integer,
                VariableKindSetting::Number => VariableKind::Number,
                VariableKindSetting::Boolean => VariableKind::Boolean,
            },
            default: declared.default.clone(),
            allowed: declared.allowed.clone(),
        };
        let stated = entry.values.get(name.get_ref()).into_iter().flatten();
        let stated = stated.chain(&variable.default).chain(&variable.allowed);
        if let Some(refusal) = stated.clone().find_map(|value| variable.refusal(value)) {
            return refuse(format!("a value of this variable is not allowed: {refusal}"));
        }
        variables.push(variable);
    }
    Ok(variables)
}
