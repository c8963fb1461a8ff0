//! Which tools do we offer ourselves, for hosts that know tools only?
//!
//! `describe` says what each is and takes, `arguments` reads what it is given, `given` writes what
//! it gives.

pub mod arguments;
mod describe;
pub mod given;

use std::sync::{Arc, LazyLock};

use resource::Offered;

pub use arguments::Arguments;
pub use given::{Block, Given};

/// One of our own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// A page of what is there.
    List,
    /// The templates.
    Templates,
    /// Descriptions without content.
    Metadata,
    /// A window of content.
    Read,
    /// Whole contents as embedded resources.
    ReadEmbedded,
    /// Lines that match.
    Grep,
    /// Begins to watch.
    Watch,
    /// Ends to watch.
    Unwatch,
    /// What changed of what is watched.
    Changes,
}

impl Tool {
    /// All of them, in the order in which they are listed.
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

    /// What it is called.
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
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Whether it is about hearing of changes.
    pub fn watches(self) -> bool {
        matches!(self, Self::Watch | Self::Unwatch | Self::Changes)
    }

    /// How it is listed.
    pub fn offered(self) -> Arc<Offered> {
        static ALL: LazyLock<Vec<Arc<Offered>>> = LazyLock::new(|| {
            let offered = |tool: Tool| {
                let json = describe::describe(tool).to_string().into();
                Arc::new(Offered { name: tool.name().to_owned(), json })
            };
            Tool::ALL.into_iter().map(offered).collect()
        });
        Arc::clone(&ALL[self as usize])
    }
}
