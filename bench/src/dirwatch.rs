//! Counts the folders that another process reads, with inotify.
//!
//! Reading a folder's entries is an access event of that folder. Nothing is traced, so the
//! observed process runs at full speed.

use std::{
    collections::HashSet,
    fs,
    mem::MaybeUninit,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rustix::{
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};

/// An inotify instance that watches the root of a tree and its direct subfolders.
pub(crate) struct DirWatch {
    inotify: OwnedFd,
    folders: usize,
}

impl DirWatch {
    /// Watches the root and the folders right below it.
    pub(crate) fn start(root: &Path) -> anyhow::Result<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
            .context("start watching folders")?;
        let mut folders = vec![root.to_owned()];
        for entry in fs::read_dir(root).context("read the tree's root")? {
            let path: PathBuf = entry.context("read the tree's root")?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
        for folder in &folders {
            inotify::add_watch(&inotify, folder, WatchFlags::ACCESS | WatchFlags::ONLYDIR)
                .context("watch a folder")?;
        }
        Ok(Self { inotify, folders: folders.len() })
    }

    /// The number of watched folders.
    pub(crate) const fn folders(&self) -> usize {
        self.folders
    }

    /// The number of folders read since the start; all of them if the event queue overflowed.
    pub(crate) fn looked_into(&self) -> anyhow::Result<usize> {
        let mut space = vec![MaybeUninit::uninit(); 64 << 10];
        let mut reader = inotify::Reader::new(&self.inotify, &mut space);
        let mut seen = HashSet::new();
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(seen.len()),
                Err(error) => return Err(error).context("read inotify events"),
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return Ok(self.folders);
            }
            // A name means that something inside the folder was read, not the folder itself.
            if event.events().contains(ReadFlags::ACCESS) && event.file_name().is_none() {
                seen.insert(event.wd());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DirWatch;

    #[test]
    fn only_folders_that_were_read_are_counted() {
        let root = std::env::temp_dir().join(format!("bench-dirwatch-{}", std::process::id()));
        for name in ["a", "b", "c"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let watch = DirWatch::start(&root).unwrap();
        assert_eq!(watch.folders(), 4);
        assert_eq!(std::fs::read_dir(root.join("b")).unwrap().count(), 0);
        assert_eq!(watch.looked_into().unwrap(), 1);
        std::fs::remove_dir_all(root).unwrap();
    }
}
