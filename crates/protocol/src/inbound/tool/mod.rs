//! The built-in tools, for hosts that support tools but not resources.
//!
//! Each tool has a definition (schemas and texts), typed arguments and a result. The server crate
//! runs them.

mod argument_table;
mod argument_value;
pub mod arguments;
mod definitions;
mod named_resources;
pub mod output;
pub mod result;
pub mod text;
pub mod watcher_status;

use std::sync::{Arc, LazyLock};

use resource::{Component, Json};

use crate::json::raw_object::RawObject;
pub use named_resources::named_resources;
pub use output::ToolOutput;
pub use result::{ContentBlock, ToolResult};
pub use text::{TextLines, single_line};

/// Declares the tools: what each does, the type of its arguments, and its name.
macro_rules! builtin_tools {
    ($($(#[$doc:meta])* $tool:ident($arguments:ident) = $name:literal;)*) => {
        /// A built-in tool.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum BuiltinTool {
            $($(#[$doc])* $tool,)*
        }

        /// The arguments of a call, by tool.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ToolArguments {
            $(#[doc = concat!("Arguments of `", $name, "`.")] $tool(arguments::$arguments),)*
        }

        impl BuiltinTool {
            /// All tools, in the order of `tools/list`.
            pub const ALL: &[Self] = &[$(Self::$tool),*];

            /// The name of the tool.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$tool => $name,)*
                }
            }

            /// Its entry in `tools/list`.
            pub fn definition(self) -> Arc<Component> {
                match self {
                    $(Self::$tool => {
                        static DEFINITION: LazyLock<Arc<Component>> =
                            LazyLock::new(|| BuiltinTool::$tool.define());
                        Arc::clone(&DEFINITION)
                    })*
                }
            }

            fn input_schema(self) -> String {
                match self {
                    $(Self::$tool => {
                        argument_table::input_schema::<arguments::$arguments>()
                    })*
                }
            }
        }

        impl ToolArguments {
            fn decode_object(tool: BuiltinTool, given: &str) -> Result<Self, String> {
                match tool {
                    $(BuiltinTool::$tool => {
                        argument_table::decode_arguments(given).map(Self::$tool)
                    })*
                }
            }
        }
    };
}

builtin_tools! {
    /// Lists resources.
    List(ListArguments) = "resources_list";
    /// Lists URI templates.
    Templates(TemplatesArguments) = "resources_templates";
    /// Describes resources without their content.
    Metadata(MetadataArguments) = "resources_metadata";
    /// Reads a window of a resource.
    Read(ReadArguments) = "resources_read";
    /// Reads whole resources as embedded resources.
    ReadEmbedded(ReadEmbeddedArguments) = "resources_read_embedded";
    /// Searches the text of resources.
    Grep(GrepArguments) = "resources_grep";
    /// Finds resources by words or meaning.
    Search(SearchArguments) = "resources_search";
    /// Gathers what answers a question within a budget of tokens.
    Pack(PackArguments) = "resources_pack";
    /// Starts watching resources.
    Watch(WatchArguments) = "resources_watch";
    /// Stops watching resources.
    Unwatch(UnwatchArguments) = "resources_unwatch";
    /// Lists the watched resources that changed.
    Changes(ChangesArguments) = "resources_changes";
    /// Finds tools of other servers.
    SearchTools(SearchToolsArguments) = "tools_search";
    /// Calls a tool of another server.
    CallTool(CallToolArguments) = "tools_call";
}

impl BuiltinTool {
    /// Whether the tool needs notifications of changes.
    pub fn needs_subscriptions(self) -> bool {
        matches!(self, Self::Watch | Self::Unwatch | Self::Changes)
    }

    /// Whether the tool needs a search index.
    pub fn needs_index(self) -> bool {
        matches!(self, Self::Search | Self::Pack)
    }

    /// Whether the tool needs tools that are found by search.
    pub fn needs_searched_tools(self) -> bool {
        matches!(self, Self::SearchTools | Self::CallTool)
    }

    fn define(self) -> Arc<Component> {
        let json = definitions::definition_json(self).into();
        Arc::new(Component { name: self.name().to_owned(), json })
    }
}

impl ToolArguments {
    /// Decodes the arguments of `tool` from the parameters of a call. The error is a message for
    /// the model.
    pub fn decode(tool: BuiltinTool, params: &Json) -> Result<Self, String> {
        let RawObject(params) = serde_json::from_str(params.as_str())
            .map_err(|_| "params: not an object".to_owned())?;
        let given = params.iter().rfind(|(name, _)| name == "arguments");
        let given = given.map(|(_, raw)| raw.get()).filter(|given| *given != "null");
        Self::decode_object(tool, given.unwrap_or("{}"))
            .map_err(|flaw| format!("{}: invalid arguments: {flaw}", tool.name()))
    }
}
