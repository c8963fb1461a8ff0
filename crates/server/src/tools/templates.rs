//! The tool `resources_templates`: lists the URI templates, a page at a time.

use std::fmt::Write;

use protocol::tool::Given;
use protocol::tool::arguments::Templates;
use resource::{Ask, Cursor, Result, Template};
use serde_json::{Value, json};

use super::list::{absences, missing};
use crate::exchange::Exchange;
use crate::server::Server;

const SEAL: &str = "tool templates";

/// Lists one page of templates.
pub(super) async fn list(
    server: &Server,
    exchange: &Exchange,
    templates: Templates,
) -> Result<Given> {
    let cursor = templates.cursor.as_deref();
    let from: Option<Cursor> = cursor.map(|text| server.seal.open(SEAL, text)).transpose()?;
    let ask = Ask { from, limit: server.limits.page };
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
    missing(&mut words, &page.absent);
    let next = page.next.as_ref().map(|next| server.seal.close(SEAL, next));
    if let Some(next) = &next {
        let _ = writeln!(words, "there is more: call again with cursor {next}");
    }
    let each: Vec<Value> = page.items.iter().map(|one| shape(one, completes)).collect();
    let mut structured = json!({ "templates": each });
    if let Some(next) = next {
        structured["cursor"] = next.into();
    }
    if !page.absent.is_empty() {
        structured["absent"] = absences(&page.absent);
    }
    Ok(Given::said(words.trim_end(), structured))
}

fn shape(template: &Template, completes: bool) -> Value {
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
