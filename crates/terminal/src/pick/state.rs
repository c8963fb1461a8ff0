//! State of the picker: pure, changed by events alone, and asking for requests in return.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ratatui::crossterm::event::{Event, KeyEventKind};

use crate::output::one_line;
use crate::pick::events::{
    HitStatus, PickEvent, PickHit, PickOptions, PickOutcome, PickPanel, PickPassage, PickRequest,
    PickTimer, PickTokens, TreeSource,
};
use crate::pick::filter::PickFilter;
use crate::pick::matching::NameSearch;
use crate::pick::node::{NodeId, PickLine, PickLoad, PickNode, PickRow, ROOT};
use crate::pick::placement::{PickMount, PickPlacement};
use crate::pick::preview::{PickPreview, PreviewCache, PreviewKey};
use crate::pick::tree::PickTree;

/// How many lists the walk through all names asks for at a time.
const MAX_WALKS: usize = 4;
/// The bytes of a token, where only the size of a resource is known.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

/// Everything that the view shows.
pub(crate) struct PickState {
    pub(crate) options: PickOptions,
    pub(crate) tree: PickTree,
    pub(crate) query: String,
    pub(crate) names: Option<NameSearch>,
    pub(crate) hits: Vec<PickHit>,
    pub(crate) hit_status: HitStatus,
    pub(crate) filter: PickFilter,
    pub(crate) panel: PickPanel,
    pub(crate) lines: Vec<PickLine>,
    pub(crate) cursor: usize,
    /// Whether the person moved the cursor since the last search began.
    pub(super) has_moved: bool,
    /// The first line that is shown.
    pub(crate) top: usize,
    pub(crate) chosen: Vec<NodeId>,
    pub(crate) tokens: HashMap<NodeId, PickTokens>,
    pub(crate) previews: PreviewCache,
    pub(crate) preview_scroll: usize,
    /// On a narrow terminal: whether the preview stands in the place of the list.
    pub(crate) is_preview_open: bool,
    pub(crate) outcome: Option<PickOutcome>,
    /// The lists that changed since they were read.
    pub(super) dirty: HashSet<NodeId>,
    /// Whether the timer runs after which they are read again.
    pub(super) is_refresh_due: bool,
    /// The collections that the server watches for us.
    pub(super) watched: HashSet<NodeId>,
    shown_key: Option<PreviewKey>,
    search_serial: u64,
    preview_serial: u64,
    pub(super) is_stale: bool,
}

impl PickState {
    pub(crate) fn new(options: PickOptions) -> Self {
        let placement = match options.source {
            TreeSource::Mounts | TreeSource::Listed => PickPlacement::AsListed,
            TreeSource::Implied => {
                let scope = options.scope.as_deref().map(|uri| uri.trim_end_matches('/'));
                PickPlacement::Implied(scope.map(|uri| format!("{uri}/")).unwrap_or_default())
            }
        };
        Self {
            tree: PickTree::new(options.scope.as_deref(), placement),
            options,
            query: String::new(),
            names: None,
            hits: Vec::new(),
            hit_status: HitStatus::Idle,
            filter: PickFilter::default(),
            panel: PickPanel::Closed,
            lines: Vec::new(),
            cursor: 0,
            has_moved: false,
            top: 0,
            chosen: Vec::new(),
            tokens: HashMap::new(),
            previews: PreviewCache::default(),
            preview_scroll: 0,
            is_preview_open: false,
            outcome: None,
            dirty: HashSet::new(),
            is_refresh_due: false,
            watched: HashSet::new(),
            shown_key: None,
            search_serial: 0,
            preview_serial: 0,
            is_stale: true,
        }
    }

    /// The first requests.
    pub(crate) fn start(&mut self) -> Vec<PickRequest> {
        let mut requests = Vec::new();
        match self.options.source {
            TreeSource::Mounts => {
                self.tree.await_mounts();
                requests.push(PickRequest::Mounts);
            }
            TreeSource::Listed | TreeSource::Implied => self.request_page(ROOT, &mut requests),
        }
        self.settle(&mut requests);
        requests
    }

    /// Takes an event, and returns what to ask for.
    pub(crate) fn update(&mut self, event: PickEvent) -> Vec<PickRequest> {
        let mut requests = Vec::new();
        match event {
            PickEvent::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                self.press(key, &mut requests);
            }
            PickEvent::Input(Event::Paste(text)) => self.paste(&text, &mut requests),
            PickEvent::Input(Event::Resize(width, height)) => self.options.size = (width, height),
            PickEvent::Input(_) => {}
            PickEvent::Mounts(mounts) => self.take_mounts(mounts, &mut requests),
            PickEvent::Page { node, rows, next } => {
                self.tree.add_page(node, rows, next);
                self.follow_page(&mut requests);
                if self.tree.is_refreshing(node) {
                    self.request_page(node, &mut requests);
                }
                self.open_only_one();
                self.is_stale = true;
            }
            PickEvent::PageFailed { node, words } => {
                if node == ROOT && self.tree.len() == 0 {
                    self.outcome = Some(PickOutcome::Failed(words.clone()));
                }
                self.tree.fail(node, &words);
                self.is_stale = true;
            }
            PickEvent::Timer { timer, serial } => self.time_out(timer, serial, &mut requests),
            PickEvent::Hits { serial, hits } => self.take_hits(serial, hits),
            PickEvent::Preview { key, preview } => self.previews.put(key, preview),
            PickEvent::Measured { node, tokens } => {
                self.tokens.insert(node, tokens);
            }
            PickEvent::Changed(uri) => self.take_change(uri.as_deref(), &mut requests),
            PickEvent::Step => self.match_names(),
        }
        self.settle(&mut requests);
        requests
    }

    /// Whether a `Step` has something to do.
    pub(crate) fn has_work(&self) -> bool {
        self.names.as_ref().is_some_and(|names| names.has_work(&self.tree))
    }

    pub(super) fn match_names(&mut self) {
        let (tree, filter) = (&self.tree, &self.filter);
        let shows = |node: &PickNode| filter.matches(tree, node);
        if let Some(names) = &mut self.names {
            self.is_stale |= names.step(tree, shows);
        }
    }

    pub(super) fn request_page(&mut self, node: NodeId, requests: &mut Vec<PickRequest>) {
        if let Some((uri, cursor)) = self.tree.start_page(node) {
            requests.push(PickRequest::Page { node, uri, cursor });
        }
    }

    fn take_mounts(
        &mut self,
        mounts: Result<Vec<PickMount>, String>,
        requests: &mut Vec<PickRequest>,
    ) {
        // A refdesk that does not tell its mounts still has a list.
        let mounts = mounts.unwrap_or_default();
        self.is_stale = true;
        let is_again = self.tree.has_mounts();
        let has_plain = self.tree.add_mounts(&mounts);
        if is_again {
            if has_plain {
                self.refresh_list(ROOT, requests);
            }
            return;
        }
        match has_plain || mounts.is_empty() {
            true => self.request_page(ROOT, requests),
            false => self.tree.add_page(ROOT, Vec::new(), None),
        }
        self.open_only_one();
    }

    /// Opens a collection that stands alone at the top: there is nothing else to look at.
    fn open_only_one(&mut self) {
        let root = self.tree.get(ROOT);
        if let ([only], PickLoad::Complete) = (root.children.as_slice(), &root.load) {
            let only = *only;
            if self.tree.get(only).load == PickLoad::Unloaded {
                self.tree.set_open(only, true);
            }
        }
    }

    fn take_hits(&mut self, serial: u64, hits: Result<Vec<PickPassage>, String>) {
        if serial != self.search_serial {
            return;
        }
        self.is_stale = true;
        self.hits.clear();
        match hits {
            Err(words) => self.hit_status = HitStatus::Failed(one_line(&words)),
            Ok(passages) => {
                self.hit_status = HitStatus::Idle;
                for PickPassage { uri, line, snippet } in passages {
                    let name = uri.rsplit('/').find(|name| !name.is_empty()).unwrap_or(&uri);
                    let name = crate::pick::placement::decoded(name);
                    let row = PickRow { name, uri, ..PickRow::default() };
                    let Some(node) = self.tree.find_or_add(row) else { continue };
                    let snippet = one_line(&snippet);
                    self.hits.push(PickHit { node, line, snippet });
                }
            }
        }
    }

    fn time_out(&mut self, timer: PickTimer, serial: u64, requests: &mut Vec<PickRequest>) {
        match timer {
            PickTimer::Search if serial == self.search_serial => {
                self.hit_status = HitStatus::Searching;
                requests.push(PickRequest::Search { serial, query: self.query.clone() });
            }
            PickTimer::Preview if serial == self.preview_serial => self.request_preview(requests),
            PickTimer::Refresh => self.refresh(requests),
            PickTimer::Search | PickTimer::Preview => {}
        }
    }

    fn request_preview(&mut self, requests: &mut Vec<PickRequest>) {
        let Some(key) = self.shown_key.filter(|key| self.previews.get(*key).is_none()) else {
            return;
        };
        let node = self.tree.get(key.node);
        if !node.is_folder() {
            let (uri, format) = (Arc::clone(&node.uri), node.text_form);
            self.previews.put(key, PickPreview::Loading);
            requests.push(PickRequest::Preview { key, uri, format });
        }
    }

    /// Lets the preview of a resource be asked for again.
    pub(super) fn forget_shown(&mut self, node: NodeId) {
        self.shown_key = self.shown_key.filter(|key| key.node != node);
    }

    /// The query or the filter changed: searches again from the beginning.
    pub(super) fn search_again(&mut self, is_new_query: bool, requests: &mut Vec<PickRequest>) {
        self.is_stale = true;
        (self.cursor, self.top, self.has_moved) = (0, 0, false);
        self.names = (!self.query.trim().is_empty()).then(|| NameSearch::new(&self.query));
        // The first names are matched at once, so that the view follows each key.
        self.match_names();
        if is_new_query {
            self.search_serial += 1;
            self.hits.clear();
            self.hit_status = HitStatus::Idle;
            if self.options.has_search && self.names.is_some() {
                let serial = self.search_serial;
                requests.push(PickRequest::Timer { timer: PickTimer::Search, serial });
            }
        }
    }

    /// The node that a line is about, and the line of its passage.
    pub(crate) fn key_of(&self, line: &PickLine) -> Option<PreviewKey> {
        match line {
            PickLine::Node(node) => Some(PreviewKey { node: *node, line: None }),
            PickLine::Hit(at) => {
                self.hits.get(*at).map(|hit| PreviewKey { node: hit.node, line: hit.line })
            }
            PickLine::Note(_) | PickLine::Heading(_) => None,
        }
    }

    /// What the cursor is on.
    pub(crate) fn current(&self) -> Option<PreviewKey> {
        self.lines.get(self.cursor).and_then(|line| self.key_of(line))
    }

    /// Chooses a resource, or no longer.
    pub(super) fn toggle(&mut self, node: NodeId, requests: &mut Vec<PickRequest>) {
        let node = self.tree.get(node).first;
        if self.tree.get(node).is_group {
            return;
        }
        match self.chosen.iter().position(|chosen| *chosen == node) {
            Some(at) => {
                self.chosen.remove(at);
            }
            None => {
                self.chosen.push(node);
                let found = self.tree.get(node);
                let preview = self.previews.get(PreviewKey { node, line: None });
                if let Some(PickPreview::Text { tokens, .. }) = preview {
                    self.tokens.insert(node, tokens);
                } else if let Entry::Vacant(unknown) = self.tokens.entry(node) {
                    let (uri, format) = (Arc::clone(&found.uri), found.text_form);
                    let count = found.size.unwrap_or_default().div_ceil(BYTES_PER_TOKEN);
                    unknown.insert(PickTokens { count, is_whole: false });
                    if !found.is_folder() {
                        requests.push(PickRequest::Measure { node, uri, format });
                    }
                }
            }
        }
    }

    /// The tokens of all that is chosen.
    pub(crate) fn chosen_tokens(&self) -> PickTokens {
        let tokens = self.chosen.iter().filter_map(|node| self.tokens.get(node));
        let start = PickTokens { count: 0, is_whole: true };
        tokens.fold(start, |sum, one| PickTokens {
            count: sum.count.saturating_add(one.count),
            is_whole: sum.is_whole && one.is_whole,
        })
    }

    /// How many lines the list has on the screen.
    pub(crate) fn list_height(&self) -> usize {
        usize::from(self.options.size.1).saturating_sub(3).max(1)
    }

    /// Brings lines, cursor, pages and preview in line with what changed.
    fn settle(&mut self, requests: &mut Vec<PickRequest>) {
        if std::mem::take(&mut self.is_stale) {
            self.rebuild_lines();
        }
        let height = self.list_height();
        self.cursor = self.cursor.min(self.lines.len().saturating_sub(1));
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(height));
        self.top = self.top.min(self.lines.len().saturating_sub(height));
        let near = self.lines.iter().skip(self.top).take(height * 2);
        let lists: Vec<NodeId> = near
            .filter_map(|line| if let PickLine::Note(node) = line { Some(*node) } else { None })
            .collect();
        for node in lists {
            self.request_page(node, requests);
        }
        while self.names.is_some() && self.tree.loading < MAX_WALKS {
            let Some(node) = self.tree.next_to_walk() else { break };
            self.request_page(node, requests);
        }
        self.follow(requests);
        let current = self.current();
        if current != self.shown_key {
            (self.shown_key, self.preview_scroll) = (current, 0);
            self.preview_serial += 1;
            if current.is_some_and(|key| self.previews.get(key).is_none()) {
                let serial = self.preview_serial;
                requests.push(PickRequest::Timer { timer: PickTimer::Preview, serial });
            }
        }
    }

    fn rebuild_lines(&mut self) {
        let before = self.lines.get(self.cursor).cloned().filter(|_| self.has_moved);
        self.lines = match &self.names {
            None => self.tree.lines(|node| self.filter.matches(&self.tree, node)),
            Some(names) => {
                let mut lines: Vec<PickLine> = names.matches().map(PickLine::Node).collect();
                let shows =
                    |hit: &PickHit| self.filter.matches(&self.tree, self.tree.get(hit.node));
                let hits = self.hits.iter().enumerate().filter(|(_, hit)| shows(hit));
                let hits: Vec<PickLine> = hits.map(|(at, _)| PickLine::Hit(at)).collect();
                if !hits.is_empty() {
                    lines.push(PickLine::Heading("in the content"));
                    lines.extend(hits);
                }
                lines
            }
        };
        if let Some(at) = before.and_then(|line| self.lines.iter().position(|one| *one == line)) {
            // The line stays where it is on the screen.
            self.top = (self.top + at).saturating_sub(self.cursor);
            self.cursor = at;
        } else if !self.has_moved {
            self.cursor = 0;
        }
        if matches!(self.lines.get(self.cursor), Some(PickLine::Heading(_))) {
            self.cursor += 1;
        }
    }
}
