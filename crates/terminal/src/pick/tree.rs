//! The tree of the picker: resources in collections, loaded page by page, in bounded memory.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::output::one_line;
use crate::pick::node::{NodeId, PickLine, PickLoad, PickNode, PickRow, ROOT};
use crate::pick::placement::{PickPlacement, decoded};
use crate::pick::refresh::ListRefresh;

/// How many resources the tree holds.
pub(crate) const MAX_NODES: usize = 200_000;
/// How deep collections are entered.
const MAX_DEPTH: u8 = 64;
/// How many pages without a new resource may follow each other.
const MAX_EMPTY_PAGES: usize = 1_000;
/// The longest text of a server that is kept for a row.
const MAX_TEXT: usize = 1_024;

/// All resources that were listed so far.
#[derive(Debug)]
pub(crate) struct PickTree {
    pub(super) nodes: Vec<PickNode>,
    by_uri: HashMap<Arc<str>, NodeId>,
    mimes: HashSet<Arc<str>>,
    pub(super) placement: PickPlacement,
    /// The collections that a walk through everything has not finished, in its order.
    pub(super) to_walk: VecDeque<NodeId>,
    empty_pages: usize,
    pub(crate) loading: usize,
    /// Counts the rows that lists named.
    pub(super) stamp: u64,
    /// The stamp from which on a row is of the list that is read now.
    pub(super) page_start: u64,
    /// Counts the rows that were not there before, or came again in a refresh.
    pub(super) fresh: u64,
    pub(super) refreshes: HashMap<NodeId, ListRefresh>,
    /// Resources that a refresh found changed.
    pub(super) altered: Vec<NodeId>,
}

impl PickTree {
    /// An empty tree of what `scope` holds, or of the whole list.
    pub(crate) fn new(scope: Option<&str>, placement: PickPlacement) -> Self {
        let row = PickRow {
            uri: scope.unwrap_or_default().to_owned(),
            is_collection: true,
            is_folder: true,
            ..PickRow::default()
        };
        let mut tree = Self {
            nodes: Vec::new(),
            by_uri: HashMap::new(),
            mimes: HashSet::new(),
            placement,
            to_walk: VecDeque::from([ROOT]),
            empty_pages: 0,
            loading: 0,
            stamp: 0,
            page_start: 0,
            fresh: 0,
            refreshes: HashMap::new(),
            altered: Vec::new(),
        };
        let mut root = tree.node(row, ROOT);
        (root.is_open, root.depth) = (true, 0);
        tree.nodes.push(root);
        tree
    }

    pub(crate) fn get(&self, id: NodeId) -> &PickNode {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn get_mut(&mut self, id: NodeId) -> &mut PickNode {
        &mut self.nodes[id.0 as usize]
    }

    pub(crate) fn find(&self, uri: &str) -> Option<NodeId> {
        self.by_uri.get(uri).copied()
    }

    /// How many resources are loaded.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= MAX_NODES
    }

    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        let parent = self.get(id).parent;
        (parent != ROOT && id != ROOT).then_some(parent)
    }

    /// The nodes from the `start`th on, at most `count`, each URI once.
    pub(crate) fn slice(&self, start: usize, count: usize) -> impl Iterator<Item = NodeId> {
        let end = start.saturating_add(count).min(self.nodes.len());
        let ids = (start.max(1)..end).map(|at| NodeId(at as u32));
        ids.filter(|id| {
            let node = self.get(*id);
            node.first == *id && !node.uri.is_empty() && !node.is_gone
        })
    }

    /// Where `slice` begins after everything that is loaded now.
    pub(crate) fn end(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&mut self, row: PickRow, parent: NodeId) -> PickNode {
        let id = NodeId(self.nodes.len() as u32);
        let (depth, mount) = match self.nodes.get(parent.0 as usize) {
            Some(above) if parent != ROOT => (above.depth.saturating_add(1), above.mount),
            _ => (0, id),
        };
        let uri: Arc<str> = Arc::from(row.uri.as_str());
        let first = self.by_uri.get(&uri).copied().unwrap_or(id);
        let clean = |text: &str| -> Box<str> {
            let text: String = text.chars().take(MAX_TEXT).collect();
            one_line(&text).into()
        };
        let name = clean(&row.name);
        let title = row.title.as_deref().map(clean).filter(|title| *title != name);
        let mut path = clean(&decoded(&row.uri)).into_string();
        if !path.trim_end_matches('/').ends_with(&*name) {
            path = format!("{path}  {name}");
        }
        if let Some(title) = &title {
            path = format!("{path}  {title}");
        }
        let mime = row.mime.map(|mime| match self.mimes.get(mime.as_str()) {
            Some(known) => Arc::clone(known),
            None => {
                let mime: Arc<str> = Arc::from(&*clean(&mime));
                self.mimes.insert(Arc::clone(&mime));
                mime
            }
        });
        PickNode {
            uri,
            name,
            title,
            path: path.into(),
            mime,
            size: row.size,
            priority: row.priority,
            audience: row.audience,
            text_form: row.text_form,
            is_collection: row.is_collection,
            is_walked: row.is_folder,
            depth,
            parent,
            mount,
            first,
            is_open: false,
            is_group: false,
            is_stub: false,
            is_pinned: false,
            is_gone: false,
            listed_at: self.stamp,
            load: if row.is_collection { PickLoad::Unloaded } else { PickLoad::Complete },
            children: Vec::new(),
        }
    }

    /// Adds a resource below `parent`, unless it is there or the tree is full.
    pub(crate) fn add(&mut self, parent: NodeId, row: PickRow) -> Option<NodeId> {
        self.stamp += 1;
        let known = self.find(&row.uri);
        let stub = known.filter(|known| self.get(*known).is_stub);
        let is_same = |known: &NodeId| self.get(*known).parent == parent && stub.is_none();
        let there = known.filter(is_same).or_else(|| self.listed_before(parent, &row.uri));
        if let Some(there) = there {
            self.renew(there, row);
            return None;
        }
        let id = match stub {
            Some(id) => {
                let (mount, first) = (self.get(parent).mount, id);
                let node = PickNode { first, ..self.node(row, parent) };
                *self.get_mut(id) =
                    PickNode { mount: if parent == ROOT { id } else { mount }, ..node };
                id
            }
            None if self.is_full() => return None,
            None => self.push(parent, row),
        };
        self.fresh += 1;
        let node = self.get(id);
        if node.is_walked && node.first == id && node.depth < MAX_DEPTH {
            self.to_walk.push_back(id);
        }
        self.get_mut(parent).children.push(id);
        Some(id)
    }

    /// The resource with this URI, which may be in no list that was loaded.
    pub(crate) fn find_or_add(&mut self, row: PickRow) -> Option<NodeId> {
        match self.find(&row.uri) {
            Some(known) => Some(known),
            None if self.is_full() => None,
            None => {
                let id = self.push(ROOT, row);
                self.get_mut(id).is_stub = true;
                Some(id)
            }
        }
    }

    fn push(&mut self, parent: NodeId, row: PickRow) -> NodeId {
        let node = self.node(row, parent);
        let id = NodeId(self.nodes.len() as u32);
        if node.first == id {
            self.by_uri.insert(Arc::clone(&node.uri), id);
        }
        self.nodes.push(node);
        id
    }

    /// Adds a collection that the server does not list, whose members are added one by one.
    pub(crate) fn add_group(&mut self, parent: NodeId, uri: &str, name: &str) -> Option<NodeId> {
        let row = PickRow {
            uri: uri.to_owned(),
            name: name.to_owned(),
            is_collection: true,
            ..PickRow::default()
        };
        let known = self.find(uri).filter(|known| self.get(*known).is_group);
        let added = self.add(parent, row);
        let id = known.or(added)?;
        let node = self.get_mut(id);
        (node.load, node.is_group) = (PickLoad::Complete, true);
        Some(id)
    }

    /// Keeps the first list from being asked for, until the mounts are known.
    pub(crate) fn await_mounts(&mut self) {
        self.get_mut(ROOT).load = PickLoad::Loading;
    }

    /// Whether the node is a line of its own: all but the root.
    pub(crate) fn is_shown(&self, id: NodeId) -> bool {
        id != ROOT
    }

    /// Makes a resource a collection, as others that lie in it by their URIs say.
    pub(crate) fn make_collection(&mut self, id: NodeId) {
        let node = self.get_mut(id);
        if !node.is_collection {
            (node.is_collection, node.load) = (true, PickLoad::Complete);
        }
    }

    /// A page of the list of `id` came.
    pub(crate) fn add_page(&mut self, id: NodeId, rows: Vec<PickRow>, next: Option<String>) {
        self.loading = self.loading.saturating_sub(1);
        if self.get(id).is_gone {
            self.cancel_refresh(id);
            self.get_mut(id).load = PickLoad::Unloaded;
            return;
        }
        let count = rows.len();
        let before = self.fresh;
        self.begin_page(id, count);
        let mut placement = std::mem::take(&mut self.placement);
        for row in rows {
            match id {
                ROOT => placement.place(self, row),
                _ => {
                    self.add(id, row);
                }
            }
        }
        self.placement = placement;
        let is_empty = self.fresh == before;
        self.empty_pages = if is_empty { self.empty_pages + 1 } else { 0 };
        let is_same = is_empty && count > 0 && id != ROOT;
        let is_circle = is_same || self.empty_pages > MAX_EMPTY_PAGES;
        let is_full = self.is_full();
        self.end_page(id, next.is_some());
        self.get_mut(id).load = match next {
            None => PickLoad::Complete,
            Some(_) if is_full => PickLoad::Failed(format!(
                "more than {MAX_NODES} resources; start with a collection: refdesk pick URI"
            )),
            Some(_) if is_circle => {
                PickLoad::Failed("the cursors of the server go in a circle".to_owned())
            }
            Some(cursor) => PickLoad::More(cursor),
        };
    }

    pub(crate) fn fail(&mut self, id: NodeId, words: &str) {
        self.loading = self.loading.saturating_sub(1);
        self.cancel_refresh(id);
        self.get_mut(id).load = PickLoad::Failed(one_line(words));
    }

    /// Marks the next page of `id` as asked for, and returns its URI and cursor; `None` if there is
    /// none to ask for now.
    pub(crate) fn start_page(&mut self, id: NodeId) -> Option<(Option<Arc<str>>, Option<String>)> {
        let scope = (id != ROOT || self.placement.lists_scope()).then(|| self.get(id).uri.clone());
        let node = self.get_mut(id);
        let cursor = match &mut node.load {
            PickLoad::Unloaded => None,
            PickLoad::More(cursor) => Some(std::mem::take(cursor)),
            PickLoad::Loading | PickLoad::Complete | PickLoad::Failed(_) => return None,
        };
        node.load = PickLoad::Loading;
        self.loading += 1;
        Some((scope.filter(|uri| !uri.is_empty()), cursor))
    }

    /// The next collection that a walk through everything would list.
    pub(crate) fn next_to_walk(&mut self) -> Option<NodeId> {
        let is_done = |node: &PickNode| {
            node.is_gone || matches!(node.load, PickLoad::Complete | PickLoad::Failed(_))
        };
        while self.to_walk.front().is_some_and(|id| is_done(self.get(*id))) {
            self.to_walk.pop_front();
        }
        let waits = |id: &&NodeId| {
            let node = self.get(**id);
            !is_done(node) && node.load != PickLoad::Loading
        };
        self.to_walk.iter().find(waits).copied().filter(|_| !self.is_full())
    }

    /// Opens or closes a collection in the tree.
    pub(crate) fn set_open(&mut self, id: NodeId, is_open: bool) {
        let node = self.get_mut(id);
        node.is_open = is_open && node.is_collection;
        if is_open && matches!(node.load, PickLoad::Failed(_)) && node.children.is_empty() {
            // Opening it again is how a person tries again.
            node.load = PickLoad::Unloaded;
        }
    }

    /// The lines of the tree: open collections with what is in them.
    pub(crate) fn lines(&self, shows: impl Fn(&PickNode) -> bool) -> Vec<PickLine> {
        let mut lines = Vec::new();
        let mut stack = vec![(ROOT, 0)];
        while let Some((id, at)) = stack.pop() {
            let node = self.get(id);
            let Some(child) = node.children.get(at) else {
                if node.load != PickLoad::Complete || node.children.is_empty() {
                    lines.push(PickLine::Note(id));
                }
                continue;
            };
            stack.push((id, at + 1));
            let below = self.get(*child);
            if below.is_collection || shows(below) {
                lines.push(PickLine::Node(*child));
                if below.is_open {
                    stack.push((*child, 0));
                }
            }
        }
        lines
    }
}
