//! The arguments of the built-in tools, and their decoding.
//!
//! Models often write arguments a little wrong, so error messages say what is expected.

use std::time::SystemTime;

use resource::{Json, Role, Uri};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Tool;
use crate::member::members;

/// The arguments of a call, by tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// Arguments of `resources_list`.
    List(List),
    /// Arguments of `resources_templates`.
    Templates(Templates),
    /// Arguments of `resources_metadata`.
    Metadata(Metadata),
    /// Arguments of `resources_read`.
    Read(Read),
    /// Arguments of `resources_read_embedded`.
    ReadEmbedded(ReadEmbedded),
    /// Arguments of `resources_grep`.
    Grep(Grep),
    /// Arguments of `resources_watch`.
    Watch(Watch),
    /// Arguments of `resources_unwatch`.
    Unwatch(Unwatch),
    /// Arguments of `resources_changes`.
    Changes(Changes),
}

/// Filters of a list or a search. A resource must match all that are given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Only resources in this collection.
    pub collection: Option<Link>,
    /// Include nested collections.
    pub recursive: bool,
    /// Part of the name or title, ignoring case.
    pub name: Option<String>,
    /// A glob on the URI.
    pub uri: Option<String>,
    /// A MIME type, or a prefix that ends in `/`.
    pub mime: Option<String>,
    /// The intended audience.
    pub audience: Option<Whom>,
    /// The minimum priority.
    pub min_priority: Option<f64>,
    /// Modified at or after this time.
    pub modified_since: Option<Moment>,
    /// Only resources of the mount with this name.
    pub mount: Option<String>,
}

/// Arguments of `resources_list`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct List {
    /// The filters.
    #[serde(flatten)]
    pub filter: Filter,
    /// The sort order; without one, the order of the provider.
    pub sort: Option<Sort>,
    /// The cursor of the page, or of the part of the search.
    pub cursor: Option<String>,
}

/// The sort order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
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
pub struct Templates {
    /// The cursor of the page, or of the part of the search.
    pub cursor: Option<String>,
}

/// Arguments of `resources_metadata`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The resources.
    pub uris: Links,
}

/// Arguments of `resources_read`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// The resource.
    pub uri: Link,
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
pub struct ReadEmbedded {
    /// The resources.
    pub uris: Links,
    /// The maximum number of bytes in total.
    pub max_bytes: Option<u64>,
    /// Whether to return images and audio as image and audio blocks.
    #[serde(default)]
    pub media: bool,
}

/// Arguments of `resources_grep`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Grep {
    /// The filters.
    #[serde(flatten)]
    pub filter: Filter,
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
pub struct Watch {
    /// The resources.
    pub uris: Links,
    /// The handle to add them to; without one, a new or the session's own watcher.
    pub handle: Option<String>,
}

/// Arguments of `resources_unwatch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Unwatch {
    /// The resources; without them, all.
    pub uris: Option<Links>,
    /// The handle to remove them from.
    pub handle: Option<String>,
}

/// Arguments of `resources_changes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Changes {
    /// The handle whose changes to return.
    pub handle: Option<String>,
    /// Whether the next call returns the same changes again.
    pub peek: bool,
    /// How long to wait for a change, in milliseconds.
    pub wait_ms: u64,
}

/// A URI as an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link(pub Uri);

/// A list of URIs as an argument: an array, or a single string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links(pub Vec<Uri>);

/// An audience as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whom(pub Role);

/// A time as an argument: RFC 3339, or a date alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub SystemTime);

/// How many URIs one call may have.
const MOST: usize = 100;

fn link<E: serde::de::Error>(text: &str) -> Result<Uri, E> {
    Uri::parse(text).map_err(|error| E::custom(format!("{text:?} is not a URI: {error}")))
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        link(&String::deserialize(deserializer)?).map(Self)
    }
}

impl<'de> Deserialize<'de> for Links {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "an array of URIs")]
        enum Written {
            One(String),
            Many(Vec<String>),
        }
        let written = match Written::deserialize(deserializer)? {
            Written::One(one) => vec![one],
            Written::Many(many) => many,
        };
        if written.is_empty() || written.len() > MOST {
            return Err(D::Error::custom(format!("pass between 1 and {MOST} URIs per call")));
        }
        written.iter().map(|text| link(text)).collect::<Result<_, _>>().map(Self)
    }
}

impl<'de> Deserialize<'de> for Whom {
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

impl<'de> Deserialize<'de> for Moment {
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

impl Arguments {
    /// Decodes the arguments of `tool` from the parameters of a call. The error is a message for
    /// the model.
    pub fn of(tool: Tool, params: &Json) -> Result<Self, String> {
        let whole: &RawValue =
            serde_json::from_str(params.as_str()).map_err(|flaw| flaw.to_string())?;
        let found = members(Some(whole), "params").map_err(|flaw| flaw.to_string())?;
        let given = found.iter().rfind(|(name, _)| name == "arguments");
        let given = given.map_or("{}", |(_, raw)| raw.get());
        let given = if given == "null" { "{}" } else { given };
        let read = match tool {
            Tool::List => known(given, LIST).and_then(|()| parse(given).map(Self::List)),
            Tool::Templates => parse(given).map(Self::Templates),
            Tool::Metadata => parse(given).map(Self::Metadata),
            Tool::Read => parse(given).map(Self::Read),
            Tool::ReadEmbedded => parse(given).map(Self::ReadEmbedded),
            Tool::Grep => known(given, GREP).and_then(|()| parse(given).map(Self::Grep)),
            Tool::Watch => parse(given).map(Self::Watch),
            Tool::Unwatch => parse(given).map(Self::Unwatch),
            Tool::Changes => parse(given).map(Self::Changes),
        };
        read.map_err(|flaw| format!("{}: invalid arguments: {flaw}", tool.name()))
    }
}

const FILTER: [&str; 9] = [
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
const LIST: &[&str] = &["sort", "cursor"];
const GREP: &[&str] = &["pattern", "ignore_case", "context", "max_matches", "cursor"];

/// Refuses unknown arguments. Serde cannot do this for structs with a flattened field.
fn known(given: &str, own: &[&str]) -> Result<(), String> {
    let whole: &RawValue = serde_json::from_str(given).map_err(|flaw| flaw.to_string())?;
    for (name, _) in members(Some(whole), "arguments").map_err(|flaw| flaw.to_string())? {
        if !FILTER.contains(&&*name) && !own.contains(&&*name) {
            let all = FILTER.iter().chain(own).copied().collect::<Vec<_>>().join(", ");
            return Err(format!("unknown argument `{name}`; valid arguments are {all}"));
        }
    }
    Ok(())
}

fn parse<'a, T: Deserialize<'a>>(given: &'a str) -> Result<T, String> {
    serde_json::from_str(given).map_err(|flaw| {
        // The position in the line means nothing to a model that wrote an object.
        let words = flaw.to_string();
        words.split(" at line ").next().unwrap_or(&words).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Arguments, Sort, Tool};

    fn read(tool: Tool, arguments: &Value) -> Result<Arguments, String> {
        Arguments::of(
            tool,
            &json!({ "name": tool.name(), "arguments": arguments }).to_string().into(),
        )
    }

    #[test]
    fn nothing_at_all_is_enough_where_nothing_is_required() {
        for params in ["{}", r#"{"arguments":null}"#, r#"{"arguments":{}}"#] {
            assert!(Arguments::of(Tool::List, &params.into()).is_ok());
            assert!(Arguments::of(Tool::Read, &params.into()).unwrap_err().contains("`uri`"));
        }
    }

    #[test]
    fn filters_are_read() {
        let given = json!({ "collection": "a:b", "name": "n", "uri": "**/*.md", "mime": "text/",
            "audience": "user", "min_priority": 0.5, "modified_since": "2026-01-31",
            "mount": "notes", "sort": "size", "recursive": true });
        let Ok(Arguments::List(list)) = read(Tool::List, &given) else { panic!() };
        assert_eq!(list.sort, Some(Sort::Size));
        assert_eq!(list.filter.collection.unwrap().0.as_str(), "a:b");
        assert!(list.filter.modified_since.is_some() && list.filter.recursive);
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        for (tool, given, words) in [
            (Tool::List, json!({ "order": 1 }), "`order`; valid arguments are collection"),
            (Tool::List, json!({ "sort": "age" }), "expected one of"),
            (Tool::List, json!({ "modified_since": "soon" }), "is not a time such as"),
            (Tool::Read, json!({ "uri": "no uri" }), "is not a URI"),
            (Tool::Read, json!({ "uri": "a:b", "limit": 1 }), "unknown field `limit`"),
            (Tool::Read, json!({ "uri": "a:b", "offset": -1 }), "-1"),
            (Tool::Metadata, json!({ "uris": [] }), "between 1 and 100"),
            (Tool::Metadata, json!({ "uris": 5 }), "an array of URIs"),
            (Tool::Grep, json!({}), "`pattern`"),
        ] {
            let flaw = read(tool, &given).unwrap_err();
            assert!(flaw.contains(words) && flaw.starts_with(tool.name()), "{flaw}");
        }
        assert!(Arguments::of(Tool::List, &"[]".into()).is_err());
    }

    #[test]
    fn one_uri_is_as_good_as_an_array_of_one() {
        assert!(read(Tool::Metadata, &json!({ "uris": "a:b" })).is_ok());
    }
}
