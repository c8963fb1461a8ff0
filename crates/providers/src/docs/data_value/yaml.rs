//! Reader of YAML, from the events of a parser. Tags other than those of texts do not matter.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};

use super::{DataFault, DataValue, ValueBudget};
use crate::repeated_text::text_count;

/// A list or table whose end has not come yet.
struct OpenValue {
    anchor: usize,
    value: DataValue,
    /// The key whose value comes next.
    key: Option<String>,
}

#[derive(Default)]
struct YamlValues {
    open: Vec<OpenValue>,
    first: Option<DataValue>,
    anchors: HashMap<usize, (DataValue, usize)>,
}

/// The first document of `text`.
pub(super) fn parse(text: &str, mut budget: ValueBudget) -> Result<DataValue, DataFault> {
    let mut values = YamlValues::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            DataFault::new(error.marker().line().max(1), "this is not valid YAML")
        })?;
        let line = span.start.line().max(1);
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        values.take_event(event, line, &mut budget)?;
    }
    Ok(values.first.unwrap_or(DataValue::Null))
}

impl YamlValues {
    fn take_event(
        &mut self,
        event: Event<'_>,
        line: usize,
        budget: &mut ValueBudget,
    ) -> Result<(), DataFault> {
        let mut begin = |anchor, value| {
            budget.take(1, line)?;
            ValueBudget::check_depth(self.open.len() + 1, line)?;
            self.open.push(OpenValue { anchor, value, key: None });
            Ok(())
        };
        match event {
            Event::SequenceStart(_, anchor, _) => begin(anchor, DataValue::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => begin(anchor, DataValue::Table(Vec::new())),
            Event::Scalar(text, style, anchor, tag) => {
                budget.take(1, line)?;
                let is_text = style != ScalarStyle::Plain || tag.is_some();
                let value = if is_text { DataValue::Text(text.into()) } else { plain_value(&text) };
                self.finish(value, anchor, line, budget)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.finish(open.value, open.anchor, line, budget),
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let unknown = || DataFault::new(line, "this is not valid YAML");
                let (value, count) = self.anchors.get(&anchor).ok_or_else(unknown)?;
                budget.take(*count, line)?;
                let value = value.clone();
                self.finish(value, 0, line, budget)
            }
            _ => Ok(()),
        }
    }

    fn finish(
        &mut self,
        value: DataValue,
        anchor: usize,
        line: usize,
        budget: &mut ValueBudget,
    ) -> Result<(), DataFault> {
        if anchor != 0 {
            let count = value.count();
            // The copy takes memory as the value itself does.
            budget.take(count, line)?;
            self.anchors.insert(anchor, (value.clone(), count));
        }
        let Some(open) = self.open.last_mut() else {
            self.first.get_or_insert(value);
            return Ok(());
        };
        match &mut open.value {
            DataValue::List(items) => items.push(value),
            DataValue::Table(entries) => match open.key.take() {
                None => {
                    let is_made = matches!(value, DataValue::List(_) | DataValue::Table(_));
                    let key = key_text(value);
                    // Each key in a key doubles its backslashes.
                    budget.take(if is_made { text_count(&key) } else { 0 }, line)?;
                    open.key = Some(key);
                }
                Some(key) => entries.push((key, value)),
            },
            _ => {}
        }
        Ok(())
    }
}

fn key_text(value: DataValue) -> String {
    match value {
        DataValue::Text(text) => text,
        other => other.to_json(),
    }
}

fn plain_value(text: &str) -> DataValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => DataValue::Null,
        "true" | "True" | "TRUE" => DataValue::Bool(true),
        "false" | "False" | "FALSE" => DataValue::Bool(false),
        _ => {
            let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
            let number = is_number.then(|| text.parse::<f64>().ok()).flatten();
            number.map_or_else(|| DataValue::Text(text.to_owned()), DataValue::Number)
        }
    }
}
