//! Shell completion from the server: URIs, templates and their variables, tools and their arguments.
//!
//! The shell runs the program for each Tab. A server that does not answer soon completes nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::OnceLock;
use std::time::Duration;

use clap_complete::engine::CompletionCandidate;
use resource::uri::percent_decode;
use resource::{CompletionRequest, Uri};

use crate::args::{ColorChoice, ServerArgs};
use crate::commands::find_template;
use crate::connection::{ServerConnection, ServerResolver};
use crate::error::CommandError;
use crate::listing::Row;
use crate::output::{encoded_uri, one_line, shown_uri};

/// How long a Tab waits.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How many candidates a shell gets.
const MAX_CANDIDATES: usize = 200;
/// How many mounts are looked through for a path without a mount.
const MAX_MOUNTS: usize = 8;

static RESOLVER: OnceLock<Box<dyn ServerResolver>> = OnceLock::new();

/// Sets what finds servers, before the completion begins.
pub fn set_resolver(resolver: Box<dyn ServerResolver>) {
    let _ = RESOLVER.set(resolver);
}

/// The words of the command line that is being completed.
fn typed_words() -> Vec<String> {
    let words = std::env::args().skip_while(|word| word != "--").skip(1);
    // Some shells hand over words as they are written, with the quotes that braces need.
    words.map(|word| word.replace(['\\', '\'', '"'], "")).collect()
}

/// The values of an option among the words, in both ways to write it.
fn typed_values(words: &[String], long: &str, short: Option<&str>) -> Vec<String> {
    let mut values = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == long || short == Some(word.as_str()) {
            values.extend(words.next().cloned());
        } else if let Some(value) = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='))
        {
            values.push(value.to_owned());
        }
    }
    values
}

/// The arguments that name the server, among the words.
fn typed_server(words: &[String]) -> ServerArgs {
    let server = typed_values(words, "--server", Some("-s")).pop();
    let usual = || std::env::var("REFDESK_SERVER").ok().filter(|server| !server.is_empty());
    ServerArgs {
        server: server.or_else(usual),
        header: typed_values(words, "--header", None),
        revision: typed_values(words, "--revision", None).pop(),
        timeout: TIMEOUT,
        json: false,
        color: ColorChoice::Never,
    }
}

/// Runs `ask` against the server of the command line; nothing if it fails.
fn candidates<F>(ask: impl FnOnce(ServerConnection) -> F) -> Vec<CompletionCandidate>
where
    F: Future<Output = Result<Vec<CompletionCandidate>, CommandError>>,
{
    let Some(resolver) = RESOLVER.get() else { return Vec::new() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return Vec::new() };
    let args = typed_server(&typed_words());
    let asked = async {
        let connection = ServerConnection::open(&args, resolver.as_ref()).await?;
        ask(connection).await
    };
    let found = runtime.block_on(async { tokio::time::timeout(TIMEOUT, asked).await });
    runtime.shutdown_background();
    let mut found = found.ok().and_then(Result::ok).unwrap_or_default();
    found.truncate(MAX_CANDIDATES);
    found
}

fn candidate(value: &str, help: Option<&str>) -> CompletionCandidate {
    let help = help.and_then(|words| words.lines().next()).map(|words| one_line(words).into());
    CompletionCandidate::new(one_line(value)).help(help)
}

/// URIs or paths that begin with what is typed, one level at a time.
pub(crate) fn uris(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    candidates(|connection| async move {
        let mut found = connection.complete_uri(&typed).await?;
        if connection.is_refdesk() && !typed.is_empty() && !typed.contains(':') {
            found.extend(connection.complete_path(&typed).await?);
        }
        Ok(found.iter().map(|(text, help)| candidate(text, help.as_deref())).collect())
    })
}

/// A text that completes what is typed, and what it stands for.
type Completed = (String, Option<String>);

impl ServerConnection {
    /// URIs that begin with what is typed, as `ls` prints them or percent-encoded.
    pub(crate) async fn complete_uri(&self, typed: &str) -> Result<Vec<Completed>, CommandError> {
        let fits = |uri: &str| {
            let shown = shown_uri(uri);
            [shown, uri.to_owned()].into_iter().find(|text| text.starts_with(typed))
        };
        let parent = typed.rsplit_once('/').map(|(parent, _)| parent);
        let parent = parent.filter(|parent| parent.contains("://") && !parent.ends_with('/'));
        if parent.is_none() && self.is_refdesk() {
            let mounts = self.mounts().await?;
            let found = mounts.iter().filter_map(|mount| {
                Some((fits(mount["root"].as_str()?)?, mount["kind"].as_str().map(str::to_owned)))
            });
            return Ok(found.collect());
        }
        let parent = parent.and_then(|parent| Uri::parse(&encoded_uri(parent)).ok());
        let mut found = Vec::new();
        let take = |row: Row| {
            if let Some(mut text) = fits(row.resource.uri.as_str()) {
                push_slash(&mut text, &row);
                found.push((text, row.resource.title));
            }
            Ok(found.len() < MAX_CANDIDATES)
        };
        self.each_row(parent.as_ref(), take).await?;
        Ok(found)
    }

    /// Paths that begin with what is typed: from a mount on, or from the top of any mount.
    pub(crate) async fn complete_path(&self, typed: &str) -> Result<Vec<Completed>, CommandError> {
        if let Some((folder, _)) = typed.rsplit_once('/') {
            let uri = self.resolve_uri(folder).await?;
            return self.paths_in(&uri, &format!("{folder}/"), typed).await;
        }
        let mut found = Vec::new();
        for mount in self.mounts().await?.iter().take(MAX_MOUNTS) {
            let name = mount["name"].as_str().unwrap_or_default();
            if is_plain(name) && name.starts_with(typed) {
                found.push((format!("{name}/"), mount["kind"].as_str().map(str::to_owned)));
            }
            // A path may leave its mount out.
            let root = mount["root"].as_str().and_then(|root| Uri::parse(root).ok());
            if let Some(root) = root {
                found.extend(self.paths_in(&root, "", typed).await.unwrap_or_default());
            }
        }
        Ok(found)
    }

    /// What lies in `parent` as paths behind `prefix`.
    async fn paths_in(
        &self,
        parent: &Uri,
        prefix: &str,
        typed: &str,
    ) -> Result<Vec<Completed>, CommandError> {
        let root = format!("{}/", parent.as_str().trim_end_matches('/'));
        let mut found = Vec::new();
        let take = |row: Row| {
            let name = row.resource.uri.as_str().strip_prefix(&root).map(percent_decode);
            let name = name.and_then(|name| String::from_utf8(name.into_owned()).ok());
            if let Some(name) = name.filter(|name| is_plain(name)) {
                let mut text = format!("{prefix}{name}");
                push_slash(&mut text, &row);
                if text.starts_with(typed) {
                    found.push((text, row.resource.title));
                }
            }
            Ok(found.len() < MAX_CANDIDATES)
        };
        self.each_row(Some(parent), take).await?;
        Ok(found)
    }
}

/// Whether a shell takes the name as it is. Others are completed as URIs.
fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/-_.,+@%~=".contains(letter);
    !name.is_empty() && !name.starts_with(['-', '~']) && name.chars().all(is_plain)
}

/// A collection ends with a slash, so that the next Tab shows what is in it.
fn push_slash(text: &mut String, row: &Row) {
    if row.is_collection() && !text.ends_with('/') {
        text.push('/');
    }
}

/// Templates that begin with what is typed.
pub(crate) fn templates(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    candidates(|connection| async move {
        let templates = connection.templates().await?;
        let texts = templates
            .iter()
            .map(|template| (template.uri.as_str(), template.description.as_deref()));
        let texts = texts.filter(|(text, _)| text.starts_with(&typed));
        Ok(texts.map(|(text, words)| candidate(text, words)).collect())
    })
}

/// `NAME=` of the variables of the template, then values from the server.
pub(crate) fn variables(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let words = typed_words();
    candidates(|connection| async move {
        let templates = connection.templates().await?;
        let Some(template) = words.iter().find_map(|word| find_template(&templates, word).ok())
        else {
            return Ok(Vec::new());
        };
        let Some((name, value)) = typed.split_once('=') else {
            let names = template.uri.variables().filter(|name| name.starts_with(&typed));
            return Ok(names.map(|name| candidate(&format!("{name}="), None)).collect());
        };
        let resolved: BTreeMap<String, String> = words
            .iter()
            .filter_map(|word| word.split_once('='))
            .filter(|(other, _)| *other != name)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let request = CompletionRequest {
            template: template.uri.as_str(),
            variable: name,
            typed: value,
            resolved: &resolved,
        };
        let completion = connection.client.complete(&request).await?;
        Ok(completion
            .values
            .iter()
            .map(|value| candidate(&format!("{name}={value}"), None))
            .collect())
    })
}

/// Tools that begin with what is typed.
pub(crate) fn tools(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    candidates(|connection| async move {
        let tools = connection.tools().await?.iter().filter(|tool| tool.name.starts_with(&typed));
        Ok(tools.map(|tool| candidate(&tool.name, Some(tool.description()))).collect())
    })
}

/// `NAME=` of the arguments of the tool, then the choices that its schema has.
pub(crate) fn arguments(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let words = typed_words();
    candidates(|connection| async move {
        let tools = connection.tools().await?;
        let Some(tool) = tools.iter().find(|tool| words.contains(&tool.name)) else {
            return Ok(Vec::new());
        };
        let properties = tool.schema()["properties"].as_object().cloned().unwrap_or_default();
        let Some((name, value)) = typed.split_once('=') else {
            let names = properties.iter().filter(|(name, _)| name.starts_with(&typed));
            return Ok(names
                .map(|(name, own)| candidate(&format!("{name}="), own["description"].as_str()))
                .collect());
        };
        let choices = properties.get(name).and_then(|own| own["enum"].as_array().cloned());
        let choices = choices.unwrap_or_default();
        let texts = choices.iter().filter_map(|choice| choice.as_str());
        Ok(texts
            .filter(|choice| choice.starts_with(value))
            .map(|choice| candidate(&format!("{name}={choice}"), None))
            .collect())
    })
}

#[cfg(test)]
mod tests {
    use super::{is_plain, typed_server};

    #[test]
    fn the_server_and_its_headers_are_read_from_the_command_line() {
        let line = "refdesk cat --header A: -s one --header=B: --server=two --revision 2025-11-25";
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let args = typed_server(&words);
        assert_eq!(args.server.as_deref(), Some("two"));
        assert_eq!(args.header, ["A:", "B:"]);
        assert_eq!(args.revision.as_deref(), Some("2025-11-25"));
    }

    #[test]
    fn a_path_is_completed_if_a_shell_takes_it_as_it_is() {
        assert!(is_plain("資料/a-b_c.d") && is_plain("100%"));
        for name in ["", "a b", "$(x)", "a;b", "-x", "~a", "a'b", "a\u{1b}b"] {
            assert!(!is_plain(name), "{name:?}");
        }
    }
}
