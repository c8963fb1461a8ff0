//! An upstream server's identity and capabilities, from `initialize` or `server/discover`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::inbound::request_meta::SEP2093_EXTENSION;
use crate::json::raw_object::parse_object;
use crate::outbound::request::empty_object;
use crate::outbound::response::{MalformedMessage, common_revision};
use crate::outbound::task::TASKS_EXTENSION;
use crate::revision::Revision;

/// The official extension for skills, which also lists directories.
pub(crate) const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";

/// refdesk's extension for baskets: collections of resources that a client saves.
const BASKETS_EXTENSION: &str = "dev.refdesk/baskets";

/// An upstream server, as it describes itself.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The protocol revision that we use with it.
    pub revision: Revision,
    /// Its capabilities, an object, as the server wrote it.
    pub capabilities: Box<RawValue>,
    /// Its name, if it sent one.
    pub name: Option<String>,
    /// Its name for people, if it sent one.
    pub title: Option<String>,
    /// Its version, if it sent one.
    pub version: Option<String>,
    /// How to use it, if it says so.
    pub instructions: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult<'a> {
    #[serde(borrow)]
    protocol_version: Cow<'a, str>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    server_info: Option<ServerImplementation>,
    instructions: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult<'a> {
    supported_versions: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    server_info: Option<ServerImplementation>,
    instructions: Option<Value>,
    #[serde(rename = "_meta", default)]
    meta: DiscoverMeta,
}

#[derive(Deserialize, Default)]
struct DiscoverMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    info: Option<ServerImplementation>,
}

#[derive(Deserialize, Default)]
struct ServerImplementation {
    name: Option<String>,
    title: Option<Value>,
    version: Option<String>,
}

/// The text of a member that is not worth refusing a server for.
fn text_of(member: Option<Value>) -> Option<String> {
    member?.as_str().map(str::to_owned)
}

impl Peer {
    /// A server of which only the revision is known.
    pub fn with_revision(revision: Revision) -> Self {
        let capabilities = empty_object();
        let (name, title, version, instructions) = (None, None, None, None);
        Self { revision, capabilities, name, title, version, instructions }
    }

    /// Decodes the result of `initialize`. Fails if it names a revision without a handshake.
    pub fn from_initialize(result: &RawValue) -> Result<Self, MalformedMessage> {
        let result: InitializeResult<'_> = parse_object(result.get())
            .map_err(|flaw| MalformedMessage::new(&format!("invalid initialize result: {flaw}")))?;
        let date = &result.protocol_version;
        let revision = Revision::from_date(date).filter(|revision| revision.has_handshake());
        let revision = revision.ok_or_else(|| {
            let shown: String = date.chars().take(40).collect();
            MalformedMessage::new(&format!(
                "initialize returned the unsupported protocolVersion {shown:?}"
            ))
        })?;
        let ServerImplementation { name, title, version } = result.server_info.unwrap_or_default();
        let title = text_of(title);
        let capabilities = result.capabilities.map_or_else(empty_object, ToOwned::to_owned);
        let instructions = text_of(result.instructions);
        Ok(Self { revision, capabilities, name, title, version, instructions })
    }

    /// Decodes the result of `server/discover`. `None` if it is malformed or names no stateless
    /// revision that we support.
    pub fn from_discover(result: &RawValue) -> Option<Self> {
        let found: DiscoverResult<'_> = parse_object(result.get()).ok()?;
        let revision = common_revision(found.supported_versions.iter().map(|date| &**date))?;
        let info = found.meta.info.or(found.server_info).unwrap_or_default();
        let ServerImplementation { name, title, version } = info;
        let title = text_of(title);
        let capabilities = found.capabilities.map_or_else(empty_object, ToOwned::to_owned);
        let instructions = text_of(found.instructions);
        Some(Self { revision, capabilities, name, title, version, instructions })
    }

    /// True if it has resources.
    pub fn has_resources(&self) -> bool {
        self.capability(&["resources"]).is_some()
    }

    /// True if it reports changes of single resources.
    pub fn has_subscribe(&self) -> bool {
        self.is_true(&["resources", "subscribe"])
    }

    /// True if it reports changes of its list of resources.
    pub fn has_list_changed(&self) -> bool {
        self.is_true(&["resources", "listChanged"])
    }

    /// True if it reports any changes: of resources or of any list.
    pub fn has_notifications(&self) -> bool {
        self.has_subscribe()
            || ["resources", "tools", "prompts"]
                .iter()
                .any(|subject| self.is_true(&[subject, "listChanged"]))
    }

    /// True if it has tools.
    pub fn has_tools(&self) -> bool {
        self.capability(&["tools"]).is_some()
    }

    /// True if it has prompts.
    pub fn has_prompts(&self) -> bool {
        self.capability(&["prompts"]).is_some()
    }

    /// True if it sends log messages.
    pub fn has_logging(&self) -> bool {
        self.capability(&["logging"]).is_some()
    }

    /// True if it may support completion. 2024-11-05 has no capability for it, so such a server
    /// counts as supporting it.
    pub fn has_completions(&self) -> bool {
        self.capability(&["completions"]).is_some() || !self.revision.declares_completions()
    }

    /// True if its tools may run as tasks.
    pub fn has_tasks(&self) -> bool {
        self.capability(&["extensions", TASKS_EXTENSION]).is_some()
    }

    /// True if it lists skills.
    pub fn has_skills(&self) -> bool {
        self.capability(&["extensions", SKILLS_EXTENSION]).is_some()
    }

    /// True if it serves `resources/metadata`.
    pub fn has_metadata(&self) -> bool {
        self.extension_enables(SEP2093_EXTENSION, "metadata")
    }

    /// True if it keeps baskets.
    pub fn has_baskets(&self) -> bool {
        let places = ["extensions", "experimental"];
        places.iter().any(|place| self.capability(&[place, BASKETS_EXTENSION]).is_some())
    }

    /// True if `resources/list` accepts a parent URI.
    pub fn has_scoped_list(&self) -> bool {
        self.extension_enables(SEP2093_EXTENSION, "scopedList")
    }

    /// True if it serves `resources/directory/read`.
    pub fn has_directories(&self) -> bool {
        self.extension_enables(SEP2093_EXTENSION, "directoryRead")
            || self.extension_enables(SKILLS_EXTENSION, "directoryRead")
    }

    fn extension_enables(&self, extension: &str, name: &str) -> bool {
        let places = ["extensions", "experimental"];
        places.iter().any(|place| self.is_true(&[place, extension, name]))
    }

    fn is_true(&self, path: &[&str]) -> bool {
        self.capability(path).is_some_and(|raw| raw.get() == "true")
    }

    /// A member of the capabilities, unless it is null.
    fn capability(&self, path: &[&str]) -> Option<Box<RawValue>> {
        let mut at: &RawValue = &self.capabilities;
        for name in path {
            let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(at.get()).ok()?;
            at = members.get(*name).filter(|raw| raw.get() != "null")?;
        }
        Some(at.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::Peer;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn baskets_are_declared_as_an_extension_in_either_place() {
        let peer = |capabilities: &str| {
            let result = format!(
                r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"serverInfo":{{"name":"n"}}}}"#
            );
            Peer::from_initialize(&raw(&result)).unwrap()
        };
        assert!(peer(r#"{"extensions":{"dev.refdesk/baskets":{}}}"#).has_baskets());
        assert!(peer(r#"{"experimental":{"dev.refdesk/baskets":{}}}"#).has_baskets());
        assert!(!peer(r#"{"experimental":{"dev.refdesk/baskets":null}}"#).has_baskets());
        assert!(!peer("{}").has_baskets());
    }

    /// L-01.
    #[test]
    fn an_opening_may_name_only_a_revision_that_has_one() {
        let result = |date: &str| {
            raw(&format!(
                r#"{{"protocolVersion":"{date}","capabilities":{{}},"serverInfo":{{"name":"n"}}}}"#
            ))
        };
        for date in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Peer::from_initialize(&result(date)).unwrap().revision.as_str(), date);
        }
        for date in ["2026-07-28", "1999-01-01", ""] {
            assert!(Peer::from_initialize(&result(date)).is_err(), "{date}");
        }
        assert!(Peer::from_initialize(&raw("[]")).is_err());
    }

    #[test]
    fn instructions_are_taken_if_they_are_text() {
        for (json, expected) in [("\"ask\"", Some("ask")), ("5", None), ("null", None)] {
            let opened = format!(r#"{{"protocolVersion":"2025-11-25","instructions":{json}}}"#);
            let found = format!(r#"{{"supportedVersions":["2026-07-28"],"instructions":{json}}}"#);
            let opened = Peer::from_initialize(&raw(&opened)).unwrap();
            let found = Peer::from_discover(&raw(&found)).unwrap();
            assert_eq!(opened.instructions.as_deref(), expected);
            assert_eq!(found.instructions.as_deref(), expected);
        }
    }

    /// 2.1: `serverInfo` is in `_meta`; an older draft had it in the body.
    #[test]
    fn a_discovery_tells_what_a_server_can_do() {
        let peer = Peer::from_discover(&raw(
            r#"{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{
                "resources":{"subscribe":true,"listChanged":false},"tools":{"listChanged":true},
                "prompts":null,"extensions":{"dev.refdesk/resource-metadata":{"metadata":true}}},
                "_meta":{"io.modelcontextprotocol/serverInfo":
                {"name":"n","version":"1"}}}"#,
        ))
        .unwrap();
        assert!(peer.has_resources() && peer.has_subscribe() && !peer.has_list_changed());
        assert!(peer.has_tools() && !peer.has_prompts() && !peer.has_completions());
        assert!(peer.has_notifications());
        assert!(peer.has_metadata() && !peer.has_scoped_list() && !peer.has_directories());
        assert_eq!((peer.name.as_deref(), peer.version.as_deref()), (Some("n"), Some("1")));
        assert!(Peer::from_discover(&raw(r#"{"supportedVersions":["2025-11-25"]}"#)).is_none());
        assert!(Peer::from_discover(&raw("{}")).is_none());
    }
}
