//! Unified diffs, in the form that `git apply` reads.

use std::fmt::Write as _;
use std::ops::Range;

use gix::diff::blob::{Diff, Hunk, InternedInput};
use gix::objs::tree::EntryKind;

use super::changed_file::{ChangedFile, FileVersionRef, LineChanges, kind_class};
use super::repo_path::{join_bytes, quoted};

/// Lines of context around a change.
const CONTEXT: u32 = 3;

/// Writes the hunks of a diff.
pub(super) fn write_hunks(diff: &Diff, input: &InternedInput<&[u8]>) -> String {
    let (olds, news) = (input.before.len() as u32, input.after.len() as u32);
    let mut text = String::new();
    let mut group: Vec<Hunk> = Vec::new();
    for hunk in diff.hunks() {
        let is_near =
            group.last().is_some_and(|last| hunk.before.start - last.before.end <= 2 * CONTEXT);
        if !is_near && !group.is_empty() {
            write_group(&group, input, (olds, news), &mut text);
            group.clear();
        }
        group.push(hunk);
    }
    if !group.is_empty() {
        write_group(&group, input, (olds, news), &mut text);
    }
    text
}

fn write_group(
    group: &[Hunk],
    input: &InternedInput<&[u8]>,
    (olds, news): (u32, u32),
    into: &mut String,
) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let lead = CONTEXT.min(first.before.start).min(first.after.start);
    let (old_start, new_start) = (first.before.start - lead, first.after.start - lead);
    let tail = CONTEXT.min(olds - last.before.end).min(news - last.after.end);
    let (old, new) = (old_start..last.before.end + tail, new_start..last.after.end + tail);
    let _ = writeln!(into, "@@ -{} +{} @@", range_text(&old), range_text(&new));
    let mut at = old.start;
    for hunk in group {
        write_lines(' ', input, at..hunk.before.start, true, into);
        write_lines('-', input, hunk.before.clone(), true, into);
        write_lines('+', input, hunk.after.clone(), false, into);
        at = hunk.before.end;
    }
    write_lines(' ', input, at..old.end, true, into);
}

/// The start and the number of lines; the number is left out if it is one.
fn range_text(range: &Range<u32>) -> String {
    match range.end - range.start {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}

fn write_lines(
    sign: char,
    input: &InternedInput<&[u8]>,
    range: Range<u32>,
    is_before: bool,
    into: &mut String,
) {
    let tokens = if is_before { &input.before } else { &input.after };
    for at in range {
        let Some(token) = tokens.get(at as usize) else { continue };
        let line = String::from_utf8_lossy(input.interner[*token]);
        into.push(sign);
        into.push_str(&line);
        if !line.ends_with('\n') {
            into.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Writes one file of a diff. A change of its type is written as a removal and an addition.
pub(super) fn write_file(
    change: &ChangedFile,
    lines: &LineChanges,
    is_masked: bool,
    into: &mut String,
) {
    let old_path = change.from.as_ref().map_or(&change.path, |(path, _)| path);
    let (a, b) = (join_bytes(b"a", old_path), join_bytes(b"b", &change.path));
    let _ = writeln!(into, "diff --git {} {}", quoted(&a), quoted(&b));
    match (&change.old, &change.new) {
        (None, Some(new)) => {
            let _ = writeln!(into, "new file mode {}", mode(new));
        }
        (Some(old), None) => {
            let _ = writeln!(into, "deleted file mode {}", mode(old));
        }
        (Some(old), Some(new)) if old.entry.kind != new.entry.kind => {
            let _ = writeln!(into, "old mode {}\nnew mode {}", mode(old), mode(new));
        }
        _ => {}
    }
    if let Some((from, similarity)) = &change.from {
        // It compares what is stored, secrets too.
        if !is_masked {
            let _ = writeln!(into, "similarity index {similarity}%");
        }
        let _ = writeln!(into, "rename from {}\nrename to {}", quoted(from), quoted(&change.path));
    }
    // The hash of a masked file would tell what it holds.
    if !is_masked {
        write_index(change, into);
    }
    let side = |version: &Option<FileVersionRef>, path: &[u8]| match version {
        Some(_) => quoted(path),
        None => "/dev/null".to_owned(),
    };
    let (a, b) = (side(&change.old, &a), side(&change.new, &b));
    match lines.omitted {
        Some("binary") => {
            let _ = writeln!(into, "Binary files {a} and {b} differ");
        }
        Some(why) => {
            let _ = writeln!(into, "Files {a} and {b} differ ({why} to be compared)");
        }
        None if lines.hunks.is_empty() => {}
        None => {
            let tab = |path: &str| if path.contains(' ') { "\t" } else { "" };
            let _ = writeln!(into, "--- {a}{}\n+++ {b}{}", tab(&a), tab(&b));
            into.push_str(&lines.hunks);
        }
    }
}

/// Splits a change of a file's type into the two changes that are written.
pub(super) fn split_type_change(change: &ChangedFile) -> Vec<ChangedFile> {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) if kind_class(old) != kind_class(new) => vec![
            ChangedFile { new: None, from: None, ..change.clone() },
            ChangedFile { old: None, from: None, ..change.clone() },
        ],
        _ => vec![change.clone()],
    }
}

fn write_index(change: &ChangedFile, into: &mut String) {
    let id = |version: &Option<FileVersionRef>| match version {
        Some(FileVersionRef { content: None, entry }) => {
            Some(entry.id.to_hex_with_len(10).to_string())
        }
        Some(_) => None,
        None => Some("0000000000".to_owned()),
    };
    let (Some(old), Some(new)) = (id(&change.old), id(&change.new)) else { return };
    if old == new {
        return;
    }
    let mode = match (&change.old, &change.new) {
        (Some(old), Some(new)) if old.entry.kind == new.entry.kind => format!(" {}", mode(new)),
        _ => String::new(),
    };
    let _ = writeln!(into, "index {old}..{new}{mode}");
}

fn mode(version: &FileVersionRef) -> &'static str {
    match version.entry.kind {
        EntryKind::Tree => "040000",
        EntryKind::Blob => "100644",
        EntryKind::BlobExecutable => "100755",
        EntryKind::Link => "120000",
        EntryKind::Commit => "160000",
    }
}
