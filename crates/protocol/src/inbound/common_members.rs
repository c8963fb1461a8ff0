//! Members that every result may have: type, cache terms, `_meta`, and those of upstream servers.

use resource::{Absence, CacheScope, Freshness, MemberPlace, Page, UnknownMembers};
use serde::Serialize;

use crate::inbound::reply::ServerInfo;
use crate::inbound::shape::unknown_members::UnknownMembersShape;
use crate::json::frame::RequestId;
use crate::revision::Dialect;

/// The members that every result may have, in revisions that define them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommonMembers<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta<'a>>,
    #[serde(flatten)]
    members: UnknownMembersShape<'a>,
}

#[derive(Default, Serialize)]
struct ResultMeta<'a> {
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
    subscription: Option<&'a RequestId>,
    #[serde(flatten)]
    members: UnknownMembersShape<'a>,
}

/// The prefix of the protocol's own members of `_meta`.
const MCP_PREFIX: &str = "io.modelcontextprotocol/";

/// Whether every server writes this member of a result's `_meta` for itself.
pub(crate) fn is_own_meta(name: &str) -> bool {
    matches!(
        name,
        "io.modelcontextprotocol/serverInfo"
            | "io.modelcontextprotocol/subscriptionId"
            | "dev.refdesk/absent"
    )
}

#[derive(Serialize)]
struct AbsenceShape<'a> {
    what: &'a str,
    why: &'a str,
}

impl<'a> CommonMembers<'a> {
    pub(super) fn for_page<T>(page: &'a Page<T>, dialect: Dialect, info: ServerInfo) -> Self {
        Self::new(Some(page.freshness), &page.absent, dialect, info)
            .with_extra(&page.extra, dialect)
    }

    /// Names the subscription that the result ends.
    pub(super) fn set_subscription(&mut self, id: &'a RequestId) {
        self.meta.get_or_insert_default().subscription = Some(id);
    }

    /// Adds what an upstream server sent along. Older revisions do not define the protocol's own
    /// members of `_meta`.
    pub(super) fn with_extra(mut self, extra: &'a UnknownMembers, dialect: Dialect) -> Self {
        if extra.is_empty() {
            return self;
        }
        self.members = UnknownMembersShape::all(extra, MemberPlace::TopLevel);
        let mut meta = UnknownMembersShape::all(extra, MemberPlace::Meta);
        meta.retain(|name| {
            !is_own_meta(name)
                && (dialect.revision.signs_results() || !name.starts_with(MCP_PREFIX))
        });
        if !meta.is_empty() {
            self.meta.get_or_insert_default().members = meta;
        }
        self
    }

    pub(super) fn new(
        freshness: Option<Freshness>,
        absent: &'a [Absence],
        dialect: Dialect,
        info: ServerInfo,
    ) -> Self {
        let revision = dialect.revision;
        let kept = freshness.filter(|_| revision.names_cache_terms());
        let server = revision.signs_results().then_some(info);
        let absent = (!absent.is_empty()).then(|| {
            absent.iter().map(|gap| AbsenceShape { what: &gap.name, why: &gap.reason }).collect()
        });
        let meta = (server.is_some() || absent.is_some()).then_some(ResultMeta {
            server,
            absent,
            ..ResultMeta::default()
        });
        Self {
            result_type: revision.tags_results().then_some("complete"),
            ttl_ms: kept.map(|kept| u64::try_from(kept.ttl.as_millis()).unwrap_or(u64::MAX)),
            cache_scope: kept.map(|kept| match kept.scope {
                CacheScope::Public => "public",
                CacheScope::Private => "private",
            }),
            meta,
            members: UnknownMembersShape::default(),
        }
    }
}
