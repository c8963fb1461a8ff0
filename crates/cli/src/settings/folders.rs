//! Folders in the settings: those that the command line names, and all that are served.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use catalog::Address;

use super::{MountKind, MountSettings, Settings, to_mount_name};

impl Settings {
    /// Settings that serve the given folders, each under its given name or one made from the last
    /// segment of its path.
    pub(crate) fn for_folders(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let mut settings = Self::default();
        for path in paths {
            let (name, folder) = split_named_folder(path);
            let whole = folder
                .canonicalize()
                .with_context(|| format!("cannot serve the folder {}", folder.display()))?;
            if whole.is_file() {
                let hint = format!("pass a settings file as --settings {}", folder.display());
                anyhow::bail!("{} is a file, not a folder; {hint}", folder.display());
            }
            let name = match name {
                Some(name) => settings.check_new_name(name)?.to_owned(),
                None => {
                    let stem =
                        whole.file_name().map_or("root".into(), |name| name.to_string_lossy());
                    settings.unused_name(&to_mount_name(&stem))
                }
            };
            settings.add_repository(&name, &whole);
            settings.mounts.insert(name, MountSettings::folder(whole));
        }
        Ok(settings)
    }

    /// What the URIs of each folder begin with, and where it is.
    pub(crate) fn served_folders(&self) -> Vec<(String, PathBuf)> {
        let folder = |(name, mount): (&String, &MountSettings)| {
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

/// Splits `NAME=PATH`; a path that exists as it is has no name. A shell does not expand the `~` of
/// `NAME=~/PATH`, so it is expanded here.
pub(crate) fn split_named_folder(path: &Path) -> (Option<&str>, PathBuf) {
    let named = path.to_str().and_then(|text| text.split_once('='));
    match named {
        Some((name, folder)) if !name.contains('/') && !path.exists() => {
            let home = std::env::var_os("HOME").map(PathBuf::from);
            let in_home = folder.strip_prefix("~/").and_then(|rest| Some(home?.join(rest)));
            (Some(name), in_home.unwrap_or_else(|| folder.into()))
        }
        _ => (None, path.to_owned()),
    }
}
