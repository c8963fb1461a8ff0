//! `refdesk check`: what would be served, or what is wrong.

use serde_json::json;
use server::Watchers;

use crate::args::Check;
use crate::assemble::{Assembly, assemble};
use crate::output;
use crate::settings::Settings;

/// How far a folder is counted before "and more" is said.
const COUNTED: usize = 100_000;

/// Reads the settings and says what they amount to.
pub(crate) fn run(args: &Check) -> anyhow::Result<()> {
    let settings = Settings::read(&args.file)?;
    let assembly = assemble(&settings, &[], &Watchers::new())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let text = runtime.block_on(async {
        if args.json {
            json(&assembly, COUNTED).await.to_string() + "\n"
        } else {
            let file = args.file.display();
            format!("{file} is in order\n{}", table(&assembly, COUNTED).await)
        }
    });
    output::print(&text)
}

/// The mounts as lines for a person.
pub(crate) async fn table(assembly: &Assembly, most: usize) -> String {
    let mut rows = Vec::new();
    for part in assembly.made.iter().map(|made| &made.part) {
        let size = part.size.count(most).await.map_or("a server".to_owned(), |count| {
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

/// The mounts as data for a program.
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
