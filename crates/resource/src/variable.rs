//! Variables of a URI template: their descriptions, and the values that a URI gives them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::description::Template;
use crate::error::{Error, ErrorKind, Result};
use crate::uri::Uri;

/// What a listing says of one variable of a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variable {
    /// The name, as in the template.
    pub name: String,
    /// A description for people and models.
    pub description: Option<String>,
    /// The type of its values.
    pub kind: VariableKind,
    /// The value that it has in a URI that leaves it out.
    pub default: Option<String>,
    /// All values that it may have; empty if any value of its type is allowed.
    pub allowed: Vec<String>,
}

/// The type of a variable's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableKind {
    /// Any text.
    #[default]
    Text,
    /// A whole number.
    Integer,
    /// A number, in decimal or scientific notation.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// The value of a variable in one URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableValue {
    /// One value.
    Text(String),
    /// The values of an exploded variable, such as `{/path*}` or `{?tag*}`.
    List(Vec<String>),
}

/// The values of all variables that a URI gives one.
pub type VariableValues = BTreeMap<String, VariableValue>;

impl VariableKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Text, Self::Integer, Self::Number, Self::Boolean];

    /// The name, as in JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// Whether `value` is of this type.
    pub fn admits(self, value: &str) -> bool {
        match self {
            Self::Text => true,
            Self::Integer => value.parse::<i64>().is_ok(),
            Self::Number => value.parse::<f64>().is_ok_and(f64::is_finite),
            Self::Boolean => matches!(value, "true" | "false"),
        }
    }
}

impl Variable {
    /// Creates a variable that may have any text.
    pub fn new(name: impl Into<String>) -> Self {
        let (description, default, allowed) = (None, None, Vec::new());
        Self { name: name.into(), description, kind: VariableKind::Text, default, allowed }
    }

    /// Why the variable cannot have `value`, worded for the caller; `None` if it can.
    pub fn refusal(&self, value: &str) -> Option<String> {
        if !self.allowed.is_empty() && !self.allowed.iter().any(|allowed| allowed == value) {
            return Some(format!("{} must be one of: {}", self.name, self.allowed.join(", ")));
        }
        let wrong = !self.kind.admits(value);
        wrong.then(|| format!("{} must be of type {}", self.name, self.kind.name()))
    }
}

impl VariableValue {
    /// The values, one or many.
    pub fn values(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::List(values) => values,
        }
    }

    /// The value as one text, with commas between the values of a list.
    pub fn joined(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(values) => Cow::Owned(values.join(",")),
        }
    }
}

impl Template {
    /// The values of the variables in `uri`, checked and with defaults; `None` if the template
    /// does not match. A value that its variable cannot have: `NotFound`, because the template
    /// has no such resource.
    pub fn bind(&self, uri: &Uri) -> Option<Result<VariableValues>> {
        let mut values = self.uri.matches(uri)?;
        for variable in &self.variables {
            if let Some(value) = values.get(&variable.name) {
                let refusal = value.values().iter().find_map(|value| variable.refusal(value));
                if let Some(refusal) = refusal {
                    let message = format!("resource not found: {refusal}");
                    return Some(Err(Error::new(ErrorKind::NotFound, message).about(uri)));
                }
            } else if let Some(default) = &variable.default {
                values.insert(variable.name.clone(), VariableValue::Text(default.clone()));
            }
        }
        Some(Ok(values))
    }
}

#[cfg(test)]
mod tests {
    use super::{Variable, VariableKind, VariableValue};
    use crate::description::{Annotations, Template};
    use crate::error::ErrorKind;
    use crate::template::UriTemplate;
    use crate::unknown_members::UnknownMembers;
    use crate::uri::Uri;

    fn template(uri: &str, variables: Vec<Variable>) -> Template {
        Template {
            uri: UriTemplate::parse(uri).unwrap(),
            name: "t".to_owned(),
            title: None,
            description: None,
            mime: None,
            icons: Vec::new(),
            annotations: Annotations::default(),
            variables,
            extra: UnknownMembers::default(),
        }
    }

    fn bind(template: &Template, uri: &str) -> Result<Vec<(String, String)>, String> {
        let bound = template.bind(&Uri::parse(uri).unwrap()).ok_or("no match")?;
        let bound = bound.map_err(|error| {
            assert_eq!(error.kind, ErrorKind::NotFound);
            error.message.into_owned()
        })?;
        Ok(bound.into_iter().map(|(name, value)| (name, value.joined().into_owned())).collect())
    }

    #[test]
    fn values_are_checked_and_defaults_filled_in() {
        let level = Variable {
            name: "level".to_owned(),
            allowed: vec!["info".to_owned(), "warn".to_owned()],
            default: Some("warn".to_owned()),
            ..Variable::default()
        };
        let page = Variable {
            name: "page".to_owned(),
            kind: VariableKind::Integer,
            ..Variable::default()
        };
        let template = template("log://{service}{?level,page}", vec![level, page]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            bind(&template, "log://api"),
            Ok(vec![pair("level", "warn"), pair("service", "api")])
        );
        assert_eq!(
            bind(&template, "log://api?page=-3&level=info"),
            Ok(vec![pair("level", "info"), pair("page", "-3"), pair("service", "api")])
        );
        assert_eq!(
            bind(&template, "log://api?level=debug").unwrap_err(),
            "resource not found: level must be one of: info, warn"
        );
        assert_eq!(
            bind(&template, "log://api?page=1.5").unwrap_err(),
            "resource not found: page must be of type integer"
        );
        assert_eq!(bind(&template, "other://api").unwrap_err(), "no match");
    }

    #[test]
    fn every_value_of_a_list_is_checked() {
        let ids =
            Variable { name: "id".to_owned(), kind: VariableKind::Integer, ..Variable::default() };
        let template = template("x://set{/id*}", vec![ids]);
        let uri = Uri::parse("x://set/1/2/3").unwrap();
        let bound = template.bind(&uri).unwrap().unwrap();
        let list = ["1", "2", "3"].map(str::to_owned).to_vec();
        assert_eq!(bound["id"], VariableValue::List(list));
        assert!(bind(&template, "x://set/1/b").unwrap_err().contains("type integer"));
    }

    #[test]
    fn kinds_admit_what_their_names_say() {
        let cases = [
            (VariableKind::Text, "", true),
            (VariableKind::Integer, "12", true),
            (VariableKind::Integer, "1e3", false),
            (VariableKind::Number, "1e3", true),
            (VariableKind::Number, "NaN", false),
            (VariableKind::Number, "1e999", false),
            (VariableKind::Boolean, "true", true),
            (VariableKind::Boolean, "yes", false),
        ];
        for (kind, value, admitted) in cases {
            assert_eq!(kind.admits(value), admitted, "{kind:?} {value:?}");
        }
    }
}
