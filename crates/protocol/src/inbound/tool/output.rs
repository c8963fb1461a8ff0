//! The structured content of the built-in tools' results, and its JSON encoding.
//!
//! Some hosts give a model this instead of the text. So it holds all that a model needs to go on,
//! nothing twice, and nothing that only a program could use. `definitions` has the schema of each.

mod found;

use std::borrow::Cow;
use std::time::SystemTime;

use resource::Component;
use serde_json::value::RawValue;

use crate::inbound::shape::iso_date::IsoDate;
use crate::json::raw_object::{members_of, parse_string};
pub use found::{GrepOutput, HitRow, SearchOutput, UriMap};

/// The structured content of a result, by tool.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum ToolOutput {
    /// Output of `resources_list`.
    List(ListOutput),
    /// Output of `resources_list` without arguments: the mounts.
    Mounts {
        /// The mounts.
        mounts: Vec<MountRow>,
    },
    /// Output of `resources_templates`.
    Templates(TemplatesOutput),
    /// Output of `resources_metadata`.
    Metadata(MetadataOutput),
    /// Output of `resources_read`.
    Read(ReadOutput),
    /// Output of `resources_grep`.
    Grep(GrepOutput),
    /// Output of `resources_search`.
    Search(SearchOutput),
    /// Output of `resources_watch`.
    Watch(WatchOutput),
    /// Output of `resources_unwatch`.
    Unwatch {
        /// The URIs that are still watched.
        watching: Vec<String>,
    },
    /// Output of `resources_changes`.
    Changes(ChangesOutput),
    /// Output of `tools_search`.
    SearchTools(SearchToolsOutput),
}

/// Output of `resources_list`.
#[derive(Debug, Default, serde::Serialize)]
pub struct ListOutput {
    /// The resources of the page.
    pub resources: Vec<ResourceRow>,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The sources that could not be listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentSource>,
    /// What the list leaves out, if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A resource in a list. A member that says no more than the URI is missing.
#[derive(Debug, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRow {
    /// The URI.
    pub uri: String,
    /// The title, or a name for people if the URI does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The estimated number of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Its pages, sheets, slides or chapters, in words: `500 pages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections: Option<String>,
    /// Whether it is a collection, such as a folder.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_collection: bool,
    /// The time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// The priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
}

/// A mount in a list.
#[derive(Debug, serde::Serialize)]
pub struct MountRow {
    /// The name.
    pub name: String,
    /// What it is, such as `folder`.
    pub kind: &'static str,
    /// The URI of its root, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// What it holds, as the settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its state, if it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// A source that could not be listed.
#[derive(Debug, serde::Serialize)]
pub struct AbsentSource {
    /// The mount or collection.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// Output of `resources_templates`.
#[derive(Debug, serde::Serialize)]
pub struct TemplatesOutput {
    /// The templates of the page.
    pub templates: Vec<TemplateRow>,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The sources that could not be listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentSource>,
}

/// A template in a list.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRow {
    /// The template.
    pub uri_template: String,
    /// The name, with the mount if there is one.
    pub name: String,
    /// The description, or the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The variables of which more than the name is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<VariableRow>,
}

/// A variable of a template.
#[derive(Debug, serde::Serialize)]
pub struct VariableRow {
    /// The name.
    pub name: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The type, if it is not text.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The value if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The allowed values, if not all are.
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// Whether it takes a list of values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list: bool,
}

/// Output of `resources_metadata`.
#[derive(Debug, serde::Serialize)]
pub struct MetadataOutput {
    /// The resources.
    pub resources: Vec<ResourceRow>,
    /// The URIs that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<UriFailure>,
}

/// Output of `resources_read`: one window. The text is missing if a content block holds it.
#[derive(Debug, Default, serde::Serialize)]
pub struct ReadOutput {
    /// The URI, if the call named the resource in another way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The content, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The MIME type, if the content is not text.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// The size of the whole in bytes, unless the window is the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// The part, if there are several, and how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The number of parts, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_parts: Option<usize>,
    /// The arguments of the next window; missing at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextWindow>,
    /// The version, if there is a next window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// What the text is, or why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where the next window starts.
#[derive(Debug, Clone, Copy, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NextWindow {
    /// At a byte.
    Offset(u64),
    /// At a line.
    StartLine(u64),
    /// At the beginning of a part.
    Part(usize),
}

/// Output of `resources_watch`.
#[derive(Debug, serde::Serialize)]
pub struct WatchOutput {
    /// The handle of the watch.
    pub handle: String,
    /// The watched URIs.
    pub watching: Vec<String>,
    /// The URIs that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<UriFailure>,
}

/// Output of `resources_changes`.
#[derive(Debug, serde::Serialize)]
pub struct ChangesOutput {
    /// The changed URIs.
    pub changed: Vec<String>,
    /// Number of watched URIs.
    pub watching: usize,
    /// Whether more changes are waiting.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// Output of `tools_search`.
#[derive(Debug, serde::Serialize)]
pub struct SearchToolsOutput {
    /// The tools, the best first.
    pub tools: Vec<ToolRow>,
    /// How many tools match.
    pub total: usize,
    /// The sources that could not be listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentSource>,
}

/// A tool that a search found.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRow {
    /// Its public name.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of its arguments, as its server wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Box<RawValue>>,
}

impl ToolRow {
    /// The row of a tool.
    pub fn new(tool: &Component) -> Self {
        let members = members_of(tool.json.as_str());
        let member =
            |name: &str| members.iter().find(|(known, _)| known == name).map(|(_, raw)| *raw);
        let text = |name| member(name).and_then(parse_string).map(Cow::into_owned);
        Self {
            name: tool.name.clone(),
            description: text("description").or_else(|| text("title")),
            input_schema: member("inputSchema").map(ToOwned::to_owned),
        }
    }

    /// The schema of its arguments as text.
    pub fn schema_text(&self) -> Option<&str> {
        self.input_schema.as_deref().map(RawValue::get)
    }
}

/// A URI of a call that failed.
#[derive(Debug, serde::Serialize)]
pub struct UriFailure {
    /// The URI, as the call passed it.
    pub uri: String,
    /// The error message.
    pub message: String,
}

/// A time as a row shows it; `None` if it is not of four digits of a year.
pub fn time_text(time: SystemTime) -> Option<String> {
    IsoDate::from_time(time).map(|date| date.to_string())
}

impl ToolOutput {
    pub(super) fn to_json(&self) -> String {
        // All keys are strings, and no float here is infinite or NaN.
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}
