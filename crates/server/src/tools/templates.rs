//! The tool `resources_templates`: lists the URI templates, a page at a time.

use std::fmt::Write;

use protocol::inbound::tool::ToolResult;
use protocol::inbound::tool::arguments::TemplatesArguments;
use resource::{Cursor, PageRequest, Result, Template};
use serde_json::{Value, json};

use super::list::{absences_json, write_absences};
use crate::exchange::Exchange;
use crate::server::Server;

const CURSOR_SCOPE: &str = "tool templates";

/// Lists one page of templates.
pub(super) async fn list_templates(
    server: &Server,
    exchange: &Exchange,
    templates: TemplatesArguments,
) -> Result<ToolResult> {
    let cursor = templates.cursor.as_deref();
    let from: Option<Cursor> =
        cursor.map(|text| server.seal.unseal(CURSOR_SCOPE, text)).transpose()?;
    let ask = PageRequest::new(from, server.limits.page);
    let page = server.provider.templates(&exchange.ctx, &ask).await?;
    let completes = server.provider.facets().complete.is_some();
    let mut words = String::new();
    for template in &page.items {
        let Template { uri, name, .. } = &**template;
        let about = template.description.as_ref().or(template.title.as_ref()).unwrap_or(name);
        let _ = writeln!(words, "{} {about}", uri.as_str());
    }
    if page.items.is_empty() {
        words.push_str("there are no templates\n");
    }
    write_absences(&mut words, &page.absent);
    let next = page.next.as_ref().map(|next| server.seal.seal(CURSOR_SCOPE, next));
    if let Some(next) = &next {
        let _ = writeln!(words, "there is more: call again with cursor {next}");
    }
    let each: Vec<Value> = page.items.iter().map(|one| template_json(one, completes)).collect();
    let mut structured = json!({ "templates": each });
    if let Some(next) = next {
        structured["cursor"] = next.into();
    }
    if !page.absent.is_empty() {
        structured["absent"] = absences_json(&page.absent);
    }
    Ok(ToolResult::with_text(words.trim_end(), structured))
}

fn template_json(template: &Template, completes: bool) -> Value {
    let variables: Vec<&str> = template.uri.variables().collect();
    let mut shape = json!({
        "uriTemplate": template.uri.as_str(), "name": template.name, "variables": variables,
    });
    if completes {
        shape["completable"] = variables.into();
    }
    for (name, value) in [
        ("title", &template.title),
        ("description", &template.description),
        ("mimeType", &template.mime),
    ] {
        if let Some(value) = value {
            shape[name] = value.as_str().into();
        }
    }
    shape
}
