//! Provider of searches and packs as resources: `search://{mount}/{query}` and
//! `pack://{question}`, for hosts that read resources and offer no tools.

use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use resource::uri::percent_decode_lossy;
use resource::{
    Body, ByteSource, Complete, Completion, CompletionRequest, Content, Context, Cursor, Error,
    Facets, Filter, Freshness, Page, PageRequest, Part, Provider, ReadRequest, Reading, Resource,
    Result, Template, Uri, UriTemplate, Variable, one_line,
};

use crate::hit::PassageHit;
use crate::pack::PackRequest;
use crate::service::{SearchMode, SearchQuery, SearchService};

/// The templates of the URIs.
pub const SEARCH_TEMPLATES: [&str; 2] = ["search://{mount}/{query}", "pack://{question}{?budget}"];

/// The mount name that stands for all mounts.
const ALL_MOUNTS: &str = "all";
const MARKDOWN: &str = "text/markdown";
/// How many passages a search gives.
const MAX_HITS: usize = 10;
/// The tokens of a pack that does not say how many, the fewest, and the most.
const MIN_BUDGET: u64 = 100;
const DEFAULT_BUDGET: u64 = 4_000;
const MAX_BUDGET: u64 = 200_000;

/// Where the service is found once it exists: it needs the catalog that this provider is in.
pub type ServiceSlot = Arc<OnceLock<Weak<SearchService>>>;

/// The provider.
pub struct SearchProvider {
    service: ServiceSlot,
}

/// What a URI asks for.
enum SearchLocation {
    Search { mount: Option<String>, query: String },
    Pack { question: String, budget: u64 },
}

impl SearchProvider {
    /// A provider for the service that will be in `service`.
    pub fn new(service: ServiceSlot) -> Self {
        Self { service }
    }

    fn service(&self) -> Result<Arc<SearchService>> {
        let service = self.service.get().and_then(Weak::upgrade);
        service.ok_or_else(|| Error::unavailable("the search index is not ready"))
    }

    fn describe(uri: &Uri, location: &SearchLocation) -> Resource {
        let (title, description) = match location {
            SearchLocation::Search { mount, query } => {
                let place = mount.as_deref().unwrap_or("all mounts");
                (query.clone(), format!("Passages of {place} that match: {query}"))
            }
            SearchLocation::Pack { question, .. } => {
                (question.clone(), format!("What answers: {question}"))
            }
        };
        let mut resource = Resource::new(uri.clone(), title.clone());
        (resource.title, resource.description) = (Some(title), Some(description));
        resource.mime = Some(MARKDOWN.to_owned());
        resource.listable = Some(matches!(location, SearchLocation::Search { .. }));
        resource.is_view = true;
        resource
    }

    async fn hits(&self, ctx: &Context, location: &SearchLocation) -> Result<Vec<PassageHit>> {
        let SearchLocation::Search { mount, query } = location else {
            return Err(Error::invalid("not a collection"));
        };
        let filter = Filter { mount: mount.clone(), ..Filter::default() };
        let query = SearchQuery {
            text: query.clone(),
            filter: mount.is_some().then(|| Arc::new(filter)),
            mode: SearchMode::Both,
            skip: 0,
            limit: MAX_HITS,
        };
        Ok(self.service()?.search(ctx, &query).await?.hits)
    }
}

impl SearchLocation {
    fn parse(uri: &Uri) -> Result<Self> {
        let text = uri.as_str();
        if let Some(rest) = text.strip_prefix("search://") {
            let (mount, query) = rest.split_once('/').ok_or_else(|| Error::not_found(uri))?;
            let (mount, query) = (decoded(mount), decoded(query));
            if query.trim().is_empty() {
                return Err(Error::not_found(uri));
            }
            let mount = (mount != ALL_MOUNTS).then_some(mount);
            return Ok(Self::Search { mount, query });
        }
        let rest = text.strip_prefix("pack://").ok_or_else(|| Error::not_found(uri))?;
        let (question, options) = rest.split_once('?').unwrap_or((rest, ""));
        let question = decoded(question);
        if question.trim().is_empty() {
            return Err(Error::not_found(uri));
        }
        let budget = options.split('&').find_map(|option| option.strip_prefix("budget="));
        let budget = match budget.map(str::parse::<u64>) {
            None => DEFAULT_BUDGET,
            Some(Ok(budget)) => budget.clamp(MIN_BUDGET, MAX_BUDGET),
            Some(Err(_)) => return Err(Error::invalid("budget is a number of tokens").about(uri)),
        };
        Ok(Self::Pack { question, budget })
    }
}

#[async_trait]
impl Provider for SearchProvider {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let Some(uri) = parent else { return page_from(Vec::new(), paging) };
        let location = SearchLocation::parse(uri)?;
        let hits = self.hits(ctx, &location).await.map_err(|error| error.about(uri))?;
        let mut items: Vec<Arc<Resource>> = hits.into_iter().map(|hit| hit.resource).collect();
        items.retain(|item| paging.shows(item));
        page_from(items, paging)
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        let [search, pack] = SEARCH_TEMPLATES;
        let mut search = Template::new(UriTemplate::parse(search)?, "search");
        search.description = Some("Passages that match a query, the best first".to_owned());
        search.mime = Some(MARKDOWN.to_owned());
        let about = |name: &str, text: &str| Variable {
            description: Some(text.to_owned()),
            ..Variable::new(name)
        };
        search.variables = vec![
            about("mount", "The name of a mount, or all"),
            about("query", "Words to search for"),
        ];
        let mut pack = Template::new(UriTemplate::parse(pack)?, "pack");
        pack.description = Some("What answers a question, within a budget of tokens".to_owned());
        pack.mime = Some(MARKDOWN.to_owned());
        pack.variables = vec![
            about("question", "What you want to know or do"),
            about("budget", "The most tokens; 4000 by default"),
        ];
        page_from(vec![Arc::new(search), Arc::new(pack)], paging)
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        Ok(Arc::new(Self::describe(uri, &SearchLocation::parse(uri)?)))
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let location = SearchLocation::parse(uri)?;
        let resource = Self::describe(uri, &location);
        let (text, members) = match &location {
            SearchLocation::Search { .. } => {
                let hits = self.hits(ctx, &location).await.map_err(|error| error.about(uri))?;
                (hits_markdown(&hits), Vec::new())
            }
            SearchLocation::Pack { question, budget } => {
                let (question, budget) = (question.clone(), *budget);
                let request = PackRequest { question, budget, filter: None };
                let pack = self.service()?.pack(ctx, &request).await?;
                let summary = pack.summary();
                (summary, pack.items.into_iter().map(|item| item.into_part()).collect())
            }
        };
        let bytes = bytes::Bytes::from(text);
        request.window.check(None, bytes.len() as u64)?;
        let (bytes, slice) = request.window.cut(&bytes, true);
        let body = Body::Text(ByteSource::Bytes(bytes));
        let mut parts = vec![Part { resource: Arc::new(resource), body, slice }];
        if matches!(request.window, resource::Window::Whole { .. }) {
            parts.extend(members);
        }
        let total_parts = request.select(&mut parts, |part| part.resource.mime.as_deref())?;
        let reading = Reading::new(Content::Parts(parts), Freshness::default());
        Ok(Reading { total_parts, ..reading })
    }

    fn facets(&self) -> Facets<'_> {
        Facets { complete: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Complete for SearchProvider {
    fn may_complete(&self, _: &Context) -> bool {
        true
    }

    async fn complete(&self, ctx: &Context, request: &CompletionRequest<'_>) -> Result<Completion> {
        let known = match request.template {
            template if template == SEARCH_TEMPLATES[0] => ["mount", "query"],
            template if template == SEARCH_TEMPLATES[1] => ["question", "budget"],
            _ => return Err(Error::invalid("unknown template")),
        };
        if !known.contains(&request.variable) {
            return Err(Error::invalid("unknown variable"));
        }
        let values = match request.variable {
            "mount" => {
                let mounts = self.service()?.visible_mounts(ctx);
                let all = std::iter::once(ALL_MOUNTS.to_owned()).chain(mounts);
                all.filter(|name| name.starts_with(request.typed)).collect()
            }
            _ => Vec::new(),
        };
        Ok(Completion::from_values(values))
    }
}

/// The page of `items` that `paging` requests. The cursor is the number of those before it.
fn page_from<T>(items: Vec<Arc<T>>, paging: &PageRequest) -> Result<Page<T>> {
    let number = |cursor: &Cursor| std::str::from_utf8(&cursor.0).ok()?.parse::<usize>().ok();
    let start = match &paging.cursor {
        None => 0,
        Some(cursor) => {
            number(cursor).filter(|at| *at < items.len()).ok_or_else(Error::bad_cursor)?
        }
    };
    let end = start.saturating_add(paging.limit.max(1));
    let next = (end < items.len()).then(|| Cursor(end.to_string().into()));
    let items = items.into_iter().skip(start).take(end - start).collect();
    Ok(Page { items, next, ..Page::empty() })
}

/// The hits as a list: where each stands, and a line of it.
fn hits_markdown(hits: &[PassageHit]) -> String {
    if hits.is_empty() {
        return "Nothing found.\n".to_owned();
    }
    let mut text = String::new();
    for hit in hits {
        let title = hit.resource.title.as_deref().unwrap_or(&hit.resource.name);
        let mut place: Vec<String> =
            hit.place.page.map(|page| format!("page {page}")).into_iter().collect();
        place.extend(hit.place.headings.iter().cloned());
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(", {}", one_line(&place.join(" > ")))
        };
        let window = match &hit.from {
            Some((mount, _)) => format!("found by {mount}"),
            None => {
                let last = (hit.place.line + hit.place.lines).saturating_sub(1);
                format!("lines {}-{last}", hit.place.line)
            }
        };
        text.push_str(&format!(
            "- [{}](<{}>), {window}{place}\n  {}\n",
            one_line(title),
            hit.resource.uri,
            one_line(&hit.snippet)
        ));
    }
    text
}

fn decoded(text: &str) -> String {
    percent_decode_lossy(text).into_owned()
}
