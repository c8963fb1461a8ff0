//! `refdesk check`: validates a settings file and shows what it serves.

use serde_json::json;
use server::Watchers;

use crate::args::Check;
use crate::assemble::{Assembly, assemble};
use crate::output;
use crate::settings::Settings;

/// How many files of a folder are counted before the count ends in `+`.
const COUNTED: usize = 100_000;

/// Reads and assembles the settings, then prints the mounts.
pub(crate) fn run(args: &Check) -> anyhow::Result<()> {
    let settings = Settings::read(&args.file)?;
    let assembly = assemble(&settings, &[], &Watchers::new())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let text = runtime.block_on(async {
        if args.json {
            json(&assembly, COUNTED).await.to_string() + "\n"
        } else {
            let file = args.file.display();
            format!("{file} is valid\n{}", table(&assembly, COUNTED).await)
        }
    });
    output::print(&text)
}

/// The mounts as a text table.
pub(crate) async fn table(assembly: &Assembly, most: usize) -> String {
    let mut rows = Vec::new();
    for part in assembly.made.iter().map(|made| &made.part) {
        let size = part.size.count(most).await.map_or("MCP server".to_owned(), |count| {
            let more = if count.all { "" } else { "+" };
            let resources = if count.leaves == 1 && count.all { "resource" } else { "resources" };
            format!("{}{more} {resources}", output::number(count.leaves))
        });
        rows.push([
            part.name.clone(),
            part.kind.to_owned(),
            size,
            part.root.clone().unwrap_or_default(),
        ]);
    }
    output::table(&rows)
}

/// The mounts as JSON.
pub(crate) async fn json(assembly: &Assembly, most: usize) -> serde_json::Value {
    let mut mounts = Vec::new();
    for part in assembly.made.iter().map(|made| &made.part) {
        let count = part.size.count(most).await;
        mounts.push(json!({
            "name": part.name,
            "kind": part.kind,
            "root": part.root,
            "resources": count.map(|count| count.leaves),
            "counted": count.map(|count| if count.all { "all" } else { "in part" }),
        }));
    }
    json!({ "mounts": mounts })
}
