//! The tool `resources_templates`: lists the URI templates, a page at a time.

use protocol::inbound::tool::arguments::TemplatesArguments;
use protocol::inbound::tool::output::{TemplateRow, TemplatesOutput, VariableRow};
use protocol::inbound::tool::{TextLines, ToolOutput, ToolResult};
use resource::{Cursor, PageRequest, Result, Template, Variable, VariableKind};

use super::rows::{absent_sources, write_absences};
use crate::exchange::Exchange;
use crate::server::Server;

const CURSOR_SCOPE: &str = "tool templates";

/// Lists one page of templates.
pub(super) async fn list_templates(
    server: &Server,
    exchange: &Exchange,
    templates: TemplatesArguments,
) -> Result<ToolResult> {
    let ctx = &exchange.ctx;
    let unseal = |text: &str| server.cursors.unseal(ctx, CURSOR_SCOPE, text);
    let from: Option<Cursor> = templates.cursor.as_deref().map(unseal).transpose()?;
    let ask = PageRequest::new(from, server.limits.page);
    let page = server.provider.templates(ctx, &ask).await?;
    let mut lines = TextLines::default();
    for template in &page.items {
        let Template { uri, name, .. } = &**template;
        let about = template.description.as_ref().or(template.title.as_ref());
        let about = about.map_or_else(String::new, |about| format!(": {about}"));
        lines.push(&format!("{} {name}{about}", uri.as_str()));
        for variable in &template.variables {
            lines.push(&variable_line(variable, uri.is_list(&variable.name)));
        }
    }
    if page.items.is_empty() {
        lines.push("there are no templates");
    }
    let absent = absent_sources(page.absent);
    write_absences(&mut lines, &absent);
    let cursor = page.next.as_ref().map(|next| server.cursors.seal(ctx, CURSOR_SCOPE, next));
    if let Some(cursor) = &cursor {
        lines.push(&format!("there is more: call again with cursor {cursor}"));
    }
    let templates = page.items.iter().map(|one| template_row(one)).collect();
    let output = ToolOutput::Templates(TemplatesOutput { templates, cursor, absent });
    Ok(ToolResult::with_text(lines, output))
}

fn template_row(template: &Template) -> TemplateRow {
    let variable = |variable: &Variable| VariableRow {
        name: variable.name.clone(),
        description: variable.description.clone(),
        kind: (variable.kind != VariableKind::Text).then(|| variable.kind.name()),
        default: variable.default.clone(),
        allowed: variable.allowed.clone(),
        list: template.uri.is_list(&variable.name),
    };
    TemplateRow {
        uri_template: template.uri.as_str().to_owned(),
        name: template.name.clone(),
        description: template.description.as_ref().or(template.title.as_ref()).cloned(),
        variables: template.variables.iter().map(variable).collect(),
    }
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
