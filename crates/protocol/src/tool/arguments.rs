//! What is a tool of ours given?
//!
//! What a model writes is often a little wrong, so the words of a refusal say what is expected.

use std::time::SystemTime;

use resource::{Json, Role, Uri};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Tool;
use crate::member::members;

/// What one of our tools is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A page of what is there.
    List(List),
    /// A page of the templates.
    Templates(Templates),
    /// Descriptions.
    Metadata(Metadata),
    /// A window.
    Read(Read),
    /// Whole contents.
    ReadEmbedded(ReadEmbedded),
    /// Lines that match.
    Grep(Grep),
    /// To watch.
    Watch(Watch),
    /// To watch no more.
    Unwatch(Unwatch),
    /// What changed.
    Changes(Changes),
}

/// What narrows a list.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Only what lies in here.
    pub collection: Option<Link>,
    /// Also what lies deeper.
    pub recursive: bool,
    /// Part of a name.
    pub name: Option<String>,
    /// A glob over URIs.
    pub uri: Option<String>,
    /// A MIME type, or the beginning of one.
    pub mime: Option<String>,
    /// For whom.
    pub audience: Option<Whom>,
    /// How important at least.
    pub min_priority: Option<f64>,
    /// Changed since.
    pub modified_since: Option<Moment>,
    /// Of which mount.
    pub mount: Option<String>,
}

/// What `resources_list` is given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct List {
    /// What narrows it.
    #[serde(flatten)]
    pub filter: Filter,
    /// In which order; as it comes, if nobody says.
    pub sort: Option<Sort>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// In which order a list is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// By name.
    Name,
    /// The most important first.
    Priority,
    /// The newest first.
    Modified,
    /// The largest first.
    Size,
}

/// What `resources_templates` is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Templates {
    /// Where to go on.
    pub cursor: Option<String>,
}

/// What `resources_metadata` is given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The resources.
    pub uris: Links,
}

/// What `resources_read` is given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// The resource.
    pub uri: Link,
    /// Where to begin, in bytes.
    pub offset: Option<u64>,
    /// How many bytes.
    pub max_bytes: Option<u64>,
    /// Where to begin, in lines.
    pub start_line: Option<u64>,
    /// How many lines.
    pub max_lines: Option<u64>,
    /// How many tokens.
    pub max_tokens: Option<u64>,
    /// The version it must be of.
    pub etag: Option<String>,
    /// Whether to give an embedded resource.
    #[serde(default)]
    pub use_content_blocks: bool,
}

/// What `resources_read_embedded` is given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadEmbedded {
    /// The resources.
    pub uris: Links,
    /// How many bytes in all.
    pub max_bytes: Option<u64>,
    /// Whether images and sound are blocks of their own kind.
    #[serde(default)]
    pub media: bool,
}

/// What `resources_grep` is given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Grep {
    /// What narrows it.
    #[serde(flatten)]
    pub filter: Filter,
    /// The regular expression.
    pub pattern: String,
    /// Whether letters match in any case.
    #[serde(default)]
    pub ignore_case: bool,
    /// How many lines around each match.
    pub context: Option<u64>,
    /// How many matches at most.
    pub max_matches: Option<u64>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// What `resources_watch` is given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// The resources.
    pub uris: Links,
    /// What to add them to.
    pub handle: Option<String>,
}

/// What `resources_unwatch` is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Unwatch {
    /// The resources; all, if nobody says.
    pub uris: Option<Links>,
    /// What to take them from.
    pub handle: Option<String>,
}

/// What `resources_changes` is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Changes {
    /// Whose changes.
    pub handle: Option<String>,
    /// Whether they are told again at the next call.
    pub peek: bool,
    /// How long to wait for one, in milliseconds.
    pub wait_ms: u64,
}

/// A URI that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link(pub Uri);

/// Some URIs that somebody wrote: an array, or one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links(pub Vec<Uri>);

/// For whom a resource is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whom(pub Role);

/// A time that somebody wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub SystemTime);

/// How many URIs one call may name.
const MOST: usize = 100;

fn link<E: serde::de::Error>(text: &str) -> Result<Uri, E> {
    Uri::parse(text).map_err(|error| E::custom(format!("{text:?} is no URI: {error}")))
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
            return Err(D::Error::custom(format!("between 1 and {MOST} URIs are taken at once")));
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
        // A day is as good as its first moment.
        let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.clone() };
        let parsed = humantime::parse_rfc3339_weak(&whole);
        let words = format!("{text:?} is no time such as 2026-01-31T12:00:00Z");
        parsed.map(Self).map_err(|_| D::Error::custom(words))
    }
}

impl Arguments {
    /// Reads what `tool` is given in the parameters of a call; else words that say what is wrong.
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
        read.map_err(|flaw| format!("{} cannot be called like this: {flaw}", tool.name()))
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

/// Refuses members that nobody knows, which flattened structures would pass over.
fn known(given: &str, own: &[&str]) -> Result<(), String> {
    let whole: &RawValue = serde_json::from_str(given).map_err(|flaw| flaw.to_string())?;
    for (name, _) in members(Some(whole), "arguments").map_err(|flaw| flaw.to_string())? {
        if !FILTER.contains(&&*name) && !own.contains(&&*name) {
            let all = FILTER.iter().chain(own).copied().collect::<Vec<_>>().join(", ");
            return Err(format!("unknown argument `{name}`; there are {all}"));
        }
    }
    Ok(())
}

fn parse<'a, T: Deserialize<'a>>(given: &'a str) -> Result<T, String> {
    serde_json::from_str(given).map_err(|flaw| {
        // Where in the line it stands says nothing to whoever wrote an object.
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
            (Tool::List, json!({ "order": 1 }), "unknown argument `order`; there are collection"),
            (Tool::List, json!({ "sort": "age" }), "expected one of"),
            (Tool::List, json!({ "modified_since": "soon" }), "no time such as"),
            (Tool::Read, json!({ "uri": "no uri" }), "is no URI"),
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
