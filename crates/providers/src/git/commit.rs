//! Commits as documents: message, people, files and diff.

use std::fmt::Write as _;

use gix::ObjectId;
use resource::{ReadRequest, Reading, Resource, Result, Uri};

use super::changed_file::{ChangedFile, LineChanges};
use super::commit_object::{CommitNode, CommitText, Person};
use super::document::{DocumentFormat, MARKDOWN, declare_formats};
use super::error::not_found;
use super::json::{JsonObject, json_array};
use super::location::RevisionSpec;
use super::repo_path::{RepoPath, quoted};
use super::repository::GitSession;
use super::revision::NO_REVISION;
use super::visibility::RevisionFolder;

/// How many hexadecimal digits name a commit for people.
const SHORT_HASH: usize = 12;

impl GitSession<'_> {
    /// The etag of a document that holds messages.
    pub(super) fn message_etag(&self, etag: &str) -> String {
        let is_masked = self.git.redaction.scope() != redaction::RedactionScope::Off;
        let etag = self.git.masked_etag(etag, is_masked);
        match self.viewer {
            None => etag,
            // What the document holds depends on the principal. It is also cached by its etag.
            Some(viewer) => {
                let own = format!("{etag} {}", viewer.key());
                blake3::hash(own.as_bytes()).to_hex()[..24].to_owned()
            }
        }
    }

    /// Describes a commit, unless the principal may not know of it.
    pub(super) fn describe_commit(&self, uri: &Uri, revision: &RevisionSpec) -> Result<Resource> {
        let (id, is_immutable) = self.resolve_commit(revision)?;
        if self.is_restricted()
            && !self.shows_commit(&self.commit(id)?, revision, &RepoPath::default())?
        {
            return Err(not_found(NO_REVISION));
        }
        self.describe_shown_commit(uri, (id, is_immutable))
    }

    /// Describes a commit that the principal may know of.
    pub(super) fn describe_shown_commit(
        &self,
        uri: &Uri,
        (id, is_immutable): (ObjectId, bool),
    ) -> Result<Resource> {
        let text = self.commit_text(id)?;
        let mut resource = Resource::new(uri.clone(), id.to_hex_with_len(SHORT_HASH).to_string());
        resource.title = Some(text.subject.clone()).filter(|subject| !subject.is_empty());
        resource.description =
            Some(format!("Commit of {}, {}", text.author.name, text.author.date()));
        resource.immutable = is_immutable;
        resource.watchable = Some(self.git.is_watched && !is_immutable);
        resource.etag = Some(self.message_etag(&id.to_string()));
        let seconds = u64::try_from(text.committer.time.seconds).ok();
        resource.annotations.modified = seconds.and_then(|seconds| {
            let since = std::time::Duration::from_secs(seconds);
            std::time::SystemTime::UNIX_EPOCH.checked_add(since)
        });
        declare_formats(&mut resource, MARKDOWN);
        Ok(resource)
    }

    /// Reads a commit.
    pub(super) fn read_commit(
        &self,
        uri: &Uri,
        revision: &RevisionSpec,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let described = self.describe_commit(uri, revision)?;
        let (id, _) = self.resolve_commit(revision)?;
        self.read_document(&described, request, |format| {
            let (node, text) = (self.commit(id)?, self.commit_text(id)?);
            match format {
                DocumentFormat::Json => {
                    Ok(text.to_json(&node, Some(&self.commit_files_json(&node, revision)?)))
                }
                DocumentFormat::Text => {
                    self.commit_markdown(&node, &text, &self.commit_files(&node, revision)?)
                }
            }
        })
    }

    /// The files that a commit changed, against its first parent, as far as the principal sees them
    /// at `revision`.
    fn commit_files(&self, node: &CommitNode, revision: &RevisionSpec) -> Result<Vec<ChangedFile>> {
        let old = match node.parents.first() {
            Some(parent) => Some(self.commit(*parent)?.tree),
            None => None,
        };
        let viewed = [RevisionFolder::whole(revision.clone())];
        self.file_changes(old, Some(node.tree), &RepoPath::default(), &viewed)
    }

    /// The same with their counts of lines, as JSON.
    pub(super) fn commit_files_json(
        &self,
        node: &CommitNode,
        revision: &RevisionSpec,
    ) -> Result<String> {
        let changes = self.commit_files(node, revision)?;
        let mut files = Vec::with_capacity(changes.len());
        for change in &changes {
            files.push(change.to_json(&self.line_changes(change, false)?));
        }
        Ok(json_array(files))
    }

    fn commit_markdown(
        &self,
        node: &CommitNode,
        text: &CommitText,
        changes: &[ChangedFile],
    ) -> Result<String> {
        let mut page = format!("# {}\n\n- commit: {}\n", text.subject, node.id);
        for parent in &node.parents {
            let _ = writeln!(page, "- parent: {parent}");
        }
        let person =
            |person: &Person| format!("{} <{}>, {}", person.name, person.email, person.date());
        let _ = writeln!(page, "- author: {}", person(&text.author));
        let _ = writeln!(page, "- committer: {}", person(&text.committer));
        let _ = writeln!(page, "\n{}\n", text.message.trim_end());
        let mut counted: Vec<(&ChangedFile, LineChanges)> = Vec::with_capacity(changes.len());
        for change in changes {
            counted.push((change, self.line_changes(change, false)?));
        }
        if node.parents.len() > 1 {
            page.push_str("## Files, against the first parent\n\n");
        } else {
            page.push_str("## Files\n\n");
        }
        for (change, lines) in &counted {
            page.push_str(&file_line(change, lines));
        }
        match self.diff_text(changes) {
            Ok(diff) if diff.is_empty() => {}
            Ok(diff) => {
                let fence = fence_for(&diff);
                let _ = writeln!(page, "\n{fence}diff\n{diff}{fence}");
            }
            Err(error) if error.kind == resource::ErrorKind::TooLarge => {
                let _ = writeln!(page, "\nThe diff is left out: {}.", error.message);
            }
            Err(error) => return Err(error),
        }
        Ok(page)
    }
}

/// One file of a list of changes.
fn file_line(change: &ChangedFile, lines: &LineChanges) -> String {
    let from = change.from.as_ref();
    let from = from.map(|(path, _)| format!("{} -> ", quoted(path))).unwrap_or_default();
    let counts = match lines.omitted {
        Some(why) => why.to_owned(),
        None => format!("+{} -{}", lines.additions, lines.deletions),
    };
    format!("- {} {from}{} ({counts})\n", change.status(), quoted(&change.path))
}

/// A fence that `text` does not contain.
fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

impl CommitText {
    /// The commit as JSON, with its files if they are given.
    pub(super) fn to_json(&self, node: &CommitNode, files: Option<&str>) -> String {
        let parents = node.parents.iter().map(|parent| format!("\"{parent}\""));
        let json = JsonObject::new()
            .text("hash", &node.id.to_string())
            .raw("parents", &json_array(parents))
            .raw("author", &self.author.to_json())
            .raw("committer", &self.committer.to_json())
            .text("subject", &self.subject)
            .text("message", &self.message);
        match files {
            Some(files) => json.raw("files", files).finish(),
            None => json.finish(),
        }
    }

    /// The commit on one line of a list.
    pub(super) fn to_line(&self, node: &CommitNode) -> String {
        let hash = node.id.to_hex_with_len(SHORT_HASH);
        let (author, date) = (&self.author.name, self.author.date());
        format!("- {hash} {date} {author}: {}\n", self.subject)
    }
}

impl Person {
    fn to_json(&self) -> String {
        JsonObject::new()
            .text("name", &self.name)
            .text("email", &self.email)
            .text("date", &self.date())
            .finish()
    }
}
