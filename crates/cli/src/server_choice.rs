//! Which server a command talks to: the one that `--server` names, or the refdesk of this folder.

use std::cmp::Reverse;
use std::env;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail};
use async_trait::async_trait;
use client::ServerTarget;
use terminal::{CommandError, LocalFolder, ResolvedServer, ServerResolver};

use crate::commands::import::{ConfiguredServer, find_servers, project_folder};
use crate::hosts::{EntryFault, EntryTarget, ServerEntry};
use crate::running_server::RunningServer;
use crate::settings::{CommandSetting, Secret, Settings, did_you_mean};

/// This program, also after its file was replaced.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// Finds servers on this machine.
pub(crate) struct ServerChoice {
    /// Whether a refdesk that is started for one command keeps its index.
    pub(crate) needs_index: bool,
}

#[async_trait]
impl ServerResolver for ServerChoice {
    async fn resolve(
        &self,
        server: Option<&str>,
        has_token: bool,
    ) -> Result<ResolvedServer, CommandError> {
        match server {
            None => self
                .usual_server(has_token)
                .map_err(|error| CommandError::Failed(error.to_string())),
            Some(server) => {
                let target = named_server(server);
                let target =
                    target.map_err(|error| CommandError::Usage(format!("--server: {error}")))?;
                let supervisor = Some(OWN_PROGRAM.into());
                Ok(ResolvedServer { target, folders: Vec::new(), supervisor, locked: None })
            }
        }
    }
}

impl ServerChoice {
    /// The refdesk that runs for this folder or one above it; else one that is started for the
    /// command and ends with it. One that wants a token is for a person who sends one.
    fn usual_server(&self, has_token: bool) -> anyhow::Result<ResolvedServer> {
        let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let mut running = RunningServer::find_all();
        running.retain(|server| here.starts_with(&server.folder));
        running.sort_by_key(|server| Reverse(server.folder.components().count()));
        let can_use = |server: &RunningServer| has_token || !server.wants_token;
        let nearest = running.iter().find(|server| can_use(server)).cloned();
        let locked = running.into_iter().find(|server| !can_use(server)).map(|server| server.url);
        if let Some(RunningServer { url, folders, .. }) = nearest {
            let target = ServerTarget::Http { url, headers: Vec::new() };
            let folders =
                folders.into_iter().map(|(uri, path)| LocalFolder { uri, path }).collect();
            return Ok(ResolvedServer { target, folders, supervisor: None, locked: None });
        }
        let mut args = vec!["serve".to_owned(), "--stdio".to_owned()];
        if !self.needs_index {
            args.push("--without-index".to_owned());
        }
        let words = [vec![OWN_PROGRAM.to_owned()], args].concat();
        let settings = Settings::load_here().ok();
        let folders = settings.as_ref().map(Settings::served_folders).unwrap_or_default();
        let folders = folders.into_iter().map(|(uri, path)| LocalFolder { uri, path }).collect();
        let target = program(words, Vec::new(), None)?;
        Ok(ResolvedServer { target, folders, supervisor: None, locked })
    }
}

/// The server that a person names: a URL, a socket, a server of a host, or a command line.
pub(crate) fn named_server(server: &str) -> anyhow::Result<ServerTarget> {
    if ["http://", "https://", "unix:"].iter().any(|start| server.starts_with(start)) {
        return Ok(ServerTarget::Http { url: server.to_owned(), headers: Vec::new() });
    }
    if !server.contains(char::is_whitespace) {
        let servers = find_servers(&[])?;
        if let Some(found) = servers.iter().find(|found| found.name == server) {
            return configured(found);
        }
        if !is_program(server) {
            let names = servers.iter().map(|found| found.name.as_str());
            let hint = did_you_mean(server, names).unwrap_or_else(|| {
                "write a URL, unix:PATH, a command line, or a name that `refdesk import --dry-run` lists"
                    .to_owned()
            });
            bail!("there is no server or program {server:?}; {hint}");
        }
    }
    let words = CommandSetting::One(Secret(server.to_owned())).words();
    let words = words.map_err(|why| anyhow!("the command is not valid: {why}"))?;
    program(words.into_iter().map(|word| word.0).collect(), Vec::new(), None)
}

/// Whether a program of this name is there, as a path or in `PATH`.
fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return PathBuf::from(name).is_file();
    }
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|folder| folder.join(name).is_file())
}

fn program(
    words: Vec<String>,
    set: Vec<(String, String)>,
    cwd: Option<PathBuf>,
) -> anyhow::Result<ServerTarget> {
    let mut words = words.into_iter();
    let command = words.next().context("the command is empty")?;
    // The person who types the command line would also start the program in this environment.
    let inherited_env = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .collect();
    Ok(ServerTarget::Child { command, args: words.collect(), inherited_env, env: set, cwd })
}

/// The server of a host's config, with its variables expanded.
fn configured(server: &ConfiguredServer) -> anyhow::Result<ServerTarget> {
    let name = &server.name;
    let entry = ServerEntry::read(&server.entry).map_err(|fault| {
        let why = match &fault {
            EntryFault::Disabled => "it is disabled in the host",
            EntryFault::NoTarget => "it has neither a program nor a URL",
            EntryFault::Invalid(why) => why,
        };
        anyhow!("the entry {name} in {} cannot be used: {why}", server.file.display())
    })?;
    let entry = entry.resolve(&project_folder(&server.file));
    let expand = |secret: &Secret| {
        let expanded = secret.expand(|variable| env::var(variable).ok());
        expanded.map_err(|variable| anyhow!("the entry {name} needs the variable {variable}"))
    };
    let values = entry.values.iter().map(|(name, value)| Ok((name.clone(), expand(value)?)));
    let values = values.collect::<anyhow::Result<Vec<_>>>()?;
    match &entry.target {
        EntryTarget::Url(url) => Ok(ServerTarget::Http { url: expand(url)?, headers: values }),
        EntryTarget::Program { .. } => {
            let words = entry.words().unwrap_or_default().into_iter();
            let words = words.map(|word| expand(&Secret(word))).collect::<anyhow::Result<_>>()?;
            let cwd = entry.cwd.as_ref().map(expand).transpose()?.map(PathBuf::from);
            program(words, values, cwd)
        }
    }
}
