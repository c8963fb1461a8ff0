//! The tool `resources_pack`: gathers what answers a question within a budget of tokens.

use protocol::inbound::tool::arguments::PackArguments;
use protocol::inbound::tool::{ContentBlock, ToolResult};
use resource::Result;
use search::{ContextPack, PackRequest};

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

fn pack_result(pack: ContextPack) -> ToolResult {
    let summary = pack.summary();
    let mut blocks: Vec<ContentBlock> =
        pack.items.into_iter().map(|item| ContentBlock::Embedded(item.into_part())).collect();
    blocks.push(ContentBlock::Text(summary));
    ToolResult { blocks, ..ToolResult::default() }
}
