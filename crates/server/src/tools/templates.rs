//! The tool `resources_templates`: lists the URI templates, a page at a time.

use std::fmt::Write;

use protocol::inbound::tool::arguments::TemplatesArguments;
use protocol::inbound::tool::output::TemplatesOutput;
use protocol::inbound::tool::{ToolOutput, ToolResult};
use resource::{Cursor, PageRequest, Result, Template, Variable, VariableKind};

use super::list::write_absences;
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
    let mut words = String::new();
    for template in &page.items {
        let Template { uri, name, .. } = &**template;
        let about = template.description.as_ref().or(template.title.as_ref()).unwrap_or(name);
        let _ = writeln!(words, "{} {about}", uri.as_str());
        for variable in &template.variables {
            write_variable(&mut words, variable, uri.is_list(&variable.name));
        }
    }
    if page.items.is_empty() {
        words.push_str("there are no templates\n");
    }
    write_absences(&mut words, &page.absent);
    let next = page.next.as_ref().map(|next| server.seal.seal(CURSOR_SCOPE, next));
    if let Some(next) = &next {
        let _ = writeln!(words, "there is more: call again with cursor {next}");
    }
    let output = ToolOutput::Templates(TemplatesOutput {
        templates: page.items,
        is_completable: server.provider.facets().complete.is_some(),
        cursor: next,
        absent: page.absent,
    });
    Ok(ToolResult::with_text(words.trim_end(), output))
}

/// Writes one line: `  level (default info; one of info, warn): how severe`.
fn write_variable(words: &mut String, variable: &Variable, is_list: bool) {
    let mut terms = Vec::new();
    if is_list {
        terms.push("list".to_owned());
    }
    if variable.kind != VariableKind::Text {
        terms.push(variable.kind.name().to_owned());
    }
    terms.extend(variable.default.as_ref().map(|value| format!("default {value}")));
    if !variable.allowed.is_empty() {
        terms.push(format!("one of {}", variable.allowed.join(", ")));
    }
    let _ = write!(words, "  {}", variable.name);
    if !terms.is_empty() {
        let _ = write!(words, " ({})", terms.join("; "));
    }
    if let Some(description) = &variable.description {
        let _ = write!(words, ": {description}");
    }
    words.push('\n');
}
