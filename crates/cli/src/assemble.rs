//! Builds the catalog of mounts from the settings.
//!
//! The only module that knows every kind of provider.

mod access;
mod charsets;
mod config;
mod docs;
mod env;
mod folder;
mod git;
mod left_out;
mod masking;
mod mount_log;
mod own_resources;
mod own_server;
mod program_env;
mod rendering;
mod rules;
mod search_mount;
mod skill_index;
mod statics;
mod summary;
mod upstream;
mod uri_conflicts;

use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use catalog::{AccessRules, Address, Catalog, MetadataRule, MetadataRules, Mount, MountOptions};
use machinery::{MemoryBudget, WorkPool};
use parking_lot::Mutex;
use providers::statics::Statics;
use providers::upstream::Upstream;
use redaction::Redaction;
use resource::Uri;
use search::IndexedMount;
use toml::Spanned;

use crate::conversion::shared_pool;
use crate::mount_status::{MountStatus, MountsProvider};
use crate::search_index::SearchParts;
use crate::settings::{self, Diagnostic, Fingerprint, MountKind, Settings};
use folder::{folder_mount, watch_mode};
use left_out::LeftOut;
pub(crate) use masking::build_redaction;
use mount_log::ConnectionLog;
pub(crate) use own_resources::OwnResources;
pub(crate) use program_env::check_depth;
pub(crate) use summary::{MountSize, MountSummary};
use upstream::{BuiltUpstream, DeclaredServer, UpstreamFault};

const DEFAULT_MAX_READ: u64 = 10 << 20;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Added to an upstream mount's timeout, so that the client in the provider times out first, with
/// a better message than the mount's.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(1);
/// Default TTL of static mounts: their content changes only with the settings or the files behind
/// it, and subscribers are notified.
const STATIC_TTL: Duration = Duration::from_secs(60);

/// Everything that is served: the catalog, its mounts and the resources of refdesk itself.
pub(crate) struct Assembly {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) mounts: Vec<BuiltMount>,
    /// The resources of refdesk itself, which survive a reload of the settings.
    pub(crate) own: OwnResources,
}

/// A built mount with its status, its summary and the settings it was built from.
#[derive(Clone)]
pub(crate) struct BuiltMount {
    mount: Arc<Mount>,
    status: Arc<MountStatus>,
    pub(crate) summary: MountSummary,
    /// The upstream server, if the mount is one.
    upstream: Option<Arc<Upstream>>,
    /// The log of its connection, until it is begun.
    unlogged: Arc<Mutex<Option<ConnectionLog>>>,
    /// Why the mount is left out, if it is.
    pub(crate) left_out: Option<String>,
    fingerprint: Option<Fingerprint>,
    /// Whether the search index covers it.
    is_indexed: bool,
    /// The access rules and the redaction key for all mounts that it was built with, as text.
    access: String,
}

impl BuiltMount {
    /// Connects to the upstream server, if any, to learn its capabilities. From then on the log
    /// tells when it fails.
    pub(crate) async fn connect(&self) {
        let unlogged = self.unlogged.lock().take();
        if let Some(log) = unlogged {
            tokio::spawn(log.follow());
        }
        if let Some(upstream) = &self.upstream {
            // The log and the mount's state tell the reason.
            let _ = upstream.connect().await;
        }
    }

    /// The mount for the search index; `None` if it is not indexed.
    pub(crate) fn indexed(&self) -> Option<IndexedMount> {
        if !self.is_indexed || self.left_out.is_some() {
            return None;
        }
        // Of a repository, the files as they are now; its history would be the same many times.
        let head = self.summary.root.as_ref().filter(|_| self.summary.kind == "git");
        let head = head.and_then(|root| Uri::parse(&format!("{root}HEAD/")).ok());
        let roots = head.into_iter().collect();
        let alone = Catalog::new(Vec::new());
        alone.replace(vec![Arc::clone(&self.mount)]);
        let name = self.summary.name.clone();
        Some(IndexedMount { name, provider: Arc::new(alone), roots })
    }

    /// Whether `other` is this very mount, not built again.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.mount, &other.mount)
    }
}

/// Builds every mount of the settings; reuses a mount in `made` whose settings did not change.
pub(crate) fn assemble(
    settings: &Settings,
    built: &[BuiltMount],
    resources: &OwnResources,
    search: Option<&SearchParts>,
) -> Result<Assembly, Diagnostic> {
    uri_conflicts::check_conflicts(settings)?;
    // A mount is built again if what all mounts share has changed.
    let (key, render) = (&settings.server.redact_key, &settings.render);
    let access = format!("{:?} {key:?} {render:?}", settings.access);
    let mut all = Vec::new();
    for (name, mount) in &settings.mounts {
        let same = |known: &&BuiltMount| {
            known.summary.name == *name
                && known.fingerprint == mount.fingerprint
                && known.access == access
        };
        all.push(match built.iter().find(same).filter(|_| mount.fingerprint.is_some()) {
            Some(known) => known.clone(),
            None => BuiltMount {
                access: access.clone(),
                is_indexed: search_mount::is_indexed(settings, mount),
                ..build_mount(settings, name, mount, &resources.memory)?
            },
        });
    }
    let terms = internal_terms(access::build_access(settings, &[])?);
    let mounts = status_mount(&all, terms.clone(), search);
    let mounts = mounts.map_err(|error| to_diagnostic(settings, 0..0, &error))?;
    let index = skill_index::index_mount(&all, terms.clone());
    let index = index.map_err(|error| to_diagnostic(settings, 0..0, &error))?;
    let mut own = vec![mounts, index];
    let search = search.filter(|_| all.iter().any(|made| made.is_indexed || made.searches()));
    own.extend(search.map(|search| search_mount::search_mount(search, terms.clone())));
    own.extend(resources.mounts(terms));
    let catalog = Catalog::new(own);
    let own = catalog.mounts();
    catalog.replace(all.iter().map(|made| &made.mount).chain(&*own).cloned().collect());
    Ok(Assembly { catalog: Arc::new(catalog), mounts: all, own: resources.clone() })
}

fn build_mount(
    settings: &Settings,
    name: &str,
    mount: &settings::MountSettings,
    memory: &Arc<MemoryBudget>,
) -> Result<BuiltMount, Diagnostic> {
    let (mut upstream, mut unlogged, mut left_out) = (None, None, None);
    let (mounted, part) = match &mount.kind {
        MountKind::Folder(files) => folder_mount(settings, name, mount, files)?,
        MountKind::Static(declared) => {
            static_mount(settings, name, mount, statics::build_statics(settings, declared)?)?
        }
        MountKind::Config(declared) => config::config_mount(settings, name, mount, declared)?,
        MountKind::Env(declared) => env::env_mount(settings, name, mount, declared)?,
        MountKind::Docs(declared) => docs::docs_mount(settings, name, mount, declared)?,
        MountKind::UpstreamServer(declared) => {
            match (DeclaredServer { settings, name, mount, declared }).build(memory) {
                Ok(built) => {
                    let BuiltUpstream { provider, log } = built;
                    unlogged = Some(log);
                    let made = upstream.insert(Arc::new(provider));
                    upstream_mount(settings, name, (mount, declared), Arc::clone(made))?
                }
                Err(UpstreamFault::Settings(diagnostic)) => return Err(diagnostic),
                Err(UpstreamFault::LeftOut { reason, explanation }) => {
                    left_out = Some(explanation);
                    left_out_mount(settings, (name, "upstream"), mount, &reason)?
                }
            }
        }
        MountKind::Git(declared) => {
            let (parts, why) = git::git_mount(settings, name, (mount, declared))?;
            left_out = why;
            parts
        }
        MountKind::Invalid(why) => {
            left_out = Some(settings.entry_diagnostic((name, mount), why).one_line());
            left_out_mount(
                settings,
                (name, "upstream"),
                mount,
                "its entry in the host's file is not valid",
            )?
        }
    };
    if let Some(why) = &left_out {
        tracing::error!("mount {name} is left out: {why}");
    }
    let mounted = Arc::new(mounted.described(mount.shared.description.clone()));
    let converters = mounted.has_forms().then(|| shared_pool(settings.render.limits()));
    let known = MountStatus::new(&mounted, part.kind, part.root.clone(), converters)
        .map_err(|error| to_diagnostic(settings, mount.span.clone(), &error))?;
    Ok(BuiltMount {
        mount: mounted,
        status: Arc::new(known),
        summary: part,
        upstream,
        unlogged: Arc::new(Mutex::new(unlogged)),
        left_out,
        fingerprint: mount.fingerprint,
        is_indexed: false,
        access: String::new(),
    })
}

/// A mount and its summary.
type MountParts = (Mount, MountSummary);

/// The internal mount with the status of all mounts.
fn status_mount(
    built: &[BuiltMount],
    terms: MountOptions,
    search: Option<&SearchParts>,
) -> resource::Result<Mount> {
    let statuses = built.iter().map(|made| Arc::clone(&made.status)).collect();
    let mounts = MountsProvider::new(statuses, search.map(|search| search.index.clone()))?;
    // Mount names in the settings are of letters, so this name is free, and comes last.
    Ok(Mount::new("~mounts", mounts.address(), mounts, terms).unlisted())
}

/// The threads for work on texts, of all mounts and the server together.
pub(crate) fn shared_work_pool() -> Arc<WorkPool> {
    static POOL: LazyLock<Arc<WorkPool>> = LazyLock::new(Arc::default);
    Arc::clone(&POOL)
}

/// The terms of the internal mounts.
fn internal_terms(access: Arc<AccessRules>) -> MountOptions {
    MountOptions {
        access,
        rules: MetadataRules::default(),
        tools: None,
        max_read: DEFAULT_MAX_READ,
        timeout: DEFAULT_TIMEOUT,
        required: false,
        unpack: false,
        masks_itself: false,
        redaction: Redaction::default(),
        rendering: None,
        work_pool: shared_work_pool(),
    }
}

fn static_mount(
    settings: &Settings,
    name: &str,
    mount: &settings::MountSettings,
    statics: Statics,
) -> Result<MountParts, Diagnostic> {
    charsets::refuse_charsets(settings, mount)?;
    let (uris, templates) = statics.declared_uris();
    let address = Address::Declared { uris: uris.into_iter().collect(), templates };
    let size = MountSize::Fixed(statics.len());
    let part = MountSummary { name: name.to_owned(), kind: "static", root: None, size };
    let terms = mount_terms(settings, mount, std::iter::empty())?;
    Ok((Mount::new(name, address, statics, terms), part))
}

fn upstream_mount(
    settings: &Settings,
    name: &str,
    (mount, declared): (&settings::MountSettings, &settings::UpstreamMount),
    upstream: Arc<Upstream>,
) -> Result<MountParts, Diagnostic> {
    charsets::refuse_charsets(settings, mount)?;
    let address = match declared.unprefixed_span() {
        Some(_) => Address::Fallback,
        None => Address::Scheme { name: name.to_owned() },
    };
    let part = MountSummary {
        name: name.to_owned(),
        kind: "upstream",
        root: address.root(),
        size: MountSize::Uncounted,
    };
    let mut terms = mount_terms(settings, mount, std::iter::empty())?;
    terms.timeout += TIMEOUT_MARGIN;
    terms.tools = upstream::select_tools(settings, declared)?;
    Ok((Mount::new(name, address, upstream, terms).with_sections(), part))
}

/// A mount that is left out, for this reason.
fn left_out_mount(
    settings: &Settings,
    (name, kind): (&str, &'static str),
    mount: &settings::MountSettings,
    reason: &str,
) -> Result<MountParts, Diagnostic> {
    let address = match kind {
        "git" => Address::Authority { scheme: "git", name: name.to_owned() },
        _ => Address::Scheme { name: name.to_owned() },
    };
    let (name_text, root) = (name.to_owned(), address.root());
    let part = MountSummary { name: name_text, kind, root, size: MountSize::LeftOut };
    let terms = mount_terms(settings, mount, std::iter::empty())?;
    let provider = LeftOut::new(reason);
    Ok((Mount::new(name, address, provider, terms), part))
}

fn mount_terms(
    settings: &Settings,
    mount: &settings::MountSettings,
    built_in: impl Iterator<Item = MetadataRule>,
) -> Result<MountOptions, Diagnostic> {
    let common = &mount.shared;
    let redaction = masking::build_redaction(settings, mount)?;
    let own = common.rules.iter().map(|rule| rules::build_rule(settings, rule));
    let all: Vec<MetadataRule> = built_in.map(Ok).chain(own).collect::<Result<_, _>>()?;
    let rules = MetadataRules::new(all)
        .map_err(|error| settings.diagnostic(mount.span.clone(), error.to_string(), None))?;
    Ok(MountOptions {
        access: access::build_access(settings, &common.access)?,
        rules,
        tools: None,
        max_read: common.max_read.map_or(DEFAULT_MAX_READ, |size| size.0),
        timeout: common.timeout.map_or(DEFAULT_TIMEOUT, |span| span.0),
        required: common.required,
        rendering: rendering::build_rendering(settings, mount, &redaction)?,
        work_pool: shared_work_pool(),
        unpack: match &common.archives {
            Some(archives) => *archives.get_ref(),
            None => {
                matches!(mount.kind, MountKind::Folder(_) | MountKind::Git(_) | MountKind::Docs(_))
            }
        },
        masks_itself: false,
        redaction,
    })
}

/// An error if a mount whose resources are no files sets `archives`.
fn refuse_archives(settings: &Settings, mount: &settings::MountSettings) -> Result<(), Diagnostic> {
    let Some(archives) = &mount.shared.archives else { return Ok(()) };
    let message = "a mount of this kind has no archives";
    Err(settings.diagnostic(archives.span(), message, Some("remove this key".to_owned())))
}

/// Parses a URI of the settings.
fn parse_uri(settings: &Settings, text: &Spanned<String>) -> Result<Uri, Diagnostic> {
    Uri::parse(text.get_ref()).map_err(|error| to_diagnostic(settings, text.span(), &error))
}

fn to_diagnostic(settings: &Settings, span: Range<usize>, error: &resource::Error) -> Diagnostic {
    settings.diagnostic(span, error.to_string(), None)
}

#[cfg(test)]
mod denied;
