//! How much the copies of an SVG draw: `use` elements that copy copies grow without bound.

use std::collections::HashMap;

/// The most elements that copies may make.
const MAX_COPIES: u64 = 200_000;

/// The graph of what contains and copies what, by identifier; the root has the empty one.
#[derive(Default)]
pub(super) struct UseGraph {
    nodes: HashMap<String, UseNode>,
}

#[derive(Default)]
struct UseNode {
    /// How many elements it has itself.
    own: u64,
    /// What it contains or copies.
    targets: Vec<String>,
}

impl UseGraph {
    /// Notes an element in the nearest element around it that has an identifier.
    pub(super) fn add_element(&mut self, around: &str) {
        self.node(around).own += 1;
    }

    /// Notes that `around` contains or copies `target`.
    pub(super) fn add_target(&mut self, around: &str, target: &str) {
        self.node(around).targets.push(target.to_owned());
    }

    fn node(&mut self, id: &str) -> &mut UseNode {
        if !self.nodes.contains_key(id) {
            self.nodes.insert(id.to_owned(), UseNode::default());
        }
        self.nodes.entry(id.to_owned()).or_default()
    }

    /// Whether drawing the root draws more elements than the limit. A cycle is not drawn.
    pub(super) fn is_over_limit(&self) -> bool {
        let mut weights: HashMap<&str, Option<u64>> = HashMap::new();
        // Each entry is a node, and the position of the next of its targets.
        let mut stack: Vec<(&str, usize, u64)> = vec![("", 0, self.own(""))];
        weights.insert("", None);
        while let Some((id, at, weight)) = stack.pop() {
            if weight > MAX_COPIES {
                return true;
            }
            let target = self.nodes.get(id).and_then(|node| node.targets.get(at));
            let Some(target) = target else {
                weights.insert(id, Some(weight));
                continue;
            };
            match weights.get(target.as_str()) {
                // Being weighed: a cycle.
                Some(None) => stack.push((id, at + 1, weight)),
                Some(Some(known)) => stack.push((id, at + 1, weight.saturating_add(*known))),
                None => {
                    stack.push((id, at, weight));
                    weights.insert(target, None);
                    stack.push((target, 0, self.own(target)));
                }
            }
        }
        false
    }

    fn own(&self, id: &str) -> u64 {
        self.nodes.get(id).map_or(0, |node| node.own)
    }
}

#[cfg(test)]
mod tests {
    use super::UseGraph;

    #[test]
    fn copies_of_copies_are_counted_and_cycles_end() {
        let mut graph = UseGraph::default();
        graph.add_target("", "0");
        for level in 0..10 {
            let (id, next) = (level.to_string(), (level + 1).to_string());
            graph.add_element(&id);
            (0..4).for_each(|_| graph.add_target(&id, &next));
        }
        graph.add_element("10");
        assert!(graph.is_over_limit());

        let mut graph = UseGraph::default();
        graph.add_target("", "a");
        graph.add_target("a", "b");
        graph.add_target("b", "a");
        assert!(!graph.is_over_limit());
    }
}
