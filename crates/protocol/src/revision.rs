//! Which revisions of the protocol are there, and what does each of them know?
//!
//! No other room compares revisions. Whoever must tell them apart finds a question here.

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

    /// The date that names it.
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
    pub fn named(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// What an opening that asks for `date` is answered with: that revision if it has a
    /// handshake, else the newest that has one.
    pub fn negotiated(date: &str) -> Self {
        Self::named(date).filter(|revision| revision.has_handshake()).unwrap_or(Self::V2025_11_25)
    }

    /// What is spoken where nothing says: before a handshake, only a ping may be.
    pub fn assumed() -> Self {
        Self::V2025_03_26
    }

    /// The revisions whose requests stand alone, newest first.
    pub fn stateless() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|revision| !revision.has_handshake())
    }

    /// Whether it begins with `initialize`.
    pub fn has_handshake(self) -> bool {
        self < Self::V2026_07_28
    }

    /// Whether several messages may come as one array.
    pub fn takes_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether a result says of what type it is.
    pub fn tags_results(self) -> bool {
        !self.has_handshake()
    }

    /// Whether a result says how long it may be kept, and by whom.
    pub fn names_cache_terms(self) -> bool {
        !self.has_handshake()
    }

    /// Whether every result says who made it.
    pub fn signs_results(self) -> bool {
        !self.has_handshake()
    }

    /// Whether a resource may have a title and a time of last change.
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

    /// Whether a block may be sound.
    pub fn knows_audio(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether a tool may say what it does to the world.
    pub fn knows_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether a block may link to a resource.
    pub fn knows_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a tool may give JSON besides words, and say of which form.
    pub fn knows_structure(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether that JSON may be anything; else it is an object.
    pub fn takes_any_structure(self) -> bool {
        !self.has_handshake()
    }

    /// Whether a tool may say how it wants to be run.
    pub fn knows_execution(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a result may ask for input.
    pub fn asks_back(self) -> bool {
        !self.has_handshake()
    }

    /// Whether an error may send a person to a page.
    pub fn has_page_code(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether completion is a capability of its own.
    pub fn declares_completions(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether a missing resource has an error code of its own.
    pub fn has_not_found_code(self) -> bool {
        self.has_handshake()
    }

    /// Whether a stream begins with an empty event, so that it can be gone back to at once.
    pub fn primes_streams(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether an unknown method is also told by the status of HTTP.
    pub fn tells_status(self) -> bool {
        !self.has_handshake()
    }
}

/// How to speak to one peer: its revision, and how much of SEP-2093 it is to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Terms {
    /// The revision of the exchange.
    pub revision: Revision,
    /// Whether the peer said that it knows SEP-2093.
    pub aware: bool,
    /// Whether collections and full metadata are written for this peer.
    pub full: bool,
}

impl Terms {
    /// Everything we have, in `revision`.
    pub fn full(revision: Revision) -> Self {
        Self { revision, aware: false, full: true }
    }
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn every_revision_is_found_by_its_date() {
        for revision in Revision::ALL {
            assert_eq!(Revision::named(revision.as_str()), Some(revision));
        }
        assert_eq!(Revision::named("1999-01-01"), None);
    }

    /// HL-11.
    #[test]
    fn an_opening_is_never_answered_with_a_revision_that_has_none() {
        for date in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Revision::negotiated(date).as_str(), date);
        }
        for date in ["2026-07-28", "1999-01-01", ""] {
            assert_eq!(Revision::negotiated(date).as_str(), "2025-11-25");
        }
    }
}
