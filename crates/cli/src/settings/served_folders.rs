//! The folders of this machine that the settings serve, and their URIs.

use std::path::PathBuf;

use catalog::Address;

use super::{MountKind, Settings};

impl Settings {
    /// What the URIs of each folder begin with, and where it is.
    pub(crate) fn served_folders(&self) -> Vec<(String, PathBuf)> {
        let folder = |(name, mount): (&String, &super::MountSettings)| {
            let path = match &mount.kind {
                MountKind::Folder(folder) => folder.path.get_ref(),
                MountKind::Docs(docs) => docs.path.get_ref(),
                _ => return None,
            };
            let path = std::path::absolute(self.resolve_path(path)).ok()?;
            let uri = Address::Path { scheme: "file", name: name.clone() }.root()?;
            Some((uri, path.canonicalize().unwrap_or(path)))
        };
        self.mounts.iter().filter_map(folder).collect()
    }
}
