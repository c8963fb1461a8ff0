//! How do we say what we can do?

use serde::Serialize;

use crate::meta::EXTENSION;
use crate::revision::Revision;

/// What the server behind this protocol can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Variables of templates can be completed.
    pub completes: bool,
    /// Changes can be heard of.
    pub watches: bool,
    /// There are tools.
    pub tools: bool,
    /// There are prompts.
    pub prompts: bool,
    /// Log messages of others may be passed on.
    pub logs: bool,
    /// SEP-2093 is served.
    pub collections: bool,
}

/// The capabilities as one revision words them.
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

/// The extension, told in two places: one for each generation of clients.
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
