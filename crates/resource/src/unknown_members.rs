//! Unknown JSON members: what a source sent that we do not know.
//!
//! Kept as JSON text and passed on verbatim. Nothing here parses it.

/// Unknown members by name, each with its JSON text. An empty set does not allocate.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct UnknownMembers(Option<Box<[MemberList; 4]>>);

type MemberList = Vec<(String, String)>;

/// Where in a description a member belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberPlace {
    /// At the top level, beside the known members.
    TopLevel,
    /// In `_meta`.
    Meta,
    /// In the annotations.
    Annotations,
    /// In the capabilities of a resource.
    Capabilities,
}

impl MemberPlace {
    /// All places.
    pub const ALL: [Self; 4] = [Self::TopLevel, Self::Meta, Self::Annotations, Self::Capabilities];
}

impl UnknownMembers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The members in `place`, in their original order.
    pub fn members_in(&self, place: MemberPlace) -> &[(String, String)] {
        self.0.as_ref().map_or(&[], |lists| &lists[place as usize])
    }

    /// The JSON text of one member.
    pub fn get(&self, place: MemberPlace, name: &str) -> Option<&str> {
        let found = self.members_in(place).iter().find(|(known, _)| known == name);
        found.map(|(_, json)| json.as_str())
    }

    /// Sets member `name` to `json`, replacing an earlier value. `json` must be valid JSON.
    pub fn set(&mut self, place: MemberPlace, name: impl Into<String>, json: impl Into<String>) {
        let (name, json) = (name.into(), json.into());
        let list = &mut self.0.get_or_insert_default()[place as usize];
        match list.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = json,
            None => list.push((name, json)),
        }
    }

    /// Adds the members of `other` that are not there yet.
    pub fn absorb(&mut self, other: &Self) {
        for place in MemberPlace::ALL {
            for (name, json) in other.members_in(place) {
                if self.get(place, name).is_none() {
                    self.set(place, name.as_str(), json.as_str());
                }
            }
        }
    }

    /// The approximate size in bytes.
    pub fn approximate_bytes(&self) -> usize {
        let lists = self.0.iter().flat_map(|lists| lists.iter().flatten());
        lists.map(|(name, json)| name.len() + json.len() + 48).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{MemberPlace, UnknownMembers};

    #[test]
    fn what_is_said_again_takes_the_place_of_what_was_said_before() {
        let mut extra = UnknownMembers::default();
        assert!(extra.is_empty() && extra.members_in(MemberPlace::Meta).is_empty());
        extra.set(MemberPlace::Meta, "a", "1");
        extra.set(MemberPlace::Meta, "b", "2");
        extra.set(MemberPlace::Meta, "a", "3");
        assert_eq!(extra.get(MemberPlace::Meta, "a"), Some("3"));
        assert_eq!(extra.get(MemberPlace::TopLevel, "a"), None);
        assert_eq!(extra.members_in(MemberPlace::Meta).len(), 2);
        assert_eq!(size_of::<UnknownMembers>(), size_of::<usize>());
        let mut more = UnknownMembers::default();
        more.set(MemberPlace::Meta, "a", "4");
        more.set(MemberPlace::TopLevel, "c", "5");
        extra.absorb(&more);
        assert_eq!(extra.get(MemberPlace::Meta, "a"), Some("3"));
        assert_eq!(extra.get(MemberPlace::TopLevel, "c"), Some("5"));
    }
}
