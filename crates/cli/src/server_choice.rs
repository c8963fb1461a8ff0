//! Which server a command talks to: the one that `--server` names, or the refdesk of this folder.

use std::env;
use std::path::PathBuf;

use async_trait::async_trait;
use client::ServerTarget;
use terminal::{CommandError, LocalFolder, ResolvedServer, ServerResolver};

use crate::commands::import::find_server;
use crate::hosts::{EntryTarget, ServerEntry};
use crate::running_server::RunningServer;
use crate::settings::{CommandSetting, Secret, Settings};

/// This program, also after its file was replaced.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// Finds servers on this machine.
pub(crate) struct ServerChoice {
    /// Whether a refdesk that is started for one command keeps its index.
    pub(crate) needs_index: bool,
}

#[async_trait]
impl ServerResolver for ServerChoice {
    async fn resolve(&self, server: Option<&str>) -> Result<ResolvedServer, CommandError> {
        match server {
            None => Ok(self.usual_server()),
            Some(server) => named_server(server),
        }
    }
}

impl ServerChoice {
    /// The refdesk that runs for this folder or one above it; else one that is started for the
    /// command and ends with it.
    fn usual_server(&self) -> ResolvedServer {
        let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let running = RunningServer::find_all();
        let nearest = running
            .into_iter()
            .filter(|server| here.starts_with(&server.folder))
            .max_by_key(|server| server.folder.components().count());
        if let Some(RunningServer { url, folders, .. }) = nearest {
            let target = ServerTarget::Http { url, headers: Vec::new() };
            let folders =
                folders.into_iter().map(|(uri, path)| LocalFolder { uri, path }).collect();
            return ResolvedServer { target, folders, supervisor: None };
        }
        let mut args = vec!["serve".to_owned(), "--stdio".to_owned()];
        if !self.needs_index {
            args.push("--without-index".to_owned());
        }
        let words = [vec![OWN_PROGRAM.to_owned()], args].concat();
        let settings = Settings::load_here().ok();
        let folders = settings.as_ref().map(Settings::served_folders).unwrap_or_default();
        let folders = folders.into_iter().map(|(uri, path)| LocalFolder { uri, path }).collect();
        ResolvedServer { target: program(words, Vec::new(), None), folders, supervisor: None }
    }
}

/// The server that a person names: a URL, a socket, a server of a host, or a command line.
fn named_server(server: &str) -> Result<ResolvedServer, CommandError> {
    let target = if server.starts_with("http://")
        || server.starts_with("https://")
        || server.starts_with("unix:")
    {
        ServerTarget::Http { url: server.to_owned(), headers: Vec::new() }
    } else if let Some(entry) = find_server(server) {
        entry_target(server, &entry)?
    } else {
        let words = CommandSetting::One(Secret(server.to_owned())).words();
        let words =
            words.map_err(|error| CommandError::Usage(format!("--server {server}: {error}")))?;
        let words: Vec<String> = words.into_iter().map(|word| word.0).collect();
        check_program(server, &words)?;
        program(words, Vec::new(), None)
    };
    Ok(ResolvedServer { target, folders: Vec::new(), supervisor: Some(OWN_PROGRAM.into()) })
}

/// A single word that no host knows and no program has is most likely a name with a typo.
fn check_program(server: &str, words: &[String]) -> Result<(), CommandError> {
    let Some(name) = words.first() else {
        return Err(CommandError::Usage("--server is empty".to_owned()));
    };
    let paths = env::var_os("PATH").unwrap_or_default();
    let exists =
        name.contains('/') || env::split_paths(&paths).any(|folder| folder.join(name).is_file());
    match exists {
        true => Ok(()),
        false => Err(CommandError::Usage(format!(
            "--server {server}: no host has a server of this name, and there is no program {name}; \
             write a URL, unix:PATH, a command line, or a name that `refdesk import --dry-run` lists"
        ))),
    }
}

fn program(
    mut words: Vec<String>,
    set: Vec<(String, String)>,
    cwd: Option<PathBuf>,
) -> ServerTarget {
    let command = words.remove(0);
    // The person who types the command line would also start the program in this environment.
    let inherited_env = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .collect();
    ServerTarget::Child { command, args: words, inherited_env, env: set, cwd }
}

fn entry_target(name: &str, entry: &ServerEntry) -> Result<ServerTarget, CommandError> {
    let expand = |value: &Secret| {
        value.expand(|variable| env::var(variable).ok()).map_err(|variable| {
            let words = format!("the server {name} needs the environment variable {variable}");
            CommandError::Usage(words)
        })
    };
    let mut values = Vec::new();
    for (key, value) in &entry.values {
        values.push((key.clone(), expand(value)?));
    }
    match &entry.target {
        EntryTarget::Url(url) => Ok(ServerTarget::Http { url: expand(url)?, headers: values }),
        EntryTarget::Program { .. } => {
            let mut words = Vec::new();
            for word in entry.words().unwrap_or_default() {
                words.push(expand(&Secret(word))?);
            }
            check_program(name, &words)?;
            let cwd = entry.cwd.as_ref().map(expand).transpose()?.map(PathBuf::from);
            Ok(program(words, values, cwd))
        }
    }
}
