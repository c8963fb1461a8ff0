//! JSON encoding of unknown members, exactly as the upstream server wrote them.

use resource::{Extra, Place};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::revision::Terms;

/// Unknown members, as raw JSON.
#[derive(Default)]
pub(crate) struct Members<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members in `place` that refdesk does not write itself (`is_ours`), for a peer whose
    /// revision allows unknown members.
    pub(crate) fn of(
        extra: &'a Extra,
        place: Place,
        terms: Terms,
        is_ours: impl Fn(&str) -> bool,
    ) -> Self {
        // Revisions without `_meta` are not extensible: a strict client would fail on new members.
        if extra.is_empty() || !terms.revision.knows_meta() {
            return Self::default();
        }
        let known = |name: &str| match name {
            "icons" => terms.revision.knows_icons(),
            "isCollection" | "capabilities" => terms.full,
            _ => true,
        };
        let rest = extra.at(place).iter().filter(|(name, _)| known(name) && !is_ours(name));
        Self(
            rest.filter_map(|(name, json)| Some((&**name, serde_json::from_str(json).ok()?)))
                .collect(),
        )
    }

    /// All members in `place`.
    pub(crate) fn all(extra: &'a Extra, place: Place) -> Self {
        let members = extra.at(place).iter();
        let read = |(name, json): &'a (String, String)| {
            Some((name.as_str(), serde_json::from_str(json).ok()?))
        };
        Self(members.filter_map(read).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes a member that refdesk writes itself.
    pub(crate) fn without(&mut self, name: &str) {
        self.0.retain(|(known, _)| *known != name);
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, raw)| (name, raw)))
    }
}
