//! Builds the folder provider from the settings.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, Mount};
use providers::fs::{
    DEFAULT_MAX_WATCHES, DEFAULT_POLL_INTERVAL, FileApi, Fs, HideFilter, ListingMode, Options,
    WatchMode,
};

use super::{MountParts, MountSize, MountSummary, charsets, mount_terms};
use crate::settings::{
    Diagnostic, FileApiSetting, FolderMount, ListingSetting, MountSettings, Settings, WatchSetting,
};
use crate::{default_rules, descriptors};

/// Builds one folder mount.
pub(super) fn folder_mount(
    settings: &Settings,
    name: &str,
    mount: &MountSettings,
    files: &FolderMount,
) -> Result<MountParts, Diagnostic> {
    let built_in = files.builtin_rules.then(default_rules::built_in).into_iter().flatten();
    let terms = mount_terms(settings, mount, built_in)?;
    // The rules layer hides by URI. The provider hides too: it enters no hidden folder, and only
    // it sees what a symlink leads to.
    let hide = terms.rules.has_hide_rule().then(|| {
        let rules = terms.rules.clone();
        Arc::new(move |path: &str| rules.is_hidden(path)) as HideFilter
    });
    let options = Options {
        root: settings.resolve_path(files.path.get_ref()),
        listing: listing_mode(files.listing),
        hidden: files.hidden,
        ignore_files: true,
        hide,
        charsets: charsets::build_charsets(settings, mount)?,
        ttl: files.ttl.map_or(Duration::ZERO, |span| span.0),
        watch: watch_mode(files.watch),
        poll: files.poll.map_or(DEFAULT_POLL_INTERVAL, |span| span.0),
        watches: files.watches.unwrap_or(DEFAULT_MAX_WATCHES),
        // A public URI has the mount's name and a slash more.
        max_uri: settings.server.limits().uri.saturating_sub(name.len() + 1),
        open_folders: descriptors::open_folders_per_mount(settings.mounts.len()),
        file_api: file_api(files.file_api),
    };
    let root = std::path::absolute(&options.root).unwrap_or_else(|_| options.root.clone());
    let fs = Fs::open(options).map_err(|error| {
        let shown = files.path.get_ref().display().to_string();
        let message = format!("the folder `{shown}` of mount `{name}` cannot be opened: {error}");
        let hint = "paths are relative to the settings file";
        settings.diagnostic(files.path.span(), message, Some(hint.to_owned()))
    })?;
    let fs = Arc::new(fs);
    let address = Address::Path { scheme: "file", name: name.to_owned() };
    let part = MountSummary {
        name: name.to_owned(),
        kind: "fs",
        root: address.root(),
        size: MountSize::Folder(Arc::clone(&fs)),
    };
    Ok((Mount::new(name, address, fs, terms).at_folder(root), part))
}

/// What a list without parent shows.
pub(super) fn listing_mode(setting: ListingSetting) -> ListingMode {
    match setting {
        ListingSetting::Auto => ListingMode::Auto,
        ListingSetting::Flat => ListingMode::Flat,
        ListingSetting::Tree => ListingMode::Tree,
    }
}

/// Which file system calls are made.
pub(super) fn file_api(setting: FileApiSetting) -> FileApi {
    match setting {
        FileApiSetting::Native => FileApi::Native,
        FileApiSetting::Portable => FileApi::Portable,
    }
}

/// How changes are found.
pub(super) fn watch_mode(setting: WatchSetting) -> WatchMode {
    match setting {
        WatchSetting::Auto => WatchMode::Auto,
        WatchSetting::Poll => WatchMode::Poll,
        WatchSetting::Off => WatchMode::Off,
    }
}
