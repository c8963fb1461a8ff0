//! The server capabilities, as `initialize` and `server/discover` declare them.

use serde::Serialize;

use crate::meta::EXTENSION;
use crate::revision::Revision;

/// Which features the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// It completes template variables and prompt arguments.
    pub completes: bool,
    /// It sends notifications of changes.
    pub watches: bool,
    /// It has tools.
    pub tools: bool,
    /// It has prompts.
    pub prompts: bool,
    /// It may relay log messages of upstream servers.
    pub logs: bool,
    /// It serves SEP-2093.
    pub collections: bool,
}

/// The `capabilities` object, in the form that one revision defines.
#[derive(Serialize)]
pub(crate) struct Capabilities {
    resources: Resources,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Offers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Offers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completions: Option<Empty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logging: Option<Empty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Extensions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    experimental: Option<Extensions>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    subscribe: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    list_changed: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offers {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    list_changed: bool,
}

#[derive(Serialize)]
struct Empty {}

/// The settings of the SEP-2093 extension. They go under `extensions` for new clients and under
/// `experimental` for older ones.
#[derive(Clone, Copy)]
struct Extensions;

impl Serialize for Extensions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Settings {
            sep: u32,
            status: &'static str,
            metadata: bool,
            scoped_list: bool,
            directory_read: bool,
            fields: [&'static str; 2],
        }
        let settings = Settings {
            sep: 2093,
            status: "experimental",
            metadata: true,
            scoped_list: true,
            directory_read: true,
            fields: ["isCollection", "capabilities"],
        };
        serializer.collect_map([(EXTENSION, settings)])
    }
}

impl Capabilities {
    pub(crate) fn new(abilities: Abilities, revision: Revision) -> Self {
        let completes = abilities.completes && revision.declares_completions();
        let watches = abilities.watches;
        let extensions = abilities.collections.then_some(Extensions);
        Self {
            resources: Resources { subscribe: watches, list_changed: watches },
            tools: abilities.tools.then_some(Offers { list_changed: watches }),
            prompts: abilities.prompts.then_some(Offers { list_changed: watches }),
            completions: completes.then_some(Empty {}),
            logging: abilities.logs.then_some(Empty {}),
            extensions,
            experimental: extensions,
        }
    }
}
