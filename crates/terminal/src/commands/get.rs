//! `refdesk get`: fills in a URI template and prints what it leads to.

use resource::{Template, Uri, VariableValue, VariableValues};
use serde_json::{Value, json};

use super::cat::{PrintStyle, print_content, print_json};
use crate::args::GetArgs;
use crate::connection::ServerConnection;
use crate::content::Selection;
use crate::error::CommandError;
use crate::output::{Output, Style, one_line};
use crate::table::{self, Cell};
use crate::tool_arguments::unknown_words;

/// How many pages of templates are read.
const MAX_PAGES: usize = 64;

pub(super) async fn run(
    args: &GetArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let templates = connection.templates().await?;
    let Some(wanted) = &args.template else {
        return print_templates(args, output, &templates);
    };
    let template = find(&templates, wanted)?;
    let values = parse_values(template, &args.values)?;
    let uri = template.uri.expand(&values);
    if args.uri_only {
        return match args.server.json {
            true => output.json(&json!({ "uri": uri })),
            false => output.line(&uri),
        };
    }
    let uri = Uri::parse(&uri).map_err(|error| CommandError::Usage(format!("{uri}: {error}")))?;
    let selection = Selection::parse(&args.window)?;
    if args.server.json {
        return print_json(connection, output, &uri, &selection).await;
    }
    let style = PrintStyle { raw: false, pager: true };
    print_content(connection, output, &uri, &selection, style).await
}

impl ServerConnection {
    /// All templates.
    pub(crate) async fn templates(&self) -> Result<Vec<Template>, CommandError> {
        let mut templates = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = match self.client.templates(cursor.as_deref()).await {
                Ok(page) => page,
                Err(error) if error.is_method_not_found() => break,
                Err(error) => return Err(error.into()),
            };
            templates.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        Ok(templates)
    }
}

/// The template with this text or name.
pub(crate) fn find<'a>(
    templates: &'a [Template],
    wanted: &str,
) -> Result<&'a Template, CommandError> {
    let by_text = templates.iter().find(|template| template.uri.as_str() == wanted);
    let mut by_name = templates.iter().filter(|template| template.name == wanted);
    match (by_text, by_name.next(), by_name.next()) {
        (Some(template), _, _) | (None, Some(template), None) => Ok(template),
        (None, Some(one), Some(other)) => Err(CommandError::Usage(format!(
            "several templates have this name: {} and {}; write the template",
            one.uri.as_str(),
            other.uri.as_str()
        ))),
        (None, None, _) => {
            let names: Vec<String> =
                templates.iter().map(|template| template.uri.as_str().to_owned()).collect();
            Err(CommandError::NotFound(unknown_words(wanted, names.iter())))
        }
    }
}

fn parse_values(template: &Template, words: &[String]) -> Result<VariableValues, CommandError> {
    let names: Vec<String> = template.uri.variables().map(str::to_owned).collect();
    let mut values = VariableValues::new();
    for word in words {
        let (name, value) = word
            .split_once('=')
            .ok_or_else(|| CommandError::Usage(format!("{word}: write values as NAME=VALUE")))?;
        if !names.iter().any(|known| known == name) {
            return Err(CommandError::Usage(unknown_words(name, names.iter())));
        }
        let described = template.variables.iter().find(|variable| variable.name == name);
        if let Some(words) = described.and_then(|variable| variable.refusal(value)) {
            return Err(CommandError::Usage(words));
        }
        let value = value.to_owned();
        let entry = values.remove(name);
        let value = match (entry, template.uri.is_list(name)) {
            (None, false) => VariableValue::Text(value),
            (None, true) => VariableValue::List(vec![value]),
            (Some(VariableValue::List(mut list)), _) => {
                list.push(value);
                VariableValue::List(list)
            }
            (Some(VariableValue::Text(_)), _) => {
                return Err(CommandError::Usage(format!("{name} is given twice")));
            }
        };
        values.insert(name.to_owned(), value);
    }
    for variable in &template.variables {
        if let (Some(usual), false) = (&variable.default, values.contains_key(&variable.name)) {
            values.insert(variable.name.clone(), VariableValue::Text(usual.clone()));
        }
    }
    Ok(values)
}

fn print_templates(
    args: &GetArgs,
    output: &mut Output,
    templates: &[Template],
) -> Result<(), CommandError> {
    if args.server.json {
        let rows: Vec<Value> = templates
            .iter()
            .map(|template| {
                let variables: Vec<&str> = template.uri.variables().collect();
                json!({
                    "uriTemplate": template.uri.as_str(), "name": template.name,
                    "title": template.title, "description": template.description,
                    "mimeType": template.mime, "variables": variables,
                })
            })
            .collect();
        return output.json(&json!({ "resourceTemplates": rows }));
    }
    let row = |template: &Template| {
        let words = template.description.as_deref().or(template.title.as_deref());
        vec![
            Cell::styled(Style::Collection, one_line(template.uri.as_str())),
            Cell::text(one_line(words.unwrap_or(&template.name))),
        ]
    };
    let rows: Vec<Vec<Cell>> = templates.iter().map(row).collect();
    for line in table::lines(output, &rows) {
        output.line(&line)?;
    }
    if templates.is_empty() { Err(CommandError::NothingFound) } else { Ok(()) }
}
