//! Blame: which commit each line of a file comes from, found as `git blame` finds it.

mod walk;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use resource::{Error, ReadRequest, Reading, Resource, Result, Uri};

use self::walk::{BlameOrigin, BlamedRun};
use super::commit_object::CommitText;
use super::document::{DocumentFormat, MARKDOWN, declare_formats};
use super::error::not_found;
use super::files::NO_PATH;
use super::json::{JsonObject, json_array};
use super::location::RevisionSpec;
use super::repo_path::RepoPath;
use super::repository::GitSession;

impl GitSession<'_> {
    /// Describes a blame.
    pub(super) fn describe_blame(
        &self,
        uri: &Uri,
        revision: &RevisionSpec,
        path: &RepoPath,
    ) -> Result<Resource> {
        let (commit, is_immutable) = self.resolve_commit(revision)?;
        let place = self.find_place(revision, path)?;
        if !matches!(place.entry.kind, EntryKind::Blob | EntryKind::BlobExecutable) {
            return Err(not_found("only files have lines to blame"));
        }
        if !self.shows_file(&[place.revision_folder], path.as_bytes()) {
            return Err(not_found(NO_PATH));
        }
        let mut resource = Resource::new(uri.clone(), "blame");
        let of = self.revision_text(revision);
        resource.title = Some(format!("Blame of {} at {of}", path.to_text()));
        resource.immutable = is_immutable;
        resource.watchable = Some(self.git.is_watched && !is_immutable);
        resource.etag = Some(self.message_etag(&commit.to_string()));
        declare_formats(&mut resource, MARKDOWN);
        Ok(resource)
    }

    /// Reads a blame.
    pub(super) fn read_blame(
        &self,
        uri: &Uri,
        (revision, path): (&RevisionSpec, &RepoPath),
        request: &ReadRequest,
    ) -> Result<Reading> {
        let described = self.describe_blame(uri, revision, path)?;
        let (commit, _) = self.resolve_commit(revision)?;
        let place = self.find_place(revision, path)?;
        self.read_document(&described, request, |format| {
            let content = self.load_blob(place.entry.id, &place.masked_path())?;
            let text =
                content.text().ok_or_else(|| Error::invalid("a binary file has no lines"))?;
            let runs = self.blame((commit, revision), path)?;
            let lines = self.blamed_lines(place.entry.id, path, text, &runs)?;
            let mut commits = HashMap::new();
            for line in &lines {
                if let Entry::Vacant(place) = commits.entry(line.origin.commit) {
                    place.insert(self.commit_text(line.origin.commit)?);
                }
            }
            Ok(match format {
                DocumentFormat::Json => {
                    let each = lines
                        .iter()
                        .filter_map(|line| Some(line.to_json(commits.get(&line.origin.commit)?)));
                    json_array(each)
                }
                DocumentFormat::Text => blame_text(&lines, &commits),
            })
        })
    }

    /// The lines of `text`, which may be masked, with their origins. A mask over several lines
    /// comes from where its first line does.
    fn blamed_lines<'a>(
        &self,
        id: ObjectId,
        path: &RepoPath,
        text: &'a str,
        runs: &'a [BlamedRun],
    ) -> Result<Vec<BlamedLine<'a>>> {
        let numbers = self.original_lines(id, path, text)?;
        let lines = text.split_inclusive('\n').enumerate().filter_map(|(at, line)| {
            let number =
                numbers.as_ref().map_or(at, |numbers| numbers.get(at).copied().unwrap_or(at));
            let found = runs.partition_point(|blamed| blamed.run.final_start as usize <= number);
            let blamed = runs.get(found.checked_sub(1)?)?;
            let offset = number as u32 - blamed.run.final_start;
            Some(BlamedLine {
                line: at + 1,
                original_line: blamed.run.origin_start + offset + 1,
                origin: &blamed.origin,
                text: line.strip_suffix('\n').unwrap_or(line),
            })
        });
        Ok(lines.collect())
    }

    /// The number of the stored line that each line of a masked text begins in; `None` if they are
    /// the same.
    fn original_lines(
        &self,
        id: ObjectId,
        path: &RepoPath,
        masked: &str,
    ) -> Result<Option<Vec<usize>>> {
        let Some(syntax) = self.syntax_of(path.as_bytes()) else { return Ok(None) };
        let raw = super::blob::decode(self.load_raw(id)?);
        let Some(raw) = raw.text() else { return Ok(None) };
        if raw.len() == masked.len() && raw == masked {
            return Ok(None);
        }
        let breaks = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        let (mut numbers, mut line, mut end) = (vec![0], 0, 0);
        let add = |text: &str, line: &mut usize, numbers: &mut Vec<usize>| {
            for _ in 0..breaks(text) {
                *line += 1;
                numbers.push(*line);
            }
        };
        for secret in self.git.redaction.redactor().find(raw, syntax) {
            add(raw.get(end..secret.range.start).unwrap_or_default(), &mut line, &mut numbers);
            let hidden = breaks(raw.get(secret.range.clone()).unwrap_or_default());
            let shown = breaks(&secret.mask);
            numbers.extend((1..=shown).map(|at| line + at.min(hidden)));
            line += hidden;
            end = secret.range.end;
        }
        add(raw.get(end..).unwrap_or_default(), &mut line, &mut numbers);
        Ok(Some(numbers))
    }
}

/// One line and where it comes from.
struct BlamedLine<'a> {
    line: usize,
    original_line: u32,
    origin: &'a BlameOrigin,
    text: &'a str,
}

impl BlamedLine<'_> {
    fn to_json(&self, commit: &CommitText) -> String {
        JsonObject::new()
            .number("line", self.line as u64)
            .text("commit", &self.origin.commit.to_string())
            .text("author", &commit.author.name)
            .text("date", &commit.author.date())
            .text("path", &self.origin.path.to_text())
            .number("original_line", u64::from(self.original_line))
            .text("text", self.text)
            .finish()
    }
}

fn blame_text(lines: &[BlamedLine<'_>], commits: &HashMap<ObjectId, CommitText>) -> String {
    let mut text = String::new();
    let mut last = None;
    for line in lines {
        if last != Some(&line.origin.commit)
            && let Some(commit) = commits.get(&line.origin.commit)
        {
            let hash = line.origin.commit.to_hex_with_len(12);
            let (author, date) = (&commit.author.name, commit.author.date());
            let _ = writeln!(text, "## {hash} {date} {author}: {}", commit.subject);
            last = Some(&line.origin.commit);
        }
        let _ = writeln!(text, "    {:>5}  {}", line.line, line.text);
    }
    text
}
