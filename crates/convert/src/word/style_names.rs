//! Names of styles: which mean headings, code or quotes, in the languages of editors.

/// What editors call headings; a level follows.
const HEADINGS: &[&str] = &[
    "heading",
    "見出し",
    "标题",
    "標題",
    "제목",
    "überschrift",
    "titre",
    "título",
    "titulo",
    "titolo",
    "kop",
    "rubrik",
    "overskrift",
    "otsikko",
    "nagłówek",
    "nadpis",
    "заголовок",
    "επικεφαλίδα",
    "başlık",
    "judul",
    "tiêu đề",
    "encabezado",
    "címsor",
    "titlu",
    "intestazione",
];

/// What editors call the title of a document.
const TITLES: &[&str] = &[
    "title",
    "表題",
    "タイトル",
    "标题",
    "標題",
    "제목",
    "titel",
    "titre",
    "título",
    "titolo",
    "tytuł",
    "название",
    "cím",
    "titlu",
    "otsikko",
    "tittel",
];

const CODES: &[&str] = &[
    "html preformatted",
    "preformatted text",
    "html 書式付き",
    "verbatim",
    "verbatim char",
    "source text",
    "macro text",
    "html 代码",
    "html-code",
    "sourcecode",
];

const QUOTES: &[&str] = &[
    "quote",
    "intense quote",
    "quotations",
    "block text",
    "block quotation",
    "引用文",
    "引用文 2",
    "zitat",
    "citation",
    "cita",
    "citazione",
    "引用",
];

/// The level of the headings of a style, counted from 1. The name is in small letters.
pub(crate) fn heading_level(name: &str) -> Option<u8> {
    let name = name.trim();
    if TITLES.contains(&name) {
        return Some(1);
    }
    HEADINGS.iter().find_map(|stem| {
        let level = name.strip_prefix(stem)?.trim_start_matches([' ', '_', '-']);
        level.parse::<u8>().ok().filter(|level| (1..=9).contains(level))
    })
}

/// Whether a style is for code.
pub(crate) fn is_code(name: &str) -> bool {
    let first = name.split([' ', '-', '_']).next().unwrap_or_default();
    let last = name.rsplit([' ', '-', '_']).next().unwrap_or_default();
    first == "code" || last == "code" || CODES.contains(&name)
}

/// Whether a style is for quotes.
pub(crate) fn is_quote(name: &str) -> bool {
    QUOTES.contains(&name)
}

/// The list that a style without a numbering of its own is for, such as `List Bullet 2`: whether
/// it counts, and its level.
pub(crate) fn list_of_style(name: &str) -> Option<(bool, u8)> {
    let rest = name.strip_prefix("list ")?;
    let (is_numbered, rest) = match rest.strip_prefix("number") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("bullet")?),
    };
    let level = rest.trim().parse::<u8>().unwrap_or(1);
    Some((is_numbered, level.clamp(1, 9) - 1))
}

/// Whether a font is for code.
pub(crate) fn is_code_font(font: &str) -> bool {
    let fonts = [
        "courier",
        "consolas",
        "menlo",
        "monaco",
        "lucida console",
        "source code",
        "cascadia",
        "dejavu sans mono",
        "liberation mono",
        "jetbrains mono",
        "fira code",
        "ubuntu mono",
    ];
    let font = font.to_lowercase();
    fonts.iter().any(|code| font.starts_with(code))
}

#[cfg(test)]
mod tests {
    use super::{heading_level, is_code, list_of_style};

    #[test]
    fn headings_are_known_in_other_languages() {
        let names =
            ["heading 1", "見出し 2", "überschrift 3", "titre4", "title", "heading_20", "heading"];
        let levels = names.map(heading_level);
        assert_eq!(levels, [Some(1), Some(2), Some(3), Some(4), Some(1), None, None]);
    }

    #[test]
    fn styles_of_code_and_lists_are_known() {
        assert!(is_code("source code") && is_code("code block") && !is_code("postcode"));
        assert_eq!(list_of_style("list bullet 2"), Some((false, 1)));
        assert_eq!(list_of_style("list number"), Some((true, 0)));
        assert_eq!(list_of_style("list paragraph"), None);
    }
}
