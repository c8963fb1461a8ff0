//! The tool `resources_pack` and the prompt `context`: what answers a question, within a budget of
//! tokens.

use protocol::inbound::prompt::{ContextPrompt, PromptResource};
use protocol::inbound::tool::arguments::PackArguments;
use protocol::inbound::tool::{ContentBlock, ToolResult};
use resource::{Error, Json, Result};
use search::{ContextPack, PackItem, PackRequest};

use super::search::{require_search, search_filter};
use crate::exchange::Exchange;
use crate::server::Server;

/// Gathers a pack.
pub(super) async fn pack_context(
    server: &Server,
    exchange: &Exchange,
    arguments: &PackArguments,
) -> Result<ToolResult> {
    let service = require_search(server)?;
    let filter = search_filter(server, exchange, &arguments.filter).await?;
    let request =
        PackRequest { question: arguments.question.clone(), budget: arguments.budget, filter };
    let _memory = exchange.reserve(arguments.budget.saturating_mul(8))?;
    let pack = service.pack(&exchange.ctx, &request).await?;
    Ok(pack_result(pack))
}

/// The result of the prompt `context`.
pub(crate) async fn context_prompt(
    server: &Server,
    exchange: &Exchange,
    params: &Json,
) -> Result<Json> {
    let prompt = ContextPrompt::decode(params).map_err(Error::invalid)?;
    let (question, budget) = (prompt.question.clone(), prompt.budget);
    let _memory = exchange.reserve(budget.saturating_mul(8))?;
    let request = PackRequest { question, budget, filter: None };
    let pack = require_search(server)?.pack(&exchange.ctx, &request).await?;
    let summary = pack.summary();
    let resource = |item: PackItem| PromptResource {
        uri: item.resource.uri.to_string(),
        mime: item.mime().map(str::to_owned),
        text: item.text,
    };
    Ok(prompt.result(pack.items.into_iter().map(resource).collect(), &summary))
}

fn pack_result(pack: ContextPack) -> ToolResult {
    let summary = pack.summary();
    let mut blocks: Vec<ContentBlock> =
        pack.items.into_iter().map(|item| ContentBlock::Embedded(item.into_part())).collect();
    blocks.push(ContentBlock::Text(summary));
    ToolResult { blocks, ..ToolResult::default() }
}
