//! How are words of others written that we do not understand?

use resource::{Extra, Place};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::revision::Terms;

/// Members as somebody else wrote them.
#[derive(Default)]
pub(crate) struct Members<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members in `place` that are not ours to write, for peers that do not mind them.
    pub(crate) fn of(
        extra: &'a Extra,
        place: Place,
        terms: Terms,
        is_ours: impl Fn(&str) -> bool,
    ) -> Self {
        // Where nothing is extensible, a strict client never sees a surprise.
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

    /// The members in `place`, all of them.
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

    /// Leaves out what we say ourselves after all.
    pub(crate) fn without(&mut self, name: &str) {
        self.0.retain(|(known, _)| *known != name);
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, raw)| (name, raw)))
    }
}
