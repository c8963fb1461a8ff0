//! Entry point of `just bench`: runs the benchmarks and prints their tables.

use anyhow::Context;
use bench::{
    command_bench, document_bench, gateway_bench, git_bench, index_bench, notification_bench,
    options::Options, peer_bench, report, scaling_bench, search_bench, soak,
};
use clap::Parser;

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    // The load generator uses one thread, so that the servers have the other cores.
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().context("start the runtime")?;
    runtime.block_on(run(&options))
}

async fn run(options: &Options) -> anyhow::Result<()> {
    let mut tables = report::Tables::new(options.markdown);
    if let Some(time) = options.soak {
        let figures = soak::run(options, time).await?;
        tables.soak(&figures);
        tables.print().context("print the table")?;
        return figures.verdict();
    }
    let mut between = Vec::new();
    if !options.noise {
        // First, because it may install packages, which can fail.
        between = gateway_bench::run(options).await?;
    }
    let beside_the_peer = peer_bench::run(options).await?;
    let mut beside_itself = Vec::new();
    if !options.noise {
        beside_itself = scaling_bench::run(options).await?;
        beside_itself.extend(notification_bench::run(options).await?);
        beside_itself.extend(search_bench::run(options).await?);
        beside_itself.extend(index_bench::run(options).await?);
        beside_itself.extend(document_bench::run(options).await?);
        beside_itself.extend(git_bench::run(options).await?);
        beside_itself.extend(command_bench::run(options).await?);
    }
    tables.versus(&beside_the_peer);
    tables.itself(&beside_itself);
    tables.through(&between);
    tables.print().context("print the tables")
}
