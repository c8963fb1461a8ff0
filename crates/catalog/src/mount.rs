//! A mount: a provider under a name and an address, wrapped in its layers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use machinery::WorkPool;
use parking_lot::Mutex;
use redaction::{Redaction, RedactionScope};
use resource::{
    Context, Error, HealthFact, HealthStatus, MountInfo, PageRequest, Principal, Provider, Uri,
    UriRewrite,
};

use crate::access::AccessRules;
use crate::address::Address;
use crate::layers::allowed::Allowed;
use crate::layers::bounded::Bounded;
use crate::layers::redacted::{Redacted, RedactedMembers};
use crate::layers::rendered::Rendered;
use crate::layers::ruled::MetadataRules;
use crate::layers::selected::ToolSelection;
use crate::layers::timed::Timed;
use crate::layers::unpacked::Unpacked;
use crate::layers::withheld::Withheld;
use crate::layers::{self, Layer};
use crate::memo::Memo;

/// How many characters of a source's name and version are told, and of its other texts.
const NAME_CHARS: usize = 100;
const FACT_CHARS: usize = 1_000;

/// A provider under a name, wrapped in its layers.
pub struct Mount {
    /// Its name in the settings.
    pub name: String,
    /// How its local URIs map to public ones.
    pub address: Arc<Address>,
    /// Whether a list fails if this mount fails.
    pub required: bool,
    /// Whether lists include it.
    pub(crate) listed: bool,
    /// Whether people and models are told of it as a mount.
    pub(crate) named: bool,
    /// Whether clients find its tools by search instead of in the list.
    pub(crate) tools_by_search: bool,
    /// The folder of this machine that it serves.
    folder: Option<PathBuf>,
    /// What it holds, as the settings say.
    description: Option<String>,
    access: Arc<AccessRules>,
    /// Whether pages, sheets and slides are read here: of documents, or behind a server.
    pub(crate) has_sections: bool,
    has_forms: bool,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) publish_memo: Memo,
    /// Why the last list went without it, as the log says.
    logged_absence: Mutex<Option<String>>,
}

/// The options of a mount.
#[derive(Clone)]
pub struct MountOptions {
    /// Who may do what.
    pub access: Arc<AccessRules>,
    /// Metadata and visibility by glob pattern.
    pub rules: MetadataRules,
    /// Which tools are offered, and how; `None` for all of them as they are.
    pub tools: Option<ToolSelection>,
    /// The maximum number of bytes per read. Larger resources are read in windows.
    pub max_read: u64,
    /// The time limit of one call.
    pub timeout: Duration,
    /// Whether a list fails if this mount fails.
    pub required: bool,
    /// Whether archives are collections, whose members are resources.
    pub unpack: bool,
    /// Whether the provider masks by itself: then only members of archives, and what is no content, are
    /// masked around it.
    pub masks_itself: bool,
    /// What the layer around the provider masks.
    pub redaction: Redaction,
    /// How documents are given in other forms; `None` if they are not.
    pub rendering: Option<Rendered>,
    /// The threads for work on texts, which mounts and the server share.
    pub work_pool: Arc<WorkPool>,
}

impl MountOptions {
    /// The layers of a mount at `address`, the outermost first. The order matters: the time limit
    /// covers everything, what is denied or hidden does not reach the provider, and secrets in texts
    /// reach no layer but those that unpack and mask them.
    fn layers(self, address: &Arc<Address>) -> Vec<Box<dyn Layer>> {
        let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(Timed(self.timeout))];
        if !self.access.is_empty() {
            layers.push(Box::new(Allowed {
                rules: self.access,
                address: Arc::clone(address),
                unpacks: self.unpack,
            }));
        }
        if let Some(tools) = self.tools {
            layers.push(Box::new(tools));
        }
        if !self.rules.is_empty() {
            layers.push(Box::new(self.rules));
        }
        layers.push(Box::new(Bounded(self.max_read)));
        if self.unpack && self.redaction.scope() != RedactionScope::Off {
            layers.push(Box::new(Withheld(self.redaction.clone())));
        }
        if let Some(rendering) = self.rendering {
            layers.push(Box::new(rendering));
        }
        if self.redaction.scope() != RedactionScope::Off {
            match self.masks_itself {
                false => layers.push(Box::new(Redacted {
                    redaction: self.redaction,
                    work_pool: self.work_pool,
                })),
                // Errors, completions and logs are masked here too, whether there are archives or not.
                true => layers.push(Box::new(RedactedMembers {
                    redaction: self.redaction,
                    work_pool: self.work_pool,
                })),
            }
        }
        if self.unpack {
            layers.push(Box::new(Unpacked));
        }
        layers
    }
}

impl Mount {
    /// Mounts `provider` under `name`, wrapped in the layers of `options`.
    pub fn new(
        name: &str,
        address: Address,
        provider: impl Provider,
        options: MountOptions,
    ) -> Self {
        let access = Arc::new(options.access.for_address(&address));
        let options = MountOptions { access: Arc::clone(&access), ..options };
        let required = options.required;
        let has_forms = options.rendering.is_some();
        let tools_by_search = options.tools.as_ref().is_some_and(|tools| tools.by_search);
        let (address, publish_memo) = (Arc::new(address), Memo::default());
        let provider = layers::wrap(Arc::new(provider), &options.layers(&address));
        let name = name.to_owned();
        let (listed, folder, logged_absence) = (true, None, Mutex::default());
        Self {
            name,
            address,
            required,
            listed,
            named: true,
            tools_by_search,
            folder,
            description: None,
            access,
            has_sections: has_forms,
            has_forms,
            provider,
            publish_memo,
            logged_absence,
        }
    }

    /// The mount serves this folder, whose paths also name its resources.
    #[must_use]
    pub fn at_folder(self, folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..self }
    }

    /// The mount holds this, in words for people and models.
    #[must_use]
    pub fn described(self, description: Option<String>) -> Self {
        Self { description, ..self }
    }

    /// The mount, as people and models are told of it.
    pub(crate) fn info(&self, ctx: &Context) -> MountInfo {
        let kind = match &*self.address {
            Address::Path { .. } => "folder",
            Address::Docs { .. } => "documentation",
            Address::Authority { scheme: "config", .. } => "configuration",
            Address::Authority { scheme: "env", .. } => "environment",
            Address::Authority { scheme, .. } => scheme,
            Address::Scheme { .. } | Address::Fallback => "server",
            Address::Declared { .. } => "documents",
        };
        let root = match &*self.address {
            Address::Path { .. } | Address::Authority { .. } | Address::Docs { .. } => {
                self.address.root().and_then(|root| Uri::parse(&root).ok())
            }
            _ => None,
        };
        let health = self.health(ctx);
        let (name, folder) = (self.name.clone(), self.folder.clone());
        let (description, is_restricted) = (self.description.clone(), self.is_restricted());
        MountInfo { name, kind, root, description, folder, health, is_restricted }
    }

    /// The health of its source, as far as the principal may know it. Texts are cut here, behind the
    /// layer that masks them: of a secret across the cut, nothing is left to be recognized by.
    pub fn health(&self, ctx: &Context) -> HealthStatus {
        let health = self.provider.facets().health;
        let mut status = health.map_or_else(HealthStatus::ready, |health| health.health(ctx));
        status.facts.iter_mut().for_each(|(name, fact)| cut_fact(name, fact));
        status
    }

    /// Logs that a list goes without the mount, once for each reason until it is listed again.
    pub(crate) fn log_absence(&self, error: &Error) {
        let reason = error.last_cause();
        let mut logged = self.logged_absence.lock();
        if logged.as_ref() != Some(&reason) {
            tracing::warn!("mount {} cannot be listed: {reason}", self.name);
            *logged = Some(reason);
        }
    }

    /// The mount was listed, so that its next absence is logged again.
    pub(crate) fn end_absence(&self) {
        *self.logged_absence.lock() = None;
    }

    /// Whether the mount exists for `principal`: the access rules let it reach something.
    pub fn exists_for(&self, principal: &Principal) -> bool {
        self.access.show_mount(principal)
    }

    /// Whether it gives documents in other forms.
    pub fn has_forms(&self) -> bool {
        self.has_forms
    }

    /// Whether access rules keep some of it from some principals.
    pub fn is_restricted(&self) -> bool {
        !self.access.is_empty()
    }

    /// Whether the list that `paging` requests may show something of this mount.
    pub(crate) fn may_match(&self, paging: &PageRequest) -> bool {
        let Some(filter) = &paging.filter else { return true };
        filter.mount.as_ref().is_none_or(|mount| *mount == self.name)
            && filter.path.as_ref().is_none_or(|path| self.address.may_match(path.prefix()))
    }

    /// The same request, for the mount's local URIs.
    pub(crate) fn local_paging(&self, paging: &PageRequest) -> PageRequest {
        let Some(filter) = &paging.filter else { return paging.clone() };
        let rewrite: Arc<dyn UriRewrite> = Arc::clone(&self.address) as _;
        paging.clone().with_filter(Some(Arc::new(filter.for_mount(&rewrite))))
    }

    /// Whether it is the fallback: it serves URIs that no other mount claims.
    pub(crate) fn is_fallback(&self) -> bool {
        matches!(*self.address, Address::Fallback)
    }

    /// The provider itself knows pages, sheets and slides, or refuses them.
    #[must_use]
    pub fn with_sections(mut self) -> Self {
        self.has_sections = true;
        self
    }

    /// Keeps the mount out of the list of mounts. Lists of resources include what it has.
    #[must_use]
    pub fn unnamed(mut self) -> Self {
        self.named = false;
        self
    }

    /// Excludes the mount from lists. Its resources are still read by URI.
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }
}

/// Cuts the texts of a fact.
fn cut_fact(name: &str, fact: &mut HealthFact) {
    match fact {
        HealthFact::Text(text) => {
            let most = if ["name", "version"].contains(&name) { NAME_CHARS } else { FACT_CHARS };
            if let Some((end, _)) = text.char_indices().nth(most) {
                text.truncate(end);
            }
        }
        HealthFact::Group(facts) => facts.iter_mut().for_each(|(name, one)| cut_fact(name, one)),
        HealthFact::Flag(_) | HealthFact::Count(_) | HealthFact::Time(_) => {}
    }
}
