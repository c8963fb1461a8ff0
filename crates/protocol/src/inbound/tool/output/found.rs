//! The structured content of what searches find: lines by pattern, passages by words.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::AbsentSource;

/// Output of `resources_grep`.
#[derive(Debug, Default, serde::Serialize)]
pub struct GrepOutput {
    /// What all URIs below begin with, if there are several; the keys are the rest of them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub base: String,
    /// The lines, by resource: `12:text` for a match, `13-text` for context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<UriMap<Vec<String>>>,
    /// The number of matching lines, by resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<UriMap<u64>>,
    /// What people call the resources whose keys have percent-encoding.
    #[serde(skip_serializing_if = "UriMap::is_empty")]
    pub names: UriMap<String>,
    /// Number of resources searched.
    pub searched: u64,
    /// Number of resources skipped.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// The cursor of the rest of the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The sources that could not be listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentSource>,
    /// What was not searched, if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Output of `resources_search`.
#[derive(Debug, Default, serde::Serialize)]
pub struct SearchOutput {
    /// What all URIs below begin with, if there are several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub base: String,
    /// The hits, the best first.
    pub hits: Vec<HitRow>,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Another spelling of the query, which finds something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The servers with a search of their own that did not answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentSource>,
    /// What was not searched, or why nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A passage that a search found.
#[derive(Debug, Default, serde::Serialize)]
pub struct HitRow {
    /// The URI of the resource, without the base.
    pub uri: String,
    /// The title, or a name for people if the URI does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The headings above the passage, and its page.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The first line of the passage, and the number of its lines; missing if it is the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// The number of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u64>,
    /// A line of the passage, with the matches marked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub snippet: String,
    /// The mount whose own search found it; missing if the index did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Why the hit is where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Values by URI, in order.
#[derive(Debug, Default)]
pub struct UriMap<T>(pub Vec<(String, T)>);

impl<T> UriMap<T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for UriMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (uri, value) in &self.0 {
            map.serialize_entry(uri, value)?;
        }
        map.end()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
