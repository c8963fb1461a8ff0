//! Builds the static provider from the resources and templates in the settings.

use std::ops::Range;
use std::path::PathBuf;

use providers::statics::{Entry, Form, Options, Origin, Pattern, Statics};
use resource::{Annotations, Extra, Resource, Template};
use toml::Spanned;

use super::{STATIC_TTL, claims, icons, priority, roles, uri};
use crate::settings::{Flaw, FormatSource, Settings, StaticMount, StaticResource, StaticTemplate};

/// Builds the provider of one static mount.
pub(super) fn make(settings: &Settings, mount: &StaticMount) -> Result<Statics, Flaw> {
    let resources = mount.resources.iter().map(|entry| self::entry(settings, entry));
    let templates = mount.templates.iter().map(|entry| pattern(settings, entry));
    Ok(Statics::new(Options {
        resources: resources.collect::<Result<_, _>>()?,
        templates: templates.collect::<Result<_, _>>()?,
        ttl: mount.ttl.map_or(STATIC_TTL, |span| span.0),
    }))
}

fn entry(settings: &Settings, entry: &StaticResource) -> Result<Entry, Flaw> {
    let mut resource = Resource::new(uri(settings, &entry.uri)?, &entry.name);
    resource.title.clone_from(&entry.title);
    resource.description.clone_from(&entry.description);
    resource.icons = icons(settings, &entry.icons)?;
    resource.annotations = Annotations {
        audience: roles(&entry.audience),
        priority: priority(settings, entry.priority.as_ref())?,
        modified: None,
    };
    let own = (&entry.text, &entry.base64, &entry.file);
    let has_own = own.0.is_some() || own.1.is_some() || own.2.is_some();
    let formats = if entry.formats.is_empty() {
        let origin = origin(settings, own, entry.uri.span())?;
        vec![Form { mime: entry.mime.clone(), origin }]
    } else if has_own || entry.mime.is_some() {
        let message = "with `formats`, `mime` and content belong in each format";
        return Err(settings.flaw(entry.uri.span(), message, None));
    } else {
        forms(settings, &entry.formats)?
    };
    Ok(Entry { resource, formats })
}

fn forms(settings: &Settings, formats: &[FormatSource]) -> Result<Vec<Form>, Flaw> {
    let mut seen = Vec::new();
    let mut forms = Vec::new();
    for format in formats {
        let mime = format.mime.get_ref();
        if seen.contains(&mime) {
            let message = format!("the format `{mime}` is given twice");
            return Err(settings.flaw(format.mime.span(), message, None));
        }
        seen.push(mime);
        let source = (&format.text, &format.base64, &format.file);
        let origin = origin(settings, source, format.mime.span())?;
        forms.push(Form { mime: Some(mime.clone()), origin });
    }
    Ok(forms)
}

type Sources<'a> = (&'a Option<String>, &'a Option<Spanned<String>>, &'a Option<Spanned<PathBuf>>);

/// The content source: exactly one of `text`, `base64` and `file`.
fn origin(settings: &Settings, sources: Sources<'_>, at: Range<usize>) -> Result<Origin, Flaw> {
    match sources {
        (Some(text), None, None) => Ok(Origin::Text(text.clone())),
        (None, Some(base64), None) => {
            let bytes = base64_simd::STANDARD.decode_to_vec(base64.get_ref());
            let bad = |_| settings.flaw(base64.span(), "this is not base64", None);
            bytes.map(Origin::Bytes).map_err(bad)
        }
        (None, None, Some(file)) => {
            let path = settings.path(file.get_ref());
            if path.is_file() {
                return Ok(Origin::File(path));
            }
            let message = format!("there is no file `{}`", file.get_ref().display());
            let hint = "paths are relative to the settings file".to_owned();
            Err(settings.flaw(file.span(), message, Some(hint)))
        }
        (None, None, None) => {
            let hint = "add one of `text`, `base64`, `file`".to_owned();
            Err(settings.flaw(at, "this resource has no content", Some(hint)))
        }
        _ => {
            let hint = "keep one of `text`, `base64`, `file`".to_owned();
            Err(settings.flaw(at, "this resource has more than one content", Some(hint)))
        }
    }
}

fn pattern(settings: &Settings, entry: &StaticTemplate) -> Result<Pattern, Flaw> {
    let uri = claims::template(settings, &entry.uri)?;
    if let Some(unknown) = entry.values.keys().find(|name| !uri.variables().any(|v| v == **name)) {
        let message = format!("`values` names `{unknown}`, which is no variable of the template");
        return Err(settings.flaw(entry.uri.span(), message, None));
    }
    let template = Template {
        uri,
        name: entry.name.clone(),
        title: entry.title.clone(),
        description: entry.description.clone(),
        mime: entry.mime.clone(),
        icons: icons(settings, &entry.icons)?,
        annotations: Annotations {
            audience: roles(&entry.audience),
            priority: priority(settings, entry.priority.as_ref())?,
            modified: None,
        },
        extra: Extra::default(),
    };
    Ok(Pattern { template, text: entry.text.clone(), values: entry.values.clone() })
}
