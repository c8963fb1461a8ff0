//! Edits of TOML files that keep comments, order and blank lines.

use anyhow::Context;
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::config_value::ConfigValue;

/// Parses the text of a file.
pub(super) fn parse(text: &str) -> anyhow::Result<Value> {
    toml::from_str(text).map_err(|error| {
        // The error quotes the file, which may hold secrets.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow::anyhow!("invalid TOML in line {line}: {}", error.message())
    })
}

/// Sets the table `name` in the table at `keys`. The text is one that [`parse`] accepts.
pub(super) fn set(
    text: &str,
    keys: &[&str],
    name: &str,
    value: &ConfigValue,
) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in keys {
        let mut parent = Table::new();
        // The header of a table that only holds tables says nothing.
        parent.set_implicit(true);
        let item = table.entry(key).or_insert(Item::Table(parent));
        table =
            item.as_table_like_mut().with_context(|| format!("`{key}` does not hold a table"))?;
    }
    let is_first = table.is_empty();
    let mut item = table_item(value);
    if let (Some(fresh), false) = (item.as_table_mut(), text.trim().is_empty() && is_first) {
        fresh.decor_mut().set_prefix("\n");
    }
    if let (Some(fresh), Some(old)) =
        (item.as_table_mut(), table.get(name).and_then(Item::as_table))
    {
        *fresh.decor_mut() = old.decor().clone();
        fresh.set_position(old.position());
    }
    table.insert(name, item);
    Ok(document.to_string())
}

/// Removes the table `name` from the table at `keys`.
pub(super) fn remove(text: &str, keys: &[&str], name: &str) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
    for key in keys {
        table = table.and_then(|table| table.get_mut(key)).and_then(Item::as_table_like_mut);
    }
    if let Some(table) = table {
        table.remove(name);
    }
    Ok(document.to_string())
}

fn table_item(value: &ConfigValue) -> Item {
    match value {
        ConfigValue::Table(pairs) => {
            let mut table = Table::new();
            for (key, value) in pairs {
                table.insert(key, Item::Value(toml_value(value)));
            }
            Item::Table(table)
        }
        other => Item::Value(toml_value(other)),
    }
}

fn toml_value(value: &ConfigValue) -> toml_edit::Value {
    match value {
        ConfigValue::Text(text) => text.as_str().into(),
        ConfigValue::Number(number) => i64::from(*number).into(),
        ConfigValue::Flag(flag) => (*flag).into(),
        ConfigValue::List(list) => list.iter().map(toml_value).collect::<Array>().into(),
        ConfigValue::Table(pairs) => {
            let mut table = InlineTable::new();
            for (key, value) in pairs {
                table.insert(key, toml_value(value));
            }
            table.into()
        }
    }
}
