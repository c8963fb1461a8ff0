//! Front matter: what a page says of itself before its text, in YAML or TOML.

use resource::{Role, words_on_one_line};

use super::data_value::{DataSyntax, DataValue};
use super::language::LanguageTag;

/// The longest front matter.
pub(super) const MAX_FRONT_MATTER: usize = 64 << 10;

/// What a page says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) language: Option<LanguageTag>,
    pub(super) priority: Option<f64>,
    pub(super) audience: Vec<Role>,
    pub(super) is_draft: bool,
    /// What of it is wrong.
    pub(super) faults: Vec<String>,
}

/// Where front matter stands in the first bytes of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FrontMatterExtent<'a> {
    /// There is none.
    Absent,
    /// It begins and does not end.
    Open,
    /// Its text, and where the page goes on.
    Closed { syntax: DataSyntax, text: &'a str, end: usize },
}

/// Finds the front matter of a page.
pub(super) fn find_front_matter(text: &str) -> FrontMatterExtent<'_> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = text[start..].split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let (syntax, fence) = match first.trim_end() {
        "---" => (DataSyntax::Yaml, "---"),
        "+++" => (DataSyntax::Toml, "+++"),
        _ => return FrontMatterExtent::Absent,
    };
    let inner = start + first.len();
    let mut at = inner;
    for line in lines {
        let is_end = line.trim_end() == fence || (fence == "---" && line.trim_end() == "...");
        if is_end {
            return FrontMatterExtent::Closed {
                syntax,
                text: &text[inner..at],
                end: at + line.len(),
            };
        }
        at += line.len();
    }
    FrontMatterExtent::Open
}

impl FrontMatter {
    /// Reads front matter. What is wrong in it is a fault, and the rest holds.
    pub(super) fn parse(syntax: DataSyntax, text: &str) -> Self {
        let mut read = Self::default();
        let values = match syntax.parse(text) {
            Ok(values @ (DataValue::Table(_) | DataValue::Null)) => values,
            Ok(_) => {
                read.faults.push("front matter: it has no keys".to_owned());
                return read;
            }
            Err(fault) => {
                // The fence is line 1 of the page.
                let line = fault.line + 1;
                let reason = fault.to_string();
                let reason = reason.split_once(": ").map_or("", |(_, reason)| reason);
                read.faults.push(format!("front matter, line {line}: {reason}"));
                return read;
            }
        };
        let text =
            |keys: &[&str]| keys.iter().find_map(|key| values.text_of(key)).map(words_on_one_line);
        read.title = text(&["title", "linkTitle", "sidebar_label", "sidebar_title"]);
        read.description = text(&["description", "summary", "excerpt", "abstract"]);
        read.is_draft = values.get("draft") == Some(&DataValue::Bool(true))
            || values.get("published") == Some(&DataValue::Bool(false));
        read.read_language(&values);
        read.read_priority(&values);
        read.read_audience(&values);
        read
    }

    fn read_language(&mut self, values: &DataValue) {
        let Some((key, value)) =
            ["lang", "language", "locale"].iter().find_map(|key| Some((key, values.get(key)?)))
        else {
            return;
        };
        match value.text().map_or_else(|| Err("it is no text".to_owned()), LanguageTag::parse) {
            Ok(tag) => self.language = Some(tag),
            Err(reason) => self.faults.push(format!("front matter, `{key}`: {reason}")),
        }
    }

    fn read_priority(&mut self, values: &DataValue) {
        match values.get("priority") {
            None | Some(DataValue::Null) => {}
            Some(DataValue::Number(value)) if (0.0..=1.0).contains(value) => {
                self.priority = Some(*value);
            }
            Some(_) => {
                let fault = "front matter, `priority`: it is no number from 0 to 1";
                self.faults.push(fault.to_owned());
            }
        }
    }

    /// Reads the audience. Other words than ours are for people, and say nothing here.
    fn read_audience(&mut self, values: &DataValue) {
        let Some(value) = values.get("audience") else { return };
        let named = value.items().iter().chain(std::iter::once(value));
        for word in named.filter_map(DataValue::text) {
            let role = match word.to_ascii_lowercase().as_str() {
                "user" | "human" => Role::User,
                "assistant" | "model" => Role::Assistant,
                _ => continue,
            };
            if !self.audience.contains(&role) {
                self.audience.push(role);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FrontMatter, FrontMatterExtent, find_front_matter};
    use crate::docs::data_value::DataSyntax;
    use resource::Role;

    fn yaml(text: &str) -> FrontMatter {
        FrontMatter::parse(DataSyntax::Yaml, text)
    }

    #[test]
    fn front_matter_is_found_between_its_fences() {
        let text = "---\ntitle: a\n---\n# b\n";
        let closed = find_front_matter(text);
        let (syntax, end) = (DataSyntax::Yaml, "---\ntitle: a\n---\n".len());
        assert_eq!(closed, FrontMatterExtent::Closed { syntax, text: "title: a\n", end });
        let toml = find_front_matter("\u{feff}+++\r\nx = 1\r\n+++\r\n");
        assert!(matches!(toml, FrontMatterExtent::Closed { syntax: DataSyntax::Toml, .. }));
        assert_eq!(find_front_matter("---\ntitle: a\n"), FrontMatterExtent::Open);
        for text in ["", "# a\n---\n", "----\na\n----\n", "text\n"] {
            assert_eq!(find_front_matter(text), FrontMatterExtent::Absent, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_a_fault_and_the_rest_holds() {
        let read = yaml("title: ガイド\nlang: jp\npriority: 7\naudience: [assistant, admins]\n");
        assert_eq!(read.title.as_deref(), Some("ガイド"));
        assert_eq!((read.language, read.priority), (None, None));
        assert_eq!(read.audience, [Role::Assistant]);
        assert_eq!(read.faults.len(), 2, "{:?}", read.faults);
        let broken = yaml("title: [a\nb: }\n");
        assert!(broken.faults[0].starts_with("front matter, line "), "{:?}", broken.faults);
        assert!(yaml("- a\n").faults[0].contains("no keys"));
        assert_eq!(yaml(""), FrontMatter::default());
        assert_eq!(yaml("priority: 0.4\nlocale: pt_BR").priority, Some(0.4));
    }

    #[test]
    fn any_front_matter_is_read_without_a_panic() {
        let examples: &[&[u8]] = &[b"---\na: [1\n---\n", b"+++\na=1\n+++\n", b"---\nlang: ja\n---"];
        let check = |input: &[u8]| {
            let text = String::from_utf8_lossy(input);
            if let FrontMatterExtent::Closed { syntax, text: inner, end } = find_front_matter(&text)
            {
                assert!(text.is_char_boundary(end));
                FrontMatter::parse(syntax, inner);
            }
        };
        testkit::FuzzTarget { name: "front matter", examples, check }.test();
    }
}
