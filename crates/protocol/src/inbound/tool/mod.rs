//! The built-in tools, for hosts that support tools but not resources.
//!
//! Each tool has a definition (schemas and texts), typed arguments and a result. The server crate
//! runs them.

pub mod arguments;
mod definitions;
pub mod result;

use std::sync::{Arc, LazyLock};

use resource::Component;

pub use arguments::ToolArguments;
pub use result::{ContentBlock, ToolResult};

/// A built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltinTool {
    /// Lists resources.
    List,
    /// Lists URI templates.
    Templates,
    /// Describes resources without their content.
    Metadata,
    /// Reads a window of a resource.
    Read,
    /// Reads whole resources as embedded resources.
    ReadEmbedded,
    /// Searches the text of resources.
    Grep,
    /// Starts watching resources.
    Watch,
    /// Stops watching resources.
    Unwatch,
    /// Lists the watched resources that changed.
    Changes,
}

impl BuiltinTool {
    /// All tools, in the order of `tools/list`.
    pub const ALL: [Self; 9] = [
        Self::List,
        Self::Templates,
        Self::Metadata,
        Self::Read,
        Self::ReadEmbedded,
        Self::Grep,
        Self::Watch,
        Self::Unwatch,
        Self::Changes,
    ];

    /// The name of the tool.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "resources_list",
            Self::Templates => "resources_templates",
            Self::Metadata => "resources_metadata",
            Self::Read => "resources_read",
            Self::ReadEmbedded => "resources_read_embedded",
            Self::Grep => "resources_grep",
            Self::Watch => "resources_watch",
            Self::Unwatch => "resources_unwatch",
            Self::Changes => "resources_changes",
        }
    }

    /// The tool called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Whether the tool needs notifications of changes.
    pub fn needs_subscriptions(self) -> bool {
        matches!(self, Self::Watch | Self::Unwatch | Self::Changes)
    }

    /// Its entry in `tools/list`.
    pub fn definition(self) -> Arc<Component> {
        static ALL: LazyLock<Vec<Arc<Component>>> = LazyLock::new(|| {
            let offered = |tool: BuiltinTool| {
                let json = definitions::definition_json(tool).to_string().into();
                Arc::new(Component { name: tool.name().to_owned(), json })
            };
            BuiltinTool::ALL.into_iter().map(offered).collect()
        });
        Arc::clone(&ALL[self as usize])
    }
}
