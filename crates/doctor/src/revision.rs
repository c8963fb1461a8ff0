//! Protocol revisions that the doctor speaks, and what differs between them on the wire.

use std::fmt;

/// A revision of the protocol, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DoctorRevision {
    /// 2024-11-05.
    Y2024M11,
    /// 2025-03-26.
    Y2025M03,
    /// 2025-06-18.
    Y2025M06,
    /// 2025-11-25, the last with a handshake.
    Y2025M11,
    /// 2026-07-28, without a handshake.
    Y2026M07,
}

impl DoctorRevision {
    /// All revisions, newest first: the order in which they are examined.
    pub const ALL: [Self; 5] =
        [Self::Y2026M07, Self::Y2025M11, Self::Y2025M06, Self::Y2025M03, Self::Y2024M11];

    /// The date that names the revision.
    pub fn name(self) -> &'static str {
        match self {
            Self::Y2024M11 => "2024-11-05",
            Self::Y2025M03 => "2025-03-26",
            Self::Y2025M06 => "2025-06-18",
            Self::Y2025M11 => "2025-11-25",
            Self::Y2026M07 => "2026-07-28",
        }
    }

    /// The revision with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Whether a connection opens with `initialize`.
    pub(crate) fn has_handshake(self) -> bool {
        self < Self::Y2026M07
    }

    /// Whether a server must accept JSON-RPC batches.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::Y2025M03
    }

    /// Whether requests after the handshake carry `MCP-Protocol-Version` over HTTP.
    pub(crate) fn has_version_header(self) -> bool {
        self >= Self::Y2025M06
    }

    /// Whether GET at the endpoint opens a stream for messages of the server.
    pub(crate) fn has_get_stream(self) -> bool {
        (Self::Y2025M03..=Self::Y2025M11).contains(&self)
    }

    /// The code of the error for a resource that does not exist.
    pub(crate) fn not_found_code(self) -> i64 {
        if self.has_handshake() { -32002 } else { -32602 }
    }

    /// Whether annotations may have `lastModified`.
    pub(crate) fn has_last_modified(self) -> bool {
        self >= Self::Y2025M06
    }

    /// Whether a description of a resource may have `_meta`.
    pub(crate) fn has_resource_meta(self) -> bool {
        self >= Self::Y2025M06
    }

    /// Whether resources, tools and prompts may have `icons`.
    pub(crate) fn has_icons(self) -> bool {
        self >= Self::Y2025M11
    }

    /// Whether a bad `Origin` must be answered with 403, and not with any error.
    pub(crate) fn has_origin_status(self) -> bool {
        self >= Self::Y2025M11
    }

    /// Whether tools may have `annotations`.
    pub(crate) fn has_tool_annotations(self) -> bool {
        self >= Self::Y2025M03
    }

    /// Whether tools may have `outputSchema`.
    pub(crate) fn has_output_schema(self) -> bool {
        self >= Self::Y2025M06
    }

    /// Whether the root of `outputSchema` must have the type `object`.
    pub(crate) fn needs_object_output(self) -> bool {
        self < Self::Y2026M07
    }

    /// Whether `completions` is a capability.
    pub(crate) fn has_completions_capability(self) -> bool {
        self >= Self::Y2025M03
    }
}

impl fmt::Display for DoctorRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
