//! Passages of Markdown, source code and plain text, and what holds for every text.

use analysis::{PassageSpan, TextKind, split_passages};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

const KINDS: [TextKind; 3] = [TextKind::Markdown, TextKind::Code, TextKind::Plain];
/// More than small sections that are joined have.
const LONG: usize = 900;

fn split(text: &str, kind: TextKind) -> Vec<(String, PassageSpan)> {
    let path = |span: PassageSpan| (span.heading_path.join(" > "), span);
    split_passages(text, kind).into_iter().map(path).collect()
}

fn paths(text: &str, kind: TextKind) -> Vec<String> {
    split(text, kind).into_iter().map(|(path, _)| path).collect()
}

/// A paragraph of `length` characters.
fn paragraph(length: usize) -> String {
    format!("{}\n", "word ".repeat(length / 5))
}

fn assert_covers(text: &str, spans: &[PassageSpan]) {
    let (mut byte, mut line) = (0, 1);
    for span in spans {
        assert_eq!(span.range.start, byte);
        assert!(span.range.end > byte);
        let passage = &text[span.range.clone()];
        let breaks = passage.matches('\n').count();
        assert_eq!(span.lines.start, line);
        let last = line + breaks - usize::from(passage.ends_with('\n'));
        assert_eq!(span.lines.end, last + 1);
        assert!(passage.chars().count() <= 2_002, "{} characters", passage.chars().count());
        byte = span.range.end;
        line += breaks;
    }
    assert_eq!(byte, text.len());
}

#[test]
fn a_markdown_heading_starts_a_passage_under_its_parents() {
    let body = paragraph(LONG);
    let text =
        format!("# Guide\n\n{body}\n## Install `now`\n{body}\n### Linux\n{body}## Use\n{body}");
    assert_eq!(
        paths(&text, TextKind::Markdown),
        ["Guide", "Guide > Install now", "Guide > Install now > Linux", "Guide > Use"]
    );
    let spans = split_passages(&text, TextKind::Markdown);
    assert_covers(&text, &spans);
    assert!(text[spans[1].range.clone()].starts_with("## Install"));
    assert_eq!(spans[1].lines.start, 5);
}

#[test]
fn small_sections_are_joined_with_siblings_and_not_with_others() {
    let (small, body) = (paragraph(200), paragraph(LONG));
    let text = format!("# A\n{body}## B\n{small}## C\n{small}## D\n{body}# E\n{small}");
    assert_eq!(paths(&text, TextKind::Markdown), ["A", "A > B", "A > D", "E"]);
}

#[test]
fn a_heading_without_text_joins_its_first_child() {
    let body = paragraph(LONG);
    let text = format!("# A\n\n## B\n{body}");
    assert_eq!(paths(&text, TextKind::Markdown), ["A > B"]);
}

#[test]
fn fences_and_front_matter_have_no_headings() {
    let body = paragraph(LONG);
    for text in [
        format!("```sh\n# no\n{body}```\n"),
        format!("~~~~\n# no\n```\n~~~\n# no\n{body}"),
        format!("---\ntitle: x\n# no\n---\n{body}"),
    ] {
        assert_eq!(paths(&text, TextKind::Markdown), [""], "{text}");
    }
    assert_eq!(
        paths(&format!("```\n# no\n```\n{body}# Yes\n{body}"), TextKind::Markdown),
        ["", "Yes"]
    );
}

#[test]
fn underlined_headings_count_and_rules_do_not() {
    let body = paragraph(LONG);
    let text = format!("Guide\n=====\n\n{body}\nUse [it](x)\n---\n{body}\na\nb\n---\n{body}");
    let found = paths(&text, TextKind::Markdown);
    assert_eq!(found[..2], ["Guide", "Guide > Use it"]);
    assert!(found.iter().all(|path| path.starts_with("Guide")));
    assert_eq!(found.last().unwrap(), "Guide > Use it");
}

#[test]
fn page_marks_set_the_page_and_start_a_passage() {
    let text = "before\n<!-- page 1 -->\none\n<!-- page 2 -->\ntwo <!-- page 9 -->\n";
    for kind in KINDS {
        let spans = split_passages(text, kind);
        let pages: Vec<Option<usize>> = spans.iter().map(|span| span.page).collect();
        assert_eq!(pages, [None, Some(1), Some(2)], "{kind:?}");
        assert_covers(text, &spans);
    }
}

const RUST: &str = "\
//! A file.

use std::fmt;

mod other;

/// A thing.
#[derive(Debug)]
pub struct Thing {
    name: String,
BODY}

impl fmt::Display for Thing {
    /// Shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if x { fn inner() {} }
BODY    }

    pub(crate) async fn read<T>(&self) -> T {
BODY    }
}

const LIMIT: usize = 3;
BODY
";

#[test]
fn rust_starts_passages_at_definitions_with_their_comments() {
    let text = RUST.replace("BODY", &format!("        // {}", paragraph(LONG)));
    let found = split(&text, TextKind::Code);
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "",
            "struct Thing",
            "impl fmt::Display for Thing > fn fmt",
            "impl fmt::Display for Thing > fn read",
            "const LIMIT"
        ]
    );
    assert!(text[found[1].1.range.clone()].starts_with("/// A thing."));
    assert_covers(&text, &split_passages(&text, TextKind::Code));
}

#[test]
fn comments_and_attributes_of_many_lines_stay_with_their_definition() {
    let body = format!("// {}\n", paragraph(LONG));
    for above in [
        "/**\n  Says it.\n */\n",
        "#[expect(\n    dead_code\n)]\n",
        "// One.\n// Two.\n",
        "@decorator\n",
    ] {
        let text = format!("use a;\n{body}\n{above}fn f() {{\n{body}}}\n");
        let spans = split_passages(&text, TextKind::Code);
        assert!(text[spans[1].range.clone()].starts_with(above), "{above}");
    }
}

#[test]
fn definitions_of_many_languages_are_found() {
    let body = format!("    // {}", paragraph(LONG));
    for (code, path) in [
        ("class Foo(Base):\n    def bar(self):\nBODY", "class Foo > def bar"),
        ("async def fetch(url):\nBODY", "def fetch"),
        ("export default class Foo {\n  render() {\nBODY  }\n}\n", "class Foo > render"),
        ("export async function load(a) {\nBODY}\n", "function load"),
        ("func (s *Server) Run(ctx context.Context) error {\nBODY}\n", "func (s *Server) Run"),
        (
            "public class Main {\n    public static void main(String[] args) {\nBODY    }\n}\n",
            "class Main > void main",
        ),
        ("int main(int argc, char **argv)\n{\nBODY}\n", "int main"),
        ("interface Shape extends Base {\nBODY}\n", "interface Shape extends Base"),
        ("const LIMIT = 3\nBODY", "const LIMIT"),
        ("export type Id = string;\nBODY", "type Id"),
        ("macro_rules! say {\nBODY}\n", "macro_rules! say"),
    ] {
        let text = code.replace("BODY", &body);
        assert_eq!(paths(&text, TextKind::Code), [path], "{code}");
    }
}

#[test]
fn statements_are_no_definitions() {
    let body = paragraph(LONG);
    let text =
        format!("import os\nif main(x) {{\n{body}}}\nfor (i in x) {{\nfoo(1);\nreturn f(x) {{\n");
    assert_eq!(paths(&text, TextKind::Code), [""]);
}

#[test]
fn plain_text_has_headings_of_man_pages_numbers_and_underlines() {
    let body = format!("       {}\n", paragraph(LONG));
    let man = format!(
        "CHMOD(1)     User Commands     CHMOD(1)\n\nNAME\n{body}SEE ALSO\n{body}\nThe end\n"
    );
    assert_eq!(paths(&man, TextKind::Plain), ["", "NAME", "SEE ALSO"]);
    let japanese = format!("名前\n{body}関連項目\n{body}");
    assert_eq!(paths(&japanese, TextKind::Plain), ["名前", "関連項目"]);
    let numbered = format!("1. Introduction\n\n{body}1.1 Terms\n\n{body}2. Use\n\n{body}");
    assert_eq!(
        paths(&numbered, TextKind::Plain),
        ["1. Introduction", "1. Introduction > 1.1 Terms", "2. Use"]
    );
    let underlined = format!("Guide\n=====\n\n{body}Use\n---\n\n{body}More\n----\n\n{body}");
    assert_eq!(paths(&underlined, TextKind::Plain), ["Guide", "Guide > Use", "Guide > More"]);
}

#[test]
fn a_long_section_is_divided_at_paragraphs_lines_sentences_and_characters() {
    let ends = |text: &str| -> Vec<String> {
        let spans = split_passages(text, TextKind::Plain);
        assert_covers(text, &spans);
        assert!(spans.len() > 3);
        let end = |span: &PassageSpan| text[..span.range.end].chars().rev().take(2).collect();
        spans[..spans.len() - 1].iter().map(end).collect()
    };
    let paragraphs = format!("{}\n", paragraph(300)).repeat(30);
    assert!(ends(&paragraphs).iter().all(|end| end == "\n\n"));
    let lines = paragraph(60).repeat(150);
    assert!(ends(&lines).iter().all(|end| end.starts_with('\n')));
    let sentences = "これは長い文章です。".repeat(1_000);
    assert!(ends(&sentences).iter().all(|end| end.starts_with('。')));
    assert!(ends(&"字".repeat(10_000)).iter().all(|end| end == "字字"));
}

#[test]
fn pieces_of_a_long_section_have_about_the_same_size() {
    let text = paragraph(60).repeat(60);
    for (_, span) in split(&text, TextKind::Plain) {
        assert!((800..=1_500).contains(&span.range.len()), "{}", span.range.len());
    }
}

#[test]
fn a_text_of_nothing_but_headings_has_a_bounded_number_of_sections() {
    let text = "# a\n## b\n".repeat(100_000);
    let spans = split_passages(&text, TextKind::Markdown);
    assert!(spans.len() <= 51_000, "{}", spans.len());
    assert_covers(&text, &spans);
}

#[test]
fn a_text_without_words_has_passages_only_if_it_has_bytes() {
    for kind in KINDS {
        assert_eq!(split_passages("", kind), []);
        assert_covers("\n\n", &split_passages("\n\n", kind));
    }
}

proptest! {
    #[test]
    fn passages_cover_any_text(text in any::<String>()) {
        for kind in KINDS {
            assert_covers(&text, &split_passages(&text, kind));
        }
    }

    #[test]
    fn passages_cover_texts_of_headings_and_paragraphs(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "# A\n", "## B\n", "```\n", "~~~\n", "---\n", "===\n", "NAME\n", "名前\n", "\n", "    fn x() {\n",
                "impl Foo {\n", "}\n", "class A:\n", "// c\n", "/* c\n", "*/\n", "<!-- page 3 -->\n", "\r\n", "字",
                "1.2 Title\n", "       indented text\n", "word. ", "long long long long long long long long\n",
            ]),
            0..400,
        ),
        kind in prop::sample::select(KINDS.to_vec()),
    ) {
        let text = parts.concat();
        let spans = split_passages(&text, kind);
        assert_covers(&text, &spans);
        prop_assert!(spans.iter().all(|span| span.heading_path.len() <= 6));
        prop_assert_eq!(split_passages(&text, kind), spans);
    }
}
