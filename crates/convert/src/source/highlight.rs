//! Highlighter: source code as HTML with spans of few classes, which a style sheet colours.

use std::collections::HashMap;
use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::names::{base_name, language_key};
use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::html::over_output_limit;
use crate::options::Options;

/// How much work highlighting may be, as [`line_work`] counts it: that of some 300 kB of usual code,
/// which takes 1.5 s; the worst texts that were found take 4 s.
const MAX_WORK: usize = 1 << 19;

/// Grammars whose lines are twice the work.
const SLOW_GRAMMARS: &[&str] = &["TypeScript", "TypeScriptReact"];

/// The longest line that is highlighted.
const MAX_LINE_BYTES: usize = 1_000;

/// The longest run of letters, of spaces or of marks that costs no more than its length.
const USUAL_RUN_BYTES: usize = 16;

/// Scopes of grammars and the classes that they get; the first that fits counts.
const CLASSES: &[(&str, &str)] = &[
    ("comment", "comment"),
    ("constant.character.escape", "escape"),
    ("constant.numeric", "number"),
    ("string", "string"),
    ("constant", "constant"),
    ("keyword.operator", "operator"),
    ("keyword", "keyword"),
    ("storage", "keyword"),
    ("entity.name.function", "function"),
    ("support.function", "function"),
    ("variable.function", "function"),
    ("entity.name.tag", "tag"),
    ("entity.other.attribute-name", "attribute"),
    ("entity.name.section", "heading"),
    ("markup.heading", "heading"),
    ("entity.name", "type"),
    ("entity.other.inherited-class", "type"),
    ("support.type", "type"),
    ("support.class", "type"),
    ("variable.parameter", "variable"),
    ("variable.language", "constant"),
    ("markup.inserted", "inserted"),
    ("markup.deleted", "deleted"),
    ("markup.changed", "changed"),
    ("markup.underline.link", "link"),
    ("markup.raw", "string"),
    ("meta.diff", "meta"),
    ("meta.annotation", "meta"),
    ("invalid", "invalid"),
];

/// Endings that the grammars know by another one.
const ALIASES: &[(&str, &str)] = &[
    ("cjs", "js"),
    ("conf", "ini"),
    ("containerfile", "dockerfile"),
    ("cts", "ts"),
    ("cu", "cpp"),
    ("golang", "go"),
    ("gradle", "groovy"),
    ("hcl", "tf"),
    ("json5", "js"),
    ("jsonc", "json"),
    ("jsonl", "json"),
    ("jsx", "js"),
    ("justfile", "makefile"),
    ("kts", "kt"),
    ("mjs", "js"),
    ("mts", "ts"),
    ("ndjson", "json"),
    ("pyi", "py"),
    ("pyx", "py"),
    ("shell", "sh"),
    ("terraform", "tf"),
    ("tfvars", "tf"),
];

/// The grammars. Loading takes 2 ms; each is unpacked when it is first used.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

static CLASS_SCOPES: LazyLock<Vec<(Scope, &'static str)>> = LazyLock::new(|| {
    let scope = |(name, class): &(&str, &'static str)| Some((Scope::new(name).ok()?, *class));
    CLASSES.iter().filter_map(scope).collect()
});

/// How much may still be highlighted, and what was not.
pub(crate) struct HighlightBudget {
    work: usize,
    long_lines: usize,
    plain_lines: usize,
}

impl HighlightBudget {
    pub(crate) fn new() -> Self {
        Self { work: MAX_WORK, long_lines: 0, plain_lines: 0 }
    }

    /// Whether a line may be highlighted, which then counts.
    fn takes(&mut self, line: &str, is_slow: bool) -> bool {
        if line.len() > MAX_LINE_BYTES {
            self.long_lines += 1;
            return false;
        }
        let work = line_work(line) * if is_slow { 2 } else { 1 };
        if self.work < work {
            // What comes after a line that is left out is left out too.
            self.work = 0;
            self.plain_lines += 1;
            return false;
        }
        self.work -= work;
        true
    }

    /// What was not highlighted, in sentences.
    pub(crate) fn losses(&self) -> Vec<String> {
        let mut losses = Vec::new();
        if self.long_lines > 0 {
            let lines = self.long_lines;
            losses.push(format!("{lines} lines over {MAX_LINE_BYTES} bytes are not highlighted"));
        }
        if self.plain_lines > 0 {
            let lines = self.plain_lines;
            losses.push(format!(
                "the last {lines} lines are not highlighted: it would take too long"
            ));
        }
        losses
    }
}

/// How much work a line may be. Expressions of grammars backtrack: their time grows with the square
/// of the line, and most of all with that of runs of one kind of character.
fn line_work(line: &str) -> usize {
    let kind =
        |byte: &u8| (byte.is_ascii_whitespace(), byte.is_ascii_punctuation() && *byte != b'_');
    let runs = line.as_bytes().chunk_by(|before, after| kind(before) == kind(after));
    let extra: usize = runs.map(|run| run.len().saturating_sub(USUAL_RUN_BYTES).pow(2) / 2).sum();
    line.len() + line.len().pow(2) / 100 + extra
}

/// The state of a grammar between two lines of one text.
pub(crate) struct Highlighter {
    state: ParseState,
    is_slow: bool,
    scopes: ScopeStack,
    classes: HashMap<Scope, Option<&'static str>>,
}

impl Highlighter {
    /// A highlighter for files with this name; `None` if no grammar knows them.
    pub(crate) fn for_file(name: &str, first_line: &str) -> Option<Self> {
        let by_first_line = || {
            let end = first_line.floor_char_boundary(MAX_LINE_BYTES);
            GRAMMARS.find_syntax_by_first_line(&first_line[..end])
        };
        let by_name = GRAMMARS.find_syntax_by_extension(base_name(name));
        let syntax = by_name.or_else(|| find_syntax(&language_key(name))).or_else(by_first_line)?;
        Some(Self::new(syntax))
    }

    /// A highlighter for the language that a code block names.
    pub(crate) fn for_language(language: &str) -> Option<Self> {
        find_syntax(&language.to_ascii_lowercase()).map(Self::new)
    }

    fn new(syntax: &SyntaxReference) -> Self {
        let state = ParseState::new(syntax);
        let is_slow = SLOW_GRAMMARS.contains(&syntax.name.as_str());
        Self { state, is_slow, scopes: ScopeStack::new(), classes: HashMap::new() }
    }

    /// Appends a line, which ends with a line feed, as spans.
    pub(crate) fn push_line(&mut self, out: &mut String, line: &str, budget: &mut HighlightBudget) {
        if !budget.takes(line, self.is_slow) {
            return push_code(out, line);
        }
        let Ok(operations) = self.state.parse_line(line, &GRAMMARS) else {
            return push_code(out, line);
        };
        let mut run = 0;
        let mut run_class = self.class();
        for (at, operation) in operations {
            if self.scopes.apply(&operation).is_err() {
                break;
            }
            let class = self.class();
            if class != run_class && at <= line.len() {
                push_span(out, &line[run..at], run_class);
                (run, run_class) = (at, class);
            }
        }
        push_span(out, &line[run..], run_class);
    }

    /// The class of what comes next: that of the innermost scope that has one.
    fn class(&mut self) -> Option<&'static str> {
        let classes = &mut self.classes;
        self.scopes.as_slice().iter().rev().find_map(|scope| {
            *classes.entry(*scope).or_insert_with(|| {
                let found = CLASS_SCOPES.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
                found.map(|(_, class)| *class)
            })
        })
    }
}

fn find_syntax(key: &str) -> Option<&'static SyntaxReference> {
    let key = ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, known)| known);
    let is_plain = |syntax: &&SyntaxReference| syntax.name == "Plain Text";
    GRAMMARS.find_syntax_by_token(key).filter(|syntax| !is_plain(syntax))
}

/// A file as HTML: each line has an anchor with its number.
pub(super) fn highlight_file(
    text: &str,
    name: &str,
    options: &Options,
) -> Result<Conversion, ConvertError> {
    let mut highlighter = Highlighter::for_file(name, text.lines().next().unwrap_or(""));
    let mut budget = HighlightBudget::new();
    let mut out = String::with_capacity(text.len() * 2);
    out.push_str("<pre class=\"hl-code\"><code>");
    for (at, line) in text.split_inclusive('\n').enumerate() {
        out.push_str(&format!("<span id=\"L{}\" class=\"hl-line\">", at + 1));
        match &mut highlighter {
            Some(highlighter) => highlighter.push_line(&mut out, line, &mut budget),
            None => push_code(&mut out, line),
        }
        out.push_str("</span>");
        if out.len() > options.max_output_bytes {
            return Err(over_output_limit(options));
        }
    }
    out.push_str("</code></pre>\n");
    let mut losses = budget.losses();
    if highlighter.is_none() {
        losses.push("no grammar knows this language: it is not highlighted".to_owned());
    }
    Ok(Conversion { losses, ..Conversion::text(out) })
}

fn push_span(out: &mut String, code: &str, class: Option<&str>) {
    match class {
        _ if code.is_empty() => {}
        Some(class) if !code.trim().is_empty() => {
            out.push_str("<span class=\"hl-");
            out.push_str(class);
            out.push_str("\">");
            push_code(out, code);
            out.push_str("</span>");
        }
        _ => push_code(out, code),
    }
}

/// Appends code with the characters escaped that are marks in text.
pub(crate) fn push_code(out: &mut String, code: &str) {
    for letter in code.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\0' => out.push('\u{fffd}'),
            '\r' => {}
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GRAMMARS, HighlightBudget, find_syntax, highlight_file, line_work};
    use crate::options::Options;

    fn highlighted(text: &str, name: &str) -> (String, Vec<String>) {
        let converted = highlight_file(text, name, &Options::default()).unwrap();
        (String::from_utf8(converted.body).unwrap(), converted.losses)
    }

    #[test]
    fn code_gets_classes_line_anchors_and_escapes() {
        let (html, losses) = highlighted("// <a> & \"b\"\nfn main() {}\n", "x.rs");
        let expected = "<pre class=\"hl-code\"><code><span id=\"L1\" class=\"hl-line\">\
            <span class=\"hl-comment\">// &lt;a&gt; &amp; \"b\"\n</span></span>\
            <span id=\"L2\" class=\"hl-line\"><span class=\"hl-keyword\">fn</span> \
            <span class=\"hl-function\">main</span>() {}\n</span></code></pre>\n";
        assert_eq!(html, expected);
        assert!(losses.is_empty());
    }

    #[test]
    fn usual_languages_have_a_grammar() {
        for key in [
            "rs",
            "py",
            "js",
            "ts",
            "tsx",
            "go",
            "java",
            "c",
            "cpp",
            "rb",
            "sh",
            "json",
            "yaml",
            "toml",
            "diff",
            "css",
            "sql",
            "proto",
            "graphql",
            "dockerfile",
            "makefile",
            "cmake",
            "tf",
            "kt",
            "swift",
            "php",
            "cs",
            "lua",
            "xml",
            "ini",
            "rst",
            "adoc",
            "python",
            "rust",
            "shell",
            "mjs",
        ] {
            assert!(find_syntax(key).is_some(), "{key}");
        }
        assert!(GRAMMARS.syntaxes().len() > 100);
    }

    #[test]
    fn what_is_over_a_limit_is_given_without_highlighting_and_said() {
        let (html, losses) =
            highlighted(&format!("let a = \"{}\";\nfn a() {{}}", "x".repeat(5_000)), "x.rs");
        assert!(html.contains("hl-function") && html.contains("xxx"));
        assert_eq!(losses, ["1 lines over 1000 bytes are not highlighted"]);
        let (html, losses) = highlighted("a < b", "x.unknown");
        assert!(html.contains("a &lt; b"));
        assert_eq!(losses, ["no grammar knows this language: it is not highlighted"]);
    }

    #[test]
    fn work_is_bounded_and_what_is_left_out_is_said() {
        let usual = "    let ships = vec![\"Aurora\", \"Petrel\"];\n";
        assert!(line_work(usual) < 2 * usual.len());
        assert!(line_work(&" ".repeat(200)) > 50 * 200);
        let mut budget = HighlightBudget::new();
        let taken = (0..20_000).filter(|_| budget.takes(usual, false)).count();
        assert!(taken * usual.len() > 250_000, "{taken}");
        let rest = 20_000 - taken;
        let losses = [format!("the last {rest} lines are not highlighted: it would take too long")];
        assert_eq!(budget.losses(), losses);
        assert!(!budget.takes("x\n", false));
    }
}
