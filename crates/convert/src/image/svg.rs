//! Sanitiser of SVG: writes anew what is known to draw, and leaves out the rest.

use std::collections::BTreeMap;

use quick_xml::NsReader;
use quick_xml::escape::{escape, resolve_predefined_entity};
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};

use super::svg_names::{is_animation, is_attribute, is_element, is_local_value, is_safe_image};
use super::svg_styles::{SvgStyles, declarations};
use super::svg_uses::UseGraph;
use crate::conversion::Conversion;
use crate::decode::decode;
use crate::error::ConvertError;
use crate::options::Options;

const SVG: &str = "http://www.w3.org/2000/svg";
const XLINK: &str = "http://www.w3.org/1999/xlink";
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// The deepest nesting of elements.
const MAX_DEPTH: usize = 256;

/// The most attributes of an element.
const MAX_ATTRIBUTES: usize = 200;

/// Writes an SVG document anew, without what loads or runs something.
pub(super) fn sanitise(bytes: &[u8], options: &Options) -> Result<Conversion, ConvertError> {
    let source = decode(bytes, declared_charset(bytes));
    let mut reader = NsReader::from_str(&source);
    reader.config_mut().expand_empty_elements = true;
    let mut writer = SvgWriter::default();
    loop {
        let (namespace, event) = reader
            .read_resolved_event()
            .map_err(|flaw| ConvertError::damaged(format!("the SVG is broken: {flaw}")))?;
        match event {
            Event::Start(start) => {
                let is_svg = is_namespace(&namespace, SVG);
                // Old files have no namespace at all.
                let is_bare = matches!(namespace, ResolveResult::Unbound);
                let attributes = attributes_of(&start, &reader);
                writer.start(&start, is_svg || is_bare, attributes)?;
                if writer.body.len() > options.max_output_bytes {
                    let words = "the SVG is over the limit of bytes";
                    return Err(ConvertError::over_limit(words));
                }
            }
            Event::End(_) => writer.end(),
            Event::Text(text) => writer.text(&text.xml10_content()),
            Event::CData(text) => writer.text(&text.xml10_content()),
            Event::GeneralRef(reference) => writer.text(&resolved(&reference)),
            Event::Eof => break,
            Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
    }
    writer.finish()
}

/// The charset that the declaration of a document names.
fn declared_charset(bytes: &[u8]) -> Option<&str> {
    let head = bytes.get(..bytes.len().min(200))?;
    let head = head.split(|byte| *byte == b'>').next()?;
    let head = std::str::from_utf8(head).ok()?;
    let (_, rest) = head.split_once("encoding=")?;
    let quote = rest.chars().next()?;
    rest[1..].split(quote).next()
}

fn is_namespace(namespace: &ResolveResult<'_>, wanted: &str) -> bool {
    matches!(namespace, ResolveResult::Bound(Namespace(name)) if *name == wanted)
}

/// The text of a reference: of a character or one of the five known entities, else nothing.
fn resolved(reference: &BytesRef<'_>) -> String {
    match reference.resolve_char_ref() {
        Ok(Some(letter)) => letter.into(),
        Ok(None) => {
            resolve_predefined_entity(&reference.xml10_content()).unwrap_or_default().to_owned()
        }
        Err(_) => String::new(),
    }
}

/// An attribute by its name: those of other namespaces have its prefix.
type SvgAttribute = (String, String);

/// The attributes of an element, with the prefixes that we know; others are left out.
fn attributes_of(start: &BytesStart<'_>, reader: &NsReader<&[u8]>) -> Vec<SvgAttribute> {
    let mut attributes = start.attributes();
    let known = attributes.with_checks(false).take(MAX_ATTRIBUTES).filter_map(Result::ok);
    let named = known.filter_map(|attribute: Attribute<'_>| {
        let (namespace, local) = reader.resolver().resolve_attribute(attribute.key);
        let value = quick_xml::escape::unescape(&attribute.value).ok()?.into_owned();
        let local: &str = local.into_inner();
        let name = match namespace {
            ResolveResult::Unbound if attribute.key.prefix().is_none() => local.to_owned(),
            // In SVG 2 a reference has no namespace.
            bound if is_namespace(&bound, XLINK) && local == "href" => "href".to_owned(),
            bound if is_namespace(&bound, XML) => format!("xml:{local}"),
            _ => return None,
        };
        Some((name, value))
    });
    named.collect()
}

/// Writes the elements that are kept.
#[derive(Default)]
struct SvgWriter {
    body: String,
    /// The open elements that are kept, and the identifier of each.
    open: Vec<(String, Option<String>)>,
    /// How many elements are open inside one that is left out, with it.
    skipped: usize,
    has_root: bool,
    left_out: BTreeMap<String, usize>,
    uses: UseGraph,
    styles: SvgStyles,
    /// The text of the style sheet that is being read.
    sheet: Option<String>,
}

impl SvgWriter {
    fn start(
        &mut self,
        start: &BytesStart<'_>,
        is_svg: bool,
        attributes: Vec<SvgAttribute>,
    ) -> Result<(), ConvertError> {
        let local = start.local_name();
        let name: &str = local.as_ref();
        if self.open.len() + self.skipped >= MAX_DEPTH {
            return Err(ConvertError::over_limit(format!(
                "the SVG is nested deeper than {MAX_DEPTH} elements"
            )));
        }
        if self.open.is_empty() && (self.has_root || name != "svg" || !is_svg) {
            return Err(ConvertError::damaged("the content is no SVG image"));
        }
        let is_kept = is_svg && is_element(name) && is_tame_animation(name, &attributes);
        if self.skipped > 0 || !is_kept {
            if self.skipped == 0 && is_svg && name == "style" {
                self.sheet = Some(String::new());
            } else if self.skipped == 0 {
                *self.left_out.entry(name.to_owned()).or_default() += 1;
            }
            self.skipped += 1;
            return Ok(());
        }
        self.write_start(name, attributes);
        Ok(())
    }

    fn write_start(&mut self, name: &str, attributes: Vec<SvgAttribute>) {
        // A link leads out of the document.
        let written = if name == "a" { "g" } else { name };
        self.body.push('<');
        self.body.push_str(written);
        if !self.has_root {
            self.has_root = true;
            self.body.push_str(&format!(" xmlns=\"{SVG}\""));
        }
        let attributes = kept_attributes(name, attributes, &self.styles);
        for (name, value) in &attributes {
            self.body.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
        self.body.push('>');
        self.note_uses(name, &attributes);
        self.open.push((written.to_owned(), attributes.get("id").cloned()));
    }

    fn note_uses(&mut self, name: &str, attributes: &BTreeMap<String, String>) {
        let around = self.open.iter().rev().find_map(|(_, id)| id.as_deref());
        let around = around.unwrap_or_default().to_owned();
        match attributes.get("id") {
            Some(id) => {
                self.uses.add_target(&around, id);
                self.uses.add_element(id);
            }
            None => self.uses.add_element(&around),
        }
        let target = attributes.get("href").and_then(|href| href.strip_prefix('#'));
        if let (Some(target), true) = (target, matches!(name, "use" | "feImage")) {
            let around = attributes.get("id").unwrap_or(&around);
            self.uses.add_target(around, target);
        }
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            if self.skipped == 0 {
                let sheet = self.sheet.take().unwrap_or_default();
                self.styles.add_sheet(&sheet);
            }
        } else if let Some((name, _)) = self.open.pop() {
            self.body.push_str(&format!("</{name}>"));
        }
    }

    fn text(&mut self, text: &str) {
        if let (Some(sheet), 1) = (&mut self.sheet, self.skipped) {
            sheet.push_str(text);
        }
        if self.skipped == 0 && !self.open.is_empty() {
            self.body.push_str(&escape(text));
        }
    }

    fn finish(self) -> Result<Conversion, ConvertError> {
        if !self.has_root || !self.open.is_empty() {
            return Err(ConvertError::damaged("the SVG ends before its last element does"));
        }
        if self.uses.is_over_limit() {
            return Err(ConvertError::over_limit("the SVG copies its elements too often"));
        }
        let mut converted = Conversion::text(self.body);
        if self.styles.is_partial {
            converted.losses.push("some rules of style sheets are left out".to_owned());
        }
        if !self.left_out.is_empty() {
            let names: Vec<_> = self
                .left_out
                .iter()
                .take(20)
                .map(|(name, count)| format!("{name} ({count})"))
                .collect();
            converted.losses.push(format!("elements are left out: {}", names.join(", ")));
        }
        Ok(converted)
    }
}

/// Whether an element animates nothing, or only what draws: never a reference or a handler.
fn is_tame_animation(name: &str, attributes: &[SvgAttribute]) -> bool {
    if !is_animation(name) || name == "animateMotion" {
        return true;
    }
    let target = attributes.iter().find(|(name, _)| name == "attributeName");
    target.is_some_and(|(_, target)| is_attribute(target))
}

/// The attributes that are kept; styles become attributes, which they override.
fn kept_attributes(
    element: &str,
    attributes: Vec<SvgAttribute>,
    styles: &SvgStyles,
) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    let mut styled = Vec::new();
    for (name, value) in attributes {
        match name.as_str() {
            "href" if is_reference(element, &value) => drop(kept.insert(name, value)),
            "xml:space" | "xml:lang" => drop(kept.insert(name, value)),
            "style" => styled.extend(declarations(&value)),
            name if is_attribute(name) && is_local_value(&value) => {
                kept.insert(name.to_owned(), value);
            }
            _ => {}
        }
    }
    let named = |name: &str| kept.get(name).map(String::as_str);
    let by_sheet = styles.properties(element, named("class"), named("id"));
    kept.extend(by_sheet);
    kept.extend(styled);
    kept
}

/// Whether an element may have a reference to `value`.
fn is_reference(element: &str, value: &str) -> bool {
    let is_image = matches!(element, "image" | "feImage");
    element != "a" && (value.starts_with('#') || is_image && is_safe_image(value))
}

#[cfg(test)]
mod tests {
    use super::sanitise;
    use crate::error::ConvertErrorKind;
    use crate::options::Options;

    fn clean(inside: &str) -> String {
        let source = format!(
            "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>\
             <svg xmlns=\"http://www.w3.org/2000/svg\" \
             xmlns:xlink=\"http://www.w3.org/1999/xlink\" onload=\"x()\">{inside}</svg>"
        );
        let converted = sanitise(source.as_bytes(), &Options::default()).unwrap();
        let text = String::from_utf8(converted.body).unwrap();
        let text = text.strip_prefix("<svg xmlns=\"http://www.w3.org/2000/svg\">").unwrap();
        text.strip_suffix("</svg>").unwrap().to_owned()
    }

    #[test]
    fn shapes_text_and_presentation_are_kept() {
        let inside = "<g fill=\"red\"><path d=\"M0 0\"/><text x=\"1\">a &lt; 日</text></g>";
        let kept = "<g fill=\"red\"><path d=\"M0 0\"></path><text x=\"1\">a &lt; 日</text></g>";
        assert_eq!(clean(inside), kept);
        assert_eq!(
            clean("<rect fill=\"red\" style=\"fill: url(#a); stroke:blue; behavior:url(x)\"/>"),
            "<rect fill=\"url(#a)\" stroke=\"blue\"></rect>"
        );
    }

    #[test]
    fn a_style_sheet_becomes_attributes() {
        let inside = "<style>.a{fill:red;behavior:url(x)}</style>\
            <rect class=\"a\" fill=\"blue\"/><rect class=\"a\" style=\"fill:lime\"/>";
        let kept = "<rect class=\"a\" fill=\"red\"></rect><rect class=\"a\" fill=\"lime\"></rect>";
        assert_eq!(clean(inside), kept);
    }

    #[test]
    fn what_runs_or_loads_is_left_out() {
        let nothing = [
            "<script>alert(1)</script>",
            "<foreignObject><body xmlns=\"http://www.w3.org/1999/xhtml\"/></foreignObject>",
            "<style>@import url(http://a/)</style>",
            "<x:script xmlns:x=\"http://www.w3.org/1999/xhtml\">1</x:script>",
            "<set attributeName=\"href\" to=\"javascript:x\"/>",
            "<animate attributeName=\"onclick\" values=\"x\"/>",
            "<iframe src=\"http://a/\"/>",
            "&e;",
        ];
        for inside in nothing {
            assert_eq!(clean(inside), "", "{inside}");
        }
        let bare = [
            ("<image href=\"http://a/b.png\"/>", "<image></image>"),
            ("<use xlink:href=\"other.svg#a\"/>", "<use></use>"),
            ("<a href=\"javascript:x\"><circle/></a>", "<g><circle></circle></g>"),
            ("<rect fill=\"url(http://a/#b)\" onclick=\"x\"/>", "<rect></rect>"),
            ("<rect style=\"fill:u\\72l(http://a/)\"/>", "<rect></rect>"),
            ("<image href=\"data:image/svg+xml;base64,AA==\"/>", "<image></image>"),
        ];
        for (inside, kept) in bare {
            assert_eq!(clean(inside), kept);
        }
        let image = "<image xlink:href=\"data:image/png;base64,AA==\"/>";
        assert_eq!(clean(image), "<image href=\"data:image/png;base64,AA==\"></image>");
    }

    #[test]
    fn bombs_and_broken_files_are_refused() {
        let options = Options { max_output_bytes: 10_000, ..Options::default() };
        let flaw = |source: &str| sanitise(source.as_bytes(), &options).unwrap_err().kind;
        let long = format!("<svg>{}</svg>", "<g></g>".repeat(2_000));
        assert_eq!(flaw(&long), ConvertErrorKind::OverLimit);
        let deep = format!("<svg>{}", "<g>".repeat(100_000));
        assert_eq!(flaw(&deep), ConvertErrorKind::OverLimit);
        assert_eq!(flaw("<svg><g></svg>"), ConvertErrorKind::Damaged);
        assert_eq!(flaw("<svg><g>"), ConvertErrorKind::Damaged);
        assert_eq!(flaw("<html><svg/></html>"), ConvertErrorKind::Damaged);
        let levels: String = (0..12)
            .map(|level| {
                let copy = format!("<use href=\"#l{}\"/>", level + 1).repeat(10);
                format!("<g id=\"l{level}\">{copy}</g>")
            })
            .collect();
        assert_eq!(flaw(&format!("<svg>{levels}</svg>")), ConvertErrorKind::OverLimit);
    }
}
