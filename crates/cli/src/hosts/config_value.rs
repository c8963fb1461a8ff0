//! A value of a host's config file, with its keys in the order in which a person reads them.

use serde_json::Value;

/// A value to write into a config file.
#[derive(Debug, Clone)]
pub(crate) enum ConfigValue {
    Text(String),
    Number(u32),
    Flag(bool),
    List(Vec<Self>),
    Table(Vec<(String, Self)>),
}

impl ConfigValue {
    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts.
    pub(crate) fn texts(texts: &[String]) -> Self {
        Self::List(texts.iter().map(Self::text).collect())
    }

    /// A table with these pairs.
    pub(crate) fn table<const N: usize>(pairs: [(&str, Self); N]) -> Self {
        Self::Table(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

impl From<&ConfigValue> for Value {
    fn from(value: &ConfigValue) -> Self {
        match value {
            ConfigValue::Text(text) => text.as_str().into(),
            ConfigValue::Number(number) => (*number).into(),
            ConfigValue::Flag(flag) => (*flag).into(),
            ConfigValue::List(list) => list.iter().map(Self::from).collect(),
            ConfigValue::Table(pairs) => {
                pairs.iter().map(|(key, value)| (key.clone(), Self::from(value))).collect()
            }
        }
    }
}
