//! Hub monitor: which interests a principal subscribes to, and when each last changed.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::SystemTime;

use resource::{Interest, Principal};
use tokio::sync::watch;

use crate::hub::HubState;

/// Looks at a hub without keeping it alive.
#[derive(Clone)]
pub struct HubMonitor {
    pub(crate) hub: Weak<HubState>,
    pub(crate) activity: watch::Receiver<()>,
}

/// The subscribers of one interest that one principal has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterestStatus {
    /// What they subscribe to.
    pub interest: Interest,
    /// How many there are.
    pub subscribers: usize,
    /// When they were last told of a change.
    pub last_change: Option<SystemTime>,
}

impl HubMonitor {
    /// The interests that `principal` subscribes to, in a fixed order.
    pub fn interests_of(&self, principal: &Principal) -> Vec<InterestStatus> {
        let Some(hub) = self.hub.upgrade() else { return Vec::new() };
        let mut found: BTreeMap<String, InterestStatus> = BTreeMap::new();
        for group in hub.groups() {
            let subscribers = group.count_of(principal);
            if subscribers == 0 {
                continue;
            }
            let interest = group.interest().clone();
            let status = found.entry(format!("{interest:?}")).or_insert_with(|| InterestStatus {
                interest,
                subscribers: 0,
                last_change: None,
            });
            status.subscribers += subscribers;
            status.last_change = status.last_change.max(group.last_change());
        }
        found.into_values().collect()
    }

    /// Resolves after each subscription, each end of one, and each delivered change.
    pub fn activity(&self) -> watch::Receiver<()> {
        self.activity.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use machinery::MemoryShares;
    use resource::{Change, Interest, Principal, Uri};
    use testkit::MemoryProvider;

    use crate::{DebounceConfig, Hub, Mailbox};

    #[tokio::test(start_paused = true)]
    async fn each_principal_sees_its_subscriptions_and_when_they_changed() {
        let memory = Arc::new(MemoryProvider::new().text("a:1", "one").with_watches());
        let shares = Arc::new(MemoryShares::new(1 << 20, 1 << 20));
        let hub = Hub::new(Arc::clone(&memory) as _, DebounceConfig::default(), 10, shares);
        let (monitor, ada) = (hub.monitor(), Principal::authenticated("ada"));
        let uri = Uri::parse("a:1").unwrap();
        let interest = Interest::Resource(uri.clone());
        let mailbox = Mailbox::default();
        let mut activity = monitor.activity();
        let subscription = hub.subscribe(&ada, interest.clone(), &mailbox).await.unwrap();
        activity.changed().await.unwrap();
        assert_eq!(monitor.interests_of(&Principal::local()), []);
        let [status] = &monitor.interests_of(&ada)[..] else { panic!("one interest") };
        assert_eq!((&status.interest, status.subscribers), (&interest, 1));
        assert_eq!(status.last_change, None);
        memory.notify(&Change::Updated(uri));
        activity.changed().await.unwrap();
        assert!(monitor.interests_of(&ada)[0].last_change.is_some());
        drop(subscription);
        activity.changed().await.unwrap();
        assert_eq!(monitor.interests_of(&ada), []);
    }
}
