//! `refdesk man`: manual pages, made of the same words as `--help`.

use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::args::{Args, ManArgs};
use crate::output;

/// Writes a page for refdesk and one for each command, or prints the first.
pub(crate) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let command = Args::command().disable_help_subcommand(true);
    if args.folder == Path::new("-") {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        return output::print(&String::from_utf8(page)?);
    }
    std::fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot make the folder {}", args.folder.display()))?;
    let mut written = 0;
    write_pages(&command, "refdesk", &args.folder, &mut written)?;
    output::print(&format!("wrote {written} pages to {}\n", args.folder.display()))
}

fn write_pages(
    command: &Command,
    name: &str,
    folder: &Path,
    written: &mut usize,
) -> anyhow::Result<()> {
    let mut page = Vec::new();
    // clap wants names that live as long as the program; a page needs few of them.
    let shown: &'static str = Box::leak(name.to_owned().into_boxed_str());
    Man::new(command.clone().name(shown)).render(&mut page)?;
    let file = folder.join(format!("{name}.1"));
    std::fs::write(&file, page).with_context(|| format!("cannot write {}", file.display()))?;
    *written += 1;
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        write_pages(child, &format!("{name}-{}", child.get_name()), folder, written)?;
    }
    Ok(())
}
