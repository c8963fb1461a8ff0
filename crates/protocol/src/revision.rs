//! The protocol revisions of MCP, and the features each of them has.
//!
//! No other module compares revisions: each difference is a method here.

/// A published revision of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05: the first.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches.
    V2025_03_26,
    /// 2025-06-18: titles, resource links, `_meta` nearly everywhere.
    V2025_06_18,
    /// 2025-11-25: icons.
    V2025_11_25,
    /// 2026-07-28: no handshake, no sessions.
    V2026_07_28,
}

impl Revision {
    /// Every revision, newest first.
    pub const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// The date that is its name, such as `2025-11-25`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision named `date`.
    pub fn from_date(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// The revision that `initialize` answers to a client that requests `date`: that revision if it
    /// has a handshake, else the newest that has one.
    pub fn negotiate(date: &str) -> Self {
        Self::from_date(date)
            .filter(|revision| revision.has_handshake())
            .unwrap_or(Self::V2025_11_25)
    }

    /// The revision to assume before a handshake, when a client may only send `ping`.
    pub fn before_handshake() -> Self {
        Self::V2025_03_26
    }

    /// Whether its HTTP transport is HTTP+SSE: requests and answers on separate connections.
    pub fn has_http_sse(self) -> bool {
        self == Self::V2024_11_05
    }

    /// The revisions without a handshake, newest first.
    pub fn stateless() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|revision| !revision.has_handshake())
    }

    /// Whether a connection begins with `initialize`.
    pub fn has_handshake(self) -> bool {
        self < Self::V2026_07_28
    }

    /// Whether a client may send several messages as one array.
    pub fn takes_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether results have `resultType`.
    pub fn tags_results(self) -> bool {
        !self.has_handshake()
    }

    /// Whether results have `ttlMs` and `cacheScope`.
    pub fn names_cache_terms(self) -> bool {
        !self.has_handshake()
    }

    /// Whether every result names its server in `_meta`.
    pub fn signs_results(self) -> bool {
        !self.has_handshake()
    }

    /// Whether resources, templates, tools and prompts may have `title`, and annotations
    /// `lastModified`.
    pub fn knows_titles(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether resources, templates and contents may have `_meta`.
    pub fn knows_meta(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether resources may have icons.
    pub fn knows_icons(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether content blocks may be audio.
    pub fn knows_audio(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether tools may have `annotations`.
    pub fn knows_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether content blocks may be resource links.
    pub fn knows_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether tools may have `outputSchema` and return `structuredContent`.
    pub fn knows_structure(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether `structuredContent` may be any JSON value; otherwise it is an object.
    pub fn takes_any_structure(self) -> bool {
        !self.has_handshake()
    }

    /// Whether tools may have `execution`.
    pub fn knows_execution(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a result may ask the client for input (`input_required`).
    pub fn asks_back(self) -> bool {
        !self.has_handshake()
    }

    /// Whether the error code for URL elicitation (-32042) exists.
    pub fn has_page_code(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether servers declare the `completions` capability.
    pub fn declares_completions(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether a missing resource has its own error code (-32002).
    pub fn has_not_found_code(self) -> bool {
        self.has_handshake()
    }

    /// Whether an SSE stream begins with an empty event, so that the client can resume it at once.
    pub fn primes_streams(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether HTTP answers an unknown method with status 404.
    pub fn tells_status(self) -> bool {
        !self.has_handshake()
    }
}

/// How to encode messages for one peer: its revision, and how much of SEP-2093 it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// The protocol revision.
    pub revision: Revision,
    /// Whether the peer declared that it supports SEP-2093.
    pub knows_sep2093: bool,
    /// Whether this peer gets collections and full metadata.
    pub full_metadata: bool,
}

impl Dialect {
    /// Collections and full metadata in `revision`, for a peer that did not declare SEP-2093.
    pub fn full(revision: Revision) -> Self {
        Self { revision, knows_sep2093: false, full_metadata: true }
    }
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn every_revision_is_found_by_its_date() {
        for revision in Revision::ALL {
            assert_eq!(Revision::from_date(revision.as_str()), Some(revision));
        }
        assert_eq!(Revision::from_date("1999-01-01"), None);
    }

    /// HL-11.
    #[test]
    fn an_opening_is_never_answered_with_a_revision_that_has_none() {
        for date in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Revision::negotiate(date).as_str(), date);
        }
        for date in ["2026-07-28", "1999-01-01", ""] {
            assert_eq!(Revision::negotiate(date).as_str(), "2025-11-25");
        }
    }
}
