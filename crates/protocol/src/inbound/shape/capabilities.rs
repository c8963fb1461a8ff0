//! The server capabilities, as `initialize` and `server/discover` declare them.

use serde::Serialize;
use serde::ser::SerializeMap;

use crate::inbound::call::BASKETS_EXTENSION;
use crate::inbound::request_meta::SEP2093_EXTENSION;
use crate::outbound::peer::SKILLS_EXTENSION;
use crate::outbound::task::TASKS_EXTENSION;
use crate::revision::Revision;

/// Which features the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerFeatures {
    /// It completes template variables and prompt arguments.
    pub completion: bool,
    /// It sends notifications of changes.
    pub subscriptions: bool,
    /// It has tools.
    pub tools: bool,
    /// It has prompts.
    pub prompts: bool,
    /// It may relay log messages of upstream servers.
    pub logging: bool,
    /// It serves SEP-2093.
    pub collections: bool,
    /// It lists skills of upstream servers.
    pub skills: bool,
    /// It relays tasks of upstream servers (SEP-2663).
    pub tasks: bool,
    /// It keeps baskets.
    pub baskets: bool,
}

/// The `capabilities` object, in the form that one revision defines.
#[derive(Serialize)]
pub(crate) struct ServerCapabilities {
    resources: ResourcesCapability,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<ComponentsCapability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<ComponentsCapability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completions: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logging: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<ExtensionsCapability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    experimental: Option<ExtensionsCapability>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourcesCapability {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    subscribe: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    list_changed: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComponentsCapability {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    list_changed: bool,
}

#[derive(Serialize)]
struct EmptyObject {}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct SkillsCapability {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    directory_read: bool,
}

/// The settings of the extensions. Those of SEP-2093 and of baskets go under `extensions` for new
/// clients and under `experimental` for older ones.
#[derive(Clone, Copy)]
struct ExtensionsCapability {
    collections: bool,
    skills: Option<SkillsCapability>,
    tasks: bool,
    baskets: bool,
}

impl Serialize for ExtensionsCapability {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct ExtensionSettings {
            sep: u32,
            status: &'static str,
            metadata: bool,
            scoped_list: bool,
            directory_read: bool,
            fields: [&'static str; 2],
        }
        let settings = ExtensionSettings {
            sep: 2093,
            status: "experimental",
            metadata: true,
            scoped_list: true,
            directory_read: true,
            fields: ["isCollection", "capabilities"],
        };
        let mut map = serializer.serialize_map(None)?;
        if self.collections {
            map.serialize_entry(SEP2093_EXTENSION, &settings)?;
        }
        if let Some(settings) = self.skills {
            map.serialize_entry(SKILLS_EXTENSION, &settings)?;
        }
        if self.tasks {
            map.serialize_entry(TASKS_EXTENSION, &EmptyObject {})?;
        }
        if self.baskets {
            map.serialize_entry(BASKETS_EXTENSION, &EmptyObject {})?;
        }
        map.end()
    }
}

impl ServerCapabilities {
    pub(crate) fn new(abilities: ServerFeatures, revision: Revision) -> Self {
        let completes = abilities.completion && revision.declares_completions();
        let watches = abilities.subscriptions;
        let tasks = abilities.tasks && !revision.has_handshake();
        let ServerFeatures { collections, baskets, .. } = abilities;
        let experimental =
            ExtensionsCapability { collections, skills: None, tasks: false, baskets };
        let skills =
            abilities.skills.then_some(SkillsCapability { directory_read: abilities.collections });
        let extensions = ExtensionsCapability { skills, tasks, ..experimental };
        Self {
            resources: ResourcesCapability { subscribe: watches, list_changed: watches },
            tools: abilities.tools.then_some(ComponentsCapability { list_changed: watches }),
            prompts: abilities.prompts.then_some(ComponentsCapability { list_changed: watches }),
            completions: completes.then_some(EmptyObject {}),
            logging: abilities.logging.then_some(EmptyObject {}),
            extensions: (collections || abilities.skills || tasks || baskets).then_some(extensions),
            experimental: (collections || baskets).then_some(experimental),
        }
    }
}
