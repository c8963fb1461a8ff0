//! `refdesk index`: shows, removes or fills the search index of a settings file or folder.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use anyhow::Context as _;
use search::{Coverage, IndexSummary, MountCoverage, clear_index};
use serde_json::json;

use crate::args::{IndexArgs, IndexCommand};
use crate::assemble::{OwnResources, assemble};
use crate::output;
use crate::search_index::{SearchParts, Searching};
use crate::settings::Settings;

/// How often the progress is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Runs the subcommand.
pub(crate) fn run(command: &IndexCommand) -> anyhow::Result<()> {
    match command {
        IndexCommand::Status(args) => status(args),
        IndexCommand::Clear(args) => {
            let settings = load(args)?;
            let folder = settings.index_folder().context("there is no cache folder")?;
            clear_index(&folder)?;
            output::print(&format!("removed the index in {}\n", folder.display()))
        }
        IndexCommand::Rebuild(args) => rebuild(args),
    }
}

fn load(args: &IndexArgs) -> anyhow::Result<Settings> {
    match args.file.is_dir() {
        true => Settings::for_folders(std::slice::from_ref(&args.file)),
        false => Settings::read_file(&args.file),
    }
}

fn status(args: &IndexArgs) -> anyhow::Result<()> {
    let settings = load(args)?;
    let folder = settings.index_folder().context("there is no cache folder")?;
    let mounts: Vec<&str> = settings.mounts.keys().map(String::as_str).collect();
    let summary = IndexSummary::read(&folder, &mounts)?;
    if args.json {
        let resources = |summary: &IndexSummary| -> serde_json::Value {
            let each = summary.resources.iter();
            each.map(|(name, count)| (name.clone(), json!(count))).collect()
        };
        let told = json!({
            "folder": folder,
            "exists": summary.is_some(),
            "bytes": summary.as_ref().map(|summary| summary.bytes),
            "inUse": summary.as_ref().is_some_and(|summary| summary.is_in_use),
            "resources": summary.as_ref().map(resources),
        });
        return output::print(&format!("{told}\n"));
    }
    let Some(summary) = summary else {
        let text = "there is no index yet: `refdesk serve` makes one, or `refdesk index rebuild`\n";
        return output::print(text);
    };
    let mut rows: Vec<[String; 2]> = vec![
        ["folder".to_owned(), folder.display().to_string()],
        ["size".to_owned(), format!("{:.1} MB", summary.bytes as f64 / 1e6)],
        ["in use".to_owned(), if summary.is_in_use { "yes" } else { "no" }.to_owned()],
    ];
    for (name, count) in summary.resources {
        rows.push([name, format!("{} resources", output::format_number(count))]);
    }
    output::print(&output::format_table(&rows))
}

fn rebuild(args: &IndexArgs) -> anyhow::Result<()> {
    let settings = load(args)?;
    let folder = settings.index_folder().context("there is no cache folder")?;
    clear_index(&folder)?;
    let parts = SearchParts::open(&settings).context("the settings turn the index off")?;
    let assembly = assemble(&settings, &[], &OwnResources::new(), Some(&parts))?;
    let settle = (Duration::from_millis(50), Duration::from_millis(500));
    let searching = Searching::new(parts, &assembly, settle).context("no mount is indexed")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let coverage = runtime.block_on(async {
        searching.enable_meaning(&settings.search).await;
        searching.keep(&assembly.mounts);
        let index = searching.service.index();
        loop {
            let coverage = index.coverage();
            show_progress(&coverage);
            if is_over(&coverage) {
                return coverage;
            }
            tokio::time::sleep(PROGRESS_INTERVAL).await;
        }
    });
    let indexed = coverage.indexed().unwrap_or_default();
    for (name, mount) in &coverage.mounts {
        if let Some(fault) = &mount.fault {
            anyhow::bail!("the mount {name} could not be indexed: {fault}");
        }
    }
    if args.json {
        return output::print(&format!("{}\n", json!({ "folder": folder, "indexed": indexed })));
    }
    let count = output::format_number(usize::try_from(indexed).unwrap_or(usize::MAX));
    output::print(&format!("indexed {count} resources in {}\n", folder.display()))
}

/// Whether every mount is complete or has failed.
fn is_over(coverage: &Coverage) -> bool {
    coverage.mounts.values().all(MountCoverage::is_over)
}

/// Shows on a terminal how far the index is, over the line before.
fn show_progress(coverage: &Coverage) {
    let mut terminal = io::stderr();
    if terminal.is_terminal() {
        // A terminal that cannot be written needs no progress.
        let _ = write!(terminal, "{}", progress_line(coverage));
    }
}

/// The line that shows how far the index is. It has no bar: a walk knows its end only when it is
/// there.
fn progress_line(coverage: &Coverage) -> String {
    let indexed = coverage.indexed().unwrap_or_default();
    let indexed = output::format_number(usize::try_from(indexed).unwrap_or(usize::MAX));
    match is_over(coverage) {
        // The blanks cover the rest of the longer line.
        true => format!("\r{indexed} resources indexed{:26}\n", ""),
        false => format!("\r{indexed} resources indexed so far, still counting"),
    }
}

#[cfg(test)]
mod tests {
    use search::{Coverage, IndexHome, MountCoverage};

    use super::progress_line;

    #[test]
    fn the_progress_is_no_share_before_everything_is_counted() {
        let walked = MountCoverage { indexed: Some(12_300), ..MountCoverage::default() };
        let complete = MountCoverage { total: Some(12_300), is_complete: true, ..walked.clone() };
        let line = |mount: MountCoverage| {
            let mounts = std::iter::once(("docs".to_owned(), mount)).collect();
            let home = IndexHome::Memory("a test".to_owned());
            progress_line(&Coverage { mounts, home, meaning_fault: None })
        };
        assert_eq!(line(walked), "\r12,300 resources indexed so far, still counting");
        let line = line(complete);
        assert_eq!(line.trim(), "12,300 resources indexed");
        assert!(line.ends_with('\n'));
    }
}
