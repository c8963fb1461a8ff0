//! URI templates of a repository, and completion of their variables.

use std::collections::BTreeMap;

use resource::uri::{percent_decode, reserved_value};
use resource::{
    Annotations, Completion, Error, Result, Template, UnknownMembers, UriTemplate, Variable,
    VariableKind,
};

use super::location::{LogQuery, RevisionSpec};
use super::repo_path::RepoPath;
use super::repository::GitSession;
use super::tree::TreeEntry;

/// How many recent commits are suggested, and how many are looked at for authors.
const RECENT_COMMITS: usize = 50;
const AUTHOR_COMMITS: usize = 500;

/// Longest input accepted, in bytes.
const MAX_INPUT_BYTES: usize = 4 * 1024;

/// The templates: URI, name, title and description.
const TEMPLATES: [(&str, &str, &str, &str); 7] = [
    (
        "git:///log/{revision}{?author,since,until,grep,files}",
        "log",
        "History",
        "The commits of a revision, latest first",
    ),
    (
        "git:///log/{revision}/{+path}{?author,since,until,grep,follow,files}",
        "path log",
        "History of a path",
        "The commits that touched a file or folder, latest first",
    ),
    (
        "git:///commit/{revision}",
        "commit",
        "Commit",
        "A commit: message, author, changed files and diff",
    ),
    (
        "git:///diff/{from}..{to}/{+path}",
        "diff",
        "Diff",
        "The unified diff of two revisions, of a file or folder, or of everything",
    ),
    (
        "git:///diff/{from}...{to}/{+path}",
        "branch diff",
        "Diff of a branch",
        "The unified diff of a revision and where it left another one",
    ),
    (
        "git:///blame/{revision}/{+path}",
        "blame",
        "Blame",
        "Which commit each line of a file comes from",
    ),
    (
        "git:///{revision}/{+path}",
        "files at a revision",
        "Files at a revision",
        "Any file or folder at any branch, tag or commit",
    ),
];

/// All templates.
pub(super) fn all_templates() -> Result<Vec<Template>> {
    let template = |(uri, name, title, description): &(&str, &str, &str, &str)| {
        let uri = UriTemplate::parse(uri)?;
        let variables = uri.variables().map(describe_variable).collect();
        Ok(Template {
            uri,
            name: (*name).to_owned(),
            title: Some((*title).to_owned()),
            description: Some((*description).to_owned()),
            mime: None,
            icons: Vec::new(),
            annotations: Annotations::default(),
            variables,
            extra: UnknownMembers::default(),
        })
    };
    TEMPLATES.iter().map(template).collect()
}

fn describe_variable(name: &str) -> Variable {
    let (description, kind) = match name {
        "revision" => {
            let forms = "Branch, tag, hash or any revision git parses, such as HEAD~3";
            (forms, VariableKind::Text)
        }
        "from" => ("The older revision", VariableKind::Text),
        "to" => ("The newer revision", VariableKind::Text),
        "path" => ("Path in the revision, with / between names", VariableKind::Text),
        "author" => ("Part of the author's name or address", VariableKind::Text),
        "since" => ("Earliest date, such as 2024-01-31 or 2 weeks ago", VariableKind::Text),
        "until" => ("Latest date", VariableKind::Text),
        "grep" => ("Part of the message", VariableKind::Text),
        "files" => ("Whether the JSON of each commit has its files", VariableKind::Boolean),
        _ => ("Whether to go on under earlier names of the file", VariableKind::Boolean),
    };
    let description = Some(description.to_owned());
    Variable { name: name.to_owned(), description, kind, ..Variable::default() }
}

/// A request for completion, owned by the work on it.
pub(super) struct GitCompletion {
    variable: String,
    typed: String,
    resolved: BTreeMap<String, String>,
}

impl GitCompletion {
    /// Checks that the template and the variable exist.
    pub(super) fn new(request: &resource::CompletionRequest<'_>) -> Result<Self> {
        let template = TEMPLATES.iter().find(|(uri, ..)| *uri == request.template);
        let template =
            template.ok_or_else(|| Error::invalid("a repository has no such template"))?;
        if !UriTemplate::parse(template.0)?.variables().any(|name| name == request.variable) {
            return Err(Error::invalid("the template has no variable with this name"));
        }
        if request.typed.len() > MAX_INPUT_BYTES {
            return Err(Error::invalid("the value to complete is too long"));
        }
        Ok(Self {
            variable: request.variable.to_owned(),
            typed: request.typed.to_owned(),
            resolved: request.resolved.clone(),
        })
    }
}

impl GitSession<'_> {
    /// Completes a variable, best match first.
    pub(super) fn complete(&self, request: &GitCompletion) -> Result<Completion> {
        let typed = request.typed.as_str();
        let values = match request.variable.as_str() {
            "revision" | "from" | "to" => self.complete_revision(typed)?,
            "path" => {
                let revision =
                    ["revision", "to"].iter().find_map(|name| request.resolved.get(*name));
                self.complete_path(revision.map_or("HEAD", String::as_str), typed)?
            }
            "author" => rank(self.recent_authors()?, typed),
            "follow" | "files" => rank(vec!["true".to_owned(), "false".to_owned()], typed),
            _ => Vec::new(),
        };
        Ok(Completion::from_values(values))
    }

    fn complete_revision(&self, typed: &str) -> Result<Vec<String>> {
        let refs = self.references()?.into_iter();
        let names = refs.filter_map(|reference| String::from_utf8(reference.revision).ok());
        let mut values = rank(names.collect(), typed);
        let small = typed.to_lowercase();
        for id in self.first_commits(RECENT_COMMITS)? {
            let hash = id.to_hex_with_len(10).to_string();
            let has_subject = || {
                self.commit_text(id).is_ok_and(|text| text.subject.to_lowercase().contains(&small))
            };
            if hash.starts_with(&small) || small.len() > 2 && has_subject() {
                values.push(hash);
            }
        }
        Ok(values)
    }

    fn recent_authors(&self) -> Result<Vec<String>> {
        let mut authors: Vec<String> = Vec::new();
        for id in self.first_commits(AUTHOR_COMMITS)? {
            let name = self.commit_text(id)?.author.name;
            if !authors.contains(&name) {
                authors.push(name);
            }
        }
        Ok(authors)
    }

    fn first_commits(&self, most: usize) -> Result<Vec<gix::ObjectId>> {
        let query = LogQuery::new(RevisionSpec::head(), RepoPath::default());
        self.log_commits(&query, most)
    }

    /// Completes a path in a revision. Values are those of `{+path}`: what would end the path of a
    /// URI is percent-encoded, so that a completed value reads back.
    fn complete_path(&self, revision: &str, typed: &str) -> Result<Vec<String>> {
        let (folder, stem) = typed.rsplit_once('/').unwrap_or(("", typed));
        let place = RevisionSpec::parse(revision.as_bytes())
            .zip(RepoPath::parse(&percent_decode(folder)))
            .and_then(|(revision, path)| self.find_place(&revision, &path).ok());
        let Some(place) = place.filter(|place| place.is_folder()) else { return Ok(Vec::new()) };
        let name = |entry: TreeEntry| {
            let hostile = super::repo_path::is_hostile_name(&entry.name)
                || !self.knows_member(&place, &entry.name);
            let name = String::from_utf8(entry.name).ok().filter(|_| !hostile)?;
            let slash = if entry.kind == gix::objs::tree::EntryKind::Tree { "/" } else { "" };
            Some(format!("{}{slash}", reserved_value(&name)))
        };
        let names = self.tree_entries(place.entry.id)?.into_iter().filter_map(name).collect();
        let prefix = &typed[..typed.len() - stem.len()];
        // A person types the name as it is.
        let stem = stem.replace('?', "%3F").replace('#', "%23");
        Ok(rank(names, &stem).into_iter().map(|name| format!("{prefix}{name}")).collect())
    }
}

/// The values that match: first those that start with `typed`, then those that start with it in
/// another case, then those that contain it.
fn rank(values: Vec<String>, typed: &str) -> Vec<String> {
    let small = typed.to_lowercase();
    let fit = |value: &str| {
        let value_small = value.to_lowercase();
        match () {
            () if value.starts_with(typed) => Some(0),
            () if value_small.starts_with(&small) => Some(1),
            () if value_small.contains(&small) => Some(2),
            () => None,
        }
    };
    let mut fitting: Vec<(u8, String)> =
        values.into_iter().filter_map(|value| Some((fit(&value)?, value))).collect();
    fitting.sort_by_key(|(fit, _)| *fit);
    fitting.into_iter().map(|(_, value)| value).collect()
}
