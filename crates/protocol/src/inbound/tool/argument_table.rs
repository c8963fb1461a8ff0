//! Declaration of tool arguments: one table gives the struct, its JSON schema and its decoding.
//!
//! Models often write arguments a little wrong, so error messages say what is expected.

use std::time::SystemTime;

use resource::{Accept, Json, Role};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{GrepMode, SearchBy, SortOrder};
use crate::json::raw_object::{ObjectWriter, RawMembers, RawObject, parse_object};

/// How many URIs one call may have.
const MAX_URIS: usize = 100;

/// Declares the arguments of a tool, each as `name: type, "description", settings…;`. The
/// arguments of a `group` come first.
macro_rules! tool_arguments {
    (
        $(#[$doc:meta])*
        $name:ident $(($group:ident: $group_type:ty))? {
            $($field:ident: $type:ty, $text:literal $(, $setting:ident($($value:expr)?))*;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name {
            $(
                #[doc = concat!("The ", stringify!($group), " arguments.")]
                pub $group: $group_type,
            )?
            $(#[doc = $text] pub $field: $type,)*
        }

        impl ArgumentTable for $name {
            const HAS_GROUP: bool = !stringify!($($group)?).is_empty();

            fn declare(into: &mut Vec<DeclaredArgument>) {
                $(<$group_type>::declare(into);)?
                $({
                    let spec = ArgumentSpec::new($text)$(.$setting($($value)?))*;
                    into.push(DeclaredArgument::new::<$type>(stringify!($field), spec));
                })*
            }

            fn take(given: &RawMembers<'_>) -> Result<Self, String> {
                Ok(Self {
                    $($group: <$group_type>::take(given)?,)?
                    $($field: {
                        let spec = ArgumentSpec::new($text)$(.$setting($($value)?))*;
                        take_argument(given, stringify!($field), spec)?
                    },)*
                })
            }
        }
    };
}
pub(super) use tool_arguments;

/// A struct that [`tool_arguments`] declares.
pub(super) trait ArgumentTable: Sized {
    /// Whether the table includes the arguments of another one.
    const HAS_GROUP: bool;

    /// Appends the declared arguments, in order.
    fn declare(into: &mut Vec<DeclaredArgument>);

    /// Decodes the arguments of this table.
    fn take(given: &RawMembers<'_>) -> Result<Self, String>;
}

/// The description, default and bounds of an argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArgumentSpec {
    text: &'static str,
    default: Option<u64>,
    least: Option<u64>,
    most: Option<u64>,
}

impl ArgumentSpec {
    pub(super) fn new(text: &'static str) -> Self {
        Self { text, default: None, least: None, most: None }
    }

    pub(super) fn default(self, default: u64) -> Self {
        Self { default: Some(default), ..self }
    }

    pub(super) fn least(self, least: u64) -> Self {
        Self { least: Some(least), ..self }
    }

    pub(super) fn most(self, most: u64) -> Self {
        Self { most: Some(most), ..self }
    }
}

/// One declared argument.
pub(super) struct DeclaredArgument {
    name: &'static str,
    spec: ArgumentSpec,
    is_required: bool,
    type_schema: fn() -> Value,
}

impl DeclaredArgument {
    pub(super) fn new<T: ArgumentValue>(name: &'static str, spec: ArgumentSpec) -> Self {
        let is_required = T::absent(spec).is_none();
        Self { name, spec, is_required, type_schema: T::type_schema }
    }

    fn schema(&self) -> Value {
        let ArgumentSpec { text, default, least, most } = self.spec;
        let mut schema = (self.type_schema)();
        schema["description"] = match default {
            Some(default) => format!("{text}; default {default}").into(),
            None => text.into(),
        };
        for (name, bound) in [("minimum", least), ("maximum", most)] {
            if let Some(bound) = bound {
                schema[name] = bound.into();
            }
        }
        schema
    }
}

fn declared<T: ArgumentTable>() -> Vec<DeclaredArgument> {
    let mut all = Vec::new();
    T::declare(&mut all);
    all
}

/// The input schema of a tool with these arguments, the required ones first.
pub(super) fn input_schema<T: ArgumentTable>() -> String {
    let mut offered = declared::<T>();
    offered.sort_by_key(|one| !one.is_required);
    let mut properties = ObjectWriter::new();
    for one in &offered {
        properties.put_raw(one.name, &one.schema().to_string());
    }
    let required = offered.iter().filter(|one| one.is_required).map(|one| one.name);
    let required: Vec<&str> = required.collect();
    let mut schema = ObjectWriter::new();
    schema.put_string("type", "object");
    schema.put_raw("properties", &properties.finish());
    if !required.is_empty() {
        schema.put_raw("required", &Value::from(required).to_string());
    }
    schema.finish()
}

/// Decodes the arguments of a call, an object. The error is a message for the model.
pub(super) fn decode_arguments<T: ArgumentTable>(given: &str) -> Result<T, String> {
    let RawObject(given) =
        serde_json::from_str(given).map_err(|_| "arguments: not an object".to_owned())?;
    let declared = declared::<T>();
    for (at, (name, _)) in given.iter().enumerate() {
        if !declared.iter().any(|one| one.name == name) {
            let names: Vec<&str> = declared.iter().map(|one| one.name).collect();
            return Err(if T::HAS_GROUP {
                format!("unknown argument `{name}`; valid arguments are {}", names.join(", "))
            } else {
                format!("unknown field `{name}`, expected {}", one_of(&names))
            });
        }
        if given[..at].iter().any(|(earlier, _)| earlier == name) {
            return Err(format!("duplicate field `{name}`"));
        }
    }
    T::take(&given)
}

/// Decodes the argument called `name`.
pub(super) fn take_argument<T: ArgumentValue>(
    given: &RawMembers<'_>,
    name: &str,
    spec: ArgumentSpec,
) -> Result<T, String> {
    match given.iter().find(|(member, _)| member == name) {
        Some((_, raw)) => T::decode(raw.get(), spec),
        None => T::absent(spec).ok_or_else(|| format!("missing field `{name}`")),
    }
}

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
        if json == "null" { Ok(None) } else { T::decode(json, spec).map(Some) }
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

    fn absent(_spec: ArgumentSpec) -> Option<Self> {
        Some(false)
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
        spec.default
    }
}

impl ArgumentValue for f64 {
    fn type_schema() -> Value {
        json!({ "type": "number" })
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse(json)
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
}

impl ArgumentValue for SearchBy {
    fn type_schema() -> Value {
        choice_schema(Self::NAMES)
    }

    fn decode(json: &str, _spec: ArgumentSpec) -> Result<Self, String> {
        parse_choice(json, Self::NAMES)
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

fn one_of(names: &[&str]) -> String {
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
