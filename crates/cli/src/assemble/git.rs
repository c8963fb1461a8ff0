//! Builds the git provider from the settings.

use std::sync::Arc;
use std::time::Duration;

use catalog::{AccessRules, Address, MetadataRules, MethodClass, Mount, MountOptions};
use providers::git::{DEFAULT_POLL_INTERVAL, FileMethod, FileVisibility, Git, Options, WatchMode};
use resource::{Principal, Uri, UriRewrite as _, uri};

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
    let address = Address::Authority { scheme: "git", name: name.to_owned() };
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
        visibility: build_visibility(&terms, &address),
    };
    let git = match Git::open(&options) {
        Ok(git) => git,
        Err(fault) => {
            let parts = left_out_mount(settings, (name, "git"), mount, &fault.reason)?;
            return Ok((parts, Some(fault.to_string())));
        }
    };
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

/// The rules of a mount, for the files that its resources name: those of diffs, commits and logs.
struct GitFileRules {
    access: Arc<AccessRules>,
    metadata: MetadataRules,
    address: Address,
}

fn build_visibility(terms: &MountOptions, address: &Address) -> Option<Arc<dyn FileVisibility>> {
    let has_rules = !terms.access.is_empty() || terms.rules.has_hide_rule();
    has_rules.then(|| {
        let (access, metadata) = (Arc::clone(&terms.access), terms.rules.clone());
        Arc::new(GitFileRules { access, metadata, address: address.clone() }) as _
    })
}

impl FileVisibility for GitFileRules {
    fn restricts(&self, principal: &Principal) -> bool {
        self.metadata.has_hide_rule()
            || self.access.may_restrict(principal, self.address.root().as_deref())
    }

    fn allows(&self, principal: &Principal, method: FileMethod, file: &Uri) -> bool {
        let class = match method {
            FileMethod::List => MethodClass::List,
            FileMethod::Read => MethodClass::Read,
        };
        let public = self.address.to_public(file.as_str());
        let path = uri::percent_decode_lossy(file.after_scheme().trim_matches('/'));
        self.access.may_use(principal, class, file, public.as_deref())
            && !self.metadata.is_hidden(&path)
    }
}
