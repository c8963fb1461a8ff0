//! Changes that the server tells while a person picks: lists are read again, previews too.

use std::sync::Arc;

use crate::pick::events::{PickRequest, PickTimer};
use crate::pick::matching::NameSearch;
use crate::pick::node::{NodeId, PickLine, PickLoad, ROOT};
use crate::pick::state::PickState;

/// How many collections the server is asked to watch.
const MAX_WATCHES: usize = 64;

impl PickState {
    /// A resource changed, or some list did.
    pub(super) fn take_change(&mut self, uri: Option<&str>, requests: &mut Vec<PickRequest>) {
        let Some(uri) = uri else {
            // What is closed is read again when a person opens it.
            self.dirty.extend(self.tree.loaded_lists());
            return;
        };
        let scope = self.options.scope.as_deref();
        let node = if scope == Some(uri) { Some(ROOT) } else { self.tree.find(uri) };
        match node {
            Some(node) if self.tree.get(node).is_collection => {
                self.dirty.insert(node);
            }
            Some(node) => self.forget_content(node, requests),
            None => {}
        }
    }

    /// Reads the content of a resource again, if something shows it.
    pub(super) fn forget_content(&mut self, node: NodeId, requests: &mut Vec<PickRequest>) {
        self.previews.forget(node);
        self.forget_shown(node);
        if self.chosen.contains(&node) {
            let found = self.tree.get(node);
            let (uri, format) = (Arc::clone(&found.uri), found.text_form);
            requests.push(PickRequest::Measure { node, uri, format });
        }
    }

    /// Asks for the lists that changed, once the changes pause.
    pub(super) fn refresh(&mut self, requests: &mut Vec<PickRequest>) {
        self.is_refresh_due = false;
        let mut ready: Vec<NodeId> =
            self.dirty.iter().copied().filter(|node| self.can_refresh(*node)).collect();
        ready.sort_unstable();
        for node in ready {
            self.dirty.remove(&node);
            if node == ROOT && self.tree.has_mounts() {
                requests.push(PickRequest::Mounts);
            } else {
                self.refresh_list(node, requests);
            }
        }
    }

    pub(super) fn refresh_list(&mut self, node: NodeId, requests: &mut Vec<PickRequest>) {
        if let Some((uri, cursor)) = self.tree.start_refresh(node) {
            requests.push(PickRequest::Page { node, uri, cursor });
        }
    }

    fn can_refresh(&self, id: NodeId) -> bool {
        let node = self.tree.get(id);
        let is_shown = id == ROOT || node.is_open;
        is_shown && !matches!(node.load, PickLoad::Loading | PickLoad::Unloaded)
    }

    /// After a page: what went is no longer chosen, found or previewed.
    pub(super) fn follow_page(&mut self, requests: &mut Vec<PickRequest>) {
        for node in self.tree.take_altered() {
            self.forget_content(node, requests);
        }
        let tree = &self.tree;
        self.chosen.retain(|node| !tree.get(*node).is_gone);
        let has_gone = |names: &NameSearch| names.matches().any(|node| tree.get(node).is_gone);
        if self.names.as_ref().is_some_and(has_gone) {
            self.names = Some(NameSearch::new(&self.query));
            self.match_names();
        }
    }

    /// Starts the timer for lists that changed, and asks the server to watch what is open.
    pub(super) fn follow(&mut self, requests: &mut Vec<PickRequest>) {
        if !self.is_refresh_due && self.dirty.iter().any(|node| self.can_refresh(*node)) {
            self.is_refresh_due = true;
            requests.push(PickRequest::Timer { timer: PickTimer::Refresh, serial: 0 });
        }
        if !self.options.can_watch {
            return;
        }
        let near = self.lines.iter().skip(self.top).take(self.list_height() * 2);
        let nodes = near.filter_map(|line| match line {
            PickLine::Node(node) => Some(*node),
            PickLine::Note(_) | PickLine::Heading(_) | PickLine::Hit(_) => None,
        });
        for id in std::iter::once(ROOT).chain(nodes) {
            let node = self.tree.get(id);
            let is_watched = node.is_open && !node.is_group && !node.uri.is_empty();
            if is_watched && self.watched.len() < MAX_WATCHES && self.watched.insert(id) {
                requests.push(PickRequest::Watch { uri: Arc::clone(&node.uri) });
            }
        }
    }
}
