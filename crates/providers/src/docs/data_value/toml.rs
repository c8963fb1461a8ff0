//! Reader of TOML, from a parsed document.

use toml_edit::{Document, Item, TableLike, Value};

use super::{DataFault, DataValue, ValueBudget};

pub(super) fn parse(text: &str, mut budget: ValueBudget) -> Result<DataValue, DataFault> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        DataFault::new(line, "this is not valid TOML")
    })?;
    table(document.as_table(), &mut budget)
}

fn table(table: &dyn TableLike, budget: &mut ValueBudget) -> Result<DataValue, DataFault> {
    budget.take(1, 1)?;
    let mut entries = Vec::with_capacity(table.len());
    for (name, item) in table.iter() {
        let read = match item {
            Item::None => continue,
            Item::Value(one) => value(one, budget)?,
            Item::Table(inner) => self::table(inner, budget)?,
            Item::ArrayOfTables(tables) => {
                let items = tables.iter().map(|inner| self::table(inner, budget));
                DataValue::List(items.collect::<Result<_, _>>()?)
            }
        };
        entries.push((name.to_owned(), read));
    }
    Ok(DataValue::Table(entries))
}

fn value(one: &Value, budget: &mut ValueBudget) -> Result<DataValue, DataFault> {
    budget.take(1, 1)?;
    Ok(match one {
        Value::String(text) => DataValue::Text(text.value().clone()),
        Value::Integer(number) => DataValue::Number(*number.value() as f64),
        Value::Float(number) => DataValue::Number(*number.value()),
        Value::Boolean(is_set) => DataValue::Bool(*is_set.value()),
        Value::Datetime(time) => DataValue::Text(time.value().to_string()),
        Value::Array(items) => {
            let items = items.iter().map(|item| value(item, budget));
            DataValue::List(items.collect::<Result<_, _>>()?)
        }
        Value::InlineTable(inner) => table(inner, budget)?,
    })
}
