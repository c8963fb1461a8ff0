//! JSON encoding of tools and prompts in a list.
//!
//! Leaves out members that the client's revision does not define, and keeps members that no
//! revision defines.

use resource::{Component, ComponentKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::raw_object::{ObjectWriter, parse_elements, parse_members};
use crate::json::sanitize::sanitize_json;
use crate::revision::Revision;

/// The entries of a page as a JSON array. Skips entries that are not objects.
pub(crate) fn component_rows<'a>(
    page: impl IntoIterator<Item = &'a Component>,
    kind: ComponentKind,
    revision: Revision,
) -> String {
    let mut rows = String::from("[");
    for row in page.into_iter().filter_map(|offered| component_row(offered, kind, revision)) {
        if rows.len() > 1 {
            rows.push(',');
        }
        rows.push_str(&row);
    }
    rows.push(']');
    rows
}

fn component_row(component: &Component, kind: ComponentKind, revision: Revision) -> Option<String> {
    let text = sanitize_json(component.json.as_str());
    let whole: &RawValue = serde_json::from_str(&text).ok()?;
    let mut out = ObjectWriter::new();
    out.put_string("name", &component.name);
    for (name, raw) in parse_members(Some(whole), "a tool or prompt").ok()? {
        match (&*name, kind) {
            ("name", _) => {}
            ("title", _) if !revision.knows_titles() => {}
            ("_meta", _) if !revision.knows_meta() => {}
            ("icons", _) if !revision.knows_icons() => {}
            ("annotations", ComponentKind::Tool) if !revision.knows_tool_annotations() => {}
            ("execution", ComponentKind::Tool) if !revision.knows_execution() => {}
            ("outputSchema", ComponentKind::Tool) => {
                if let Some(schema) = output_schema(raw, revision) {
                    out.put_raw(&name, &schema);
                }
            }
            ("arguments", ComponentKind::Prompt) if !revision.knows_titles() => {
                out.put_raw(&name, &strip_titles(raw));
            }
            _ => out.put_raw(&name, raw.get()),
        }
    }
    Some(out.finish())
}

/// The output schema of a tool. Through 2025-11-25 the output must be an object, so the schema of
/// another type is wrapped in one, as the values are (`{"result": …}`). A schema that does not name
/// exactly one type, or that must be wrapped but has a `$ref`, is left out.
fn output_schema(raw: &RawValue, revision: Revision) -> Option<String> {
    #[derive(Deserialize)]
    struct SchemaRoot<'a> {
        #[serde(rename = "type", borrow)]
        kind: Option<&'a RawValue>,
    }
    if !revision.knows_structure() {
        return None;
    }
    if revision.takes_any_structure() {
        return Some(raw.get().to_owned());
    }
    let root: SchemaRoot<'_> = serde_json::from_str(raw.get()).ok()?;
    match root.kind?.get() {
        "\"object\"" => Some(raw.get().to_owned()),
        // Wrapping would change what a `$ref` points to.
        kind if kind.starts_with('"') && !raw.get().contains("\"$ref\"") => {
            let inner = raw.get();
            Some(format!(
                r#"{{"type":"object","properties":{{"result":{inner}}},"required":["result"]}}"#
            ))
        }
        _ => None,
    }
}

fn strip_titles(arguments: &RawValue) -> String {
    let plain = parse_elements(arguments).into_iter().map(|argument| {
        let mut out = ObjectWriter::new();
        for (name, raw) in parse_members(Some(argument), "an argument").unwrap_or_default() {
            if name != "title" {
                out.put_raw(&name, raw.get());
            }
        }
        out.finish()
    });
    format!("[{}]", plain.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use resource::{Component, ComponentKind};
    use serde_json::{Value, json};

    use super::component_rows;
    use crate::revision::Revision;

    fn shown(kind: ComponentKind, json: &Value, revision: Revision) -> Value {
        let offered = Component { name: "notes_t".to_owned(), json: json.to_string().into() };
        let rows: Value =
            serde_json::from_str(&component_rows([&offered], kind, revision)).unwrap();
        rows[0].clone()
    }

    #[test]
    fn a_tool_has_what_its_revision_knows_and_what_nobody_knows() {
        let tool = json!({
            "name": "t", "title": "T", "description": "d", "inputSchema": { "type": "object" },
            "outputSchema": { "type": "object" }, "annotations": { "title": "A" }, "icons": [],
            "execution": {}, "_meta": { "a": 1 }, "new": 1.5,
        });
        let names = |revision| -> Vec<String> {
            shown(ComponentKind::Tool, &tool, revision)
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        let [newest, v25_11, v25_06, v25_03, oldest] = Revision::ALL.map(names);
        assert_eq!(oldest, ["description", "inputSchema", "name", "new"]);
        assert_eq!(v25_03.len(), oldest.len() + 1);
        assert_eq!(v25_06.len(), v25_03.len() + 3);
        assert_eq!(v25_11.len(), v25_06.len() + 2);
        assert_eq!(newest, v25_11);
        assert_eq!(shown(ComponentKind::Tool, &tool, Revision::ALL[0])["name"], "notes_t");
    }

    #[test]
    fn a_schema_that_is_no_object_is_wrapped_or_left_out() {
        let schema = |schema: Value, revision| {
            let tool = json!({ "name": "t", "outputSchema": schema });
            shown(ComponentKind::Tool, &tool, revision).get("outputSchema").cloned()
        };
        let [newest, v25_11, v25_06, v25_03, _] = Revision::ALL;
        let list = json!({ "type": "array", "items": {} });
        assert_eq!(schema(list.clone(), newest), Some(list.clone()));
        for revision in [v25_11, v25_06] {
            let wrapped = json!({
                "type": "object", "properties": { "result": list }, "required": ["result"],
            });
            assert_eq!(schema(list.clone(), revision), Some(wrapped));
            for either in [json!({}), json!({ "type": ["object", "null"] }), json!(true)] {
                assert_eq!(schema(either, revision), None);
            }
            let refers = json!({ "type": "array", "items": { "$ref": "#/$defs/x" }, "$defs": {} });
            assert_eq!(schema(refers, revision), None);
        }
        assert_eq!(schema(json!({ "type": "object" }), v25_03), None);
    }

    #[test]
    fn the_arguments_of_a_prompt_have_titles_where_those_are_known() {
        let prompt = json!({ "name": "t", "arguments": [{ "name": "a", "title": "A", "x": 1 }] });
        let argument =
            |revision| shown(ComponentKind::Prompt, &prompt, revision)["arguments"][0].clone();
        assert_eq!(argument(Revision::ALL[2]), prompt["arguments"][0]);
        assert_eq!(argument(Revision::ALL[3]), json!({ "name": "a", "x": 1 }));
    }
}
