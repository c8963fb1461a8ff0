//! Builds the git provider from the settings.

use std::time::Duration;

use catalog::{Address, Mount, MountOptions};
use providers::git::{DEFAULT_POLL_INTERVAL, Git, Options, WatchMode};

use super::{MountParts, MountSize, MountSummary, charsets, left_out_mount, mount_terms};
use crate::settings::{Diagnostic, GitMount, MountSettings, Settings, WatchSetting};

/// Builds one git mount. A repository that cannot be served is left out, for the reason returned;
/// the other mounts are served.
pub(super) fn git_mount(
    settings: &Settings,
    name: &str,
    (mount, declared): (&MountSettings, &GitMount),
) -> Result<(MountParts, Option<String>), Diagnostic> {
    charsets::refuse_charsets(settings, mount)?;
    let terms = mount_terms(settings, mount, std::iter::empty())?;
    let options = Options {
        path: settings.resolve_path(declared.path.get_ref()),
        ttl: declared.ttl.map_or(Duration::ZERO, |span| span.0),
        watch: match declared.watch {
            WatchSetting::Auto => WatchMode::Auto,
            WatchSetting::Poll => WatchMode::Poll,
            WatchSetting::Off => WatchMode::Off,
        },
        poll: declared.poll.map_or(DEFAULT_POLL_INTERVAL, |span| span.0),
        // A public URI has the mount's name more.
        max_uri: settings.server.limits().uri.saturating_sub(name.len()),
        // The provider masks each file before it makes diffs of it, so that no layer has to.
        redaction: terms.redaction.clone(),
    };
    let git = match Git::open(&options) {
        Ok(git) => git,
        Err(fault) => {
            let parts = left_out_mount(settings, (name, "git"), mount, &fault.reason)?;
            return Ok((parts, Some(fault.to_string())));
        }
    };
    let address = Address::Authority { scheme: "git", name: name.to_owned() };
    let summary = MountSummary {
        name: name.to_owned(),
        kind: "git",
        root: address.root(),
        size: MountSize::Uncounted,
    };
    let terms = MountOptions { masks_itself: true, ..terms };
    let mounted = Mount::new(name, address, git, terms);
    Ok(((mounted, summary), None))
}
