//! Shell completion from the server: URIs, templates and their variables, tools and their arguments.
//!
//! The shell runs the program for each Tab. A server that does not answer soon completes nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::OnceLock;
use std::time::Duration;

use clap_complete::engine::CompletionCandidate;
use resource::{CompletionRequest, Uri};

use crate::args::{ColorChoice, ServerArgs};
use crate::commands::find_template;
use crate::connection::{ServerConnection, ServerResolver};
use crate::error::CommandError;
use crate::output::one_line;

/// How long a Tab waits.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How many candidates a shell gets.
const MAX_CANDIDATES: usize = 200;

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

/// The value of `--server` among the words.
fn typed_server(words: &[String]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-s" | "--server" => return words.next().cloned(),
            word => {
                if let Some(server) = word.strip_prefix("--server=") {
                    return Some(server.to_owned());
                }
            }
        }
    }
    std::env::var("REFDESK_SERVER").ok().filter(|server| !server.is_empty())
}

/// Runs `ask` against the server of the command line; nothing if it fails.
fn candidates<F>(ask: impl FnOnce(ServerConnection) -> F) -> Vec<CompletionCandidate>
where
    F: Future<Output = Result<Vec<CompletionCandidate>, CommandError>>,
{
    let Some(resolver) = RESOLVER.get() else { return Vec::new() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return Vec::new() };
    let args = ServerArgs {
        server: typed_server(&typed_words()),
        header: Vec::new(),
        revision: None,
        timeout: TIMEOUT,
        json: false,
        color: ColorChoice::Never,
    };
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

/// URIs that begin with what is typed, one level at a time.
pub(crate) fn uris(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    candidates(|connection| async move {
        let parent = typed.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        let is_root =
            parent.as_deref().is_none_or(|parent| parent.ends_with(":/") || parent.ends_with("//"));
        let mut found = Vec::new();
        if is_root && connection.is_refdesk() {
            for mount in connection.mounts().await? {
                if let Some(root) = mount["root"].as_str().filter(|root| root.starts_with(&typed)) {
                    found.push(candidate(root, mount["kind"].as_str()));
                }
            }
            return Ok(found);
        }
        let parent = parent.filter(|_| !is_root);
        let parent = parent.and_then(|parent| Uri::parse(&parent).ok());
        for row in connection.rows(parent.as_ref(), 10_000).await? {
            let uri = row.resource.uri.as_str();
            let slash = if row.is_collection() && !uri.ends_with('/') { "/" } else { "" };
            if uri.starts_with(&typed) {
                found.push(candidate(&format!("{uri}{slash}"), row.resource.title.as_deref()));
            }
        }
        Ok(found)
    })
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
