//! Refresh of lists in the tree: what came, what went and what changed while a person picks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::pick::node::{NodeId, PickLoad, PickNode, PickRow, ROOT};
use crate::pick::tree::PickTree;

/// A list that is read again.
#[derive(Debug)]
pub(super) struct ListRefresh {
    /// The stamp of its first row.
    start: u64,
    /// What the list had, by URI.
    old: HashMap<Arc<str>, NodeId>,
    /// How many rows it had, and how many came again.
    length: usize,
    listed: usize,
}

impl PickTree {
    /// Begins to read the list of a collection again, and returns what to ask for. What is shown
    /// stays until the new list is there.
    pub(crate) fn start_refresh(
        &mut self,
        id: NodeId,
    ) -> Option<(Option<Arc<str>>, Option<String>)> {
        if matches!(self.get(id).load, PickLoad::Unloaded | PickLoad::Loading) {
            return None;
        }
        let old: HashMap<Arc<str>, NodeId> =
            self.listed_below(id).map(|child| (Arc::clone(&self.get(child).uri), child)).collect();
        let length = old.len();
        self.refreshes.insert(id, ListRefresh { start: self.stamp + 1, old, length, listed: 0 });
        self.get_mut(id).load = PickLoad::Unloaded;
        self.start_page(id)
    }

    /// The collections whose list was read.
    pub(crate) fn loaded_lists(&self) -> impl Iterator<Item = NodeId> {
        let ids = (0..self.nodes.len()).map(|at| NodeId(at as u32));
        ids.filter(|id| {
            let node = self.get(*id);
            let is_list = node.is_collection && !node.is_group && !node.is_gone;
            is_list && node.load != PickLoad::Unloaded
        })
    }

    /// Whether the list of a collection is being read again.
    pub(crate) fn is_refreshing(&self, id: NodeId) -> bool {
        self.refreshes.contains_key(&id)
    }

    /// The resources whose content changed, as far as lists tell.
    pub(crate) fn take_altered(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.altered)
    }

    /// What the list of a collection has: its children, and those of the groups that it implies.
    fn listed_below(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut pending = vec![id];
        std::iter::from_fn(move || {
            let next = pending.pop()?;
            if next == id || self.get(next).is_group {
                pending.extend(self.get(next).children.iter().rev());
            }
            Some(next)
        })
        .filter(move |found| *found != id && !self.get(*found).is_pinned)
    }

    /// The resource with this URI that the list of `parent` had before.
    pub(super) fn listed_before(&self, parent: NodeId, uri: &str) -> Option<NodeId> {
        self.refreshes.get(&parent)?.old.get(uri).copied()
    }

    /// Sets the stamp from which on a row is new to the page that is added now.
    pub(super) fn begin_page(&mut self, id: NodeId, rows: usize) {
        let refresh = self.refreshes.get_mut(&id);
        self.page_start = refresh.as_ref().map_or(0, |refresh| refresh.start);
        if let Some(refresh) = refresh {
            refresh.listed += rows;
        }
    }

    /// Takes the description of a resource that is in the tree already.
    pub(super) fn renew(&mut self, id: NodeId, row: PickRow) {
        let parent = self.get(id).parent;
        let fresh = self.node(row, parent);
        let node = self.get_mut(id);
        let is_altered = node.size != fresh.size;
        let PickNode { name, title, path, mime, .. } = fresh;
        (node.name, node.title, node.path, node.mime) = (name, title, path, mime);
        (node.size, node.priority, node.audience) = (fresh.size, fresh.priority, fresh.audience);
        node.text_form = fresh.text_form;
        if is_altered {
            self.altered.push(id);
        }
        self.mark_listed(id);
    }

    /// Notes that a list has a resource, which comes back if it had gone.
    pub(super) fn mark_listed(&mut self, id: NodeId) {
        self.stamp += 1;
        let (stamp, page_start) = (self.stamp, self.page_start);
        let node = self.get_mut(id);
        let is_new = node.listed_at < page_start;
        node.listed_at = stamp;
        let has_gone = std::mem::take(&mut node.is_gone);
        let (parent, is_walked) = (node.parent, node.is_walked);
        self.fresh += u64::from(is_new);
        if has_gone {
            self.get_mut(parent).children.push(id);
            self.to_walk.extend(is_walked.then_some(id));
        }
    }

    /// Ends the refresh of a list if it is read, or as much of it as there was: what did not come
    /// again has gone.
    pub(super) fn end_page(&mut self, id: NodeId, has_more: bool) {
        let is_read = |refresh: &ListRefresh| !has_more || refresh.listed >= refresh.length;
        let Some(refresh) = self.refreshes.get(&id).filter(|refresh| is_read(refresh)) else {
            return;
        };
        let start = refresh.start;
        self.refreshes.remove(&id);
        let below: Vec<NodeId> = self.listed_below(id).collect();
        let groups: Vec<NodeId> =
            below.iter().copied().filter(|found| self.get(*found).is_group).collect();
        for found in below {
            if !self.get(found).is_group && self.get(found).listed_at < start {
                self.set_gone(found);
            }
        }
        // Inner groups come after those around them; one that lost all goes too.
        for group in groups.into_iter().rev() {
            self.drop_gone_children(group);
            if self.get(group).children.is_empty() {
                self.get_mut(group).is_gone = true;
            }
        }
        self.drop_gone_children(id);
        if id != ROOT || self.placement.lists_scope() {
            let mut children = std::mem::take(&mut self.get_mut(id).children);
            children.sort_by_key(|child| self.get(*child).listed_at);
            self.get_mut(id).children = children;
        }
    }

    /// Forgets the refresh of a list that failed. What was shown stays.
    pub(super) fn cancel_refresh(&mut self, id: NodeId) {
        self.refreshes.remove(&id);
    }

    fn drop_gone_children(&mut self, id: NodeId) {
        let mut children = std::mem::take(&mut self.get_mut(id).children);
        children.retain(|child| !self.get(*child).is_gone);
        self.get_mut(id).children = children;
    }

    /// A resource is no longer there, nor what is in it.
    fn set_gone(&mut self, id: NodeId) {
        let mut pending = vec![id];
        while let Some(gone) = pending.pop() {
            let node = self.get_mut(gone);
            node.is_gone = true;
            if !node.is_group && node.is_collection && node.load != PickLoad::Loading {
                // If it comes back, its list is read as for the first time.
                node.load = PickLoad::Unloaded;
            }
            pending.append(&mut node.children);
        }
    }
}
