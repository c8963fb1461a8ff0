//! Path lookup: finds the file or folder at a path if it is visible, and caches open folders.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::error::not_found;
use super::ignore_rules::{IgnoreRules, ParentRules, Visibility};
use super::path::LocalPath;
use super::platform::{DirHandle, FileHandle};
use super::root::FsRoot;
use super::stamp::{FileKind, FileStamp};

/// Most links to folders that one path may lead through.
const MAX_FOLDER_LINKS: usize = 16;

/// Most file names remembered for one folder.
const MAX_KNOWN_FILES: usize = 1_024;

/// A visible folder, open.
#[derive(Clone)]
pub(super) struct Folder {
    pub(super) handle: DirHandle,
    /// Its path without links.
    pub(super) path: LocalPath,
    pub(super) stamp: FileStamp,
    pub(super) visibility: Visibility,
    /// The rules of its own ignore files.
    own_rules: Arc<IgnoreRules>,
    /// The rules from above; only for the root.
    above: Option<Arc<ParentRules>>,
    /// Names known to be visible files in it.
    known_files: Arc<Mutex<HashSet<Vec<u8>>>>,
    /// The folder that contains it.
    parent: Option<Arc<Self>>,
    /// The folders that contain the links followed to get here.
    link_folders: Vec<LocalPath>,
}

/// The file or folder at a path.
pub(super) enum PathEntry {
    Folder(Arc<Folder>),
    File(VisibleFile),
}

/// A visible file.
pub(super) struct VisibleFile {
    pub(super) folder: Arc<Folder>,
    pub(super) name: Vec<u8>,
    pub(super) stamp: FileStamp,
    /// The open file, if the caller asked to open it.
    pub(super) file: Option<FileHandle>,
}

impl PathEntry {
    pub(super) fn stamp(&self) -> &FileStamp {
        match self {
            Self::Folder(folder) => &folder.stamp,
            Self::File(leaf) => &leaf.stamp,
        }
    }

    /// The path of the file, if `path` leads to it through links.
    pub(super) fn link_target(&self, path: &LocalPath) -> Option<Arc<str>> {
        match self {
            Self::File(leaf) if !self.is_at(path) => Some(leaf.link_target()),
            Self::File(_) | Self::Folder(_) => None,
        }
    }

    /// True if `path` leads here without links.
    fn is_at(&self, path: &LocalPath) -> bool {
        match self {
            Self::Folder(folder) => folder.path == *path,
            Self::File(leaf) => path.is_child_of(&leaf.folder.path, &leaf.name),
        }
    }
}

impl VisibleFile {
    /// Its path without links.
    pub(super) fn link_target(&self) -> Arc<str> {
        self.folder.path.join(&self.name).to_text()
    }
}

impl Folder {
    /// True if neither the folder, whose current stamp is `stamp`, nor its ignore files have
    /// changed.
    fn is_current(&self, stamp: &FileStamp) -> bool {
        self.stamp == *stamp && self.own_rules.is_current(&self.handle, stamp)
    }

    /// True if the path that led here contains a link.
    pub(super) fn is_behind_link(&self) -> bool {
        !self.link_folders.is_empty()
    }

    /// True if `name` is known to be a visible file.
    ///
    /// A name cannot start to mean something else without changing the folder's stamp, and then
    /// this folder is no longer used.
    fn has_known_file(&self, name: &[u8]) -> bool {
        self.known_files.lock().contains(name)
    }

    fn remember_file(&self, name: &[u8]) {
        let mut known = self.known_files.lock();
        if self.own_rules.is_settled() && known.len() < MAX_KNOWN_FILES {
            known.insert(name.to_vec());
        }
    }

    fn is_parent_of(&self, inner: &Self) -> bool {
        inner.parent.as_deref().is_some_and(|outer| std::ptr::eq(outer, self))
    }
}

impl FsRoot {
    /// Returns the handle of the root and its stamp. Lets subscriptions check everything if another
    /// folder is there now, or none.
    pub(super) fn root_handle(&self) -> io::Result<(DirHandle, FileStamp)> {
        let handle = self.dir.handle();
        if self.dir.take_replaced() {
            self.rescan_loop.check_everything();
            if !self.uses_inotify() {
                self.rescan_loop.start_polling();
            }
        }
        handle
    }

    /// Returns the rules from above the root. Lets subscriptions check everything if they changed.
    pub(super) fn rules_above(&self) -> io::Result<Arc<ParentRules>> {
        let (rules, differ) = self.parent_rules.rules_above(&self.dir.real_path())?;
        if differ {
            self.rescan_loop.check_everything();
        }
        Ok(rules)
    }

    /// Returns the root folder.
    pub(super) fn root_folder(&self) -> io::Result<Arc<Folder>> {
        let (handle, stamp) = self.root_handle()?;
        let above = self.rules_above()?;
        if let Some(top) = self.folder_cache.get(&b""[..])
            && top.above.as_ref().is_some_and(|rules| Arc::ptr_eq(rules, &above))
            && top.is_current(&stamp)
        {
            return Ok(top);
        }
        let path = LocalPath::default();
        let rules = self.ignore_rules.rules_of(&self.dir, (&handle, &path, &stamp))?;
        let sight = Visibility::new(self, &above);
        let sight = sight.for_subfolder(&path, &rules);
        let (known, outer, links) = (Arc::default(), None, Vec::new());
        Ok(self.cache_folder(Folder {
            handle,
            path,
            stamp,
            visibility: sight,
            own_rules: rules,
            above: Some(above),
            known_files: known,
            parent: outer,
            link_folders: links,
        }))
    }

    /// Finds what is at `path`, following links that stay inside the root.
    pub(super) fn find(&self, path: &LocalPath) -> io::Result<PathEntry> {
        self.check_hidden(path, self.walk_path(path, Self::find_child))
    }

    /// Finds what is at `path` and opens it if it is a file.
    pub(super) fn find_and_open(&self, path: &LocalPath) -> io::Result<PathEntry> {
        self.check_hidden(path, self.walk_path(path, Self::open_child))
    }

    /// Returns `found`, unless the hide filter hides `path`.
    fn check_hidden(
        &self,
        path: &LocalPath,
        found: io::Result<PathEntry>,
    ) -> io::Result<PathEntry> {
        // Lookups without links have already been filtered, and the root is never hidden.
        let is_judged = found.as_ref().is_ok_and(|found| found.is_at(path));
        if !is_judged && path.name().is_some() && self.hide_filter_matches(path.as_bytes()) {
            return Err(not_found());
        }
        found
    }

    fn walk_path(
        &self,
        path: &LocalPath,
        last: impl Fn(&Self, &Arc<Folder>, &[u8]) -> io::Result<PathEntry>,
    ) -> io::Result<PathEntry> {
        let mut folder = self.root_folder()?;
        let mut names = path.names().peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                return last(self, &folder, name);
            }
            // Tries a folder first where only a folder can follow: that saves a stat call.
            folder = match self.enter_folder(&folder, name) {
                Ok(folder) => folder,
                Err(_) => match self.find_child(&folder, name)? {
                    PathEntry::Folder(folder) => folder,
                    PathEntry::File(_) => return Err(not_found()),
                },
            };
        }
        Ok(PathEntry::Folder(folder))
    }

    /// Resolves `name` in `folder`, following links, and opens it if it is a file.
    fn open_child(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<PathEntry> {
        // Opens only what is known to be a file: the other end of a pipe would notice the open.
        if folder.has_known_file(name)
            && let Ok((file, stamp)) = folder.handle.open_file(name)
        {
            let (folder, name, file) = (folder.clone(), name.to_vec(), Some(file));
            return Ok(PathEntry::File(VisibleFile { folder, name, stamp, file }));
        }
        let mut found = self.find_child(folder, name)?;
        if let PathEntry::File(leaf) = &mut found {
            let (file, stamp) = leaf.folder.handle.open_file(&leaf.name)?;
            (leaf.file, leaf.stamp) = (Some(file), stamp);
            leaf.folder.remember_file(&leaf.name);
        }
        Ok(found)
    }

    /// Resolves `name` in `folder`, following links.
    pub(super) fn find_child(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<PathEntry> {
        match folder.handle.stat_child(name)? {
            stamp if stamp.kind == FileKind::Symlink => self.follow_link(folder, name),
            stamp => self.find_plain_child(folder, name, stamp),
        }
    }

    /// Opens the folder `name` in `folder`; an error if it is a link.
    ///
    /// Reuses a cached open folder while the name still refers to it and nothing has changed.
    pub(super) fn enter_folder(
        &self,
        folder: &Arc<Folder>,
        name: &[u8],
    ) -> io::Result<Arc<Folder>> {
        let path = folder.path.join(name);
        if let Some(kept) = self.folder_cache.get(path.as_bytes())
            && folder.is_parent_of(&kept)
            && kept.is_current(&folder.handle.stat_child(name)?)
        {
            return Ok(kept);
        }
        if !folder.visibility.is_visible(path.as_bytes(), true) {
            return Err(not_found());
        }
        let handle = folder.handle.open_folder(name)?;
        let stamp = handle.stat()?;
        let rules = self.ignore_rules.rules_of(&self.dir, (&handle, &path, &stamp))?;
        let sight = folder.visibility.for_subfolder(&path, &rules);
        let (outer, links) = (Some(folder.clone()), folder.link_folders.clone());
        let known = Arc::default();
        Ok(self.cache_folder(Folder {
            handle,
            path,
            stamp,
            visibility: sight,
            own_rules: rules,
            above: None,
            known_files: known,
            parent: outer,
            link_folders: links,
        }))
    }

    /// True if the hide filter hides `path`.
    pub(super) fn hide_filter_matches(&self, path: &[u8]) -> bool {
        self.hide.as_ref().is_some_and(|hide| hide(&String::from_utf8_lossy(path)))
    }

    /// True if lists leave out `name` at `shown`, the path by which the client reached `folder`: the
    /// URI is too long, or the hide filter hides it.
    ///
    /// The filter was applied to names at their real path when the folder was scanned.
    pub(super) fn is_hidden(&self, folder: &Folder, shown: &LocalPath, name: &[u8]) -> bool {
        self.is_hidden_at(folder.path.as_bytes(), shown, name)
    }

    /// The same for a `folder` that may be gone, given its real path.
    pub(super) fn is_hidden_at(&self, folder: &[u8], shown: &LocalPath, name: &[u8]) -> bool {
        let came_by_links = folder != shown.as_bytes();
        self.is_uri_too_long(shown, name)
            || self.hide.is_some()
                && came_by_links
                && self.hide_filter_matches(shown.join(name).as_bytes())
    }

    /// Caches `folder`, unless links led to it or its rules could change without notice.
    fn cache_folder(&self, folder: Folder) -> Arc<Folder> {
        let folder = Arc::new(folder);
        let is_settled = folder.own_rules.is_settled()
            && folder.above.as_ref().is_none_or(|rules| rules.is_settled());
        if folder.link_folders.is_empty() && is_settled {
            self.folder_cache.insert(folder.path.as_bytes().to_vec(), folder.clone(), 1);
        }
        folder
    }

    fn find_plain_child(
        &self,
        folder: &Arc<Folder>,
        name: &[u8],
        stamp: FileStamp,
    ) -> io::Result<PathEntry> {
        match stamp.kind {
            FileKind::Folder => Ok(PathEntry::Folder(self.enter_folder(folder, name)?)),
            FileKind::File
                if folder.has_known_file(name)
                    || folder.visibility.is_visible(folder.path.join(name).as_bytes(), false) =>
            {
                let (folder, name) = (folder.clone(), name.to_vec());
                Ok(PathEntry::File(VisibleFile { folder, name, stamp, file: None }))
            }
            FileKind::File | FileKind::Symlink | FileKind::Other => Err(not_found()),
        }
    }

    /// Follows the link `name` in `folder`. The target must be visible at its real path.
    ///
    /// A link to a folder that contains it leads nowhere; otherwise walks would not end.
    fn follow_link(&self, folder: &Arc<Folder>, name: &[u8]) -> io::Result<PathEntry> {
        let link = folder.path.join(name);
        // Do not resolve a hidden link.
        if folder.link_folders.len() >= MAX_FOLDER_LINKS
            || !folder.visibility.is_visible(link.as_bytes(), false)
        {
            return Err(not_found());
        }
        let target = match self.find_linkless(&self.dir.without_links(&link)?)? {
            PathEntry::Folder(target) => target,
            file @ PathEntry::File(_) => return Ok(file),
        };
        let mut links = folder.link_folders.clone();
        links.push(folder.path.clone());
        let loops = links.iter().any(|path| path.is_within(&target.path));
        if loops || !folder.visibility.is_visible(link.as_bytes(), true) {
            return Err(not_found());
        }
        Ok(PathEntry::Folder(Arc::new(Folder { link_folders: links, ..Folder::clone(&target) })))
    }

    /// Finds what is at `real`, a path without links.
    fn find_linkless(&self, real: &LocalPath) -> io::Result<PathEntry> {
        let mut found = PathEntry::Folder(self.root_folder()?);
        for name in real.names() {
            let PathEntry::Folder(folder) = &found else { return Err(not_found()) };
            found = self.find_plain_child(folder, name, folder.handle.stat_child(name)?)?;
        }
        Ok(found)
    }
}
