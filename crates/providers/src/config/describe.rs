//! Descriptions of the resources of a configuration mount.

use std::sync::Arc;
use std::time::SystemTime;

use resource::{Format, MemberPlace, Resource, Uri};

use super::parse::ConfigSyntax;
use super::place::ConfigPlace;
use super::schema::SchemaNote;
use super::tree::{ConfigNode, NodeValue};
use crate::memory_content::content_fingerprint;

/// The MIME type of a scalar.
pub(super) const TEXT: &str = "text/plain";

/// The MIME type of tables and lists.
pub(super) const JSON: &str = "application/json";

/// The MIME type of a file's other format.
pub(super) const NORMALISED: &str = "application/json;variant=normalised";

/// The MIME type of a difference.
pub(super) const MARKDOWN: &str = "text/markdown";

/// The member of `_meta` that says where a value stands.
const ORIGIN: &str = "dev.refdesk/origin";

/// The member of `_meta` that says what the schema says of a value.
const SCHEMA: &str = "dev.refdesk/schema";

/// A file, from its description in the folder.
pub(super) fn describe_file(
    uri: Uri,
    path: &str,
    file: &Resource,
    etag: Option<String>,
) -> Resource {
    let mut resource = Resource::new(uri, path);
    let syntax = ConfigSyntax::of_path(path);
    let mime = syntax.map(|syntax| syntax.mime().to_owned()).or_else(|| file.mime.clone());
    resource.etag = etag;
    resource.annotations.modified = file.annotations.modified;
    resource.watchable = file.watchable;
    if let (Some(_), Some(mime)) = (syntax, &mime) {
        let format =
            |mime: &str| Format { mime: mime.to_owned(), size: None, etag: None, is_made: false };
        resource.formats = vec![format(mime), format(NORMALISED)];
    }
    resource.mime = mime;
    resource
}

/// The key tree of a whole file. Not parsed: a list of all files must not open them.
pub(super) fn describe_key_tree(
    uri: Uri,
    path: &str,
    file: &Resource,
    etag: Option<String>,
) -> Resource {
    let mut resource = describe_collection(uri, path, file.watchable);
    resource.mime = Some(JSON.to_owned());
    resource.etag = etag;
    resource.annotations.modified = file.annotations.modified;
    resource
}

/// A collection without content of its own, unless it is given a MIME type.
pub(super) fn describe_collection(uri: Uri, name: &str, watchable: Option<bool>) -> Resource {
    let mut resource = Resource::new(uri, name);
    (resource.listable, resource.watchable) = (Some(true), watchable);
    resource
}

/// What the description of a key is made of.
pub(super) struct KeyFacts<'a> {
    pub(super) node: &'a ConfigNode,
    /// The etag of tables and lists.
    pub(super) etag: Option<String>,
    pub(super) modified: Option<SystemTime>,
    /// Where the value stands, as JSON.
    pub(super) origin: Option<String>,
    pub(super) note: Option<SchemaNote>,
    pub(super) watchable: Option<bool>,
}

/// A value below the root of a tree.
pub(super) fn describe_key(uri: Uri, key: &str, facts: KeyFacts<'_>) -> Resource {
    let mut resource = Resource::new(uri, key);
    resource.watchable = facts.watchable;
    resource.annotations.modified = facts.modified;
    match &facts.node.value {
        NodeValue::Scalar(scalar) => {
            resource.mime = Some(TEXT.to_owned());
            resource.size = Some(scalar.text.len() as u64);
            resource.etag = Some(content_fingerprint(scalar.text.as_bytes()));
        }
        NodeValue::List(_) | NodeValue::Table(_) => {
            resource.mime = Some(JSON.to_owned());
            resource.listable = Some(true);
            resource.etag = facts.etag;
        }
    }
    if let Some(origin) = facts.origin {
        resource.extra.set(MemberPlace::Meta, ORIGIN, origin);
    }
    if let Some(note) = facts.note {
        if let Some(json) = note.to_json() {
            resource.extra.set(MemberPlace::Meta, SCHEMA, json);
        }
        resource.title = note.title;
        resource.description = note.description;
    }
    resource
}

/// The difference between two layers.
pub(super) fn describe_difference(uri: Uri, name: &str, watchable: Option<bool>) -> Resource {
    let mut resource = Resource::new(uri, name);
    resource.watchable = watchable;
    resource.mime = Some(MARKDOWN.to_owned());
    let format =
        |mime: &str| Format { mime: mime.to_owned(), size: None, etag: None, is_made: false };
    resource.formats = vec![format(MARKDOWN), format(JSON)];
    resource
}

/// `resource` under another spelling of its URI.
pub(super) fn spelled(resource: Resource, uri: &Uri) -> Arc<Resource> {
    Arc::new(Resource { uri: uri.clone(), ..resource })
}

/// The fixed collections of a mount.
pub(super) fn describe_fixed(place: &ConfigPlace, watchable: Option<bool>) -> Option<Resource> {
    let (name, title) = match place {
        ConfigPlace::Root => ("configuration", "Configuration"),
        ConfigPlace::AllKeys => ("keys", "Keys of all files"),
        ConfigPlace::AllDiffs => ("diff", "Differences between layers"),
        ConfigPlace::Effective(keys) if keys.is_empty() => {
            ("effective", "Effective configuration of all layers")
        }
        _ => return None,
    };
    let mut resource = describe_collection(place.to_uri()?, name, watchable);
    resource.title = Some(title.to_owned());
    if matches!(place, ConfigPlace::Effective(_)) {
        resource.mime = Some(JSON.to_owned());
    }
    Some(resource)
}
