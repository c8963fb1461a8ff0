//! Descriptions of HTTP interfaces (OpenAPI): a page for each operation.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use resource::{Context, Error, Resource, Result, Uri};

use super::data_value::{DataSyntax, DataValue};
use super::describe::KnownPage;
use super::docs_source::DocsSource;
use super::head::shortened;
use super::page_faults::FaultFinder;

/// The largest file.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// The most operations of a file.
const MAX_OPERATIONS: usize = 2_000;
/// The weight of the operations that are kept.
const MAX_KEPT: usize = 16 << 20;
/// The longest definition that an operation repeats.
const MAX_DEFINITION_BYTES: usize = 16 << 10;
/// The longest summary in a list, in characters.
const MAX_SUMMARY_CHARS: usize = 200;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// One operation: its name, what it does, and its page.
struct ApiOperation {
    name: String,
    summary: Option<String>,
    text: String,
}

/// The operations of a file, in its order.
#[derive(Default)]
pub(super) struct ApiOperations {
    operations: Vec<ApiOperation>,
    by_name: HashMap<String, usize>,
}

/// Operations by version of their file.
pub(super) struct OperationCache(Cache<(Uri, Option<String>), Arc<ApiOperations>>);

impl Default for OperationCache {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::weight(MAX_KEPT)))
    }
}

impl OperationCache {
    /// The operations of a file.
    pub(super) async fn find(
        &self,
        ctx: &Context,
        source: &DocsSource,
        (file, known): (&Resource, &KnownPage),
    ) -> Result<Arc<ApiOperations>> {
        let version = (file.uri.clone(), file.etag.clone());
        if let Some(found) = self.0.get(&version) {
            return Ok(found);
        }
        let (bytes, _) = source.read_whole(ctx, &file.uri, MAX_FILE_BYTES).await?;
        let text = String::from_utf8_lossy(&bytes);
        let path = known.path.text();
        // The pages are pieces of the file: it is masked before it is cut.
        let redaction = &source.options.redaction;
        let text = match redaction.syntax_of(&path) {
            Some(syntax) => redaction.redactor().mask(&text, syntax),
            None => text,
        };
        let operations = DataSyntax::of_name(known.path.name()).map(|syntax| {
            let value = syntax.parse(&text).map_err(|fault| {
                let reason = format!("this interface cannot be read: {fault}");
                let faults = vec![reason.clone().into()];
                source.faults.set(&file.uri, FaultFinder::Members, faults, |_| true);
                Error::invalid(reason).about(&file.uri)
            })?;
            Ok::<_, Error>(ApiOperations::of(&value))
        });
        let operations = Arc::new(operations.transpose()?.unwrap_or_default());
        source.faults.set(&file.uri, FaultFinder::Members, Vec::new(), |_| true);
        let weight =
            operations.operations.iter().map(|one| one.text.len() + 256).sum::<usize>() + 64;
        self.0.insert(version, Arc::clone(&operations), weight);
        Ok(operations)
    }
}

impl ApiOperations {
    fn of(document: &DataValue) -> Self {
        let mut found = Self::default();
        let paths = document.get("paths").map_or(&[][..], DataValue::entries);
        for (path, item) in paths {
            let shared = item.get("parameters");
            for (method, operation) in item.entries() {
                let is_method = METHODS.contains(&method.as_str());
                if !is_method || found.operations.len() >= MAX_OPERATIONS {
                    continue;
                }
                let name = format!("{} {path}", method.to_ascii_uppercase());
                if found.by_name.insert(name.clone(), found.operations.len()).is_some() {
                    continue;
                }
                let summary =
                    operation.text_of("summary").or_else(|| operation.text_of("description"));
                let summary = summary.and_then(|text| shortened(text, MAX_SUMMARY_CHARS));
                let text = operation_page(&name, operation, shared, document);
                found.operations.push(ApiOperation { name, summary, text });
            }
        }
        found
    }

    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(super) fn name(&self, at: usize) -> &str {
        &self.operations[at].name
    }

    pub(super) fn summary(&self, at: usize) -> Option<&str> {
        self.operations[at].summary.as_deref()
    }

    pub(super) fn text(&self, at: usize) -> &str {
        &self.operations[at].text
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

/// The page of an operation.
fn operation_page(
    name: &str,
    operation: &DataValue,
    shared: Option<&DataValue>,
    document: &DataValue,
) -> String {
    let mut text = format!("# {name}\n");
    for key in ["summary", "description"] {
        if let Some(words) = operation.text_of(key) {
            let _ = write!(text, "\n{words}\n");
        }
    }
    if operation.get("deprecated") == Some(&DataValue::Bool(true)) {
        text.push_str("\nThis operation is deprecated.\n");
    }
    let parameters =
        shared.into_iter().chain(operation.get("parameters")).flat_map(DataValue::items);
    let mut rows = String::new();
    for parameter in parameters.map(|parameter| resolve(parameter, document)) {
        let part = |key: &str| parameter.text_of(key).unwrap_or_default();
        let needed = match parameter.get("required") {
            Some(DataValue::Bool(true)) => ", required",
            _ => "",
        };
        let kind = parameter.get("schema").unwrap_or(parameter).text_of("type").unwrap_or("value");
        let (name, place, words) = (part("name"), part("in"), part("description"));
        let _ = writeln!(rows, "- `{name}` ({place}, {kind}{needed}): {words}");
    }
    if !rows.is_empty() {
        let _ = write!(text, "\n## Parameters\n\n{rows}");
    }
    if let Some(body) = operation.get("requestBody") {
        let body = definition(resolve(body, document));
        let _ = write!(text, "\n## Request body\n\n```json\n{body}\n```\n");
    }
    let responses = operation.get("responses").map_or(&[][..], DataValue::entries);
    if !responses.is_empty() {
        text.push_str("\n## Responses\n");
    }
    for (status, response) in responses {
        let response = resolve(response, document);
        let words = response.text_of("description").unwrap_or_default();
        let _ = write!(text, "\n- {status}: {words}\n");
        if let Some(content) = response.get("content").or_else(|| response.get("schema")) {
            let _ = write!(text, "\n```json\n{}\n```\n", definition(content));
        }
    }
    text
}

/// A definition as JSON, cut off if it is long.
fn definition(value: &DataValue) -> String {
    let mut text = value.to_json();
    if text.len() > MAX_DEFINITION_BYTES {
        text.truncate(text.floor_char_boundary(MAX_DEFINITION_BYTES));
        text.push_str("\n… the file has more");
    }
    text
}

/// What a reference inside of the document names; one step, so that no circle is followed.
fn resolve<'a>(value: &'a DataValue, document: &'a DataValue) -> &'a DataValue {
    let target = value.text_of("$ref").and_then(|target| target.strip_prefix("#/"));
    let found = target.and_then(|target| {
        target
            .split('/')
            .try_fold(document, |inner, key| inner.get(&key.replace("~1", "/").replace("~0", "~")))
    });
    found.unwrap_or(value)
}
