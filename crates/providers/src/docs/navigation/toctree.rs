//! Order of the pages of Sphinx: `toctree` directives, followed from page to page.

use super::{NavigationBuilder, relative};

/// The most pages whose directives are followed.
const MAX_FOLLOWED: usize = 500;
/// The endings of pages, which a directive leaves out.
const PAGE_ENDINGS: [&str; 2] = [".rst", ".md"];

/// Follows the directives from `index.rst` or `index.md` in a folder.
pub(super) async fn take_sphinx(builder: &mut NavigationBuilder<'_>, folder: &[String]) {
    let mut start = None;
    for ending in PAGE_ENDINGS {
        let path = [folder, &[format!("index{ending}")]].concat();
        if let Some((_, text)) = builder.read(&path.join("/")).await
            && text.contains("toctree")
        {
            start = Some((path, text));
            break;
        }
    }
    let Some((path, text)) = start else { return };
    builder.add(path.clone(), None);
    // Pages whose entries are still to be taken, the next one last.
    let mut pending = entries(&text, &path);
    pending.reverse();
    let mut followed = 1;
    while let Some((title, target, from)) = pending.pop() {
        let folder = &from[..from.len().saturating_sub(1)];
        for ending in ["", PAGE_ENDINGS[0], PAGE_ENDINGS[1]] {
            let has_ending = PAGE_ENDINGS.iter().any(|known| target.ends_with(known));
            let path = relative(folder, &format!("{target}{ending}"));
            let Some(path) = path.filter(|_| ending.is_empty() == has_ending) else { continue };
            if !builder.exists(&path).await {
                continue;
            }
            if !builder.add(path.clone(), title.clone()) {
                let circle = format!(
                    "the table of contents comes back to {}; it is listed once",
                    path.join("/")
                );
                if let Some(uri) = super::file_uri(&from) {
                    builder.fault(&uri, circle);
                }
                break;
            }
            followed += 1;
            if followed <= MAX_FOLLOWED
                && let Some((_, text)) = builder.read(&path.join("/")).await
            {
                let mut more = entries(&text, &path);
                more.reverse();
                pending.extend(more);
            }
            break;
        }
    }
}

/// A title, a target, and the page that names it.
type TocEntry = (Option<String>, String, Vec<String>);

/// The entries of the directives of a page.
fn entries(text: &str, page: &[String]) -> Vec<TocEntry> {
    let mut found = Vec::new();
    // The indentation of a directive, or the fence of one in Markdown.
    let mut open: Option<(usize, bool)> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        if trimmed.starts_with(".. toctree::") {
            open = Some((indent, false));
        } else if trimmed.starts_with("```{toctree}") || trimmed.starts_with(":::{toctree}") {
            open = Some((indent, true));
        } else if let Some((start, is_fenced)) = open {
            let is_over = match is_fenced {
                true => trimmed.starts_with("```") || trimmed.starts_with(":::"),
                false => !trimmed.is_empty() && indent <= start,
            };
            if is_over {
                open = None;
            } else if !trimmed.is_empty()
                && !trimmed.starts_with(':')
                && !trimmed.contains('*')
                && found.len() < super::MAX_ORDERED
            {
                found.push(entry(trimmed, page));
            }
        }
    }
    found
}

/// `target`, or `Title <target>`.
fn entry(text: &str, page: &[String]) -> TocEntry {
    let titled = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    match titled {
        Some((title, target)) => (
            Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
            target.trim().to_owned(),
            page.to_vec(),
        ),
        None => (None, text.to_owned(), page.to_vec()),
    }
}
