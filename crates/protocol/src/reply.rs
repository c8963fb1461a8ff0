//! JSON-RPC results: every reply to a client's request, and its encoding.

use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Absence, Completion, Freshness, Json, Offer, Offered, Page, Part, Resource, Scope, Template,
};
use serde::Serialize;

use crate::frame::Id;
use crate::outgoing::Outgoing;
use crate::press::Press;
use crate::revision::{Revision, Terms};
use crate::shape::capability::{Abilities, Capabilities};
use crate::shape::resource::Shape;
use crate::shape::{contents, offer, template};
use crate::tool::{self, Given};

/// The result of a request.
#[derive(Debug)]
pub enum Reply {
    /// The result of `initialize`.
    Welcome,
    /// The result of `server/discover`, and how long the client may cache it.
    Discovery(Freshness),
    /// An empty result.
    Done,
    /// The end of the subscription that `subscriptions/listen` opened.
    Ended,
    /// A page of resources.
    Resources(Listing<Resource>),
    /// A page of templates.
    Templates(Listing<Template>),
    /// The content of a resource.
    Read(Vec<Part>, Freshness),
    /// The description of a resource.
    Metadata(Arc<Resource>, Freshness),
    /// Completion values.
    Completion(Completion),
    /// A page of tools or of prompts.
    Offers(Offer, Listing<Offered>),
    /// An upstream server's result, as [`outcome`](crate::shape::outcome::outcome) adapted it.
    Relayed(Json),
    /// The result of one of refdesk's own tools.
    Given(Given),
}

/// A page of a list, with its cursor in the sealed form that the client sends back.
#[derive(Debug)]
pub struct Listing<T> {
    /// The page.
    pub page: Page<T>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// The server's name, version, instructions and capabilities, for `initialize` and
/// `server/discover`.
#[derive(Debug, Clone)]
pub struct Welcome {
    /// The program's name.
    pub name: &'static str,
    /// The program's version.
    pub version: &'static str,
    /// How to use the server; hosts show this to the model.
    pub instructions: &'static str,
    /// What the server can do.
    pub abilities: Abilities,
}

#[derive(Serialize)]
struct ServerInfo {
    name: &'static str,
    version: &'static str,
}

/// The members that every result may have, in revisions that define them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Common<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'a>>,
}

#[derive(Default, Serialize)]
struct Meta<'a> {
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server: Option<ServerInfo>,
    #[serde(rename = "dev.refdesk/absent", skip_serializing_if = "Option::is_none")]
    absent: Option<Vec<AbsenceShape<'a>>>,
    #[serde(
        rename = "io.modelcontextprotocol/subscriptionId",
        skip_serializing_if = "Option::is_none"
    )]
    subscription: Option<&'a Id>,
}

#[derive(Serialize)]
struct AbsenceShape<'a> {
    what: &'a str,
    why: &'a str,
}

impl Reply {
    /// Encodes the response to the request `id`.
    pub fn encode(self, id: &Id, terms: Terms, welcome: &Welcome, press: &Press) -> Outgoing {
        let mut head = Vec::with_capacity(512);
        head.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        id.write(&mut head);
        head.extend_from_slice(b",\"result\":");
        match self {
            Self::Read(parts, freshness) => {
                read(parts, freshness, terms, welcome, head).answering(id)
            }
            Self::Resources(listing) => {
                let rows = press.rows(&listing.page.items, terms);
                let common = Common::of(&listing.page, terms, welcome);
                page("resources", rows, listing.next.as_deref(), common, head)
            }
            Self::Offers(kind, listing) => {
                let items = listing.page.items.iter().map(|item| &**item);
                let rows = offer::rows(items, kind, terms.revision).into();
                let common = Common::of(&listing.page, terms, welcome);
                let name = match kind {
                    Offer::Tool => "tools",
                    Offer::Prompt => "prompts",
                };
                page(name, rows, listing.next.as_deref(), common, head)
            }
            Self::Given(given) => {
                let common = Common::new(None, &[], terms, welcome);
                let common = serde_json::to_string(&common).unwrap_or_default();
                tool::given::push(given, terms, &common, head).answering(id)
            }
            Self::Relayed(json) => {
                head.extend_from_slice(json.as_str().as_bytes());
                head.push(b'}');
                Outgoing::ready(head)
            }
            Self::Ended => {
                let mut common = Common::new(None, &[], terms, welcome);
                common.meta.get_or_insert_default().subscription = Some(id);
                write(&mut head, &common);
                head.push(b'}');
                Outgoing::ready(head)
            }
            other => {
                other.write(terms, welcome, &mut head);
                head.push(b'}');
                Outgoing::ready(head)
            }
        }
    }

    fn write(&self, terms: Terms, welcome: &Welcome, into: &mut Vec<u8>) {
        let plain = || Common::new(None, &[], terms, welcome);
        match self {
            Self::Welcome => write(into, &opening(terms, welcome)),
            Self::Discovery(stands) => write(into, &discovery(*stands, terms, welcome)),
            Self::Done => write(into, &plain()),
            Self::Templates(listing) => write(
                into,
                &TemplatesShape {
                    resource_templates: template::Row(&listing.page.items, terms),
                    next_cursor: listing.next.as_deref(),
                    common: Common::of(&listing.page, terms, welcome),
                },
            ),
            Self::Metadata(resource, freshness) => write(
                into,
                &MetadataShape {
                    resource: Shape::listed(resource, Terms { full: true, ..terms }),
                    common: Common::new(Some(*freshness), &[], terms, welcome),
                },
            ),
            Self::Completion(completion) => write(
                into,
                &CompletionShape {
                    completion: Values {
                        values: &completion.values,
                        total: completion.total,
                        has_more: completion.total > completion.values.len(),
                    },
                    common: plain(),
                },
            ),
            Self::Read(..)
            | Self::Resources(..)
            | Self::Offers(..)
            | Self::Relayed(..)
            | Self::Given(..)
            | Self::Ended => {}
        }
    }
}

fn write(into: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(into, value).expect("writing to a vector cannot fail");
}

fn read(
    parts: Vec<Part>,
    freshness: Freshness,
    terms: Terms,
    welcome: &Welcome,
    mut head: Vec<u8>,
) -> Outgoing {
    let mut message = Outgoing::default();
    // The common members come first, so that the bodies can be streamed last.
    write(&mut head, &Common::new(Some(freshness), &[], terms, welcome));
    open_object(&mut head);
    head.extend_from_slice(b"\"contents\":[");
    let mut tail = contents::push(parts, terms, head, &mut message);
    tail.extend_from_slice(b"]}}");
    message.push(tail);
    message
}

/// Encodes a list whose rows are JSON already.
fn page(
    name: &str,
    rows: Bytes,
    next_cursor: Option<&str>,
    common: Common<'_>,
    mut head: Vec<u8>,
) -> Outgoing {
    write(&mut head, &AroundRows { next_cursor, common });
    open_object(&mut head);
    head.extend_from_slice(format!("\"{name}\":").as_bytes());
    let mut message = Outgoing::ready(head);
    message.push(rows);
    message.push(&b"}}"[..]);
    message
}

/// Removes the closing brace, so that more members can follow.
fn open_object(json: &mut Vec<u8>) {
    json.pop();
    if json.last() != Some(&b'{') {
        json.push(b',');
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AroundRows<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(flatten)]
    common: Common<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TemplatesShape<'a> {
    resource_templates: template::Row<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(flatten)]
    common: Common<'a>,
}

#[derive(Serialize)]
struct MetadataShape<'a> {
    resource: Shape<'a>,
    #[serde(flatten)]
    common: Common<'a>,
}

#[derive(Serialize)]
struct CompletionShape<'a> {
    completion: Values<'a>,
    #[serde(flatten)]
    common: Common<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Values<'a> {
    values: &'a [String],
    total: usize,
    has_more: bool,
}

impl<'a> Common<'a> {
    fn of<T>(page: &'a Page<T>, terms: Terms, welcome: &Welcome) -> Self {
        Self::new(Some(page.freshness), &page.absent, terms, welcome)
    }

    fn new(
        freshness: Option<Freshness>,
        absent: &'a [Absence],
        terms: Terms,
        welcome: &Welcome,
    ) -> Self {
        let revision = terms.revision;
        let kept = freshness.filter(|_| revision.names_cache_terms());
        let server = revision
            .signs_results()
            .then_some(ServerInfo { name: welcome.name, version: welcome.version });
        let absent = (!absent.is_empty()).then(|| {
            absent.iter().map(|gap| AbsenceShape { what: &gap.what, why: &gap.why }).collect()
        });
        let meta = (server.is_some() || absent.is_some()).then_some(Meta {
            server,
            absent,
            subscription: None,
        });
        Self {
            result_type: revision.tags_results().then_some("complete"),
            ttl_ms: kept.map(|kept| u64::try_from(kept.ttl.as_millis()).unwrap_or(u64::MAX)),
            cache_scope: kept.map(|kept| match kept.scope {
                Scope::Public => "public",
                Scope::Private => "private",
            }),
            meta,
        }
    }
}

fn opening(terms: Terms, welcome: &Welcome) -> impl Serialize {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Opening {
        protocol_version: &'static str,
        capabilities: Capabilities,
        server_info: ServerInfo,
        instructions: &'static str,
    }
    Opening {
        protocol_version: terms.revision.as_str(),
        capabilities: Capabilities::new(welcome.abilities, terms.revision),
        server_info: ServerInfo { name: welcome.name, version: welcome.version },
        instructions: welcome.instructions,
    }
}

fn discovery(stands: Freshness, terms: Terms, welcome: &Welcome) -> impl Serialize {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovery {
        supported_versions: [&'static str; 5],
        capabilities: Capabilities,
        instructions: &'static str,
        #[serde(flatten)]
        common: Common<'static>,
    }
    Discovery {
        supported_versions: Revision::ALL.map(Revision::as_str),
        capabilities: Capabilities::new(welcome.abilities, terms.revision),
        instructions: welcome.instructions,
        common: Common::new(Some(stands), &[], terms, welcome),
    }
}
