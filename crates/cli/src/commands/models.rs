//! `refdesk models`: installs, lists and removes embedding models for search by meaning.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use embedding::{ModelInstallProgress, ModelSummary, check_model, install_model};
use serde_json::{Value, json};

use crate::args::{AddModelArgs, ListModelsArgs, ModelsCommand, RemoveModelArgs};
use crate::output;

/// Longest name of a model.
const MAX_NAME: usize = 64;

/// Runs a subcommand in the user's folder of models.
pub(crate) fn run(command: &ModelsCommand) -> anyhow::Result<()> {
    let root = models_folder().context("neither XDG_DATA_HOME nor HOME is set")?;
    output::print(&run_in(&root, command)?)
}

/// The folder of installed models: `refdesk/models` in `XDG_DATA_HOME`, by default
/// `~/.local/share`.
pub(crate) fn models_folder() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share"));
    given.or_else(home).map(|folder| folder.join("refdesk/models"))
}

/// Runs a subcommand, and returns what to print.
fn run_in(root: &Path, command: &ModelsCommand) -> anyhow::Result<String> {
    match command {
        ModelsCommand::Add(args) => add(root, args),
        ModelsCommand::List(args) => list(root, args),
        ModelsCommand::Remove(args) => remove(root, args),
    }
}

fn add(root: &Path, args: &AddModelArgs) -> anyhow::Result<String> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => folder_name(&args.folder)?,
    };
    check_name(&name)?;
    let mut progress = ProgressLine::new(io::stderr().is_terminal());
    let installed = install_model(&args.folder, &root.join(&name), |step| progress.show(step));
    progress.clear();
    let summary = installed.with_context(|| format!("cannot add {}", args.folder.display()))?;
    Ok(match args.json {
        true => format!("{}\n", json!({ "added": summary_json(&name, &summary) })),
        false => format!("added {name}: {}\n", describe(&summary)),
    })
}

fn list(root: &Path, args: &ListModelsArgs) -> anyhow::Result<String> {
    let names = installed_names(root)?;
    if args.json {
        let models = names.iter().map(|name| match check_model(&root.join(name)) {
            Ok(summary) => summary_json(name, &summary),
            Err(error) => json!({ "name": name, "error": error.to_string() }),
        });
        return Ok(format!("{}\n", json!({ "models": models.collect::<Vec<_>>() })));
    }
    if names.is_empty() {
        return Ok("no models; add one with: refdesk models add FOLDER\n".to_owned());
    }
    let lines = names.iter().map(|name| match check_model(&root.join(name)) {
        Ok(summary) => format!("{name}: {}\n", describe(&summary)),
        Err(error) => format!("{name}: not usable: {error}\n"),
    });
    Ok(lines.collect())
}

fn remove(root: &Path, args: &RemoveModelArgs) -> anyhow::Result<String> {
    let name = &args.name;
    check_name(name)?;
    let folder = root.join(name);
    let Ok(metadata) = folder.symlink_metadata() else {
        let names = installed_names(root)?;
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        bail!("there is no model {name:?}; installed: {there}");
    };
    let removed = if metadata.is_dir() {
        // Renamed first: a removal that is killed leaves no half of a model.
        let aside = root.join(format!(".{name}.partial"));
        let _ = fs::remove_dir_all(&aside);
        fs::rename(&folder, &aside).and_then(|()| fs::remove_dir_all(&aside))
    } else {
        fs::remove_file(&folder)
    };
    removed.with_context(|| format!("cannot remove {name}"))?;
    Ok(match args.json {
        true => format!("{}\n", json!({ "removed": name })),
        false => format!("removed {name}\n"),
    })
}

/// The names in the folder of models, sorted, without unfinished installations.
fn installed_names(root: &Path) -> anyhow::Result<Vec<String>> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).context("cannot read the folder of models"),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| check_name(name).is_ok()).collect();
    names.sort_unstable();
    Ok(names)
}

/// The last part of a folder's path, also where the path is `.`.
fn folder_name(folder: &Path) -> anyhow::Result<String> {
    let whole = folder.canonicalize();
    let whole = whole.with_context(|| format!("cannot find {}", folder.display()))?;
    let name = whole.file_name().map(|name| name.to_string_lossy().to_lowercase());
    name.context("the folder has no name: give one with --name")
}

fn check_name(name: &str) -> anyhow::Result<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty()
        || name.len() > MAX_NAME
        || name.starts_with('.')
        || !name.chars().all(is_plain)
    {
        bail!(
            "{name:?} is not a valid name of a model: use letters, digits, `-`, `_` and `.` (--name)"
        );
    }
    Ok(())
}

fn summary_json(name: &str, summary: &ModelSummary) -> Value {
    let ModelSummary { dimensions, tokens, bytes, .. } = summary;
    json!({ "name": name, "dimensions": dimensions, "tokens": tokens, "bytes": bytes })
}

fn describe(summary: &ModelSummary) -> String {
    let tokens = output::format_number(summary.tokens);
    let megabytes = summary.bytes as f64 / 1e6;
    format!("{} dimensions, {tokens} tokens, {megabytes:.1} MB", summary.dimensions)
}

/// The progress of an installation, on one line of a terminal.
struct ProgressLine {
    is_terminal: bool,
    percent: Option<u64>,
}

impl ProgressLine {
    fn new(is_terminal: bool) -> Self {
        Self { is_terminal, percent: None }
    }

    fn show(&mut self, step: ModelInstallProgress) {
        if let Some(text) = self.text(step) {
            output::tell(&text);
        }
    }

    /// What to write for a step; nothing where the last line still stands.
    fn text(&mut self, step: ModelInstallProgress) -> Option<String> {
        let percent = (step.copied.saturating_mul(100) / step.total.max(1)).min(100);
        if !self.is_terminal || self.percent == Some(percent) {
            return None;
        }
        self.percent = Some(percent);
        let filled = usize::try_from(percent / 5).unwrap_or_default();
        let bar = format!("{}{}", "#".repeat(filled), " ".repeat(20 - filled));
        Some(format!("\r[{bar}] {percent:>3} % copied"))
    }

    /// Wipes the line, so that the result stands alone.
    fn clear(&self) {
        if self.percent.is_some() {
            output::tell("\r\x1b[2K");
        }
    }
}

#[cfg(test)]
mod tests;
