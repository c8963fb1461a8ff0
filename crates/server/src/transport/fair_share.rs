//! Fair share: the places of a bounded resource, shared fairly between those who take them.
//!
//! While places are free, an owner may take any number. Once all are taken, the owner of the most
//! makes room for one who has fewer: it loses the place that has been idle for the longest time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use resource::Principal;
use tokio::sync::Notify;
use tokio::time::{self, Instant};

/// Who takes a place: a principal, if it is known already, at an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    principal: Option<Arc<str>>,
    address: Option<IpAddr>,
}

impl Owner {
    /// An owner; without an address it is a process of this machine.
    pub(crate) fn new(principal: Option<&Principal>, address: Option<IpAddr>) -> Self {
        let principal = principal.map(|principal| Arc::clone(principal.key()));
        Self { principal, address: address.map(network_of) }
    }
}

/// One client is one IPv4 address, or one IPv6 network: it can choose any address inside it.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
    }
}

/// A number of places.
pub(crate) struct FairShare {
    max: usize,
    /// How long a place must be idle before an owner who has no less may take it.
    patience: Duration,
    taken: Mutex<TakenPlaces>,
    /// Wakes those who wait for a place.
    freed: Notify,
}

#[derive(Default)]
struct TakenPlaces {
    next: u64,
    places: HashMap<u64, (Owner, Arc<PlaceState>)>,
}

struct PlaceState {
    activities: AtomicUsize,
    last_active: Mutex<Instant>,
    is_evicted: AtomicBool,
    /// Wakes whoever waits for the eviction.
    evicted: Notify,
}

impl PlaceState {
    fn evict(&self) {
        self.is_evicted.store(true, Ordering::Release);
        self.evicted.notify_waiters();
    }

    /// Orders places by how little they would be missed: idle ones first, the longest idle of all.
    fn rank(&self) -> (bool, Instant) {
        (self.activities.load(Ordering::Relaxed) > 0, *self.last_active.lock())
    }

    fn is_idle_for(&self, span: Duration) -> bool {
        let (is_active, last_active) = self.rank();
        !is_active && last_active.elapsed() >= span
    }
}

impl FairShare {
    pub(crate) fn new(max: usize, patience: Duration) -> Arc<Self> {
        let (taken, freed) = (Mutex::default(), Notify::new());
        Arc::new(Self { max, patience, taken, freed })
    }

    /// Takes a place for `owner`, if need be from the owner of the most; `None` if all are in use
    /// and fairly shared.
    pub(crate) fn take(self: &Arc<Self>, owner: &Owner) -> Option<Place> {
        let mut taken = self.taken.lock();
        if taken.places.len() >= self.max {
            let victim = taken.find_victim(owner, self.patience)?;
            if let Some((_, state)) = taken.places.remove(&victim) {
                state.evict();
            }
        }
        let state = Arc::new(PlaceState {
            activities: AtomicUsize::new(0),
            last_active: Mutex::new(Instant::now()),
            is_evicted: AtomicBool::new(false),
            evicted: Notify::new(),
        });
        let id = taken.next;
        taken.next += 1;
        taken.places.insert(id, (owner.clone(), Arc::clone(&state)));
        Some(Place { share: Arc::clone(self), id, state })
    }

    /// Waits for a place for `owner`.
    pub(crate) async fn wait(self: &Arc<Self>, owner: &Owner) -> Place {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            // Registers before the look, so that no place that is freed meanwhile is missed.
            freed.as_mut().enable();
            if let Some(place) = self.take(owner) {
                return place;
            }
            // A place may become idle for long enough without being freed.
            let _ = time::timeout(self.patience, freed).await;
        }
    }
}

impl TakenPlaces {
    /// The place that makes room for `newcomer`.
    fn find_victim(&self, newcomer: &Owner, patience: Duration) -> Option<u64> {
        let mut by_principal: HashMap<&Option<Arc<str>>, usize> = HashMap::new();
        let mut by_owner: HashMap<&Owner, usize> = HashMap::new();
        for (owner, _) in self.places.values() {
            *by_principal.entry(&owner.principal).or_default() += 1;
            *by_owner.entry(owner).or_default() += 1;
        }
        let share = |owner: &Owner| {
            let count = |count: Option<&usize>| count.copied().unwrap_or(0);
            (count(by_principal.get(&owner.principal)), count(by_owner.get(owner)))
        };
        let most = by_owner.keys().map(|owner| share(owner)).max()?;
        let greediest = self.places.iter().filter(|(_, (owner, _))| share(owner) == most);
        // Of those who have equally many, the newcomer gives way first.
        let rank = |owner: &Owner, state: &PlaceState| {
            let (is_active, last_active) = state.rank();
            (is_active, owner.principal != newcomer.principal, last_active)
        };
        let (id, (owner, state)) =
            greediest.min_by_key(|(id, (owner, state))| (rank(owner, state), **id))?;
        let own = share(newcomer);
        let has_fewer = match owner.principal == newcomer.principal {
            true => own.1 + 1 < most.1,
            false => own.0 + 1 < most.0,
        };
        (has_fewer || state.is_idle_for(patience)).then_some(*id)
    }
}

/// A place that is taken until it is dropped, or given to another owner.
pub(crate) struct Place {
    share: Arc<FairShare>,
    id: u64,
    state: Arc<PlaceState>,
}

impl Place {
    /// Marks the place as in use now.
    pub(crate) fn touch(&self) {
        *self.state.last_active.lock() = Instant::now();
    }

    /// Marks the place as in use until the guard is dropped.
    pub(crate) fn begin_activity(&self) -> Activity {
        self.state.activities.fetch_add(1, Ordering::Relaxed);
        Activity(Arc::clone(&self.state))
    }

    /// Whether the place has not been in use for `span`.
    pub(crate) fn is_idle_for(&self, span: Duration) -> bool {
        self.state.is_idle_for(span)
    }

    /// Whether another owner has the place now.
    pub(crate) fn is_evicted(&self) -> bool {
        self.state.is_evicted.load(Ordering::Acquire)
    }

    /// The signal that another owner gets the place. It may outlive the place.
    pub(crate) fn eviction(&self) -> Eviction {
        Eviction(Arc::clone(&self.state))
    }
}

/// Tells when a place is given to another owner.
pub(crate) struct Eviction(Arc<PlaceState>);

impl Eviction {
    /// Waits until another owner gets the place.
    pub(crate) async fn wait(&self) {
        let evicted = self.0.evicted.notified();
        tokio::pin!(evicted);
        // Registers before the look, so that no eviction is missed.
        evicted.as_mut().enable();
        if !self.0.is_evicted.load(Ordering::Acquire) {
            evicted.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.share.taken.lock().places.remove(&self.id);
        self.share.freed.notify_waiters();
    }
}

/// Keeps a place in use until it is dropped.
pub(crate) struct Activity(Arc<PlaceState>);

impl Drop for Activity {
    fn drop(&mut self) {
        *self.0.last_active.lock() = Instant::now();
        self.0.activities.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::Duration;

    use resource::Principal;
    use tokio::time;

    use super::{FairShare, Owner};

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(address: &str) -> Owner {
        Owner::new(None, Some(address.parse::<IpAddr>().unwrap()))
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_place_of_the_greediest_makes_room() {
        let share = FairShare::new(4, MINUTE);
        let (greedy, modest, new) = (at("10.0.0.1"), at("10.0.0.2"), at("10.0.0.3"));
        let modest_place = share.take(&modest).unwrap();
        let mut places = Vec::new();
        for _ in 0..3 {
            time::advance(Duration::from_secs(1)).await;
            places.push(share.take(&greedy).unwrap());
        }
        time::advance(Duration::from_secs(1)).await;
        places[0].touch();
        let working = places[1].begin_activity();
        assert!(share.take(&greedy).is_none(), "it has the most, and nothing idle for long");
        let first = share.take(&new).expect("one who has none gets one");
        let evicted: Vec<bool> = places.iter().map(super::Place::is_evicted).collect();
        assert_eq!(evicted, [false, false, true], "the idle one that was used least lately");
        assert!(share.take(&new).is_none(), "two against two would only change sides");
        drop((first, working, modest_place));
        assert!(share.take(&greedy).is_some() && !places[1].is_evicted());
    }

    #[tokio::test(start_paused = true)]
    async fn one_owner_gets_only_its_own_idle_places_back() {
        let share = FairShare::new(2, MINUTE);
        let owner = at("10.0.0.1");
        let (first, second) = (share.take(&owner).unwrap(), share.take(&owner).unwrap());
        let working = first.begin_activity();
        assert!(share.take(&owner).is_none());
        time::advance(MINUTE).await;
        let third = share.take(&owner).unwrap();
        assert!(second.is_evicted() && !first.is_evicted());
        assert!(share.take(&owner).is_none(), "the one is working, the other is new");
        let waiting = share.wait(&owner);
        drop((third, working));
        drop(waiting.await);
    }

    /// A principal cannot take more by using many addresses, and an address inside its principal's
    /// share cannot lock out the others.
    #[tokio::test(start_paused = true)]
    async fn shares_are_by_principal_and_then_by_address() {
        let share = FairShare::new(6, MINUTE);
        let owner = |key: &str, address: &str| {
            Owner::new(Some(&Principal::authenticated(key)), Some(address.parse().unwrap()))
        };
        let many = |range: std::ops::Range<u8>| {
            let places = range.map(|at| share.take(&owner("ada", &format!("10.0.0.{at}"))));
            places.map(Option::unwrap).collect::<Vec<_>>()
        };
        let spread = many(1..4);
        let single: Vec<_> =
            (0..3).map(|_| share.take(&owner("ada", "10.0.1.1")).unwrap()).collect();
        let other = share.take(&owner("alan", "10.0.2.1")).expect("another principal");
        assert!(single[0].is_evicted() && spread.iter().all(|place| !place.is_evicted()));
        let fresh = share.take(&owner("ada", "10.0.3.1")).expect("another address");
        assert!(single[1].is_evicted() && !other.is_evicted());
        assert!(share.take(&owner("ada", "10.0.3.2")).is_none(), "each has one");
        drop((other, fresh));
    }

    #[tokio::test(start_paused = true)]
    async fn an_equal_keeps_its_idle_place_while_the_newcomer_has_one_to_give() {
        let share = FairShare::new(2, MINUTE);
        let owner = |key: &str| Owner::new(Some(&Principal::authenticated(key)), None);
        let other = share.take(&owner("alan")).unwrap();
        time::advance(MINUTE).await;
        let own = share.take(&owner("ada")).unwrap();
        assert!(share.take(&owner("ada")).is_none());
        time::advance(MINUTE).await;
        assert!(share.take(&owner("ada")).is_some());
        assert!(own.is_evicted() && !other.is_evicted());
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
    }
}
