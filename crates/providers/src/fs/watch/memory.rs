//! What is remembered for one who listens?

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

/// So many folders are looked at for the first time before others have their turn.
const FOLDERS: usize = 512;

/// So many names likewise.
const NAMES: usize = 20_000;

/// What one who listens has been told of so far.
pub(in crate::fs) struct Memory {
    subject: Subject,
    /// Whether what lies in the folders of a folder matters too.
    deep: bool,
    /// Folders by where they really lie.
    folders: BTreeMap<Vec<u8>, Known>,
    /// Folders still to be looked at, and whether what is in them is news.
    ahead: Vec<(Local, bool)>,
    /// Folders that could not be looked at, and are to be tried again.
    failed: Vec<Local>,
    /// Whether anything else could not be looked at, so that all is to be looked at again.
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

    /// Takes the first look; false if there is nothing to look at.
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

    /// Compares what is there with what was, as far as it may differ by what was `heard`.
    pub(super) fn look(&mut self, site: &Site, heard: &Heard, feed: &Feed) -> Left {
        let mut all = heard.all;
        if heard.all || heard.again {
            all |= std::mem::take(&mut self.missed);
            // Whatever changed there since is told with what is found.
            self.ahead.extend(self.failed.drain(..).map(|path| (path, true)));
        }
        if let Subject::One(one) = &mut self.subject
            && (all || one.may_be_meant(heard))
        {
            // One that cannot be read just now is neither gone nor changed.
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

    /// Whether `folder` is to be remembered when it is listed by itself.
    pub(super) fn lacks(&self, folder: &Folder) -> bool {
        let is_known = self.folders.contains_key(folder.path.as_bytes());
        !is_known && self.folders.len() < MOST_LISTED
    }

    /// Remembers a folder that is about to be listed by itself. True if that failed, and is to be
    /// tried again.
    pub(super) fn heed(&mut self, site: &Site, folder: &Folder, feed: &Feed) -> bool {
        self.try_enter(site, &folder.path, false, feed);
        !self.failed.is_empty()
    }

    /// Keeps to the one folder that was asked for, wherever it lies now.
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
        // An ignore file has its say in all that lies further in.
        if touched.whole || FILES.iter().any(|file| touched.names.contains(*file)) {
            return self.refresh(site, key, feed);
        }
        self.examine(site, key, Some(&touched.names), feed);
        let Some(path) = Local::from_bytes(key) else { return };
        for name in &touched.names {
            // A folder may have been taken away and another put in its place.
            let inner = path.join(name);
            if self.folders.contains_key(inner.as_bytes()) {
                self.refresh(site, inner.as_bytes(), feed);
            }
        }
    }

    /// Looks at the folder `key` and all known folders in it, with all that they hold.
    fn refresh(&mut self, site: &Site, key: &[u8], feed: &Feed) {
        for key in self.within(key) {
            if feed.is_heard() {
                self.examine(site, &key, None, feed);
            }
        }
    }

    /// Tells what is different in the folder `key`: of all that is in it, or of these names only.
    fn examine(&mut self, site: &Site, key: &[u8], only: Option<&HashSet<Vec<u8>>>, feed: &Feed) {
        let (Some(path), Some(known)) = (Local::from_bytes(key), self.folders.get_mut(key)) else {
            return;
        };
        let held = |folder: Arc<Folder>| {
            if only.is_some() {
                return Ok(folder);
            }
            // It may be another folder than the one that was listened to.
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

    /// Looks further in from now on, if a plain list has come to show what lies there.
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

    /// Whether only what lies directly in a folder matters.
    pub(super) fn is_shallow(&self) -> bool {
        !self.deep
    }

    /// Remembers all there is, which is about to be listed. True if that has to go on later.
    pub(super) fn heed_all(&mut self, site: &Site, feed: &Feed) -> bool {
        self.deepen();
        self.walk_on(site, feed) != Left::Nothing
    }

    /// Looks at what lies further in too, from now on.
    fn deepen(&mut self) {
        self.deep = true;
        for (key, known) in &self.folders {
            let Some(path) = Local::from_bytes(key) else { continue };
            let names = (0..known.names.len()).filter_map(|index| known.names.get(index));
            let inner = names.filter(|(_, kind)| *kind == Kind::Folder);
            self.ahead.extend(inner.map(|(name, _)| (path.join(name), false)));
        }
    }

    /// Tells that names came or went in the folder shown as `shown`.
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

    /// Forgets the folder `key` and all in it, and tells that it is gone.
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

    /// Looks at folders for the first time, and says whether some are left for later.
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

    /// Looks at a folder for the first time, now or when that can be done. How many names it has.
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
        // Found again, since it may have changed before it was listened to.
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

    /// The known folders at `key` and in it.
    fn within(&self, key: &[u8]) -> Vec<Vec<u8>> {
        let Some(path) = Local::from_bytes(key) else { return Vec::new() };
        let known = self.folders.range(key.to_vec()..);
        let inside = |key: &Vec<u8>| Local::from_bytes(key).is_some_and(|key| key.is_within(&path));
        // Between a folder and what lies in it stand only names that begin like it.
        let near = known.map(|(key, _)| key).take_while(|other| other.starts_with(key));
        near.filter(|key| inside(key)).cloned().collect()
    }
}
