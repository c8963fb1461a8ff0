//! `refdesk check`: validates a settings file and shows what it serves.

use serde_json::json;

use super::check_secrets;
use crate::args::CheckArgs;
use crate::assemble::{Assembly, MountSize, OwnResources, assemble};
use crate::output;
use crate::settings::Settings;

/// How many files of a folder are counted before the count ends in `+`.
const COUNT_LIMIT: usize = 100_000;

/// Reads and assembles the settings, then prints the mounts.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let settings = match args.file.is_dir() {
        true => Settings::for_folders(std::slice::from_ref(&args.file))?,
        false => Settings::read_file(&args.file)?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if args.secrets {
        return runtime.block_on(check_secrets::run(settings, args.json));
    }
    let assembly = assemble(&settings, &[], &OwnResources::new(), None)?;
    let left_out: Vec<&str> =
        assembly.mounts.iter().filter_map(|mount| mount.left_out.as_deref()).collect();
    anyhow::ensure!(left_out.is_empty(), left_out.join("\nerror: "));
    let text = runtime.block_on(async {
        if args.json {
            mounts_json(&assembly, COUNT_LIMIT).await.to_string() + "\n"
        } else {
            let file = args.file.display();
            format!("{file} is valid\n{}", mounts_table(&assembly, COUNT_LIMIT).await)
        }
    });
    output::print(&text)
}

/// The mounts as a text table.
pub(crate) async fn mounts_table(assembly: &Assembly, most: usize) -> String {
    let mut rows = Vec::new();
    for part in assembly.mounts.iter().map(|made| &made.summary) {
        let uncounted = match (&part.size, part.kind) {
            (MountSize::LeftOut, _) => "left out, see the log",
            (_, "git") => "history",
            _ => "MCP server",
        };
        let size = part.size.count(most).await.map_or(uncounted.to_owned(), |count| {
            let more = if count.is_complete { "" } else { "+" };
            let resources =
                if count.files == 1 && count.is_complete { "resource" } else { "resources" };
            format!("{}{more} {resources}", output::format_number(count.files))
        });
        rows.push([
            part.name.clone(),
            part.kind.to_owned(),
            size,
            part.root.clone().unwrap_or_default(),
        ]);
    }
    output::format_table(&rows)
}

/// The mounts as JSON.
pub(crate) async fn mounts_json(assembly: &Assembly, most: usize) -> serde_json::Value {
    let mut mounts = Vec::new();
    for part in assembly.mounts.iter().map(|made| &made.summary) {
        let count = part.size.count(most).await;
        mounts.push(json!({
            "name": part.name,
            "kind": part.kind,
            "root": part.root,
            "resources": count.map(|count| count.files),
            "counted": count.map(|count| if count.is_complete { "all" } else { "in part" }),
        }));
    }
    json!({ "mounts": mounts })
}
