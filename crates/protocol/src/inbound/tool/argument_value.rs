//! Types of tool arguments: the JSON schema of each, and how it is decoded.

use std::time::SystemTime;

use resource::{Accept, Json, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::argument_table::{ArgumentDefault, ArgumentSpec};
use super::arguments::{GrepMode, SearchBy, SortOrder};
use crate::json::raw_object::{RawObject, parse_object};

/// How many URIs one call may have.
const MAX_URIS: usize = 100;

/// A type that an argument can have.
pub(super) trait ArgumentValue: Sized {
    /// The JSON schema of the type.
    fn type_schema() -> Value;

    /// Decodes an argument that the call passes.
    fn decode(json: &str, spec: ArgumentSpec) -> Result<Self, String>;

    /// The value if the call does not pass the argument; `None` if it must.
    fn absent(_spec: ArgumentSpec) -> Option<Self> {
        None
    }
}

impl<T: ArgumentValue> ArgumentValue for Option<T> {
    fn type_schema() -> Value {
        T::type_schema()
    }

    fn decode(json: &str, spec: ArgumentSpec) -> Result<Self, String> {
        T::decode(json, spec).map(Some)
    }

    fn absent(_spec: ArgumentSpec) -> Option<Self> {
        Some(None)
    }
}

impl ArgumentValue for String {
    fn type_schema() -> Value {
        json!({ "type": "string" })
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse(json)
    }
}

/// A text that may be a number, such as the name of a sheet. Models also pass the number itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameOrNumber(pub String);

impl ArgumentValue for NameOrNumber {
    fn type_schema() -> Value {
        String::type_schema()
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        let number = || parse(json).map(|number: u64| number.to_string());
        parse(json).or_else(|error| number().map_err(|_| error)).map(Self)
    }
}

impl ArgumentValue for bool {
    fn type_schema() -> Value {
        json!({ "type": "boolean" })
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse(json)
    }

    fn absent(spec: ArgumentSpec) -> Option<Self> {
        match spec.default {
            Some(ArgumentDefault::Flag(flag)) => Some(flag),
            _ => Some(false),
        }
    }
}

impl ArgumentValue for u64 {
    fn type_schema() -> Value {
        json!({ "type": "integer" })
    }

    /// Moves a number between the bounds if there is a maximum. Without one the tool itself checks
    /// the number, because it can say more about it.
    fn decode(json: &str, spec: ArgumentSpec) -> Result<Self, String> {
        let number: Self = parse(json)?;
        Ok(spec.most.map_or(number, |most| number.clamp(spec.least.unwrap_or(0), most)))
    }

    fn absent(spec: ArgumentSpec) -> Option<Self> {
        match spec.default {
            Some(ArgumentDefault::Number(number)) => Some(number),
            _ => None,
        }
    }
}

impl ArgumentValue for f64 {
    fn type_schema() -> Value {
        json!({ "type": "number" })
    }

    /// Refuses a number outside the bounds. It is no amount of which less would do: `5` on a scale
    /// up to 1 means something else than `1`.
    fn decode(json: &str, spec: ArgumentSpec) -> Result<Self, String> {
        let number: Self = parse(json)?;
        let (least, most) =
            (spec.least.map(|least| least as Self), spec.most.map(|most| most as Self));
        let fits =
            least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
        let bound = |bound: Option<Self>| bound.map_or("any".to_owned(), |bound| bound.to_string());
        match fits {
            true => Ok(number),
            false => Err(format!("{number} is not between {} and {}", bound(least), bound(most))),
        }
    }
}

/// An array of URIs or paths; a call may also pass a single string.
impl ArgumentValue for Vec<String> {
    fn type_schema() -> Value {
        let items = String::type_schema();
        json!({ "type": "array", "items": items, "minItems": 1, "maxItems": MAX_URIS })
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        let one = || parse(json).map(|one| vec![one]);
        let texts: Self =
            parse(json).or_else(|_| one()).map_err(|_| "an array of URIs".to_owned())?;
        if texts.is_empty() || texts.len() > MAX_URIS {
            return Err(format!("pass between 1 and {MAX_URIS} URIs per call"));
        }
        Ok(texts)
    }
}

/// An array of MIME types; a call may also pass a single string.
impl ArgumentValue for Accept {
    fn type_schema() -> Value {
        json!({ "type": "array", "items": String::type_schema() })
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        let texts: Vec<String> = parse(json)
            .or_else(|_| parse(json).map(|one| vec![one]))
            .map_err(|_: String| "an array of MIME types".to_owned())?;
        Self::parse(texts.iter().map(String::as_str)).map_err(|error| error.message.into_owned())
    }
}

/// An object, kept as it is.
impl ArgumentValue for Json {
    fn type_schema() -> Value {
        json!({ "type": "object" })
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        let RawObject(_) = parse_object(json).map_err(|_| "expected an object")?;
        Ok(json.into())
    }
}

/// RFC 3339, or a date alone, which means its first moment in UTC.
impl ArgumentValue for SystemTime {
    fn type_schema() -> Value {
        String::type_schema()
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        let text: String = parse(json)?;
        let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.clone() };
        humantime::parse_rfc3339_weak(&whole)
            .map_err(|_| format!("{text:?} is not a time such as 2026-01-31T12:00:00Z"))
    }
}

const ROLES: &[(&str, Role)] = &[("user", Role::User), ("assistant", Role::Assistant)];

impl ArgumentValue for Role {
    fn type_schema() -> Value {
        choice_schema(ROLES)
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse_choice(json, ROLES)
    }
}

impl ArgumentValue for SortOrder {
    fn type_schema() -> Value {
        choice_schema(Self::NAMES)
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse_choice(json, Self::NAMES)
    }
}

impl ArgumentValue for GrepMode {
    fn type_schema() -> Value {
        choice_schema(Self::NAMES)
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse_choice(json, Self::NAMES)
    }

    fn absent(_spec: ArgumentSpec) -> Option<Self> {
        Some(Self::default())
    }
}

impl ArgumentValue for SearchBy {
    fn type_schema() -> Value {
        choice_schema(Self::NAMES)
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse_choice(json, Self::NAMES)
    }

    fn absent(_spec: ArgumentSpec) -> Option<Self> {
        Some(Self::default())
    }
}

fn choice_schema<T>(choices: &[(&str, T)]) -> Value {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    json!({ "type": "string", "enum": names })
}

fn parse_choice<T: Copy>(json: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let text: String = parse(json)?;
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("unknown variant `{text}`, expected {}", one_of(&names))
    })
}

pub(super) fn one_of(names: &[&str]) -> String {
    match names {
        [one] => format!("`{one}`"),
        [one, other] => format!("`{one}` or `{other}`"),
        _ => format!("one of `{}`", names.join("`, `")),
    }
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|flaw| {
        // The position in the line means nothing to a model that wrote an object.
        let words = flaw.to_string();
        words.split(" at line ").next().unwrap_or(&words).to_owned()
    })
}
