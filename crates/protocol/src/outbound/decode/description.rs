//! Lenient parser of an upstream server's resource and template descriptions, member by member.
//!
//! Values of an unexpected type, and unknown members, are kept as raw JSON.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use resource::{
    Annotations, Format, Icon, MemberPlace, Outline, Resource, Role, Template, UnknownMembers, Uri,
    UriTemplate, Variable, VariableKind,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outline::parse_outline;
use crate::inbound::shape::iso_date::IsoDate;
use crate::inbound::shape::resource::LAST_MODIFIED;
use crate::inbound::shape::resource_meta::{
    META_COLLECTION, META_ETAG, META_FORMATS, META_IMMUTABLE, META_LANGUAGE, META_OUTLINE,
};
use crate::inbound::shape::template::META_VARIABLES;
use crate::json::raw_object::{RawMembers, parse_members, parse_string};
use crate::json::sanitize::sanitize_json;
use crate::json::unescape;
use crate::outbound::response::MalformedMessage;

/// How many unknown members are kept in one place. Each is compared with all earlier ones.
const MAX_UNKNOWN_MEMBERS: usize = 256;

/// Which kind of object is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Resource,
    Element,
    Template,
}

/// A description while its members are being read.
#[derive(Default)]
pub(super) struct DescriptionDraft<'a> {
    uri_text: Option<Cow<'a, str>>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    mime: Option<String>,
    size: Option<u64>,
    icons: Vec<Icon>,
    annotations: Annotations,
    /// Whether it is a collection, by four members in order of precedence (B-04).
    collection_claims: [Option<bool>; 4],
    subscribe: Option<bool>,
    language: Option<String>,
    immutable: bool,
    etag: Option<String>,
    formats: Vec<Format>,
    outline: Option<Arc<Outline>>,
    variables: Vec<Variable>,
    pub(super) text: Option<&'a RawValue>,
    blob: Option<&'a RawValue>,
    unknown: UnknownMembers,
}

impl<'a> DescriptionDraft<'a> {
    pub(super) fn parse(raw: &'a RawValue, kind: Kind) -> Result<Self, MalformedMessage> {
        Ok(Self::from_members(parse_members(Some(raw), "description")?, kind))
    }

    pub(super) fn from_members(members: RawMembers<'a>, kind: Kind) -> Self {
        let mut draft = Self::default();
        for (name, raw) in members {
            draft.set_member(&name, raw, kind);
        }
        draft
    }

    fn set_member(&mut self, name: &str, raw: &'a RawValue, kind: Kind) {
        let is_template = kind == Kind::Template;
        match name {
            "uriTemplate" if is_template => self.uri_text = parse_string(raw),
            "uri" if !is_template => self.uri_text = parse_string(raw),
            "text" if kind == Kind::Element && self.text.is_none() => self.text = Some(raw),
            "blob" if kind == Kind::Element && self.blob.is_none() => self.blob = Some(raw),
            "name" => self.name = self.text_value(name, raw),
            "title" => self.title = self.text_value(name, raw),
            "description" => self.description = self.text_value(name, raw),
            "mimeType" => self.mime = self.text_value(name, raw),
            "size" if !is_template => self.size = self.typed_value(name, raw),
            "isCollection" if !is_template => {
                self.collection_claims[1] = self.typed_value(name, raw)
            }
            "resourceType" if !is_template => {
                self.collection_claims[2] = match raw.get() {
                    "\"collection\"" => Some(true),
                    "\"document\"" => Some(false),
                    _ => None,
                };
                self.keep_raw(MemberPlace::TopLevel, name, raw);
            }
            "icons" => self.set_icons(raw),
            "annotations" => self.for_each_member(name, raw, Self::set_annotation),
            "capabilities" if !is_template => self.for_each_member(name, raw, Self::set_capability),
            "_meta" if is_template => {
                self.for_each_member(name, raw, |draft, name, raw| {
                    if name == META_VARIABLES {
                        draft.variables = parse_variables(raw).unwrap_or_default();
                    }
                    if name != META_VARIABLES || draft.variables.is_empty() {
                        draft.keep_raw(MemberPlace::Meta, name, raw);
                    }
                });
            }
            "_meta" => self.for_each_member(name, raw, Self::set_meta),
            _ => self.keep_raw(MemberPlace::TopLevel, name, raw),
        }
    }

    fn keep_raw(&mut self, place: MemberPlace, name: &str, raw: &RawValue) {
        if self.unknown.members_in(place).len() >= MAX_UNKNOWN_MEMBERS {
            return;
        }
        self.unknown.set(place, name, sanitize_json(raw.get()));
    }

    /// The value of a member; `None` for `null`. A value of another type is kept as raw JSON.
    fn typed_value<T: for<'de> Deserialize<'de>>(
        &mut self,
        name: &str,
        raw: &RawValue,
    ) -> Option<T> {
        if raw.get() == "null" {
            return None;
        }
        let word = serde_json::from_str(raw.get()).ok();
        if word.is_none() {
            self.keep_raw(MemberPlace::TopLevel, name, raw);
        }
        word
    }

    /// The value of a member that is a string, as [`Self::typed_value`].
    fn text_value(&mut self, name: &str, raw: &RawValue) -> Option<String> {
        let text = parse_string(raw).map(Cow::into_owned);
        if text.is_none() && raw.get() != "null" {
            self.keep_raw(MemberPlace::TopLevel, name, raw);
        }
        text
    }

    /// Calls `take` for each member of an object; anything else is kept as raw JSON.
    fn for_each_member(
        &mut self,
        name: &str,
        raw: &'a RawValue,
        take: impl Fn(&mut Self, &str, &'a RawValue),
    ) {
        match parse_members(Some(raw), name) {
            Ok(members) if !members.is_empty() => {
                members.into_iter().for_each(|(name, raw)| take(self, &name, raw));
            }
            _ if raw.get() == "null" => {}
            _ => self.keep_raw(MemberPlace::TopLevel, name, raw),
        }
    }

    fn set_annotation(&mut self, name: &str, raw: &'a RawValue) {
        let annotations = &mut self.annotations;
        let is_whole = match name {
            "audience" => {
                annotations.audience = parse_roles(raw).unwrap_or_default();
                !annotations.audience.is_empty()
            }
            "priority" => {
                let priority = serde_json::from_str(raw.get()).ok();
                annotations.priority = priority.filter(|priority| (0.0..=1.0).contains(priority));
                annotations.priority.is_some()
            }
            LAST_MODIFIED => {
                let date =
                    parse_string(raw).and_then(|date| humantime::parse_rfc3339_weak(&date).ok());
                annotations.modified = date;
                // A date that refdesk would write differently is passed on unchanged.
                let ours = date
                    .and_then(IsoDate::from_time)
                    .and_then(|date| serde_json::to_string(&date).ok());
                ours.is_some_and(|ours| ours == raw.get())
            }
            _ => false,
        };
        if !is_whole {
            self.keep_raw(MemberPlace::Annotations, name, raw);
        }
    }

    fn set_capability(&mut self, name: &str, raw: &'a RawValue) {
        match (name, bool_value(raw)) {
            ("list", Some(list)) => self.collection_claims[0] = Some(list),
            ("subscribe", Some(subscribe)) => self.subscribe = Some(subscribe),
            _ => self.keep_raw(MemberPlace::Capabilities, name, raw),
        }
    }

    fn set_meta(&mut self, name: &str, raw: &'a RawValue) {
        let is_known = match name {
            META_COLLECTION => {
                self.collection_claims[3] = bool_value(raw);
                self.collection_claims[3].is_some()
            }
            META_ETAG => {
                self.etag = parse_string(raw).map(Cow::into_owned);
                self.etag.is_some()
            }
            META_LANGUAGE => {
                self.language = parse_string(raw).map(Cow::into_owned);
                self.language.is_some()
            }
            META_IMMUTABLE => {
                self.immutable = bool_value(raw).unwrap_or_default();
                self.immutable
            }
            META_FORMATS => {
                self.formats = parse_formats(raw).unwrap_or_default();
                !self.formats.is_empty()
            }
            META_OUTLINE => {
                self.outline = parse_outline(raw).map(Arc::new);
                self.outline.is_some()
            }
            _ => false,
        };
        if !is_known {
            self.keep_raw(MemberPlace::Meta, name, raw);
        }
    }

    fn set_icons(&mut self, raw: &'a RawValue) {
        self.icons = parse_icons(raw).unwrap_or_default();
        // If one icon has an unknown member, all icons are passed on as raw JSON.
        if self.icons.is_empty() && raw.get() != "null" {
            self.keep_raw(MemberPlace::TopLevel, "icons", raw);
        }
    }

    /// Whether it claims both to be a collection and not to be one.
    pub(super) fn is_contradictory(&self) -> bool {
        let said = |wanted| self.collection_claims.contains(&Some(wanted));
        said(true) && said(false)
    }

    /// Decodes the content of an element, and whether it is text.
    pub(super) fn decode_body(&self) -> Result<(bool, Bytes), MalformedMessage> {
        let said = |raw: Option<&'a RawValue>| raw.filter(|raw| raw.get() != "null");
        if let Some(raw) = said(self.text) {
            let text = unescape::unescape_string(raw.get());
            let text =
                text.ok_or_else(|| MalformedMessage::new("contents: text is not a valid string"))?;
            return Ok((true, text.into()));
        }
        // B-05: every element has text or a blob; if the server sent neither, the text is empty.
        let Some(raw) = said(self.blob) else { return Ok((true, Bytes::new())) };
        let flaw = || MalformedMessage::new("contents: blob is not valid base64");
        let blob = parse_string(raw).ok_or_else(flaw)?;
        let bytes = base64_simd::forgiving_decode_to_vec(blob.as_bytes()).map_err(|_| flaw())?;
        Ok((false, bytes.into()))
    }

    /// The resource; `None` if it has no valid URI. `asked` is the URI of an element without one.
    pub(super) fn into_resource(self, asked: Option<&Uri>) -> Option<Resource> {
        let uri = match (&self.uri_text, asked) {
            (Some(text), _) => Uri::parse(text).ok()?,
            (None, asked) => asked?.clone(),
        };
        let name = self.name.unwrap_or_else(|| last_segment(uri.as_str()).to_owned());
        let mut resource = Resource::new(uri, name);
        resource.title = self.title;
        resource.description = self.description;
        resource.mime = self.mime;
        resource.size = self.size;
        resource.icons = self.icons;
        resource.annotations = self.annotations;
        resource.listable = self.collection_claims.into_iter().flatten().next();
        resource.watchable = self.subscribe;
        resource.etag = self.etag;
        resource.language = self.language;
        resource.immutable = self.immutable;
        resource.formats = self.formats;
        resource.outline = self.outline;
        resource.extra = self.unknown;
        Some(resource)
    }

    /// The template; `None` if its URI template is missing or invalid.
    pub(super) fn into_template(self) -> Option<Template> {
        let uri = UriTemplate::parse(self.uri_text.as_deref()?).ok()?;
        let name = self.name.unwrap_or_else(|| uri.as_str().to_owned());
        Some(Template {
            uri,
            name,
            title: self.title,
            description: self.description,
            mime: self.mime,
            icons: self.icons,
            annotations: self.annotations,
            variables: self.variables,
            extra: self.unknown,
        })
    }
}

fn last_segment(uri: &str) -> &str {
    uri.rsplit(['/', ':']).find(|segment| !segment.is_empty()).unwrap_or(uri)
}

fn bool_value(raw: &RawValue) -> Option<bool> {
    serde_json::from_str(raw.get()).ok()
}

/// The audience; `None` if it has an unknown role.
fn parse_roles(raw: &RawValue) -> Option<Vec<Role>> {
    let names: Vec<Cow<'_, str>> = serde_json::from_str(raw.get()).ok()?;
    let role = |name: &Cow<'_, str>| match &**name {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    };
    names.iter().map(role).collect()
}

/// The icons; `None` if one of them has an unknown member.
fn parse_icons(raw: &RawValue) -> Option<Vec<Icon>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct IconMembers {
        src: String,
        mime_type: Option<String>,
        #[serde(default)]
        sizes: Vec<String>,
        theme: Option<String>,
    }
    let written: Vec<IconMembers> = serde_json::from_str(raw.get()).ok()?;
    let icon = |icon: IconMembers| Icon {
        src: icon.src,
        mime: icon.mime_type,
        sizes: icon.sizes,
        theme: icon.theme,
    };
    Some(written.into_iter().map(icon).collect())
}

fn parse_formats(raw: &RawValue) -> Option<Vec<Format>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct FormatMembers {
        mime_type: String,
        size: Option<u64>,
        etag: Option<String>,
    }
    let written: Vec<FormatMembers> = serde_json::from_str(raw.get()).ok()?;
    let format = |FormatMembers { mime_type, size, etag }| Format {
        mime: mime_type,
        size,
        etag,
        is_made: false,
    };
    Some(written.into_iter().map(format).collect())
}

/// The variables of a template; `None` if one of them has an unknown member or type.
fn parse_variables(raw: &RawValue) -> Option<Vec<Variable>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct VariableMembers {
        name: String,
        description: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
        default: Option<String>,
        #[serde(rename = "enum", default)]
        allowed: Vec<String>,
        #[serde(rename = "list", default)]
        _list: bool,
    }
    let variable = |members: VariableMembers| {
        let mut kinds = VariableKind::ALL.into_iter();
        let kind = members
            .kind
            .map_or(Some(VariableKind::Text), |name| kinds.find(|kind| kind.name() == name))?;
        let VariableMembers { name, description, default, allowed, .. } = members;
        Some(Variable { name, description, kind, default, allowed })
    };
    let written: Vec<VariableMembers> = serde_json::from_str(raw.get()).ok()?;
    written.into_iter().map(variable).collect()
}
