//! Schema of a git mount (`kind = "git"`).

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::fingerprint::Fingerprint;
use super::mount::SharedSettings;
use super::units::TimeSpan;
use super::{MountKind, MountSettings, Settings, WatchSetting};

/// A mount of a git repository.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitMount {
    /// The repository, its worktree, or a folder in it.
    pub(crate) path: Spanned<PathBuf>,
    pub(crate) ttl: Option<TimeSpan>,
    #[serde(default)]
    pub(crate) watch: WatchSetting,
    pub(crate) poll: Option<TimeSpan>,
}

impl Settings {
    /// Adds the repository that the folder of mount `name` is in, if there is one, once.
    pub(super) fn add_repository(&mut self, name: &str, folder: &Path) {
        let Some(repository) = providers::git::find_repository(folder) else { return };
        let is_same = |mount: &MountSettings| match &mount.kind {
            MountKind::Git(known) => *known.path.get_ref() == repository,
            _ => false,
        };
        if !self.mounts.values().any(is_same) {
            let name = self.unused_name(&format!("{name}-git"));
            self.mounts.insert(name, MountSettings::git(repository));
        }
    }
}

impl MountSettings {
    /// A git mount with default settings.
    fn git(path: PathBuf) -> Self {
        let (watch, path) = (WatchSetting::Auto, Spanned::new(0..0, path));
        let repository = GitMount { path, ttl: None, watch, poll: None };
        let fingerprint = Some(Fingerprint::of_text(&format!("{repository:?}")));
        Self {
            span: 0..0,
            kind: MountKind::Git(repository),
            shared: SharedSettings::default(),
            fingerprint,
            host_entry: None,
        }
    }
}
