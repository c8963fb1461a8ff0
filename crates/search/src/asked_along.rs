//! Servers asked along: mounts with a search of their own, asked while the index is searched.
//!
//! Each is asked within a time limit. Its hits are described under the context of whoever asks, as
//! those of the index are, and both are fused by rank.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use analysis::{Clause, Condition, Query, parse_query};
use embedding::RankedList;
use embedding::fusion::FUSION_K;
use futures_util::future::join_all;
use machinery::{Cache, CacheBounds, CacheLifetime};
use resource::{Absence, Context, Filter, Provider, Resource, SearchHit, SearchRequest, Uri};
use tokio::time::{Instant, timeout_at};

use crate::find::FoundResource;
use crate::hit::PassageHit;
use crate::index::entry::PassagePlace;
use crate::index::keys::text_key;
use crate::rank::ScoreReasons;
use crate::service::SearchQuery;
use crate::snippet::snippet;

/// How long a server may take to answer, its descriptions of the hits included.
pub(crate) const MAX_ASK_TIME: Duration = Duration::from_secs(2);
/// How many hits of one server are looked at.
const MAX_HITS: usize = 20;
/// How many hits of one server are described at a time.
const MAX_CONCURRENT_STATS: usize = 5;
/// How long the hits of servers are kept for the next pages, and of how many queries.
const PAGING_TIME: Duration = Duration::from_secs(120);
const MAX_KEPT_QUERIES: usize = 64;

/// The servers that are asked along.
pub(crate) struct AskedAlong {
    kept: Cache<AskedQuery, Arc<Vec<ServerHits>>>,
}

/// Whose query it is, its words, and the mount that it is limited to.
type AskedQuery = (Arc<str>, String, Option<String>);

/// What one mount found.
struct ServerHits {
    mount: String,
    hits: Vec<Arc<SearchHit>>,
    absence: Option<String>,
}

/// What the servers found, as the principal sees it.
#[derive(Default)]
pub(crate) struct ServerResults {
    lists: Vec<Vec<ServerHit>>,
    /// The mounts that did not answer.
    pub(crate) absent: Vec<Absence>,
}

/// A hit of a server.
#[derive(Clone)]
pub(crate) struct ServerHit {
    mount: String,
    rank: usize,
    resource: Arc<Resource>,
    hit: Arc<SearchHit>,
}

/// A hit of the index, or of a server.
pub(crate) enum FusedHit {
    Indexed(FoundResource),
    Server(ServerHit),
}

impl FusedHit {
    pub(crate) fn uri(&self) -> &Uri {
        match self {
            Self::Indexed(found) => &found.uri,
            Self::Server(hit) => &hit.resource.uri,
        }
    }

    /// A hash of the text, if it is known.
    pub(crate) fn content(&self) -> Option<u64> {
        match self {
            Self::Indexed(found) => found.content,
            Self::Server(_) => None,
        }
    }
}

impl AskedAlong {
    pub(crate) fn new() -> Self {
        Self { kept: Cache::new(CacheBounds::entries(MAX_KEPT_QUERIES)) }
    }

    /// Asks the mounts that search by themselves. A page that is not the first uses the hits of the
    /// first one.
    pub(crate) async fn ask(
        &self,
        provider: &dyn Provider,
        ctx: &Context,
        query: &SearchQuery,
        deadline: Instant,
    ) -> ServerResults {
        let Some((words, mount)) = passed_on(query) else { return ServerResults::default() };
        if provider.facets().search.is_none() {
            return ServerResults::default();
        }
        let key = (Arc::clone(ctx.principal().key()), words, mount);
        let kept = if query.skip > 0 { self.kept.get(&key) } else { None };
        let found = match kept {
            Some(found) => found,
            None => {
                let found = Arc::new(ask_mounts(provider, ctx, &key, deadline).await);
                let lifetime = CacheLifetime { ttl: PAGING_TIME, grace: PAGING_TIME, weight: 1 };
                let epoch = self.kept.epoch();
                self.kept.insert_current(epoch, key, Arc::clone(&found), &lifetime);
                found
            }
        };
        let filter = query.filter.as_deref();
        let lists = found.iter().map(|one| describe(provider, ctx, (one, filter), deadline));
        let mut results = ServerResults::default();
        for (list, absence) in join_all(lists).await {
            results.lists.push(list);
            results.absent.extend(absence);
        }
        results
    }
}

/// The words that servers are asked for, and the mount that the query is limited to. `None` if it
/// has conditions that hits of others cannot be checked for.
fn passed_on(query: &SearchQuery) -> Option<(String, Option<String>)> {
    let Query { clauses, conditions } = parse_query(&query.text).ok()?;
    let mut mount = query.filter.as_ref().and_then(|filter| filter.mount.clone());
    for condition in conditions {
        let Condition::Mount(name) = condition else { return None };
        if mount.get_or_insert_with(|| name.clone()) != &name {
            return None;
        }
    }
    let words: Option<Vec<String>> = clauses.into_iter().map(clause_words).collect();
    let words = words?.join(" ");
    (!words.trim().is_empty()).then_some((words, mount))
}

fn clause_words(clause: Clause) -> Option<String> {
    match clause {
        Clause::Words(text) | Clause::Phrase(text) | Clause::Prefix(text) => Some(text),
        Clause::Any(clauses) => {
            let words: Option<Vec<String>> = clauses.into_iter().map(clause_words).collect();
            Some(words?.join(" "))
        }
        Clause::Not(_) => None,
    }
}

/// Asks each mount that the principal sees, all at the same time.
async fn ask_mounts(
    provider: &dyn Provider,
    ctx: &Context,
    (_, words, only): &AskedQuery,
    deadline: Instant,
) -> Vec<ServerHits> {
    let Some(lookup) = provider.facets().mounts else { return Vec::new() };
    let mounts = lookup.mounts(ctx).into_iter().map(|mount| mount.name);
    let mounts = mounts.filter(|name| only.as_ref().is_none_or(|only| only == name));
    let asked = mounts.map(|mount| async move {
        let (hits, absence) = ask_mount(provider, ctx, (&mount, words), deadline).await;
        ServerHits { mount, hits, absence }
    });
    let mut found = join_all(asked).await;
    found.retain(|one| !one.hits.is_empty() || one.absence.is_some());
    found
}

/// The hits of one mount, or why there are none.
async fn ask_mount(
    provider: &dyn Provider,
    ctx: &Context,
    (mount, words): (&str, &str),
    deadline: Instant,
) -> (Vec<Arc<SearchHit>>, Option<String>) {
    let facets = provider.facets();
    let (Some(search), Some(lookup)) = (facets.search, facets.mounts) else {
        return (Vec::new(), None);
    };
    let filter = Filter { mount: Some(mount.to_owned()), ..Filter::default() };
    let (query, filter) = (words.to_owned(), Some(Arc::new(filter)));
    let request = SearchRequest { query, filter, cursor: None, limit: MAX_HITS };
    match timeout_at(deadline, search.search(ctx, &request)).await {
        Ok(Ok(mut page)) => {
            let is_own = |hit: &Arc<SearchHit>| lookup.mount_of(&hit.uri).as_deref() == Some(mount);
            let hits = page.items.into_iter().filter(is_own).take(MAX_HITS).collect();
            (hits, page.absent.pop().map(|absence| absence.reason))
        }
        Ok(Err(error)) => (Vec::new(), Some(error.message.to_string())),
        Err(_) => (Vec::new(), Some(late_reason())),
    }
}

fn late_reason() -> String {
    format!("no answer to a search within {} s", MAX_ASK_TIME.as_secs())
}

/// Describes the hits of a mount to the principal. What it may not see, or the filter does not
/// admit, is left out.
async fn describe(
    provider: &dyn Provider,
    ctx: &Context,
    (found, filter): (&ServerHits, Option<&Filter>),
    deadline: Instant,
) -> (Vec<ServerHit>, Option<Absence>) {
    let (mut list, mut reason) = (Vec::new(), found.absence.clone());
    let ranked: Vec<(usize, &Arc<SearchHit>)> = found.hits.iter().enumerate().collect();
    for some in ranked.chunks(MAX_CONCURRENT_STATS) {
        let described = some.iter().map(|(rank, hit)| async move {
            (*rank, *hit, timeout_at(deadline, provider.stat(ctx, &hit.uri)).await)
        });
        for (rank, hit, resource) in join_all(described).await {
            match resource {
                Ok(Ok(resource)) if filter.is_none_or(|filter| filter.admits(&resource)) => {
                    let (mount, hit) = (found.mount.clone(), Arc::clone(hit));
                    list.push(ServerHit { mount, rank, resource, hit });
                }
                Ok(_) => {}
                Err(_) => reason = Some(late_reason()),
            }
        }
    }
    let name = found.mount.clone();
    (list, reason.map(|reason| Absence { name, reason }))
}

impl ServerResults {
    /// All hits in one list, by rank (RRF), each URI once. What the index found too keeps the
    /// passage of the index. Of equal ranks the index is first, then the mounts by name.
    pub(crate) fn fuse(&self, indexed: Vec<FoundResource>) -> Vec<FusedHit> {
        let lists = &self.lists;
        let key = |uri: &Uri| text_key(uri.as_str());
        let of_index = RankedList::new(indexed.iter().map(|one| key(&one.uri)));
        let of_server =
            |list: &Vec<ServerHit>| RankedList::new(list.iter().map(|one| key(&one.resource.uri)));
        let ranks: Vec<RankedList> =
            std::iter::once(of_index).chain(lists.iter().map(of_server)).collect();
        let scores: HashMap<u64, f32> = embedding::fuse(&ranks, FUSION_K).into_iter().collect();
        let indexed = indexed.into_iter().map(FusedHit::Indexed);
        let mut all: Vec<(u64, FusedHit)> = indexed
            .chain(lists.iter().flatten().cloned().map(FusedHit::Server))
            .map(|one| (key(one.uri()), one))
            .collect();
        let mut seen = HashSet::new();
        all.retain(|(key, _)| seen.insert(*key));
        let score = |key: &u64| scores.get(key).copied().unwrap_or(0.0);
        // A stable sort: what is equal stays in the order of the sources.
        all.sort_by(|(one, _), (other, _)| score(other).total_cmp(&score(one)));
        all.into_iter().map(|(_, one)| one).collect()
    }
}

impl ServerHit {
    pub(crate) fn resource(&self) -> &Arc<Resource> {
        &self.resource
    }

    /// The hit as it is shown.
    pub(crate) fn into_hit(self, terms: &HashSet<&str>) -> PassageHit {
        let Self { mount, rank, mut resource, hit } = self;
        if resource.title.is_none() && hit.title.is_some() {
            Arc::make_mut(&mut resource).title.clone_from(&hit.title);
        }
        let passage = hit.passage.as_ref().map_or("", |passage| passage.text.as_str());
        let headings = Vec::new();
        PassageHit {
            resource,
            place: PassagePlace { offset: 0, length: 0, line: 1, lines: 0, page: None, headings },
            snippet: snippet(passage, terms),
            score: 1.0 / (FUSION_K + rank as f32 + 1.0),
            reasons: ScoreReasons::default(),
            passages: 1,
            from: Some((mount, rank + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::passed_on;
    use crate::service::{SearchMode, SearchQuery};

    fn asked(text: &str, mount: Option<&str>) -> Option<(String, Option<String>)> {
        let filter = resource::Filter { mount: mount.map(str::to_owned), ..Default::default() };
        let filter = Some(Arc::new(filter));
        let (text, mode) = (text.to_owned(), SearchMode::Both);
        passed_on(&SearchQuery { text, filter, mode, skip: 0, limit: 10 })
    }

    #[test]
    fn servers_are_asked_for_words_and_not_for_conditions_that_they_may_not_know() {
        let words = |text: &str| Some((text.to_owned(), None));
        assert_eq!(asked("rotate the key", None), words("rotate the key"));
        assert_eq!(asked("\"signing key\"", None), words("signing key"));
        assert_eq!(asked("rotate -draft", None), None);
        assert_eq!(asked("rotate lang:ja", None), None);
        let of_hub = Some(("rotate".to_owned(), Some("hub".to_owned())));
        assert_eq!(asked("rotate mount:hub", None), of_hub);
        assert_eq!(asked("rotate", Some("hub")), of_hub);
        assert_eq!(asked("rotate mount:hub", Some("other")), None);
        assert_eq!(asked("mount:hub", None), None);
    }
}
