//! Decoding of an upstream server's results: resources, templates, content, tools, prompts.
//!
//! Lenient: members that refdesk does not know, or that have an unexpected type, are kept as raw
//! JSON and passed on. One odd entry does not fail the whole list.

mod content;
mod description;
mod outline;
pub mod search_hits;
pub mod skill;
mod window;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use resource::{
    CacheScope, Completion, Component, ComponentKind, Freshness, MemberPlace, Resource, Template,
    UnknownMembers, UriRewrite,
};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::inbound::common_members::is_own_meta;
use crate::inbound::tool::text::has_control;
use crate::json::raw_object::{
    JsonString, RawMembers, RawObject, members_of, parse_members, parse_string,
};
use crate::json::sanitize::{mend_json, sanitize_json};
use crate::outbound::response::MalformedMessage;
use crate::outbound::uri_rewrite::{UriLocation, rewrite_uris};
pub use content::{ContentElement, ReadResult, read_result};
use description::{DescriptionDraft, Kind};

/// The longest cache lifetime to accept from a server.
const MAX_TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// The longest cursor to accept from a server. It travels in every request for the next page, and
/// in the cursors that our own clients get.
const MAX_CURSOR_BYTES: usize = 8 << 10;
/// How many entries of one page are decoded; each takes far more memory than its shortest JSON.
const MAX_PAGE_ENTRIES: usize = 100_000;
/// The longest entry of a list, in bytes of JSON.
const MAX_ENTRY_BYTES: usize = 256 << 10;
/// The longest name of a tool or prompt, in bytes. Several tables keep names.
const MAX_NAME_BYTES: usize = 1 << 10;
/// How many remarks one page has.
const MAX_REMARKS: usize = 4;

/// One page of a list.
#[derive(Debug, Clone)]
pub struct DecodedPage<T> {
    /// The entries, each URI or name once.
    pub items: Vec<T>,
    /// The cursor of the next page. An empty cursor is a valid cursor.
    pub next: Option<String>,
    /// How long the page may be cached, and by whom.
    pub freshness: Freshness,
    /// Why the list ends here although the server has more, if it does.
    pub cut: Option<&'static str>,
    /// How many entries were skipped, because no client could request them or they are too long.
    pub skipped: usize,
    /// How many entries contradict themselves on whether they are collections.
    pub contradictory: usize,
    /// The first entries that were left out for their name, each with the reason, for the log.
    pub remarks: Vec<String>,
    /// What the server sent along with the list.
    pub extra: UnknownMembers,
}

/// The members of all results that this module decodes.
#[derive(Default)]
struct DecodedResult<'a> {
    result_type: Option<Cow<'a, str>>,
    ttl_ms: Option<&'a RawValue>,
    cache_scope: Option<&'a RawValue>,
    next_cursor: Option<&'a RawValue>,
    resources: Option<Vec<&'a RawValue>>,
    resource_templates: Option<Vec<&'a RawValue>>,
    resource: Option<&'a RawValue>,
    contents: Option<Vec<RawObject<'a>>>,
    completion: Option<&'a RawValue>,
    tools: Option<Vec<&'a RawValue>>,
    prompts: Option<Vec<&'a RawValue>>,
    skills: Option<Vec<&'a RawValue>>,
    skill: Option<&'a RawValue>,
    meta: Option<&'a RawValue>,
    unknown: RawMembers<'a>,
}

/// In one pass, because `contents` may be long.
impl<'de: 'a, 'a> Deserialize<'de> for DecodedResult<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ResultVisitor;
        impl<'de> Visitor<'de> for ResultVisitor {
            type Value = DecodedResult<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut told = DecodedResult::default();
                while let Some(JsonString(name)) = map.next_key()? {
                    match &*name {
                        "resultType" => {
                            told.result_type =
                                map.next_value::<Option<JsonString<'de>>>()?.map(|text| text.0);
                        }
                        "ttlMs" => told.ttl_ms = map.next_value()?,
                        "cacheScope" => told.cache_scope = map.next_value()?,
                        "nextCursor" => told.next_cursor = map.next_value()?,
                        "resources" => told.resources = map.next_value()?,
                        "resourceTemplates" => told.resource_templates = map.next_value()?,
                        "resource" => told.resource = map.next_value()?,
                        "contents" => told.contents = map.next_value()?,
                        "completion" => told.completion = map.next_value()?,
                        "tools" => told.tools = map.next_value()?,
                        "prompts" => told.prompts = map.next_value()?,
                        "skills" => told.skills = map.next_value()?,
                        "skill" => told.skill = map.next_value()?,
                        "_meta" => told.meta = map.next_value()?,
                        _ => told.unknown.push((name, map.next_value()?)),
                    }
                }
                Ok(told)
            }
        }
        from.deserialize_map(ResultVisitor)
    }
}

impl<'a> DecodedResult<'a> {
    fn parse(result: &'a RawValue) -> Result<Self, MalformedMessage> {
        Self::parse_leading(result.get())
    }

    /// Parses the result that `text` starts with.
    fn parse_leading(text: &'a str) -> Result<Self, MalformedMessage> {
        Self::deserialize(&mut serde_json::Deserializer::from_str(text))
            .map_err(|flaw| MalformedMessage::new(&format!("the result cannot be parsed: {flaw}")))
    }

    /// MCP 2026-07-28: a result of an unknown type is not a result.
    fn parse_complete(result: &'a RawValue) -> Result<Self, MalformedMessage> {
        Self::parse(result)?.require_complete()
    }

    fn require_complete(self) -> Result<Self, MalformedMessage> {
        match self.result_type.as_deref() {
            None | Some("complete") => Ok(self),
            Some(_) => Err(MalformedMessage::new("the result has an unexpected resultType")),
        }
    }

    /// What the server sent along, at the top level and in `_meta`, if it is not too long. Members
    /// that every server writes for itself are left out.
    fn extra(&self) -> UnknownMembers {
        let mut extra = UnknownMembers::default();
        let meta = parse_members(self.meta, "_meta").unwrap_or_default();
        let size = |members: &RawMembers<'_>| -> usize {
            members.iter().map(|(name, raw)| name.len() + raw.get().len()).sum()
        };
        if size(&meta) + size(&self.unknown) > MAX_ENTRY_BYTES {
            return extra;
        }
        for (name, raw) in &self.unknown {
            extra.set(MemberPlace::TopLevel, name.as_ref(), sanitize_json(raw.get()));
        }
        for (name, raw) in meta.iter().filter(|(name, _)| !is_own_meta(name)) {
            extra.set(MemberPlace::Meta, name.as_ref(), sanitize_json(raw.get()));
        }
        extra
    }

    /// K-07: a `ttlMs` that is absent, negative or not a number means zero.
    fn freshness(&self) -> Freshness {
        let number = |raw: &RawValue| serde_json::from_str::<f64>(raw.get()).ok();
        let millis = self.ttl_ms.and_then(number).filter(|millis| *millis > 0.0).unwrap_or(0.0);
        let ttl = Duration::try_from_secs_f64(millis / 1000.0).unwrap_or(MAX_TTL).min(MAX_TTL);
        let is_public = self.cache_scope.is_some_and(|raw| raw.get() == "\"public\"");
        Freshness { ttl, scope: if is_public { CacheScope::Public } else { CacheScope::Private } }
    }

    /// The cursor of the next page, or why the list ends without it.
    fn cursor(&self) -> Result<(Option<String>, Option<&'static str>), MalformedMessage> {
        let Some(raw) = self.next_cursor.filter(|raw| raw.get() != "null") else {
            return Ok((None, None));
        };
        if raw.get().len() > MAX_CURSOR_BYTES {
            return Ok((None, Some("its cursor for the next page is longer than 8 KiB")));
        }
        let cursor = parse_string(raw)
            .ok_or_else(|| MalformedMessage::new("the result has an invalid nextCursor"))?;
        Ok((Some(cursor.into_owned()), None))
    }

    fn into_page<T, K: Hash + Eq + fmt::Debug>(
        self,
        entries: &[&RawValue],
        take: impl Fn(&RawValue) -> Option<(T, bool)>,
        key: impl Fn(&T) -> K,
    ) -> Result<DecodedPage<T>, MalformedMessage> {
        let (next, cut) = self.cursor()?;
        let (freshness, extra) = (self.freshness(), self.extra());
        let mut page = DecodedPage {
            items: Vec::new(),
            next,
            freshness,
            cut,
            skipped: 0,
            contradictory: 0,
            remarks: Vec::new(),
            extra,
        };
        let mut seen = HashSet::new();
        for entry in entries {
            if page.items.len() >= MAX_PAGE_ENTRIES {
                page.cut = Some("a page of it has more than 100000 entries");
                page.next = None;
                break;
            }
            let is_short = entry.get().len() <= MAX_ENTRY_BYTES;
            let Some((item, contradicts)) = is_short.then(|| take(entry)).flatten() else {
                page.skipped += 1;
                continue;
            };
            page.contradictory += usize::from(contradicts);
            let key = key(&item);
            if seen.contains(&key) {
                page.remark(|| format!("listed twice: {}", short_debug(&key)));
            } else {
                seen.insert(key);
                page.items.push(item);
            }
        }
        Ok(page)
    }
}

impl<T> DecodedPage<T> {
    fn remark(&mut self, text: impl FnOnce() -> String) {
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(text());
        }
    }
}

/// The first characters of a name, with control characters escaped.
fn short_debug(name: &impl fmt::Debug) -> String {
    format!("{name:?}").chars().take(100).collect()
}

/// Decodes a page of resources.
pub fn resource_page(result: &RawValue) -> Result<DecodedPage<Resource>, MalformedMessage> {
    let mut told = DecodedResult::parse_complete(result)?;
    let entries = told
        .resources
        .take()
        .ok_or_else(|| MalformedMessage::new("the result has no resources"))?;
    let take = |raw: &RawValue| {
        let draft = DescriptionDraft::parse(raw, Kind::Resource).ok()?;
        let contradicts = draft.is_contradictory();
        Some((draft.into_resource(None)?, contradicts))
    };
    told.into_page(&entries, take, |resource| resource.uri.clone())
}

/// Decodes a page of templates.
pub fn template_page(result: &RawValue) -> Result<DecodedPage<Template>, MalformedMessage> {
    let mut told = DecodedResult::parse_complete(result)?;
    let entries = told.resource_templates.take();
    let entries =
        entries.ok_or_else(|| MalformedMessage::new("the result has no resourceTemplates"))?;
    let take = |raw: &RawValue| {
        Some((DescriptionDraft::parse(raw, Kind::Template).ok()?.into_template()?, false))
    };
    told.into_page(&entries, take, |template| template.uri.as_str().to_owned())
}

/// Decodes a page of tools or prompts, each with its description as the server wrote it. Only the
/// URI of a tool's user interface becomes public.
pub fn component_page(
    result: &RawValue,
    kind: ComponentKind,
    rewrite: &dyn UriRewrite,
) -> Result<DecodedPage<Component>, MalformedMessage> {
    let mut told = DecodedResult::parse_complete(result)?;
    let entries = match kind {
        ComponentKind::Tool => told.tools.take(),
        ComponentKind::Prompt => told.prompts.take(),
    };
    let entries =
        entries.ok_or_else(|| MalformedMessage::new("the list has no tools or prompts member"))?;
    let public = |uri: &str| rewrite.to_public(uri);
    let take = |raw: &RawValue| {
        // A schema without one of its values could mean something else, so that such a tool is
        // left out.
        let text = mend_json(raw.get())?;
        let members = members_of(&text);
        let (_, name) = members.iter().rfind(|(member, _)| member == "name")?;
        let name = parse_string(name)?.into_owned();
        let json = match kind {
            ComponentKind::Tool => rewrite_uris(&text, UriLocation::ToolDescription, &public),
            ComponentKind::Prompt => text.as_ref().into(),
        };
        Some((Component { name, json }, false))
    };
    let mut page = told.into_page(&entries, take, |component| component.name.clone())?;
    let (plain, odd): (Vec<_>, Vec<_>) =
        std::mem::take(&mut page.items).into_iter().partition(|component| {
            component.name.len() <= MAX_NAME_BYTES && !has_control(&component.name)
        });
    page.items = plain;
    odd.iter().for_each(|component| {
        let name = short_debug(&component.name);
        page.remark(|| format!("its name is too long or has control characters: {name}"));
    });
    // What the server offers may depend on the identity that the client presents.
    page.freshness.scope = CacheScope::Private;
    Ok(page)
}

/// Decodes the description of a resource.
pub fn metadata_result(result: &RawValue) -> Result<(Resource, Freshness), MalformedMessage> {
    let told = DecodedResult::parse_complete(result)?;
    let raw = told.resource.ok_or_else(|| MalformedMessage::new("the result has no resource"))?;
    let resource = DescriptionDraft::parse(raw, Kind::Resource)?.into_resource(None);
    let resource =
        resource.ok_or_else(|| MalformedMessage::new("the resource has no valid URI"))?;
    Ok((resource, told.freshness()))
}

/// Decodes completion values.
pub fn completion_result(result: &RawValue) -> Result<Completion, MalformedMessage> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CompletionMembers<'a> {
        #[serde(borrow)]
        values: Vec<&'a RawValue>,
        total: Option<f64>,
        has_more: Option<bool>,
    }
    let told = DecodedResult::parse_complete(result)?;
    let (raw, extra) = (told.completion.map_or("null", RawValue::get), told.extra());
    let flaw = || MalformedMessage::new("the completion has no values");
    let CompletionMembers { values, total, has_more } =
        serde_json::from_str(raw).map_err(|_| flaw())?;
    let given = values.len();
    let values = values.into_iter().take(Completion::MAX_VALUES);
    let values = values.map(|raw| parse_string(raw).map(Cow::into_owned).ok_or_else(flaw));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let least = given + usize::from(has_more == Some(true));
    let total = total.map_or(0, |total| total as usize).max(least);
    Ok(Completion { values, total, extra })
}

#[cfg(test)]
mod tests;
