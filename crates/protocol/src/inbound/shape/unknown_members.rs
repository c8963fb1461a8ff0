//! JSON encoding of unknown members, exactly as the upstream server wrote them.

use resource::{MemberPlace, UnknownMembers};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::revision::Dialect;

/// Unknown members, as raw JSON.
#[derive(Default)]
pub(crate) struct UnknownMembersShape<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'a> UnknownMembersShape<'a> {
    /// The members in `place` that refdesk does not write itself (`is_ours`), for a peer whose
    /// revision allows unknown members.
    pub(crate) fn for_peer(
        extra: &'a UnknownMembers,
        place: MemberPlace,
        dialect: Dialect,
        is_ours: impl Fn(&str) -> bool,
    ) -> Self {
        // Revisions without `_meta` are not extensible: a strict client would fail on new members.
        if extra.is_empty() || !dialect.revision.knows_meta() {
            return Self::default();
        }
        let known = |name: &str| match name {
            "icons" => dialect.revision.knows_icons(),
            "isCollection" | "capabilities" => dialect.full_metadata,
            _ => true,
        };
        let rest = extra.members_in(place).iter().filter(|(name, _)| known(name) && !is_ours(name));
        Self(
            rest.filter_map(|(name, json)| Some((&**name, serde_json::from_str(json).ok()?)))
                .collect(),
        )
    }

    /// All members in `place`.
    pub(crate) fn all(extra: &'a UnknownMembers, place: MemberPlace) -> Self {
        let members = extra.members_in(place).iter();
        let read = |(name, json): &'a (String, String)| {
            Some((name.as_str(), serde_json::from_str(json).ok()?))
        };
        Self(members.filter_map(read).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the members whose names fit.
    pub(crate) fn retain(&mut self, fits: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _)| fits(name));
    }

    /// Removes a member that refdesk writes itself.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| *known != name);
    }
}

impl Serialize for UnknownMembersShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, raw)| (name, raw)))
    }
}
