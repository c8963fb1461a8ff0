//! The converter of electronic books: a section a chapter, in the order of reading.

mod contents;
mod opf;
mod page;

use std::collections::{HashMap, HashSet};

use contents::{navigation_titles, ncx_titles};
use opf::{OpfPackage, parse_opf};
use page::html_of_page;

use crate::conversion::{Conversion, counted};
use crate::document::Document;
use crate::error::ConvertError;
use crate::form::Form;
use crate::html_body::html_body;
use crate::markdown::escape;
use crate::package::Package;
use crate::part_path::{percent_decoded, resolve_part};
use crate::xml_reader::{XmlEvent, XmlPartReader, xml_text};

/// Algorithms that hide fonts from copying and protect no text.
const FONT_ALGORITHMS: [&str; 2] =
    ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// The start of a chapter in which its title is looked for.
const TITLE_SPACE: usize = 2_000;

pub(crate) fn convert(document: &Document<'_>, form: Form) -> Result<Conversion, ConvertError> {
    if form != Form::Markdown {
        return Err(ConvertError::no_form(document.kind, form));
    }
    let package = Package::open(document.bytes, document.options)?;
    let container = package.required_part("META-INF/container.xml")?;
    let path = rootfile(&xml_text(&container))?;
    let opf = parse_opf(&xml_text(&package.required_part(&path)?), &path)?;
    if is_protected(&package, &opf)? {
        return Err(ConvertError::protected());
    }
    let titles = titles(&package, &opf)?;
    let mut converted = Conversion::default();
    for (at, item) in opf.spine.iter().enumerate() {
        if !item.is_page() {
            converted.losses.push(format!("{:?} is no page of text and is left out", item.path));
            continue;
        }
        let Some(part) = package.part(&item.path)? else {
            converted.losses.push(format!("the chapter {:?} is missing in the book", item.path));
            continue;
        };
        let chapter = html_body(&html_of_page(&xml_text(&part), &item.path), document.options)?;
        let text = relabelled(&String::from_utf8_lossy(&chapter.body), at + 1);
        converted.losses.extend(chapter.losses);
        let title = titles.get(&item.path).cloned();
        if converted.body.len() + text.len() > document.options.max_output_bytes {
            let left = opf.spine.len() - at;
            converted.cut(counted(
                left,
                "chapter is left out: the result is too long",
                "chapters are left out: the result is too long",
            ));
            break;
        }
        let is_first = converted.body.is_empty();
        if !is_first {
            converted.push_str("\n");
        }
        converted.start_section(title.clone(), false);
        if is_first {
            converted.push_str(&opf.head());
        }
        push_chapter(&mut converted, &text, title.as_deref());
    }
    if converted.sections.is_empty() && converted.losses.is_empty() {
        return Err(ConvertError::damaged("the book has no chapters"));
    }
    Ok(converted)
}

/// Appends a chapter, with its title unless it starts with it.
fn push_chapter(converted: &mut Conversion, text: &str, title: Option<&str>) {
    let start: String = text.chars().take(TITLE_SPACE).collect();
    let has_heading = start.lines().any(|line| line.starts_with('#'));
    if let Some(title) = title.filter(|title| !has_heading && !start.contains(*title)) {
        converted.push_str(&format!("# {}\n\n", escape(title)));
    }
    converted.push_str(text.trim());
    converted.push_str("\n");
}

/// A chapter whose footnotes have the number of the chapter in their labels, so that they differ
/// from those of other chapters.
fn relabelled(text: &str, number: usize) -> String {
    let label = |line: &str| Some(line.strip_prefix("[^")?.split_once("]:")?.0.to_owned());
    let labels: HashSet<_> = text.lines().filter_map(label).collect();
    if labels.is_empty() {
        return text.to_owned();
    }
    let mut pieces = text.split("[^");
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_label = piece.split_once(']').is_some_and(|(label, _)| labels.contains(label));
        let mark = if is_label { format!("[^{number}-") } else { "[^".to_owned() };
        result.push_str(&mark);
        result.push_str(piece);
    }
    result
}

/// The path of the part that lists all others.
fn rootfile(container: &str) -> Result<String, ConvertError> {
    let mut reader = XmlPartReader::new(container);
    while let Some(event) = reader.next()? {
        if let XmlEvent::Start(start) = event
            && start.name() == "rootfile"
            && let Some(path) = start.attribute("full-path")
        {
            return Ok(path);
        }
    }
    Err(ConvertError::damaged("the book does not say where its list of parts is"))
}

/// Whether any page of the book is encrypted. Hidden fonts do not count.
fn is_protected(package: &Package<'_>, opf: &OpfPackage) -> Result<bool, ConvertError> {
    let Some(part) = package.part("META-INF/encryption.xml")? else { return Ok(false) };
    let text = xml_text(&part);
    let mut reader = XmlPartReader::new(&text);
    let mut algorithm = String::new();
    let mut depth = 0;
    while let Some(event) = reader.next()? {
        let XmlEvent::Start(start) = event else { continue };
        match start.name() {
            "EncryptedData" => depth = reader.depth(),
            // A key has a method too, further inside.
            "EncryptionMethod" if reader.depth() == depth + 1 => {
                algorithm = start.attribute("Algorithm").unwrap_or_default();
            }
            "CipherReference" if !FONT_ALGORITHMS.contains(&algorithm.as_str()) => {
                let path = percent_decoded(&start.attribute("URI").unwrap_or_default());
                let path = resolve_part("", &path);
                if opf.spine.iter().any(|item| item.path == path) {
                    return Ok(true);
                }
            }
            _ => {}
        }
    }
    Ok(false)
}

/// The titles of chapters, by the path of their page.
fn titles(
    package: &Package<'_>,
    opf: &OpfPackage,
) -> Result<HashMap<String, String>, ConvertError> {
    for (path, read) in [
        (&opf.navigation, navigation_titles as fn(&str, &str) -> HashMap<String, String>),
        (&opf.ncx, ncx_titles),
    ] {
        let Some(path) = path else { continue };
        let Some(part) = package.part(path)? else { continue };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let titles = read(&xml_text(&part), folder);
        if !titles.is_empty() {
            return Ok(titles);
        }
    }
    Ok(HashMap::new())
}

#[cfg(test)]
mod tests;
