//! Pages of books: XHTML made ready for a converter of HTML.

/// Elements that have no content in HTML.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// A page as HTML: an element that XML closes at once gets an end tag, which HTML demands; links
/// to the page itself are local, and references to notes have the role that HTML knows.
pub(super) fn html_of_page(page: &str, path: &str) -> String {
    let mut html = String::with_capacity(page.len() + 64);
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        html.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = tag_end(rest);
        let (tag, after) = rest.split_at(end);
        match tag.strip_suffix("/>").filter(|start| !is_void(start)) {
            Some(start) => {
                html.push_str(&format!("{start}></{}>", name(start)));
            }
            None => html.push_str(tag),
        }
        rest = after;
    }
    html.push_str(rest);
    let file = path.rsplit('/').next().unwrap_or(path);
    for quote in ['"', '\''] {
        let note = format!("epub:type={quote}noteref{quote}");
        html = html.replace(&note, &format!("role={quote}doc-noteref{quote}"));
        for file in [file.to_owned(), file.replace(' ', "%20")] {
            let own = format!("href={quote}{file}#");
            html = html.replace(&own, &format!("href={quote}#"));
        }
    }
    html
}

/// The length of the tag or comment at the beginning of `text`; of a `<` alone, 1.
fn tag_end(text: &str) -> usize {
    if let Some(comment) = text.strip_prefix("<!--") {
        return comment.find("-->").map_or(text.len(), |at| at + 7);
    }
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'>') => return at + 1,
            // A tag does not start inside of another one.
            (_, b'<') => return 1,
            _ => {}
        }
    }
    1
}

fn name(start: &str) -> &str {
    let name = start.trim_start_matches('<');
    name.split(|letter: char| letter.is_whitespace() || letter == '/').next().unwrap_or(name)
}

/// Whether an element may be closed at once in HTML too: it is void, or it is a drawing's or a
/// formula's, or no element.
fn is_void(start: &str) -> bool {
    let name = name(start);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !is_name || VOID.iter().any(|void| void.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::html_of_page;

    #[test]
    fn an_element_that_xml_closes_at_once_gets_an_end_tag() {
        let page =
            "<?xml version='1.0'?><title/><a id=\"x\"/><br/><p class='a>b' />a < b<!-- <p/> -->";
        let html = "<?xml version='1.0'?><title></title><a id=\"x\"></a><br/><p class='a>b' ></p>a < b<!-- <p/> -->";
        assert_eq!(html_of_page(page, "p.xhtml"), html);
    }

    #[test]
    fn links_to_the_page_itself_are_local_and_references_have_a_role() {
        let page = "<a epub:type=\"noteref\" href=\"a%20b.xhtml#n\">1</a>";
        let html = "<a role=\"doc-noteref\" href=\"#n\">1</a>";
        assert_eq!(html_of_page(page, "OEBPS/a b.xhtml"), html);
    }

    #[test]
    fn broken_pages_end() {
        for page in ["<", "<!--", "</>", "</", "<'", "<a '<b>", "<日本/>"] {
            html_of_page(page, "");
        }
    }
}
