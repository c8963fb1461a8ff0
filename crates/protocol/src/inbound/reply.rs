//! JSON-RPC results: every reply to a client's request, and its encoding.

use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Completion, Component, ComponentKind, Freshness, Json, Page, Part, Resource, Skill, Template,
    UnknownMembers, Uri,
};
use serde::Serialize;

use crate::inbound::common_members::CommonMembers;
use crate::inbound::row_cache::RowCache;
use crate::inbound::shape::capabilities::{ServerCapabilities, ServerFeatures};
use crate::inbound::shape::resource::ResourceShape;
use crate::inbound::shape::skill::SkillShape;
use crate::inbound::shape::{component, contents, relayed_result, template};
use crate::inbound::tool::{self, ToolResult};
use crate::json::frame::RequestId;
use crate::json::outgoing::Outgoing;
use crate::revision::{Dialect, Revision};

/// The result of a request.
#[derive(Debug)]
pub enum Reply {
    /// The result of `initialize`.
    Initialize(ServerProfile),
    /// The result of `server/discover`, and how long the client may cache it.
    Discover(ServerProfile, Freshness),
    /// An empty result.
    Empty,
    /// The end of the subscription that `subscriptions/listen` opened.
    ListenEnded,
    /// A page of resources.
    Resources(ReplyPage<Resource>),
    /// A page of templates.
    Templates(ReplyPage<Template>),
    /// The content of a resource, how long the client may cache it, and what an upstream server
    /// sent along.
    Read(Vec<Part>, Freshness, UnknownMembers),
    /// The description of a resource.
    Metadata(Arc<Resource>, Freshness),
    /// A page of skills.
    Skills(ReplyPage<Skill>),
    /// One skill.
    Skill(Arc<Skill>, Freshness),
    /// Completion values.
    Completion(Completion),
    /// A page of tools or of prompts.
    Components(ComponentKind, ReplyPage<Component>),
    /// An upstream server's result, as [`adapt_result`](crate::inbound::shape::relayed_result::adapt_result) adapted it.
    UpstreamResult(Json),
    /// The result of one of refdesk's own tools.
    ToolResult(ToolResult),
    /// The URI of a basket that was saved.
    Basket(Uri),
}

/// A page of a list, with its cursor in the sealed form that the client sends back.
#[derive(Debug)]
pub struct ReplyPage<T> {
    /// The page.
    pub page: Page<T>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// The server's instructions and capabilities, for `initialize` and `server/discover`.
#[derive(Debug)]
pub struct ServerProfile {
    /// How to use the server; hosts show this to the model.
    pub instructions: String,
    /// What the server can do.
    pub features: ServerFeatures,
}

/// The server's name and version, which sign every result.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ServerInfo {
    /// The program's name.
    pub name: &'static str,
    /// The program's version.
    pub version: &'static str,
}

impl Reply {
    /// Encodes the response to the request `id`.
    pub fn encode(
        self,
        id: &RequestId,
        dialect: Dialect,
        info: ServerInfo,
        rows: &RowCache,
    ) -> Outgoing {
        let mut head = Vec::with_capacity(512);
        head.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        id.write(&mut head);
        head.extend_from_slice(b",\"result\":");
        match self {
            Self::Read(parts, freshness, extra) => {
                if extra.is_empty() {
                    head.extend_from_slice(&rows.common_json(freshness, dialect, info));
                } else {
                    let common = CommonMembers::new(Some(freshness), &[], dialect, info);
                    write_json(&mut head, &common.with_extra(&extra, dialect));
                }
                encode_read(parts, (dialect, rows), head).for_request(id)
            }
            Self::Resources(mut listing) => {
                let rows = rows.rows_json(&mut listing.page.items, dialect);
                let common = CommonMembers::for_page(&listing.page, dialect, info);
                encode_list("resources", rows, listing.next.as_deref(), common, head)
            }
            Self::Components(kind, listing) => {
                let items = listing.page.items.iter().map(|item| &**item);
                let rows = component::component_rows(items, kind, dialect.revision).into();
                let common = CommonMembers::for_page(&listing.page, dialect, info);
                let name = match kind {
                    ComponentKind::Tool => "tools",
                    ComponentKind::Prompt => "prompts",
                };
                encode_list(name, rows, listing.next.as_deref(), common, head)
            }
            Self::ToolResult(given) => {
                let common = CommonMembers::new(None, &[], dialect, info);
                let common = serde_json::to_string(&common).unwrap_or_default();
                let is_error = given.is_error;
                tool::result::encode_tool_result(given, dialect, &common, head)
                    .for_request(id)
                    .with_failed_tool(is_error)
            }
            Self::UpstreamResult(json) => {
                let is_error = relayed_result::is_tool_error(json.as_str());
                head.extend_from_slice(json.as_str().as_bytes());
                head.push(b'}');
                Outgoing::from_bytes(head).with_failed_tool(is_error)
            }
            Self::ListenEnded => {
                let mut common = CommonMembers::new(None, &[], dialect, info);
                common.set_subscription(id);
                write_json(&mut head, &common);
                head.push(b'}');
                Outgoing::from_bytes(head)
            }
            other => {
                other.write_result(dialect, info, &mut head);
                head.push(b'}');
                Outgoing::from_bytes(head)
            }
        }
    }

    fn write_result(&self, dialect: Dialect, info: ServerInfo, into: &mut Vec<u8>) {
        let plain = || CommonMembers::new(None, &[], dialect, info);
        match self {
            Self::Initialize(profile) => {
                write_json(into, &initialize_reply(profile, dialect, info));
            }
            Self::Discover(profile, stands) => {
                write_json(into, &discover_reply(profile, *stands, dialect, info));
            }
            Self::Empty => write_json(into, &plain()),
            Self::Templates(listing) => write_json(
                into,
                &TemplatesShape {
                    resource_templates: template::TemplateRows(&listing.page.items, dialect),
                    next_cursor: listing.next.as_deref(),
                    common: CommonMembers::for_page(&listing.page, dialect, info),
                },
            ),
            Self::Metadata(resource, freshness) => write_json(
                into,
                &MetadataShape {
                    resource: ResourceShape::for_list(
                        resource,
                        Dialect { full_metadata: true, ..dialect },
                    ),
                    common: CommonMembers::new(Some(*freshness), &[], dialect, info),
                },
            ),
            Self::Skills(listing) => write_json(
                into,
                &SkillsShape {
                    skills: listing.page.items.iter().map(|skill| SkillShape(skill)).collect(),
                    next_cursor: listing.next.as_deref(),
                    common: CommonMembers::for_page(&listing.page, dialect, info),
                },
            ),
            Self::Skill(skill, freshness) => write_json(
                into,
                &SingleSkillShape {
                    skill: SkillShape(skill),
                    common: CommonMembers::new(Some(*freshness), &[], dialect, info),
                },
            ),
            Self::Completion(completion) => {
                let common = plain().with_extra(&completion.extra, dialect);
                let completion = CompletionValues::of(completion);
                write_json(into, &CompletionShape { completion, common });
            }
            Self::Basket(uri) => {
                write_json(into, &BasketShape { uri: uri.as_str(), common: plain() });
            }
            Self::Read(..)
            | Self::Resources(..)
            | Self::Components(..)
            | Self::UpstreamResult(..)
            | Self::ToolResult(..)
            | Self::ListenEnded => {}
        }
    }
}

fn write_json(into: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(into, value).expect("writing to a vector cannot fail");
}

/// Encodes contents. `head` ends with the common members, which come first, so that the bodies can
/// be streamed last.
fn encode_read(
    parts: Vec<Part>,
    (dialect, rows): (Dialect, &RowCache),
    mut head: Vec<u8>,
) -> Outgoing {
    let mut message = Outgoing::default();
    reopen_object(&mut head);
    head.extend_from_slice(b"\"contents\":[");
    let mut tail = contents::push_contents(parts, (dialect, rows), head, &mut message);
    tail.extend_from_slice(b"]}}");
    message.push_json(tail);
    message
}

/// Encodes a list whose rows are JSON already.
fn encode_list(
    name: &str,
    rows: Bytes,
    next_cursor: Option<&str>,
    common: CommonMembers<'_>,
    mut head: Vec<u8>,
) -> Outgoing {
    write_json(&mut head, &ListMembers { next_cursor, common });
    reopen_object(&mut head);
    head.extend_from_slice(format!("\"{name}\":").as_bytes());
    let mut message = Outgoing::from_bytes(head);
    message.push_json(rows);
    message.push_json(&b"}}"[..]);
    message
}

/// Removes the closing brace, so that more members can follow.
fn reopen_object(json: &mut Vec<u8>) {
    json.pop();
    if json.last() != Some(&b'{') {
        json.push(b',');
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListMembers<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(flatten)]
    common: CommonMembers<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TemplatesShape<'a> {
    resource_templates: template::TemplateRows<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(flatten)]
    common: CommonMembers<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SkillsShape<'a> {
    skills: Vec<SkillShape<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(flatten)]
    common: CommonMembers<'a>,
}

#[derive(Serialize)]
struct SingleSkillShape<'a> {
    skill: SkillShape<'a>,
    #[serde(flatten)]
    common: CommonMembers<'a>,
}

#[derive(Serialize)]
struct MetadataShape<'a> {
    resource: ResourceShape<'a>,
    #[serde(flatten)]
    common: CommonMembers<'a>,
}

#[derive(Serialize)]
struct BasketShape<'a> {
    uri: &'a str,
    #[serde(flatten)]
    common: CommonMembers<'a>,
}

#[derive(Serialize)]
struct CompletionShape<'a> {
    completion: CompletionValues<'a>,
    #[serde(flatten)]
    common: CommonMembers<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompletionValues<'a> {
    values: &'a [String],
    total: usize,
    has_more: bool,
}

impl<'a> CompletionValues<'a> {
    fn of(completion: &'a Completion) -> Self {
        let Completion { values, total, .. } = completion;
        Self { values, total: *total, has_more: *total > values.len() }
    }
}

fn initialize_reply(
    profile: &ServerProfile,
    dialect: Dialect,
    info: ServerInfo,
) -> impl Serialize + use<> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeReply {
        protocol_version: &'static str,
        capabilities: ServerCapabilities,
        server_info: ServerInfo,
        instructions: String,
    }
    InitializeReply {
        protocol_version: dialect.revision.as_str(),
        capabilities: ServerCapabilities::new(profile.features, dialect.revision),
        server_info: info,
        instructions: profile.instructions.clone(),
    }
}

fn discover_reply(
    profile: &ServerProfile,
    stands: Freshness,
    dialect: Dialect,
    info: ServerInfo,
) -> impl Serialize + use<> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct DiscoverReply {
        supported_versions: [&'static str; 5],
        capabilities: ServerCapabilities,
        instructions: String,
        #[serde(flatten)]
        common: CommonMembers<'static>,
    }
    DiscoverReply {
        supported_versions: Revision::ALL.map(Revision::as_str),
        capabilities: ServerCapabilities::new(profile.features, dialect.revision),
        instructions: profile.instructions.clone(),
        common: CommonMembers::new(Some(stands), &[], dialect, info),
    }
}
