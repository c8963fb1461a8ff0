//! The resources of refdesk itself that survive a reload of the settings, and their mounts.

use std::sync::Arc;
use std::time::Duration;

use catalog::{AccessRules, Address, Mount, MountOptions};
use machinery::MemoryBudget;
use resource::{Uri, UriTemplate};
use server::{BASKET_TEMPLATE, BasketRegistry, ClientRegistry, WatcherRegistry};

use crate::audit_log::mask_target;
use crate::basket_files::BasketFiles;
use crate::settings::Settings;

/// The time limit of a basket. Every resource in it has a shorter one of its own.
const BASKET_TIMEOUT: Duration = Duration::from_secs(600);

/// Who is connected, who watches what, and what people put together.
#[derive(Clone)]
pub(crate) struct OwnResources {
    pub(crate) watchers: Arc<WatcherRegistry>,
    pub(crate) clients: Arc<ClientRegistry>,
    pub(crate) baskets: Arc<BasketRegistry>,
    /// What the server and the clients of mounts hold in memory.
    pub(crate) memory: Arc<MemoryBudget>,
}

impl OwnResources {
    /// Resources of a program that serves nobody.
    pub(crate) fn new() -> Self {
        Self {
            watchers: WatcherRegistry::new(),
            clients: ClientRegistry::masking(mask_target),
            baskets: BasketRegistry::new(None),
            memory: MemoryBudget::new(usize::MAX),
        }
    }

    /// Resources of a program that serves these settings: its baskets outlive it.
    pub(crate) fn stored(settings: &Settings, memory: usize) -> Self {
        let files = BasketFiles::of(settings);
        if files.is_none() {
            tracing::warn!("there is no state folder; baskets will end with this process");
        }
        let files = files.map(|files| Arc::new(files) as _);
        let (baskets, memory) = (BasketRegistry::new(files), MemoryBudget::new(memory));
        Self { baskets, memory, ..Self::new() }
    }

    /// The mounts of these resources. The names of mounts in the settings are of letters, so these
    /// names are free.
    pub(super) fn mounts(&self, terms: MountOptions) -> Vec<Mount> {
        let watchers_uri = self.watchers.uri();
        let templates = UriTemplate::parse(watchers_uri.as_str()).into_iter().collect();
        let watchers = address_of(Some(watchers_uri), templates);
        let clients = address_of(Some(self.clients.uri()), Vec::new());
        let templates = UriTemplate::parse(BASKET_TEMPLATE).into_iter().collect();
        let baskets = address_of(None, templates);
        // A basket is its principal's own; the mounts of the resources in it know who may have them.
        let own_terms = MountOptions {
            access: Arc::new(AccessRules::default()),
            timeout: BASKET_TIMEOUT,
            ..terms.clone()
        };
        vec![
            Mount::new("~subscriptions", watchers, Arc::clone(&self.watchers), terms.clone())
                .unlisted(),
            Mount::new("~clients", clients, Arc::clone(&self.clients), terms).unlisted(),
            Mount::new("~baskets", baskets, Arc::clone(&self.baskets), own_terms).unnamed(),
        ]
    }
}

fn address_of(uri: Option<&Uri>, templates: Vec<UriTemplate>) -> Address {
    Address::Declared { uris: uri.cloned().into_iter().collect(), templates }
}
