//! `refdesk cp`: copies resources to disk. Run again, it copies only what is missing or changed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use resource::uri::percent_decode;
use resource::{Resource, Uri};
use serde_json::json;

use crate::args::CpArgs;
use crate::connection::ServerConnection;
use crate::content::Selection;
use crate::error::CommandError;
use crate::output::{Output, one_line, tell};
use crate::table;

/// The ending of a file that is still being written.
const PART: &str = ".refdesk-part";
/// The longest name of a file, in bytes; most file systems take 255, and a part needs its ending.
const MAX_NAME_BYTES: usize = 200;

pub(super) async fn run(
    args: &CpArgs,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    let start = connection.resolve_uri(&args.uri).await?;
    let mut copy = Copy::new(args);
    if args.recursive {
        let prefix = format!("{}/", start.as_str().trim_end_matches('/'));
        let mut wanted = Vec::new();
        let end = connection
            .walk(Some(&start), args.limit, |walked| {
                if !walked.row.is_folder() {
                    wanted.push(walked.row.resource);
                }
                Ok(true)
            })
            .await?;
        copy.total = Some(wanted.len());
        for resource in &wanted {
            let uri = resource.uri.as_str();
            let below = uri.strip_prefix(&prefix).unwrap_or(&resource.name);
            copy.copy_one(connection, resource, &safe_path(below)).await?;
        }
        end.tell(args.limit);
    } else {
        let name = start.as_str().rsplit('/').find(|name| !name.is_empty()).unwrap_or("resource");
        let resource = describe(connection, &start, name).await?;
        copy.copy_one(connection, &resource, &safe_path(name)).await?;
    }
    copy.finish(output)
}

/// What is known of a resource that is copied alone. A collection has to be wanted as such.
async fn describe(
    connection: &ServerConnection,
    uri: &Uri,
    name: &str,
) -> Result<Resource, CommandError> {
    if !connection.peer.capabilities.has_metadata {
        return Ok(Resource::new(uri.clone(), name));
    }
    let about = |error| CommandError::about(uri.as_str(), error);
    let (resource, _) = connection.client.metadata(uri).await.map_err(about)?;
    let is_folder = resource.mime.as_deref().is_none_or(|mime| mime == "inode/directory");
    match resource.listable == Some(true) && is_folder {
        true => Err(CommandError::Usage(format!("{uri} is a collection; add -r"))),
        false => Ok(resource),
    }
}

/// A copy on its way.
struct Copy<'a> {
    args: &'a CpArgs,
    total: Option<usize>,
    copied: usize,
    present: usize,
    bytes: u64,
    failed: Vec<String>,
    taken: HashSet<PathBuf>,
    shows_progress: bool,
}

impl<'a> Copy<'a> {
    fn new(args: &'a CpArgs) -> Self {
        Self {
            args,
            total: None,
            copied: 0,
            present: 0,
            bytes: 0,
            failed: Vec::new(),
            taken: HashSet::new(),
            shows_progress: io::stderr().is_terminal() && !args.server.json,
        }
    }

    /// Copies one resource; one that fails does not stop the others, a lost server does.
    async fn copy_one(
        &mut self,
        connection: &ServerConnection,
        resource: &Resource,
        path: &Path,
    ) -> Result<(), CommandError> {
        let path = self.free_path(&self.args.folder.join(path));
        if !self.args.force && is_present(&path, resource) {
            self.present += 1;
            return Ok(());
        }
        match write_resource(connection, resource, &path).await {
            Ok(bytes) => {
                self.copied += 1;
                self.bytes += bytes;
            }
            Err(error @ CommandError::Unreachable(_)) => return Err(error),
            Err(error) if self.total.is_none() => return Err(error),
            Err(error) => self.failed.push(error.to_string()),
        }
        self.show_progress();
        Ok(())
    }

    /// The path, or one beside it if another resource has it: names may differ only in what
    /// [`safe_path`] replaces.
    fn free_path(&mut self, path: &Path) -> PathBuf {
        let mut free = path.to_owned();
        let mut number = 1;
        while !self.taken.insert(free.clone()) {
            number += 1;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            free = path.with_file_name(format!("{name}~{number}"));
        }
        free
    }

    fn show_progress(&self) {
        if self.shows_progress {
            let total = self.total.map_or_else(String::new, |total| format!(" of {total}"));
            let done = self.copied + self.present + self.failed.len();
            let line = format!("\r{done}{total}, {}\x1b[K", table::size(self.bytes));
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }

    fn finish(self, output: &mut Output) -> Result<(), CommandError> {
        if self.shows_progress {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
        let Self { copied, present, bytes, failed, .. } = &self;
        if self.args.server.json {
            let folder = self.args.folder.display().to_string();
            output.json(&json!({
                "folder": folder, "copied": copied, "present": present, "bytes": bytes, "failed": failed,
            }))?;
        } else {
            failed.iter().for_each(|words| tell(&format!("failed: {words}")));
            let was = if *present > 0 { format!(", {present} were there") } else { String::new() };
            tell(&format!("copied {copied} ({}){was}", table::size(*bytes)));
        }
        match failed.len() {
            0 => Ok(()),
            count => Err(CommandError::Failed(format!(
                "{count} could not be copied; run it again to retry"
            ))),
        }
    }
}

/// Whether a file has the size and is at least as new as the resource.
fn is_present(path: &Path, resource: &Resource) -> bool {
    let Ok(file) = fs::symlink_metadata(path) else { return false };
    let is_new = match (resource.annotations.modified, file.modified()) {
        (Some(modified), Ok(own)) => own >= modified,
        _ => true,
    };
    file.is_file() && resource.size == Some(file.len()) && is_new
}

async fn write_resource(
    connection: &ServerConnection,
    resource: &Resource,
    path: &Path,
) -> Result<u64, CommandError> {
    let shown = |error: &io::Error| CommandError::Failed(format!("{}: {error}", path.display()));
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| shown(&error))?;
    let mut part = path.as_os_str().to_owned();
    part.push(PART);
    let part = PathBuf::from(part);
    let file = File::create(&part).map_err(|error| shown(&error))?;
    let mut out = BufWriter::new(file);
    let mut bytes = 0;
    let mut modified = resource.annotations.modified;
    let written = async {
        let selection = Selection::default();
        let read = connection.read_chunks(&resource.uri, &selection, |chunk| {
            bytes += chunk.bytes.len() as u64;
            modified = modified.or(chunk.resource.annotations.modified);
            out.write_all(&chunk.bytes).map_err(|error| shown(&error))?;
            Ok(true)
        });
        read.await?;
        let file = out.into_inner().map_err(|error| shown(error.error()))?;
        if let Some(modified) = modified {
            file.set_modified(modified).map_err(|error| shown(&error))?;
        }
        drop(file);
        fs::rename(&part, path).map_err(|error| shown(&error))
    };
    match written.await {
        Ok(()) => Ok(bytes),
        Err(error) => {
            let _ = fs::remove_file(&part);
            Err(error)
        }
    }
}

/// A relative path below the target folder, whatever a server names its resources.
fn safe_path(below: &str) -> PathBuf {
    let names = below.split('/').filter(|name| !name.is_empty());
    let path: PathBuf = names.map(safe_name).collect();
    if path.as_os_str().is_empty() { PathBuf::from("resource") } else { path }
}

fn safe_name(encoded: &str) -> String {
    let decoded = percent_decode(encoded);
    let name = one_line(&String::from_utf8_lossy(&decoded));
    let is_unsafe =
        |letter: char| matches!(letter, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let mut name: String =
        name.chars().map(|letter| if is_unsafe(letter) { '_' } else { letter }).collect();
    if name.chars().all(|letter| letter == '.') {
        name = name.replace('.', "_");
    }
    if name.len() > MAX_NAME_BYTES {
        // The ending says what the file is, so the middle goes.
        let ending = name.rsplit_once('.').map(|(_, ending)| ending).filter(|own| own.len() < 16);
        let ending = ending.map_or_else(String::new, |ending| format!(".{ending}"));
        let end = name.floor_char_boundary(MAX_NAME_BYTES - ending.len());
        name = format!("{}{ending}", &name[..end]);
    }
    name
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::{prop_assert, proptest};

    use super::{MAX_NAME_BYTES, safe_path};

    #[test]
    fn names_stay_readable_and_inside_the_folder() {
        let path = |below: &str| safe_path(below).display().to_string();
        assert_eq!(path("a/%E8%B3%87%E6%96%99.md"), "a/資料.md");
        assert_eq!(path("../../etc/passwd"), "__/__/etc/passwd");
        assert_eq!(path("a/..%2F..%2Fx"), "a/.._.._x");
        assert_eq!(path("a%00b\u{1b}"), "a b ");
        assert_eq!(path(""), "resource");
        let long = path(&format!("{}.md", "あ".repeat(300)));
        assert!(long.len() <= MAX_NAME_BYTES && long.ends_with(".md"), "{long}");
    }

    proptest! {
        #[test]
        fn no_name_leads_out(below in ".{0,40}") {
            let path = safe_path(&below);
            prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
            prop_assert!(path != Path::new(""));
        }
    }
}
