//! The tool `resources_templates`: lists the URI templates, a page at a time.

use protocol::inbound::tool::arguments::TemplatesArguments;
use protocol::inbound::tool::output::TemplatesOutput;
use protocol::inbound::tool::{TextLines, ToolOutput, ToolResult};
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
    let mut lines = TextLines::default();
    for template in &page.items {
        let Template { uri, name, .. } = &**template;
        let about = template.description.as_ref().or(template.title.as_ref()).unwrap_or(name);
        lines.push(&format!("{} {about}", uri.as_str()));
        for variable in &template.variables {
            lines.push(&variable_line(variable, uri.is_list(&variable.name)));
        }
    }
    if page.items.is_empty() {
        lines.push("there are no templates");
    }
    write_absences(&mut lines, &page.absent);
    let next = page.next.as_ref().map(|next| server.seal.seal(CURSOR_SCOPE, next));
    if let Some(next) = &next {
        lines.push(&format!("there is more: call again with cursor {next}"));
    }
    let output = ToolOutput::Templates(TemplatesOutput {
        templates: page.items,
        is_completable: server.provider.facets().complete.is_some(),
        cursor: next,
        absent: page.absent,
    });
    Ok(ToolResult::with_text(lines, output))
}

/// One line: `  level (default info; one of info, warn): how severe`.
fn variable_line(variable: &Variable, is_list: bool) -> String {
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
    let mut line = format!("  {}", variable.name);
    if !terms.is_empty() {
        line.push_str(&format!(" ({})", terms.join("; ")));
    }
    if let Some(description) = &variable.description {
        line.push_str(&format!(": {description}"));
    }
    line
}
