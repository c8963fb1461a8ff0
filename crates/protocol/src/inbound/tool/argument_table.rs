//! Declaration of tool arguments: one table gives the struct, its JSON schema and its decoding.
//!
//! Models often write arguments a little wrong, so error messages say what is expected.

use std::fmt;

use serde_json::Value;

use super::argument_value::{ArgumentValue, one_of};
use crate::json::raw_object::{ObjectWriter, RawMembers, RawObject};

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
    pub(super) default: Option<ArgumentDefault>,
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

/// The value of an argument that a call does not pass.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArgumentDefault {
    Number(u64),
    Flag(bool),
}

impl From<u64> for ArgumentDefault {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for ArgumentDefault {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl fmt::Display for ArgumentDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
        }
    }
}

impl ArgumentSpec {
    pub(super) fn new(text: &'static str) -> Self {
        Self { text, default: None, least: None, most: None }
    }

    pub(super) fn default(self, default: impl Into<ArgumentDefault>) -> Self {
        Self { default: Some(default.into()), ..self }
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

/// Decodes the argument called `name`. `null` is as good as none: models pass it for what they leave
/// out.
pub(super) fn take_argument<T: ArgumentValue>(
    given: &RawMembers<'_>,
    name: &str,
    spec: ArgumentSpec,
) -> Result<T, String> {
    let passed = given.iter().find(|(member, _)| member == name).map(|(_, raw)| raw.get());
    match passed.filter(|json| *json != "null") {
        Some(json) => T::decode(json, spec).map_err(|flaw| match flaw.starts_with(name) {
            true => flaw,
            false => format!("{name}: {flaw}"),
        }),
        None => T::absent(spec).ok_or_else(|| format!("missing field `{name}`")),
    }
}
