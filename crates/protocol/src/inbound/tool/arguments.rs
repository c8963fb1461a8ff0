//! The arguments of the built-in tools, and their decoding.
//!
//! Models often write arguments a little wrong, so error messages say what is expected.

use std::time::SystemTime;

use resource::{Json, Role, Uri};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::BuiltinTool;
use crate::json::raw_object::parse_members;

/// The arguments of a call, by tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolArguments {
    /// Arguments of `resources_list`.
    List(ListArguments),
    /// Arguments of `resources_templates`.
    Templates(TemplatesArguments),
    /// Arguments of `resources_metadata`.
    Metadata(MetadataArguments),
    /// Arguments of `resources_read`.
    Read(ReadArguments),
    /// Arguments of `resources_read_embedded`.
    ReadEmbedded(ReadEmbeddedArguments),
    /// Arguments of `resources_grep`.
    Grep(GrepArguments),
    /// Arguments of `resources_watch`.
    Watch(WatchArguments),
    /// Arguments of `resources_unwatch`.
    Unwatch(UnwatchArguments),
    /// Arguments of `resources_changes`.
    Changes(ChangesArguments),
}

/// Filters of a list or a search. A resource must match all that are given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FilterArguments {
    /// Only resources in this collection.
    pub collection: Option<UriArgument>,
    /// Include nested collections.
    pub recursive: bool,
    /// Part of the name or title, ignoring case.
    pub name: Option<String>,
    /// A glob on the URI.
    pub uri: Option<String>,
    /// A MIME type, or a prefix that ends in `/`.
    pub mime: Option<String>,
    /// The intended audience.
    pub audience: Option<AudienceArgument>,
    /// The minimum priority.
    pub min_priority: Option<f64>,
    /// Modified at or after this time.
    pub modified_since: Option<TimeArgument>,
    /// Only resources of the mount with this name.
    pub mount: Option<String>,
}

/// Arguments of `resources_list`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ListArguments {
    /// The filters.
    #[serde(flatten)]
    pub filter: FilterArguments,
    /// The sort order; without one, the order of the provider.
    pub sort: Option<SortOrder>,
    /// The cursor of the page, or of the part of the search.
    pub cursor: Option<String>,
}

/// The sort order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SortOrder {
    /// By name.
    Name,
    /// By priority, the highest first.
    Priority,
    /// By time of the last change, the newest first.
    Modified,
    /// By size, the largest first.
    Size,
}

/// Arguments of `resources_templates`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TemplatesArguments {
    /// The cursor of the page, or of the part of the search.
    pub cursor: Option<String>,
}

/// Arguments of `resources_metadata`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetadataArguments {
    /// The resources.
    pub uris: UriListArgument,
}

/// Arguments of `resources_read`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadArguments {
    /// The resource.
    pub uri: UriArgument,
    /// The first byte.
    pub offset: Option<u64>,
    /// The maximum number of bytes.
    pub max_bytes: Option<u64>,
    /// The first line, counted from 1.
    pub start_line: Option<u64>,
    /// The maximum number of lines.
    pub max_lines: Option<u64>,
    /// The maximum number of tokens, estimated.
    pub max_tokens: Option<u64>,
    /// The version to read; the call fails if the resource has another one.
    pub etag: Option<String>,
    /// Whether to return an embedded resource instead of text.
    #[serde(default)]
    pub use_content_blocks: bool,
}

/// Arguments of `resources_read_embedded`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadEmbeddedArguments {
    /// The resources.
    pub uris: UriListArgument,
    /// The maximum number of bytes in total.
    pub max_bytes: Option<u64>,
    /// Whether to return images and audio as image and audio blocks.
    #[serde(default)]
    pub media: bool,
}

/// Arguments of `resources_grep`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GrepArguments {
    /// The filters.
    #[serde(flatten)]
    pub filter: FilterArguments,
    /// The regular expression.
    pub pattern: String,
    /// Whether to ignore case.
    #[serde(default)]
    pub ignore_case: bool,
    /// The number of lines of context around each match.
    pub context: Option<u64>,
    /// The maximum number of matches.
    pub max_matches: Option<u64>,
    /// The cursor of the page, or of the part of the search.
    pub cursor: Option<String>,
}

/// Arguments of `resources_watch`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchArguments {
    /// The resources.
    pub uris: UriListArgument,
    /// The handle to add them to; without one, a new or the session's own watcher.
    pub handle: Option<String>,
}

/// Arguments of `resources_unwatch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnwatchArguments {
    /// The resources; without them, all.
    pub uris: Option<UriListArgument>,
    /// The handle to remove them from.
    pub handle: Option<String>,
}

/// Arguments of `resources_changes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChangesArguments {
    /// The handle whose changes to return.
    pub handle: Option<String>,
    /// Whether the next call returns the same changes again.
    pub peek: bool,
    /// How long to wait for a change, in milliseconds.
    pub wait_ms: u64,
}

/// A URI as an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriArgument(pub Uri);

/// A list of URIs as an argument: an array, or a single string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriListArgument(pub Vec<Uri>);

/// An audience as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudienceArgument(pub Role);

/// A time as an argument: RFC 3339, or a date alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeArgument(pub SystemTime);

/// How many URIs one call may have.
const MAX_URIS: usize = 100;

fn parse_uri<E: serde::de::Error>(text: &str) -> Result<Uri, E> {
    Uri::parse(text).map_err(|error| E::custom(format!("{text:?} is not a URI: {error}")))
}

impl<'de> Deserialize<'de> for UriArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_uri(&String::deserialize(deserializer)?).map(Self)
    }
}

impl<'de> Deserialize<'de> for UriListArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "an array of URIs")]
        enum OneOrMany {
            One(String),
            Many(Vec<String>),
        }
        let written = match OneOrMany::deserialize(deserializer)? {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        };
        if written.is_empty() || written.len() > MAX_URIS {
            return Err(D::Error::custom(format!("pass between 1 and {MAX_URIS} URIs per call")));
        }
        written.iter().map(|text| parse_uri(text)).collect::<Result<_, _>>().map(Self)
    }
}

impl<'de> Deserialize<'de> for AudienceArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Written {
            User,
            Assistant,
        }
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::User => Role::User,
            Written::Assistant => Role::Assistant,
        }))
    }
}

impl<'de> Deserialize<'de> for TimeArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = String::deserialize(deserializer)?;
        // A date alone means its first moment in UTC.
        let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.clone() };
        let parsed = humantime::parse_rfc3339_weak(&whole);
        let words = format!("{text:?} is not a time such as 2026-01-31T12:00:00Z");
        parsed.map(Self).map_err(|_| D::Error::custom(words))
    }
}

impl ToolArguments {
    /// Decodes the arguments of `tool` from the parameters of a call. The error is a message for
    /// the model.
    pub fn decode(tool: BuiltinTool, params: &Json) -> Result<Self, String> {
        let whole: &RawValue =
            serde_json::from_str(params.as_str()).map_err(|flaw| flaw.to_string())?;
        let found = parse_members(Some(whole), "params").map_err(|flaw| flaw.to_string())?;
        let given = found.iter().rfind(|(name, _)| name == "arguments");
        let given = given.map_or("{}", |(_, raw)| raw.get());
        let given = if given == "null" { "{}" } else { given };
        let read = match tool {
            BuiltinTool::List => reject_unknown(given, LIST_NAMES)
                .and_then(|()| parse_arguments(given).map(Self::List)),
            BuiltinTool::Templates => parse_arguments(given).map(Self::Templates),
            BuiltinTool::Metadata => parse_arguments(given).map(Self::Metadata),
            BuiltinTool::Read => parse_arguments(given).map(Self::Read),
            BuiltinTool::ReadEmbedded => parse_arguments(given).map(Self::ReadEmbedded),
            BuiltinTool::Grep => reject_unknown(given, GREP_NAMES)
                .and_then(|()| parse_arguments(given).map(Self::Grep)),
            BuiltinTool::Watch => parse_arguments(given).map(Self::Watch),
            BuiltinTool::Unwatch => parse_arguments(given).map(Self::Unwatch),
            BuiltinTool::Changes => parse_arguments(given).map(Self::Changes),
        };
        read.map_err(|flaw| format!("{}: invalid arguments: {flaw}", tool.name()))
    }
}

const FILTER_NAMES: [&str; 9] = [
    "collection",
    "recursive",
    "name",
    "uri",
    "mime",
    "audience",
    "min_priority",
    "modified_since",
    "mount",
];
const LIST_NAMES: &[&str] = &["sort", "cursor"];
const GREP_NAMES: &[&str] = &["pattern", "ignore_case", "context", "max_matches", "cursor"];

/// Refuses unknown arguments. Serde cannot do this for structs with a flattened field.
fn reject_unknown(given: &str, own: &[&str]) -> Result<(), String> {
    let whole: &RawValue = serde_json::from_str(given).map_err(|flaw| flaw.to_string())?;
    for (name, _) in parse_members(Some(whole), "arguments").map_err(|flaw| flaw.to_string())? {
        if !FILTER_NAMES.contains(&&*name) && !own.contains(&&*name) {
            let all = FILTER_NAMES.iter().chain(own).copied().collect::<Vec<_>>().join(", ");
            return Err(format!("unknown argument `{name}`; valid arguments are {all}"));
        }
    }
    Ok(())
}

fn parse_arguments<'a, T: Deserialize<'a>>(given: &'a str) -> Result<T, String> {
    serde_json::from_str(given).map_err(|flaw| {
        // The position in the line means nothing to a model that wrote an object.
        let words = flaw.to_string();
        words.split(" at line ").next().unwrap_or(&words).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{BuiltinTool, SortOrder, ToolArguments};

    fn read(tool: BuiltinTool, arguments: &Value) -> Result<ToolArguments, String> {
        ToolArguments::decode(
            tool,
            &json!({ "name": tool.name(), "arguments": arguments }).to_string().into(),
        )
    }

    #[test]
    fn nothing_at_all_is_enough_where_nothing_is_required() {
        for params in ["{}", r#"{"arguments":null}"#, r#"{"arguments":{}}"#] {
            assert!(ToolArguments::decode(BuiltinTool::List, &params.into()).is_ok());
            assert!(
                ToolArguments::decode(BuiltinTool::Read, &params.into())
                    .unwrap_err()
                    .contains("`uri`")
            );
        }
    }

    #[test]
    fn filters_are_read() {
        let given = json!({ "collection": "a:b", "name": "n", "uri": "**/*.md", "mime": "text/",
            "audience": "user", "min_priority": 0.5, "modified_since": "2026-01-31",
            "mount": "notes", "sort": "size", "recursive": true });
        let Ok(ToolArguments::List(list)) = read(BuiltinTool::List, &given) else { panic!() };
        assert_eq!(list.sort, Some(SortOrder::Size));
        assert_eq!(list.filter.collection.unwrap().0.as_str(), "a:b");
        assert!(list.filter.modified_since.is_some() && list.filter.recursive);
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        for (tool, given, words) in [
            (BuiltinTool::List, json!({ "order": 1 }), "`order`; valid arguments are collection"),
            (BuiltinTool::List, json!({ "sort": "age" }), "expected one of"),
            (BuiltinTool::List, json!({ "modified_since": "soon" }), "is not a time such as"),
            (BuiltinTool::Read, json!({ "uri": "no uri" }), "is not a URI"),
            (BuiltinTool::Read, json!({ "uri": "a:b", "limit": 1 }), "unknown field `limit`"),
            (BuiltinTool::Read, json!({ "uri": "a:b", "offset": -1 }), "-1"),
            (BuiltinTool::Metadata, json!({ "uris": [] }), "between 1 and 100"),
            (BuiltinTool::Metadata, json!({ "uris": 5 }), "an array of URIs"),
            (BuiltinTool::Grep, json!({}), "`pattern`"),
        ] {
            let flaw = read(tool, &given).unwrap_err();
            assert!(flaw.contains(words) && flaw.starts_with(tool.name()), "{flaw}");
        }
        assert!(ToolArguments::decode(BuiltinTool::List, &"[]".into()).is_err());
    }

    #[test]
    fn one_uri_is_as_good_as_an_array_of_one() {
        assert!(read(BuiltinTool::Metadata, &json!({ "uris": "a:b" })).is_ok());
    }
}
