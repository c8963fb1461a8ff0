//! The connection of a command to its server.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use client::{
    AnsweredRequests, ChildListing, Client, Options, RemoteServer, RevisionChoice, ServerTarget,
};
use tokio::sync::OnceCell;

use crate::args::ServerArgs;
use crate::error::CommandError;
use crate::local_paths::{self, LocalFolder};
use crate::output::shown_uri;
use crate::tools::ToolDescription;

/// A server that a command can connect to.
pub struct ResolvedServer {
    /// Where it is.
    pub target: ServerTarget,
    /// The folders of this machine that it serves.
    pub folders: Vec<LocalFolder>,
    /// The program that starts children, and ends them with this one.
    pub supervisor: Option<PathBuf>,
    /// The URL of a server that would be nearer, but wants a token.
    pub locked: Option<String>,
}

/// Finds the server that `--server` names, or the one to use without it.
#[async_trait]
pub trait ServerResolver: Send + Sync {
    /// The server with this name, URL or command line, or the usual one. `has_token` says whether
    /// the person sends a token.
    async fn resolve(
        &self,
        server: Option<&str>,
        has_token: bool,
    ) -> Result<ResolvedServer, CommandError>;
}

/// A server that answered.
pub(crate) struct ServerConnection {
    pub(crate) client: Client,
    pub(crate) peer: Arc<RemoteServer>,
    pub(crate) folders: Vec<LocalFolder>,
    pub(crate) tools: OnceCell<Vec<ToolDescription>>,
    /// Whether the server was started for this command, because none runs.
    pub(crate) is_started_here: bool,
    /// The URL of a server that runs for this folder, but wants a token.
    pub(crate) locked: Option<String>,
    here: Option<PathBuf>,
}

impl ServerConnection {
    /// Connects, and waits for the answer of the server.
    pub(crate) async fn open(
        args: &ServerArgs,
        resolver: &dyn ServerResolver,
    ) -> Result<Self, CommandError> {
        let is_token = |header: &String| {
            let name = header.split(':').next().unwrap_or_default();
            name.trim().eq_ignore_ascii_case("authorization")
        };
        let has_token = args.header.iter().any(is_token);
        let ResolvedServer { mut target, folders, supervisor, locked } =
            resolver.resolve(args.server.as_deref(), has_token).await?;
        let is_started_here = args.server.is_none() && matches!(target, ServerTarget::Child { .. });
        add_headers(&mut target, &args.header)?;
        let usual = Options::default();
        let options = Options {
            answers: AnsweredRequests::Forms,
            revision: choose_revision(args.revision.as_deref())?,
            timeout: args.timeout,
            resource_timeout: args.timeout,
            connect_timeout: args.timeout,
            discover_timeout: args.timeout.min(usual.discover_timeout),
            supervisor,
            ..usual
        };
        let client = Client::new(target, options);
        let peer = client.peer().await?;
        let here = std::env::current_dir().ok();
        let tools = OnceCell::new();
        Ok(Self { client, peer, folders, tools, is_started_here, locked, here })
    }

    pub(crate) async fn close(&self) {
        self.client.close().await;
    }

    /// Whether the server is a refdesk, which has resources about itself.
    pub(crate) fn is_refdesk(&self) -> bool {
        self.peer.name.as_deref() == Some("refdesk")
    }

    /// Whether the server lists what is in a collection.
    pub(crate) fn lists_collections(&self) -> bool {
        self.peer.capabilities.child_listing != ChildListing::Unsupported
    }

    /// What to call a resource in output that editors read: a path of this machine, or the URI.
    pub(crate) fn place(&self, uri: &str) -> String {
        let path = local_paths::local_path(&self.folders, uri, self.here.as_deref());
        path.unwrap_or_else(|| shown_uri(uri))
    }
}

fn choose_revision(date: Option<&str>) -> Result<RevisionChoice, CommandError> {
    let Some(date) = date else { return Ok(RevisionChoice::Newest) };
    RevisionChoice::only(date).ok_or_else(|| {
        let dates: Vec<&str> = RevisionChoice::dates().collect();
        CommandError::Usage(format!(
            "there is no protocol revision {date:?}; known are {}",
            dates.join(", ")
        ))
    })
}

fn add_headers(target: &mut ServerTarget, wanted: &[String]) -> Result<(), CommandError> {
    for header in wanted {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            CommandError::Usage("a header is written as --header \"NAME: VALUE\"".to_owned())
        })?;
        match target {
            ServerTarget::Http { headers, .. } => {
                headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            ServerTarget::Child { .. } | ServerTarget::Pipes(_) => {
                let words = "--header is for servers with a URL; this one is a program";
                return Err(CommandError::Usage(words.to_owned()));
            }
        }
    }
    Ok(())
}
