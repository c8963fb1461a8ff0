//! Unknown JSON members: what a source sent that we do not know.
//!
//! Kept as JSON text and passed on verbatim. Nothing here parses it.

/// Unknown members by name, each with its JSON text. An empty set does not allocate.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Extra(Option<Box<[Members; 4]>>);

type Members = Vec<(String, String)>;

/// Where in a description a member belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At the top level, beside the known members.
    Beside,
    /// In `_meta`.
    Meta,
    /// In the annotations.
    Annotations,
    /// In the capabilities of a resource.
    Capabilities,
}

impl Extra {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The members in `place`, in their original order.
    pub fn at(&self, place: Place) -> &[(String, String)] {
        self.0.as_ref().map_or(&[], |lists| &lists[place as usize])
    }

    /// The JSON text of one member.
    pub fn get(&self, place: Place, name: &str) -> Option<&str> {
        let found = self.at(place).iter().find(|(known, _)| known == name);
        found.map(|(_, json)| json.as_str())
    }

    /// Sets member `name` to `json`, replacing an earlier value. `json` must be valid JSON.
    pub fn put(&mut self, place: Place, name: impl Into<String>, json: impl Into<String>) {
        let (name, json) = (name.into(), json.into());
        let list = &mut self.0.get_or_insert_default()[place as usize];
        match list.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = json,
            None => list.push((name, json)),
        }
    }

    /// The approximate size in bytes.
    pub fn weight(&self) -> usize {
        let lists = self.0.iter().flat_map(|lists| lists.iter().flatten());
        lists.map(|(name, json)| name.len() + json.len() + 48).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Extra, Place};

    #[test]
    fn what_is_said_again_takes_the_place_of_what_was_said_before() {
        let mut extra = Extra::default();
        assert!(extra.is_empty() && extra.at(Place::Meta).is_empty());
        extra.put(Place::Meta, "a", "1");
        extra.put(Place::Meta, "b", "2");
        extra.put(Place::Meta, "a", "3");
        assert_eq!(extra.get(Place::Meta, "a"), Some("3"));
        assert_eq!(extra.get(Place::Beside, "a"), None);
        assert_eq!(extra.at(Place::Meta).len(), 2);
        assert_eq!(size_of::<Extra>(), size_of::<usize>());
    }
}
