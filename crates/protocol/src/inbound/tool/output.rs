//! The structured content of the built-in tools' results, and its JSON encoding.
//!
//! `definitions` has the schema of each.

use std::sync::Arc;

use bytes::Bytes;
use resource::{Absence, Continuation, Resource, Slice, Template, Uri};
use serde_json::{Value, json};

use crate::inbound::shape::resource::ResourceShape;
use crate::inbound::shape::template::VariableShape;
use crate::revision::Dialect;

/// The structured content of a result, by tool.
#[derive(Debug)]
pub enum ToolOutput {
    /// Output of `resources_list`.
    List(ListOutput),
    /// Output of `resources_templates`.
    Templates(TemplatesOutput),
    /// Output of `resources_metadata`.
    Metadata(MetadataOutput),
    /// Output of `resources_read`.
    Read(ReadOutput),
    /// Output of `resources_read_embedded`.
    ReadEmbedded(ReadEmbeddedOutput),
    /// Output of `resources_grep`.
    Grep(GrepOutput),
    /// Output of `resources_watch`.
    Watch(WatchOutput),
    /// Output of `resources_unwatch`: the URIs that are still watched.
    Unwatch(Vec<Uri>),
    /// Output of `resources_changes`.
    Changes(ChangesOutput),
}

/// Output of `resources_list`.
#[derive(Debug)]
pub struct ListOutput {
    /// The resources of the page.
    pub resources: Vec<Arc<Resource>>,
    /// The cursor of the next page.
    pub cursor: Option<String>,
    /// The sources that could not be listed.
    pub absent: Vec<Absence>,
}

/// Output of `resources_templates`.
#[derive(Debug)]
pub struct TemplatesOutput {
    /// The templates of the page.
    pub templates: Vec<Arc<Template>>,
    /// Whether `completion/complete` completes their variables.
    pub is_completable: bool,
    /// The cursor of the next page.
    pub cursor: Option<String>,
    /// The sources that could not be listed.
    pub absent: Vec<Absence>,
}

/// Output of `resources_metadata`.
#[derive(Debug)]
pub struct MetadataOutput {
    /// The resources, each with the estimated number of its tokens.
    pub resources: Vec<(Arc<Resource>, Option<u64>)>,
    /// The URIs that failed.
    pub failed: Vec<UriFailure>,
}

/// Output of `resources_read`.
#[derive(Debug)]
pub struct ReadOutput {
    /// The URI that the call passed.
    pub uri: Uri,
    /// The window of each format, the primary format first.
    pub parts: Vec<ReadPart>,
}

/// The window of one format.
#[derive(Debug)]
pub struct ReadPart {
    /// The resource, described for this format.
    pub resource: Arc<Resource>,
    /// Whether the content is text; then the bytes are UTF-8.
    pub is_text: bool,
    /// The content.
    pub bytes: Bytes,
    /// The range of the content.
    pub slice: Slice,
}

/// Output of `resources_read_embedded`.
#[derive(Debug, Default)]
pub struct ReadEmbeddedOutput {
    /// The embedded resources, each with the number of its bytes.
    pub embedded: Vec<(Arc<Resource>, u64)>,
    /// The resources that did not fit.
    pub left: Vec<Arc<Resource>>,
    /// The URIs that failed.
    pub failed: Vec<UriFailure>,
}

/// Output of `resources_grep`.
#[derive(Debug)]
pub struct GrepOutput {
    /// The matching lines.
    pub matches: Vec<GrepMatch>,
    /// Number of resources searched.
    pub searched: u64,
    /// Number of resources skipped.
    pub skipped: u64,
    /// The cursor of the rest of the search.
    pub cursor: Option<String>,
    /// The sources that could not be listed.
    pub absent: Vec<Absence>,
}

/// A matching line.
#[derive(Debug)]
pub struct GrepMatch {
    /// The resource.
    pub uri: Uri,
    /// The number of the line, counted from 1.
    pub line: u64,
    /// The line.
    pub text: String,
    /// The number of the first line of `context`.
    pub start_line: u64,
    /// The line with the lines around it.
    pub context: String,
}

/// Output of `resources_watch`.
#[derive(Debug)]
pub struct WatchOutput {
    /// The handle of the watch.
    pub handle: String,
    /// The watched URIs.
    pub watching: Vec<Uri>,
    /// The URIs that failed.
    pub failed: Vec<UriFailure>,
}

/// Output of `resources_changes`.
#[derive(Debug)]
pub struct ChangesOutput {
    /// The changed URIs.
    pub changed: Vec<Uri>,
    /// Number of watched URIs.
    pub watching: usize,
    /// Whether more changes are waiting.
    pub more: bool,
}

/// A URI of a call that failed.
#[derive(Debug)]
pub struct UriFailure {
    /// The URI.
    pub uri: Uri,
    /// The error message.
    pub message: String,
}

impl ToolOutput {
    pub(super) fn to_json(&self, dialect: Dialect) -> Value {
        match self {
            Self::List(ListOutput { resources, cursor, absent }) => object([
                ("resources", each(resources, |one| resource_json(one, dialect))),
                ("cursor", cursor.as_deref().map(Value::from)),
                ("absent", absent_json(absent)),
            ]),
            Self::Templates(TemplatesOutput { templates, is_completable, cursor, absent }) => {
                object([
                    ("templates", each(templates, |one| template_json(one, *is_completable))),
                    ("cursor", cursor.as_deref().map(Value::from)),
                    ("absent", absent_json(absent)),
                ])
            }
            Self::Metadata(MetadataOutput { resources, failed }) => object([
                (
                    "resources",
                    each(resources, |(one, tokens)| described_json(one, *tokens, dialect)),
                ),
                ("failed", failed_json(failed)),
            ]),
            Self::Read(read) => read.to_json(),
            Self::ReadEmbedded(ReadEmbeddedOutput { embedded, left, failed }) => object([
                ("embedded", each(embedded, |(one, returned)| embedded_json(one, *returned))),
                ("left", each(left, |one| left_json(one)).filter(|_| !left.is_empty())),
                ("failed", failed_json(failed)),
            ]),
            Self::Grep(GrepOutput { matches, searched, skipped, cursor, absent }) => object([
                ("matches", each(matches, match_json)),
                ("searched", Some((*searched).into())),
                ("skipped", Some(*skipped).filter(|skipped| *skipped > 0).map(Value::from)),
                ("cursor", cursor.as_deref().map(Value::from)),
                ("absent", absent_json(absent)),
            ]),
            Self::Watch(WatchOutput { handle, watching, failed }) => object([
                ("handle", Some(handle.as_str().into())),
                ("watching", each(watching, uri_json)),
                ("failed", failed_json(failed)),
            ]),
            Self::Unwatch(watching) => object([("watching", each(watching, uri_json))]),
            Self::Changes(ChangesOutput { changed, watching, more }) => object([
                ("changed", each(changed, uri_json)),
                ("watching", Some((*watching).into())),
                ("more", more.then(|| true.into())),
            ]),
        }
    }
}

impl ReadOutput {
    fn to_json(&self) -> Value {
        let first = self.parts.first();
        let slice = first.map(|first| &first.slice);
        let resource = first.map(|first| &first.resource);
        let next = slice.and_then(Slice::continuation).map(|next| match next {
            Continuation::Offset(offset) => json!({ "offset": offset }),
            Continuation::Line(line) => json!({ "start_line": line }),
            Continuation::Part(part) => json!({ "part": part }),
        });
        let several = slice.filter(|slice| slice.total_parts > 1);
        let text = |text: &String| Value::from(text.as_str());
        object([
            ("uri", Some(uri_json(&self.uri))),
            ("mimeType", resource.and_then(|one| one.mime.as_ref()).map(text)),
            ("etag", resource.and_then(|one| one.etag.as_ref()).map(text)),
            ("total_bytes", slice.map(|slice| slice.total.into())),
            ("returned", slice.map(|slice| slice.length.into())),
            ("eof", slice.map(|slice| slice.continuation().is_none().into())),
            ("part", several.map(|slice| slice.part.into())),
            ("total_parts", several.map(|slice| slice.total_parts.into())),
            ("next", next),
            ("parts", each(&self.parts, read_part_json)),
        ])
    }
}

fn read_part_json(part: &ReadPart) -> Value {
    let ReadPart { resource, is_text, bytes, slice } = part;
    let text = std::str::from_utf8(bytes).ok().filter(|_| *is_text);
    let blob = || base64_simd::STANDARD.encode_to_string(bytes).into();
    object([
        ("uri", Some(uri_json(&resource.uri))),
        ("mimeType", resource.mime.as_deref().map(Value::from)),
        ("text", text.map(Value::from)),
        ("blob", text.is_none().then(blob)),
        ("offset", Some(slice.offset.into())),
        ("returned", Some(slice.length.into())),
        ("total_bytes", Some(slice.total.into())),
        ("start_line", slice.lines.as_ref().map(|lines| lines.start.into())),
        ("lines", slice.lines.as_ref().map(|lines| lines.count.into())),
    ])
}

/// The JSON of a resource as lists show it.
pub(super) fn resource_json(resource: &Resource, dialect: Dialect) -> Value {
    let shape = ResourceShape::for_list(resource, Dialect { full_metadata: true, ..dialect });
    // Unknown members were sanitized on the way in; should one fail, it costs only this resource.
    serde_json::to_value(shape).unwrap_or_else(|_| json!({ "uri": resource.uri.as_str() }))
}

fn described_json(resource: &Resource, tokens: Option<u64>, dialect: Dialect) -> Value {
    let mut described = resource_json(resource, dialect);
    if let Some(tokens) = tokens {
        described["tokens"] = tokens.into();
    }
    described
}

fn template_json(template: &Template, is_completable: bool) -> Value {
    let variables: Vec<&str> = template.uri.variables().collect();
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    object([
        ("uriTemplate", Some(template.uri.as_str().into())),
        ("name", Some(template.name.as_str().into())),
        ("title", text(&template.title)),
        ("description", text(&template.description)),
        ("mimeType", text(&template.mime)),
        ("completable", is_completable.then(|| variables.clone().into())),
        ("variables", Some(variables.into())),
        ("variable_details", (!template.variables.is_empty()).then(|| variables_json(template))),
    ])
}

fn variables_json(template: &Template) -> Value {
    let shape = |variable| VariableShape::new(variable, &template.uri);
    let shapes: Vec<_> = template.variables.iter().map(shape).collect();
    serde_json::to_value(shapes).expect("the JSON has only string keys")
}

fn embedded_json(resource: &Resource, returned: u64) -> Value {
    object([
        ("uri", Some(uri_json(&resource.uri))),
        ("mimeType", resource.mime.as_deref().map(Value::from)),
        ("returned", Some(returned.into())),
    ])
}

fn left_json(resource: &Resource) -> Value {
    object([
        ("uri", Some(uri_json(&resource.uri))),
        ("total_bytes", resource.size.map(Value::from)),
        ("next", Some(json!({ "offset": 0 }))),
    ])
}

fn match_json(found: &GrepMatch) -> Value {
    let GrepMatch { uri, line, text, start_line, context } = found;
    json!({ "uri": uri.as_str(), "line": line, "text": text, "start_line": start_line,
        "context": context })
}

fn uri_json(uri: &Uri) -> Value {
    uri.as_str().into()
}

fn absent_json(absent: &[Absence]) -> Option<Value> {
    let one = |one: &Absence| json!({ "what": one.name, "why": one.reason });
    each(absent, one).filter(|_| !absent.is_empty())
}

fn failed_json(failed: &[UriFailure]) -> Option<Value> {
    let one = |one: &UriFailure| json!({ "uri": one.uri.as_str(), "message": one.message });
    each(failed, one).filter(|_| !failed.is_empty())
}

/// An array with the JSON of each item.
fn each<T>(items: &[T], one: impl Fn(&T) -> Value) -> Option<Value> {
    Some(items.iter().map(one).collect())
}

/// An object with the members that have a value.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = |(name, value): (&str, Option<Value>)| Some((name.to_owned(), value?));
    Value::Object(members.into_iter().filter_map(present).collect())
}
