//! Expansion of URI templates (RFC 6570): the URI that values make of a template.

use super::{TemplateExpression, TemplatePiece, UriTemplate};
use crate::uri::{expand_reserved, is_unreserved};
use crate::variable::{VariableValue, VariableValues};

/// How an operator writes values (RFC 6570, appendix A).
struct Operator {
    first: &'static str,
    separator: &'static str,
    /// Whether names stand before values.
    is_named: bool,
    /// What stands between a name and an empty value.
    if_empty: &'static str,
    /// Whether delimiters stay as they are.
    keeps_reserved: bool,
}

impl UriTemplate {
    /// The URI that `values` make of the template. A variable without a value expands to nothing.
    pub fn expand(&self, values: &VariableValues) -> String {
        let mut uri = String::new();
        for piece in &self.pieces {
            match piece {
                TemplatePiece::Literal(text) => expand_reserved(text, &mut uri),
                TemplatePiece::Expression(hole) => hole.expand(values, &mut uri),
            }
        }
        uri
    }
}

impl TemplateExpression {
    fn operator(&self) -> Operator {
        let (first, separator, is_named, if_empty, keeps_reserved) = match self.operator {
            Some('+') => ("", ",", false, "", true),
            Some('#') => ("#", ",", false, "", true),
            Some('.') => (".", ".", false, "", false),
            Some('/') => ("/", "/", false, "", false),
            Some(';') => (";", ";", true, "", false),
            Some('?') => ("?", "&", true, "=", false),
            Some('&') => ("&", "&", true, "=", false),
            _ => ("", ",", false, "", false),
        };
        Operator { first, separator, is_named, if_empty, keeps_reserved }
    }

    fn expand(&self, values: &VariableValues, uri: &mut String) {
        let operator = self.operator();
        let mut before = operator.first;
        for variable in &self.variables {
            let Some(value) = values.get(&variable.name) else { continue };
            let texts = value.values();
            if texts.is_empty() && matches!(value, VariableValue::List(_)) {
                continue;
            }
            let is_exploded = variable.explodes && matches!(value, VariableValue::List(_));
            if is_exploded {
                for text in texts {
                    uri.push_str(std::mem::replace(&mut before, operator.separator));
                    operator.write_named(&variable.name, &[text], uri);
                }
            } else {
                uri.push_str(std::mem::replace(&mut before, operator.separator));
                let texts: Vec<&String> = texts.iter().collect();
                operator.write_named(&variable.name, &texts, uri);
            }
        }
    }
}

impl Operator {
    /// Writes values with commas between them, after the name where the operator has names.
    fn write_named(&self, name: &str, texts: &[&String], uri: &mut String) {
        if self.is_named {
            uri.push_str(name);
            let is_empty = texts.iter().all(|text| text.is_empty());
            uri.push_str(if is_empty { self.if_empty } else { "=" });
        }
        for (at, text) in texts.iter().enumerate() {
            if at > 0 {
                uri.push(',');
            }
            match self.keeps_reserved {
                true => expand_reserved(text, uri),
                false => encode_unreserved(text, uri),
            }
        }
    }
}

/// Percent-encodes everything but letters, digits and `-._~`.
fn encode_unreserved(text: &str, uri: &mut String) {
    for byte in text.bytes() {
        if is_unreserved(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use crate::template::UriTemplate;
    use crate::uri::Uri;
    use crate::variable::{VariableValue, VariableValues};

    fn expanded(template: &str, values: &VariableValues) -> String {
        UriTemplate::parse(template).unwrap().expand(values)
    }

    #[test]
    fn the_examples_of_the_rfc_expand_as_it_says() {
        let text = |text: &str| VariableValue::Text(text.to_owned());
        let values = VariableValues::from([
            ("var".to_owned(), text("value")),
            ("hello".to_owned(), text("Hello World!")),
            ("path".to_owned(), text("/foo/bar")),
            ("empty".to_owned(), text("")),
            ("x".to_owned(), text("1024")),
            ("y".to_owned(), text("768")),
            (
                "list".to_owned(),
                VariableValue::List(["red", "green", "blue"].map(str::to_owned).into()),
            ),
        ]);
        // RFC 6570, 3.2.2 to 3.2.9.
        for (template, uri) in [
            ("{var}", "value"),
            ("{hello}", "Hello%20World%21"),
            ("{x,hello,y}", "1024,Hello%20World%21,768"),
            ("{+path}/here", "/foo/bar/here"),
            ("{+hello}", "Hello%20World!"),
            ("{#path,x}/here", "#/foo/bar,1024/here"),
            ("X{.var}", "X.value"),
            ("X{.list*}", "X.red.green.blue"),
            ("{/var,x}/here", "/value/1024/here"),
            ("{/list*}", "/red/green/blue"),
            ("{/list}", "/red,green,blue"),
            ("{;x,y,empty}", ";x=1024;y=768;empty"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="),
            ("{?list*}", "?list=red&list=green&list=blue"),
            ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
            ("{?x,undef}", "?x=1024"),
            ("{undef}", ""),
        ] {
            assert_eq!(expanded(template, &values), uri, "{template}");
        }
    }

    proptest! {
        #[test]
        fn what_is_expanded_matches_with_the_same_values(name in ".{1,12}", query in ".{1,12}") {
            let template = UriTemplate::parse("a://h/{name}{?query}").unwrap();
            let values = VariableValues::from([
                ("name".to_owned(), VariableValue::Text(name)),
                ("query".to_owned(), VariableValue::Text(query)),
            ]);
            let uri = Uri::parse(&template.expand(&values)).unwrap();
            prop_assert_eq!(template.matches(&uri), Some(values));
        }
    }
}
