//! Lenient parser of an upstream server's resource and template descriptions, member by member.
//!
//! Values of an unexpected type, and unknown members, are kept as raw JSON.

use std::borrow::Cow;

use bytes::Bytes;
use resource::{
    Annotations, Extra, Format, Icon, Place, Resource, Role, Template, Truth, Uri, UriTemplate,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::Malformed;
use crate::member::{Members, members};
use crate::relay::one_line;
use crate::shape::resource::{COLLECTION, Date, ETAG, FORMATS, MODIFIED};
use crate::unescape;

/// Which kind of object is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Resource,
    Element,
    Template,
}

/// A description while its members are being read.
#[derive(Default)]
pub(super) struct Draft<'a> {
    named: Option<Cow<'a, str>>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    mime: Option<String>,
    size: Option<u64>,
    icons: Vec<Icon>,
    annotations: Annotations,
    /// Whether it is a collection, by four members in order of precedence (B-04).
    list: [Option<bool>; 4],
    subscribe: Option<bool>,
    etag: Option<String>,
    formats: Vec<Format>,
    text: Option<&'a RawValue>,
    blob: Option<&'a RawValue>,
    extra: Extra,
}

impl<'a> Draft<'a> {
    pub(super) fn take(raw: &'a RawValue, kind: Kind) -> Result<Self, Malformed> {
        Ok(Self::of(members(Some(raw), "description")?, kind))
    }

    pub(super) fn of(members: Members<'a>, kind: Kind) -> Self {
        let mut draft = Self::default();
        for (name, raw) in members {
            draft.add(&name, raw, kind);
        }
        draft
    }

    fn add(&mut self, name: &str, raw: &'a RawValue, kind: Kind) {
        let is_template = kind == Kind::Template;
        match name {
            "uriTemplate" if is_template => self.named = text(raw),
            "uri" if !is_template => self.named = text(raw),
            "text" if kind == Kind::Element && self.text.is_none() => self.text = Some(raw),
            "blob" if kind == Kind::Element && self.blob.is_none() => self.blob = Some(raw),
            "name" => self.name = self.word(name, raw),
            "title" => self.title = self.word(name, raw),
            "description" => self.description = self.word(name, raw),
            "mimeType" => self.mime = self.word(name, raw),
            "size" if !is_template => self.size = self.word(name, raw),
            "isCollection" if !is_template => self.list[1] = self.word(name, raw),
            "resourceType" if !is_template => {
                self.list[2] = match raw.get() {
                    "\"collection\"" => Some(true),
                    "\"document\"" => Some(false),
                    _ => None,
                };
                self.put(Place::Beside, name, raw);
            }
            "icons" => self.add_icons(raw),
            "annotations" => self.each(name, raw, Self::annotate),
            "capabilities" if !is_template => self.each(name, raw, Self::enable),
            "_meta" if is_template => {
                self.each(name, raw, |draft, name, raw| draft.put(Place::Meta, name, raw));
            }
            "_meta" => self.each(name, raw, Self::mark),
            _ => self.put(Place::Beside, name, raw),
        }
    }

    fn put(&mut self, place: Place, name: &str, raw: &RawValue) {
        // It becomes part of a message that must stay on one line.
        self.extra.put(place, name, one_line(raw.get()));
    }

    /// The value of a member; `None` for `null`. A value of another type is kept as raw JSON.
    fn word<T: for<'de> Deserialize<'de>>(&mut self, name: &str, raw: &RawValue) -> Option<T> {
        if raw.get() == "null" {
            return None;
        }
        let word = serde_json::from_str(raw.get()).ok();
        if word.is_none() {
            self.put(Place::Beside, name, raw);
        }
        word
    }

    /// Calls `take` for each member of an object; anything else is kept as raw JSON.
    fn each(
        &mut self,
        name: &str,
        raw: &'a RawValue,
        take: impl Fn(&mut Self, &str, &'a RawValue),
    ) {
        match members(Some(raw), name) {
            Ok(members) if !members.is_empty() => {
                members.into_iter().for_each(|(name, raw)| take(self, &name, raw));
            }
            _ if raw.get() == "null" => {}
            _ => self.put(Place::Beside, name, raw),
        }
    }

    fn annotate(&mut self, name: &str, raw: &'a RawValue) {
        let annotations = &mut self.annotations;
        let is_whole = match name {
            "audience" => {
                annotations.audience = roles(raw).unwrap_or_default();
                !annotations.audience.is_empty()
            }
            "priority" => {
                let priority = serde_json::from_str(raw.get()).ok();
                annotations.priority = priority.filter(|priority| (0.0..=1.0).contains(priority));
                annotations.priority.is_some()
            }
            MODIFIED => {
                let date = text(raw).and_then(|date| humantime::parse_rfc3339_weak(&date).ok());
                annotations.modified = date;
                // A date that refdesk would write differently is passed on unchanged.
                let ours =
                    date.and_then(Date::of).and_then(|date| serde_json::to_string(&date).ok());
                ours.is_some_and(|ours| ours == raw.get())
            }
            _ => false,
        };
        if !is_whole {
            self.put(Place::Annotations, name, raw);
        }
    }

    fn enable(&mut self, name: &str, raw: &'a RawValue) {
        match (name, flag(raw)) {
            ("list", Some(list)) => self.list[0] = Some(list),
            ("subscribe", Some(subscribe)) => self.subscribe = Some(subscribe),
            _ => self.put(Place::Capabilities, name, raw),
        }
    }

    fn mark(&mut self, name: &str, raw: &'a RawValue) {
        let is_known = match name {
            COLLECTION => {
                self.list[3] = flag(raw);
                self.list[3].is_some()
            }
            ETAG => {
                self.etag = text(raw).map(Cow::into_owned);
                self.etag.is_some()
            }
            FORMATS => {
                self.formats = formats(raw).unwrap_or_default();
                !self.formats.is_empty()
            }
            _ => false,
        };
        if !is_known {
            self.put(Place::Meta, name, raw);
        }
    }

    fn add_icons(&mut self, raw: &'a RawValue) {
        self.icons = icons(raw).unwrap_or_default();
        // If one icon has an unknown member, all icons are passed on as raw JSON.
        if self.icons.is_empty() && raw.get() != "null" {
            self.put(Place::Beside, "icons", raw);
        }
    }

    /// Whether it claims both to be a collection and not to be one.
    pub(super) fn contradicts(&self) -> bool {
        let said = |wanted| self.list.contains(&Some(wanted));
        said(true) && said(false)
    }

    /// Decodes the content of an element, and whether it is text.
    pub(super) fn body(&self) -> Result<(bool, Bytes), Malformed> {
        let said = |raw: Option<&'a RawValue>| raw.filter(|raw| raw.get() != "null");
        if let Some(raw) = said(self.text) {
            let text = unescape::text(raw);
            let text =
                text.ok_or_else(|| Malformed::new("contents: text is not a valid string"))?;
            return Ok((true, text.into()));
        }
        // B-05: every element has text or a blob; if the server sent neither, the text is empty.
        let Some(raw) = said(self.blob) else { return Ok((true, Bytes::new())) };
        let flaw = || Malformed::new("contents: blob is not valid base64");
        let blob = text(raw).ok_or_else(flaw)?;
        let bytes = base64_simd::forgiving_decode_to_vec(blob.as_bytes()).map_err(|_| flaw())?;
        Ok((false, bytes.into()))
    }

    /// The resource; `None` if it has no valid URI. `asked` is the URI of an element without one.
    pub(super) fn resource(self, asked: Option<&Uri>) -> Option<Resource> {
        let uri = match (&self.named, asked) {
            (Some(text), _) => Uri::parse(text).ok()?,
            (None, asked) => asked?.clone(),
        };
        let truth = |said: Option<bool>| match said {
            Some(true) => Truth::Yes,
            Some(false) => Truth::No,
            None => Truth::Unknown,
        };
        let name = self.name.unwrap_or_else(|| last_segment(uri.as_str()).to_owned());
        let mut resource = Resource::new(uri, name);
        resource.title = self.title;
        resource.description = self.description;
        resource.mime = self.mime;
        resource.size = self.size;
        resource.icons = self.icons;
        resource.annotations = self.annotations;
        resource.listable = truth(self.list.into_iter().flatten().next());
        resource.watchable = truth(self.subscribe);
        resource.etag = self.etag;
        resource.formats = self.formats;
        resource.extra = self.extra;
        Some(resource)
    }

    /// The template; `None` if its URI template is missing or invalid.
    pub(super) fn template(self) -> Option<Template> {
        let uri = UriTemplate::parse(self.named.as_deref()?).ok()?;
        let name = self.name.unwrap_or_else(|| uri.as_str().to_owned());
        Some(Template {
            uri,
            name,
            title: self.title,
            description: self.description,
            mime: self.mime,
            icons: self.icons,
            annotations: self.annotations,
            extra: self.extra,
        })
    }
}

fn last_segment(uri: &str) -> &str {
    uri.rsplit(['/', ':']).find(|segment| !segment.is_empty()).unwrap_or(uri)
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

fn flag(raw: &RawValue) -> Option<bool> {
    serde_json::from_str(raw.get()).ok()
}

/// The audience; `None` if it has an unknown role.
fn roles(raw: &RawValue) -> Option<Vec<Role>> {
    let names: Vec<Cow<'_, str>> = serde_json::from_str(raw.get()).ok()?;
    let role = |name: &Cow<'_, str>| match &**name {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    };
    names.iter().map(role).collect()
}

/// The icons; `None` if one of them has an unknown member.
fn icons(raw: &RawValue) -> Option<Vec<Icon>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Written {
        src: String,
        mime_type: Option<String>,
        #[serde(default)]
        sizes: Vec<String>,
        theme: Option<String>,
    }
    let written: Vec<Written> = serde_json::from_str(raw.get()).ok()?;
    let icon = |icon: Written| Icon {
        src: icon.src,
        mime: icon.mime_type,
        sizes: icon.sizes,
        theme: icon.theme,
    };
    Some(written.into_iter().map(icon).collect())
}

fn formats(raw: &RawValue) -> Option<Vec<Format>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Written {
        mime_type: String,
        size: Option<u64>,
    }
    let written: Vec<Written> = serde_json::from_str(raw.get()).ok()?;
    let format = |format: Written| Format { mime: format.mime_type, size: format.size };
    Some(written.into_iter().map(format).collect())
}
