//! Watch state of one subscription: the folders it covers and their snapshots.

mod links;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;

use resource::{Change, Uri};

use self::links::Link;
use super::MOST_LISTED;
use super::gaze::Aim;
use super::known::{Detail, Difference, Known};
use super::one::One;
use crate::fs::cursor::Mode;
use crate::fs::effort::Effort;
use crate::fs::fault::{is_missing, is_passing};
use crate::fs::locate::Folder;
use crate::fs::options::Listing;
use crate::fs::path::{Asked, Local, uri_in};
use crate::fs::site::Site;
use crate::fs::stamp::Kind;
use crate::fs::visible::FILES;
use crate::vigil::{Feed, Heard, Left, Touched};

/// Folders scanned for the first time in one round, before other subscriptions get their turn.
const FOLDERS: usize = 512;

/// Names read in one such round.
const NAMES: usize = 20_000;

/// What one subscription has already reported, for comparison with what exists now.
pub(in crate::fs) struct Memory {
    subject: Subject,
    /// True if subfolders are covered too.
    deep: bool,
    /// Folder snapshots, by real path.
    folders: BTreeMap<Vec<u8>, Known>,
    /// Folders still to be scanned, and whether their content is to be reported as changed.
    ahead: Vec<(Local, bool)>,
    /// Folders whose scan failed transiently, to be retried.
    failed: Vec<Local>,
    /// True if another check failed transiently, so that everything must be checked again.
    missed: bool,
    links: Vec<Link>,
}

enum Subject {
    One(One),
    Listing,
    Everything,
}

impl Memory {
    pub(super) fn one(uri: &Uri, asked: Asked) -> Self {
        Self::of(Subject::One(One::new(uri, asked)), false)
    }

    pub(super) fn listing() -> Self {
        Self::of(Subject::Listing, false)
    }

    pub(super) fn everything() -> Self {
        Self::of(Subject::Everything, true)
    }

    fn of(subject: Subject, deep: bool) -> Self {
        let (ahead, failed, links) = (Vec::new(), Vec::new(), Vec::new());
        Self { subject, deep, folders: BTreeMap::new(), ahead, failed, missed: false, links }
    }

    /// Runs the first scan; an error if the resource does not exist. The result is always true.
    pub(super) fn begin(&mut self, site: &Site, feed: &Feed) -> io::Result<bool> {
        match &mut self.subject {
            Subject::One(one) => {
                let folder = one.look(site, None)?;
                if let Some(folder) = folder {
                    self.ahead.push((folder.path.clone(), false));
                } else {
                    one.must_be_there()?;
                }
            }
            Subject::Listing => {
                self.deep = site.mode(&site.top()?, &Effort::steady())? == Mode::Flat;
                self.ahead.push((Local::default(), false));
            }
            Subject::Everything => self.ahead.push((Local::default(), false)),
        }
        self.walk_on(site, feed);
        Ok(true)
    }

    /// Compares what exists now with the snapshots, as far as `heard` says it may differ, and sends
    /// the changes to `feed`.
    pub(super) fn look(&mut self, site: &Site, heard: &Heard, feed: &Feed) -> Left {
        let mut all = heard.all;
        if heard.all || heard.again {
            all |= std::mem::take(&mut self.missed);
            // Report their content as changed, since it may have changed meanwhile.
            self.ahead.extend(self.failed.drain(..).map(|path| (path, true)));
        }
        if let Subject::One(one) = &mut self.subject
            && (all || one.may_be_meant(heard))
        {
            // A resource that cannot be read at present is neither removed nor changed.
            match one.look(site, Some(feed)) {
                Ok(folder) => self.follow(site, folder, feed),
                Err(error) => self.missed |= is_passing(&error),
            }
        }
        if all {
            self.refresh(site, b"", feed);
            self.reconsider(site);
        } else {
            for (key, touched) in &heard.folders {
                self.hear(site, (key, touched), feed);
            }
        }
        self.hear_links(site, heard, feed);
        self.walk_on(site, feed)
    }

    /// True if `folder` is not covered yet and there is room for it.
    pub(super) fn lacks(&self, folder: &Folder) -> bool {
        let is_known = self.folders.contains_key(folder.path.as_bytes());
        !is_known && self.folders.len() < MOST_LISTED
    }

    /// Adds a folder that a client is about to list. True if a scan failed and must be retried.
    pub(super) fn heed(&mut self, site: &Site, folder: &Folder, feed: &Feed) -> bool {
        self.try_enter(site, &folder.path, false, feed);
        !self.failed.is_empty()
    }

    /// Covers only the one folder that the subscription is for, at its current real path.
    fn follow(&mut self, site: &Site, folder: Option<Arc<Folder>>, feed: &Feed) {
        let path = folder.map(|folder| folder.path.clone());
        let gone: Vec<Vec<u8>> = self
            .folders
            .keys()
            .filter(|key| path.as_ref().is_none_or(|path| path.as_bytes() != **key))
            .cloned()
            .collect();
        for key in gone {
            self.forget(site, &key, feed);
        }
        match path {
            Some(path) if self.folders.contains_key(path.as_bytes()) => {
                self.examine(site, path.as_bytes(), None, feed);
            }
            Some(path) => self.ahead.push((path, true)),
            None => {}
        }
    }

    fn hear(&mut self, site: &Site, (key, touched): (&[u8], &Touched), feed: &Feed) {
        if !self.folders.contains_key(key) {
            return;
        }
        // An ignore file affects everything below it.
        if touched.whole || FILES.iter().any(|file| touched.names.contains(*file)) {
            return self.refresh(site, key, feed);
        }
        self.examine(site, key, Some(&touched.names), feed);
        let Some(path) = Local::from_bytes(key) else { return };
        for name in &touched.names {
            // The folder may have been replaced by another one.
            let inner = path.join(name);
            if self.folders.contains_key(inner.as_bytes()) {
                self.refresh(site, inner.as_bytes(), feed);
            }
        }
    }

    /// Checks the folder `key` and all covered folders below it.
    fn refresh(&mut self, site: &Site, key: &[u8], feed: &Feed) {
        for key in self.within(key) {
            if feed.is_heard() {
                self.examine(site, &key, None, feed);
            }
        }
    }

    /// Reports the differences in the folder `key`: of all entries, or of the names in `only`.
    fn examine(&mut self, site: &Site, key: &[u8], only: Option<&HashSet<Vec<u8>>>, feed: &Feed) {
        let (Some(path), Some(known)) = (Local::from_bytes(key), self.folders.get_mut(key)) else {
            return;
        };
        let held = |folder: Arc<Folder>| {
            if only.is_some() {
                return Ok(folder);
            }
            // This may be another folder than the watched one.
            match &known.hold {
                Some(hold) => drop(site.noted(hold.renew(&folder.handle), Aim::Names)),
                None => known.hold = site.listen(key, &folder.handle, Aim::Names),
            }
            site.folder_at(&path)
        };
        let folder = match site.folder_at(&path).and_then(held) {
            Ok(folder) => folder,
            Err(error) if is_missing(&error) => return self.forget(site, key, feed),
            Err(error) => {
                self.missed |= is_passing(&error);
                return;
            }
        };
        let differences = known.update(site, &folder, only);
        self.missed |= std::mem::take(&mut known.missed);
        match differences {
            Ok(differences) => {
                let shown = known.shown.clone();
                self.tell(&folder, &shown, &differences, (site, feed));
            }
            Err(error) => self.missed |= is_passing(&error),
        }
    }

    fn tell(
        &mut self,
        folder: &Arc<Folder>,
        shown: &Local,
        differences: &[Difference],
        (site, feed): (&Site, &Feed),
    ) {
        let mut names_changed = false;
        let prefix = shown.uri_prefix();
        for Difference { name, was, is } in differences {
            if site.conceals(folder, shown, name) {
                continue;
            }
            names_changed |= was != is;
            let inner = folder.path.join(name);
            if *was == Some(Kind::Folder) && was != is {
                self.forget(site, inner.as_bytes(), feed);
            }
            if self.deep && *is == Some(Kind::Folder) && was != is {
                self.ahead.push((inner, true));
            }
            if *is == Some(Kind::Link) {
                self.learn_link(site, folder, name);
            }
            if !matches!(self.subject, Subject::Listing) {
                let uri = uri_in(&prefix, name);
                feed.tell(if is.is_some() { Change::Updated(uri) } else { Change::Removed(uri) });
            }
        }
        if names_changed {
            self.tell_names(shown, feed);
            self.reconsider(site);
        }
    }

    /// Starts to cover subfolders once the list without parent shows them.
    fn reconsider(&mut self, site: &Site) {
        if self.deep || site.listing != Listing::Auto || !matches!(self.subject, Subject::Listing) {
            return;
        }
        match site.top().and_then(|top| site.mode(&top, &Effort::steady())) {
            Ok(Mode::Flat) => self.deepen(),
            Ok(Mode::Tree) => {}
            Err(error) => self.missed |= is_passing(&error),
        }
    }

    /// True if subfolders are not covered.
    pub(super) fn is_shallow(&self) -> bool {
        !self.deep
    }

    /// Covers all folders, because a client is about to list them all. True if scans remain to be
    /// done.
    pub(super) fn heed_all(&mut self, site: &Site, feed: &Feed) -> bool {
        self.deepen();
        self.walk_on(site, feed) != Left::Nothing
    }

    /// Covers subfolders from now on.
    fn deepen(&mut self) {
        self.deep = true;
        for (key, known) in &self.folders {
            let Some(path) = Local::from_bytes(key) else { continue };
            let names = (0..known.names.len()).filter_map(|index| known.names.get(index));
            let inner = names.filter(|(_, kind)| *kind == Kind::Folder);
            self.ahead.extend(inner.map(|(name, _)| (path.join(name), false)));
        }
    }

    /// Reports that names appeared or disappeared in the folder shown as `shown`.
    fn tell_names(&self, shown: &Local, feed: &Feed) {
        match &self.subject {
            Subject::One(one) => feed.tell(Change::Updated(one.uri.clone())),
            Subject::Listing => feed.tell(Change::Listing),
            Subject::Everything => {
                feed.tell(Change::Updated(shown.uri()));
                feed.tell(Change::Listing);
            }
        }
    }

    /// Drops the folder `key` and all below it, and reports them as removed.
    fn forget(&mut self, site: &Site, key: &[u8], feed: &Feed) {
        for key in self.within(key) {
            let Some(known) = self.folders.remove(&key) else { continue };
            self.links.retain(|link| link.key != key);
            if matches!(self.subject, Subject::Listing) {
                feed.tell(Change::Listing);
                continue;
            }
            let prefix = known.shown.uri_prefix();
            for (name, _) in (0..known.names.len()).filter_map(|index| known.names.get(index)) {
                if !site.conceals_at(&key, &known.shown, name) {
                    feed.tell(Change::Removed(uri_in(&prefix, name)));
                }
            }
        }
        if let Some(path) = Local::from_bytes(key) {
            self.ahead.retain(|(ahead, _)| !ahead.is_within(&path));
            self.failed.retain(|failed| !failed.is_within(&path));
        }
    }

    /// Runs pending first scans, up to the limits of one round, and returns what remains.
    fn walk_on(&mut self, site: &Site, feed: &Feed) -> Left {
        let (mut folders, mut names) = (0, 0);
        while folders < FOLDERS && names < NAMES && feed.is_heard() {
            let Some((path, is_news)) = self.ahead.pop() else { break };
            folders += 1;
            names += self.try_enter(site, &path, is_news, feed);
        }
        if !feed.is_heard() {
            Left::Nothing
        } else if !self.ahead.is_empty() {
            Left::More
        } else if self.missed || !self.failed.is_empty() {
            Left::Failed
        } else {
            Left::Nothing
        }
    }

    /// Scans a folder for the first time, or queues it for a retry. Returns its number of names.
    fn try_enter(&mut self, site: &Site, path: &Local, is_news: bool, feed: &Feed) -> usize {
        self.enter(site, path, is_news, feed).unwrap_or_else(|error| {
            if is_passing(&error) && !self.failed.contains(path) {
                self.failed.push(path.clone());
            }
            0
        })
    }

    fn enter(
        &mut self,
        site: &Site,
        path: &Local,
        is_news: bool,
        feed: &Feed,
    ) -> io::Result<usize> {
        let key = path.as_bytes();
        if self.folders.contains_key(key) {
            return Ok(0);
        }
        let hold = site.listen(key, &site.folder_at(path)?.handle, Aim::Names);
        // Found again, because it may have changed before the watch began.
        let folder = site.folder_at(path)?;
        let (shown, detail) = match &self.subject {
            Subject::One(one) => (one.shown().clone(), Detail::Versions),
            Subject::Listing => (path.clone(), Detail::Names),
            Subject::Everything => (path.clone(), Detail::Versions),
        };
        let mut known = Known::first(site, &folder, (shown.clone(), detail), hold)?;
        self.missed |= std::mem::take(&mut known.missed);
        let names = known.names.clone();
        self.folders.insert(key.to_vec(), known);
        let prefix = shown.uri_prefix();
        for (name, kind) in (0..names.len()).filter_map(|index| names.get(index)) {
            if self.deep && kind == Kind::Folder {
                self.ahead.push((path.join(name), is_news));
            }
            if kind == Kind::Link {
                self.learn_link(site, &folder, name);
            }
            let is_told = is_news && !matches!(self.subject, Subject::Listing);
            if is_told && !site.conceals(&folder, &shown, name) {
                feed.tell(Change::Updated(uri_in(&prefix, name)));
            }
        }
        if is_news && names.len() > 0 {
            self.tell_names(&shown, feed);
        }
        Ok(names.len())
    }

    /// Returns the covered folders at `key` and below it.
    fn within(&self, key: &[u8]) -> Vec<Vec<u8>> {
        let Some(path) = Local::from_bytes(key) else { return Vec::new() };
        let known = self.folders.range(key.to_vec()..);
        let inside = |key: &Vec<u8>| Local::from_bytes(key).is_some_and(|key| key.is_within(&path));
        // Keys between a folder and its descendants start with the folder's own key.
        let near = known.map(|(key, _)| key).take_while(|other| other.starts_with(key));
        near.filter(|key| inside(key)).cloned().collect()
    }
}
