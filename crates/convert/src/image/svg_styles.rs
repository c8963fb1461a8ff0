//! Style sheets of SVG: rules with simple selectors, which become attributes of the elements.

use std::collections::HashMap;

use super::svg_names::{is_local_value, is_property};

/// The most rules of all style sheets.
const MAX_RULES: usize = 5_000;

/// The most properties of an element, and the most bytes of the value of one.
const MAX_PROPERTIES: usize = 200;
const MAX_VALUE: usize = 1_000;

/// The most bytes of all style sheets.
const MAX_BYTES: usize = 1 << 20;

/// A property and its value.
pub(super) type SvgProperty = (String, String);

/// The rules of the style sheets until now, by their selector: `name`, `.class` or `#id`.
#[derive(Default)]
pub(super) struct SvgStyles {
    rules: HashMap<String, Vec<SvgProperty>>,
    bytes: usize,
    /// Whether some rules are left out.
    pub(super) is_partial: bool,
}

impl SvgStyles {
    /// Adds the rules of a style sheet; those that load something or have another kind of selector
    /// are left out.
    pub(super) fn add_sheet(&mut self, sheet: &str) {
        self.bytes = self.bytes.saturating_add(sheet.len());
        // An escape can spell any name; what follows a comment or an at-rule needs a real parser.
        if self.bytes > MAX_BYTES || sheet.contains(['\\', '@']) || sheet.contains("/*") {
            self.is_partial = true;
            return;
        }
        for rule in sheet.split('}') {
            let Some((selectors, block)) = rule.split_once('{') else { continue };
            let properties = declarations(block);
            for selector in selectors.split(',').map(str::trim) {
                if !is_simple(selector) || self.rules.len() >= MAX_RULES {
                    self.is_partial = true;
                    continue;
                }
                let known = self.rules.entry(selector.to_owned()).or_default();
                known.extend(properties.iter().cloned());
                known.truncate(MAX_PROPERTIES);
            }
        }
    }

    /// The properties of an element, the ones that count most last.
    pub(super) fn properties(
        &self,
        element: &str,
        class: Option<&str>,
        id: Option<&str>,
    ) -> Vec<SvgProperty> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let classes = class.unwrap_or_default().split_whitespace().take(20);
        let classes = classes.map(|class| format!(".{class}"));
        let id = id.map(|id| format!("#{id}"));
        let selectors = [element.to_owned()].into_iter().chain(classes).chain(id);
        selectors.filter_map(|selector| self.rules.get(&selector)).flatten().cloned().collect()
    }
}

fn is_simple(selector: &str) -> bool {
    let name = selector.strip_prefix(['.', '#']).unwrap_or(selector);
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.chars().all(is_part)
}

/// The declarations of a style that are kept.
pub(super) fn declarations(style: &str) -> Vec<SvgProperty> {
    // Comments and escapes could hide a name.
    if style.contains("/*") || style.contains('\\') {
        return Vec::new();
    }
    let parts = style.split(';').filter_map(|part| part.split_once(':'));
    let known = parts.filter_map(|(name, value)| {
        let name = name.trim().to_ascii_lowercase();
        let value = value.trim().trim_end_matches("!important").trim_end();
        let is_kept = is_property(&name) && value.len() <= MAX_VALUE && is_local_value(value);
        is_kept.then(|| (name, value.to_owned()))
    });
    known.take(MAX_PROPERTIES).collect()
}

#[cfg(test)]
mod tests {
    use super::SvgStyles;

    #[test]
    fn simple_rules_apply_by_element_class_and_identifier() {
        let mut styles = SvgStyles::default();
        styles
            .add_sheet("rect { fill: red } .a, .b{fill:blue;stroke:url(http://x/)} #c{fill:lime}");
        let fills = |class, id| {
            let properties = styles.properties("rect", class, id);
            properties.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
        };
        let all: Vec<String> = fills(Some("z a"), Some("c"));
        assert_eq!(all, ["fill=red", "fill=blue", "fill=lime"]);
        let plain: Vec<String> = fills(None, None);
        assert_eq!(plain, ["fill=red"]);
    }

    #[test]
    fn sheets_that_load_or_hide_something_are_left_out() {
        for sheet in ["@import url(x); a{fill:red}", "a/**/{fill:red}", "\\61{fill:red}"] {
            let mut styles = SvgStyles::default();
            styles.add_sheet(sheet);
            assert!(styles.properties("a", None, None).is_empty(), "{sheet}");
        }
    }
}
