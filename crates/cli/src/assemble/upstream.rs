//! Builds the upstream provider (an MCP client) from the settings of a mount.

use std::cell::RefCell;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::ToolSelection;
use client::{AnsweredRequests, Client, RevisionChoice, ServerTarget};
use machinery::MemoryBudget;
use providers::upstream::{Options, Upstream, UpstreamSearch};
use resource::UriTemplate;
use toml::Spanned;

use super::DEFAULT_TIMEOUT;
use super::masking;
use super::mount_log::ConnectionLog;
use super::own_server::OwnServer;
use super::program_env::{DEPTH, depth, inherited_names, may_be_secret};
use crate::hosts::is_host_folder;
use crate::settings::{
    CommandSetting, Diagnostic, MountSettings, Secret, ServerSearchSettings, Settings, ToolsOffer,
    ToolsSetting, UpstreamMount,
};

/// This program, whose command `supervise` starts the programs of mounts. The link also leads to it
/// after its file was replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Why there is no provider for a mount.
pub(super) enum UpstreamFault {
    /// The settings file is wrong, so that nothing is served.
    Settings(Diagnostic),
    /// Only this mount is left out.
    LeftOut {
        /// The reason for clients: no value, no path.
        reason: String,
        /// The reason for the log: the place in the settings too.
        explanation: String,
    },
}

/// Which tools of the server are offered, and how.
pub(super) fn select_tools(
    settings: &Settings,
    declared: &UpstreamMount,
) -> Result<Option<ToolSelection>, Diagnostic> {
    let Some(tools) = &declared.tools else { return Ok(None) };
    let selection = match tools.get_ref() {
        ToolsSetting::Word(offer) => {
            let by_search = *offer == ToolsOffer::Search;
            return Ok(Some(ToolSelection { by_search, ..ToolSelection::default() }));
        }
        ToolsSetting::Selection(selection) => selection,
    };
    let flaw = |message: String| settings.diagnostic(tools.span(), message, None);
    let new_names = selection.rename.values();
    if let Some(twice) =
        new_names.clone().find(|new| new_names.clone().filter(|one| one == new).count() > 1)
    {
        return Err(flaw(format!("`rename` gives two tools the name `{twice}`")));
    }
    let made = ToolSelection::new(selection.allow.as_deref(), &selection.deny);
    let made = made.map_err(|error| flaw(format!("not a glob: {error}")))?;
    let rename = selection.rename.clone();
    Ok(Some(ToolSelection { rename, by_search: selection.offer == ToolsOffer::Search, ..made }))
}

/// An upstream server that is declared in the settings.
#[derive(Clone, Copy)]
pub(super) struct DeclaredServer<'a> {
    pub(super) settings: &'a Settings,
    pub(super) name: &'a str,
    pub(super) mount: &'a MountSettings,
    pub(super) declared: &'a UpstreamMount,
}

/// A provider that is not connected yet, and the log of its connection.
pub(super) struct BuiltUpstream {
    pub(super) provider: Upstream,
    pub(super) log: ConnectionLog,
}

impl DeclaredServer<'_> {
    /// Builds the provider; does not connect yet. `memory` counts what its client holds.
    pub(super) fn build(&self, memory: &Arc<MemoryBudget>) -> Result<BuiltUpstream, UpstreamFault> {
        let target = self.target()?;
        if let Some(own) = OwnServer::find(self, &target) {
            let reason = own.reason().to_owned();
            let hint = "remove this entry, or set `disabled` in a host's file".to_owned();
            let diagnostic = self.diagnostic(own.key(), 0..0, &reason, Some(hint));
            return Err(UpstreamFault::LeftOut { reason, explanation: diagnostic.one_line() });
        }
        let usual = client::Options::default();
        let (timeout, reading) = match self.mount.shared.timeout {
            Some(span) => (span.0, span.0),
            None => (usual.timeout, DEFAULT_TIMEOUT),
        };
        let log_name = format!("mount {}", self.name);
        let options = client::Options {
            log_name: log_name.clone(),
            timeout,
            resource_timeout: reading,
            answers: AnsweredRequests::All,
            revision: self.revision()?,
            supervisor: Some(OWN_PROGRAM.into()),
            memory: Arc::clone(memory),
            secrets: self.handed_out(),
            ..usual
        };
        let client = Client::new(target, options);
        let redaction = masking::build_redaction(self.settings, self.mount);
        let redaction = redaction.map_err(UpstreamFault::Settings)?;
        let log = ConnectionLog::new(self.name, client.status(), &redaction);
        let (declared, usual) = (self.declared, Options::new(client));
        let listing = declared.listing.map_or(usual.listing_ttl, |span| span.0);
        let poll_interval = declared.poll.map(|span| span.0);
        let start_wait = self.settings.server.start_wait.map_or(usual.start_wait, |span| span.0);
        let search = self.search()?;
        let options =
            Options { log_name, listing_ttl: listing, poll_interval, start_wait, search, ..usual };
        Ok(BuiltUpstream { provider: Upstream::new(options), log })
    }

    /// The protocol revision that the settings name, or any.
    fn revision(&self) -> Result<RevisionChoice, UpstreamFault> {
        let Some(date) = &self.declared.revision else { return Ok(RevisionChoice::Newest) };
        RevisionChoice::only(date.get_ref()).ok_or_else(|| {
            let message = format!("there is no protocol revision {:?}", date.get_ref());
            let dates: Vec<&str> = RevisionChoice::dates().collect();
            let hint = Some(format!("one of {}", dates.join(", ")));
            UpstreamFault::Settings(self.settings.diagnostic(date.span(), message, hint))
        })
    }

    /// The server's own search, if the settings name one.
    fn search(&self) -> Result<Option<UpstreamSearch>, UpstreamFault> {
        let Some(search) = &self.declared.search else { return Ok(None) };
        let flaw = |span: Range<usize>, message: &str| Err(self.fault("search", span, message));
        let ServerSearchSettings { tool, argument, template } = search.get_ref();
        match (tool, template) {
            (Some(tool), None) => {
                let argument = argument.as_ref().map_or("query", |name| name.get_ref());
                if tool.get_ref().is_empty() || argument.is_empty() {
                    return flaw(search.span(), "the name of a tool or argument is empty");
                }
                let (tool, argument) = (tool.get_ref().clone(), argument.to_owned());
                Ok(Some(UpstreamSearch::Tool { tool, argument }))
            }
            (None, Some(template)) => {
                if let Some(argument) = argument {
                    return flaw(
                        argument.span(),
                        "`argument` is for a tool; a template has `{query}`",
                    );
                }
                let Ok(parsed) = UriTemplate::parse(template.get_ref()) else {
                    return flaw(template.span(), "not a URI template");
                };
                if !parsed.variables().eq(["query"]) {
                    let message = "a search template has the variable `{query}` and no other";
                    return flaw(template.span(), message);
                }
                Ok(Some(UpstreamSearch::Template(parsed)))
            }
            _ => flaw(search.span(), "`search` needs either `tool` or `template`"),
        }
    }

    fn target(&self) -> Result<ServerTarget, UpstreamFault> {
        match (&self.declared.command, &self.declared.url) {
            (Some(command), None) => self.program_target(command),
            (None, Some(url)) => Ok(ServerTarget::Http {
                url: self.expand("url", url)?,
                headers: self.expand_pairs("headers", &self.declared.headers)?,
            }),
            _ => {
                let message = format!("mount `{}` needs either `command` or `url`", self.name);
                let span = self.mount.span.clone();
                Err(UpstreamFault::Settings(self.settings.diagnostic(span, message, None)))
            }
        }
    }

    fn program_target(
        &self,
        command: &Spanned<CommandSetting>,
    ) -> Result<ServerTarget, UpstreamFault> {
        let declared = self.declared;
        let words = command.get_ref().words();
        let words = words.map_err(|why| self.fault("command", command.span(), why))?;
        let words = words.into_iter().map(|word| Spanned::new(command.span(), word));
        let mut words = words.map(|word| self.expand("command", &word));
        let Some(program) = words.next().transpose()? else {
            return Err(self.fault("command", command.span(), "it names no program"));
        };
        let mut args = words.collect::<Result<Vec<_>, _>>()?;
        for arg in &declared.args {
            args.push(self.expand("args", arg)?);
        }
        let environment = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let names = inherited_names(environment, &declared.inherit_env);
        tracing::info!("mount {}: its program inherits only {}", self.name, names.join(" "));
        let inherited = names.into_iter().filter_map(|name| {
            let value = std::env::var_os(&name)?;
            Some((name, value))
        });
        let deeper = (DEPTH.to_owned(), OsString::from((depth() + 1).to_string()));
        Ok(ServerTarget::Child {
            inherited_env: inherited.chain([deeper]).collect(),
            command: program,
            args,
            env: self.expand_pairs("env", &declared.env)?,
            cwd: match &declared.cwd {
                Some(cwd) => Some(self.folder().join(self.expand("cwd", cwd)?)),
                None => None,
            },
        })
    }

    /// The values that the server gets beside `env` and `headers`, and that may be secrets: of the
    /// variables in `command`, `args` and `url`, and of those that `inherit_env` names.
    fn handed_out(&self) -> Vec<String> {
        let declared = self.declared;
        let words = declared.command.as_ref().and_then(|command| command.get_ref().words().ok());
        let (args, url) = (declared.args.iter(), declared.url.iter());
        let texts = args.chain(url).map(|text| text.get_ref().clone());
        let expanded = RefCell::new(Vec::new());
        for text in words.unwrap_or_default().into_iter().chain(texts) {
            let _ = text.expand(|name| {
                expanded.borrow_mut().push(name.to_owned());
                Some(String::new())
            });
        }
        let environment = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let inherited = inherited_names(environment, &declared.inherit_env);
        let names = expanded.into_inner().into_iter().chain(inherited);
        let values = names.filter_map(|name| {
            let value = std::env::var(&name).ok()?;
            may_be_secret(&name, &value).then_some(value)
        });
        values.collect()
    }

    /// The folder of the file that declares the mount, or the current one.
    fn folder(&self) -> PathBuf {
        let file = self.settings.declaring_file(self.mount);
        file.and_then(Path::parent).map(Path::to_owned).unwrap_or_default()
    }

    /// The value of `${workspaceFolder}`: the folder of the file, or the project around a folder in
    /// which a host keeps its file.
    fn workspace_folder(&self) -> Option<String> {
        let folder = std::path::absolute(self.folder().join(".")).ok()?;
        let is_hosts = folder.file_name().is_some_and(is_host_folder);
        let workspace = if is_hosts { folder.parent()? } else { &folder };
        Some(workspace.to_str()?.to_owned())
    }

    fn expand_pairs(
        &self,
        key: &str,
        pairs: &std::collections::BTreeMap<String, Spanned<Secret>>,
    ) -> Result<Vec<(String, String)>, UpstreamFault> {
        let pair = |(name, value): (&String, &Spanned<Secret>)| {
            Ok((name.clone(), self.expand(&format!("{key}.{name}"), value)?))
        };
        pairs.iter().map(pair).collect()
    }

    /// Expands the variables in the value of `key`. One that is not set costs this mount only: it
    /// is not the file that is wrong.
    fn expand(&self, key: &str, text: &Spanned<Secret>) -> Result<String, UpstreamFault> {
        let variable = |name: &str| match name {
            "workspaceFolder" => self.workspace_folder(),
            name => std::env::var(name).ok(),
        };
        text.get_ref().expand(variable).map_err(|name| {
            let reason = format!("the environment variable `{name}` is not set");
            let hint = format!("set it, or give a default: ${{{name}:-default}}");
            let diagnostic = self.diagnostic(key, text.span(), &reason, Some(hint));
            UpstreamFault::LeftOut { reason, explanation: diagnostic.one_line() }
        })
    }

    /// A mistake in the settings: fatal in the settings file, which is strict.
    fn fault(&self, key: &str, span: Range<usize>, message: &str) -> UpstreamFault {
        let diagnostic = self.diagnostic(key, span, message, None);
        match self.mount.host_entry {
            Some(_) => UpstreamFault::LeftOut {
                reason: format!("\"{key}\": {message}"),
                explanation: diagnostic.one_line(),
            },
            None => UpstreamFault::Settings(diagnostic),
        }
    }

    fn diagnostic(
        &self,
        key: &str,
        span: Range<usize>,
        message: &str,
        hint: Option<String>,
    ) -> Diagnostic {
        let span = if span == (0..0) { self.mount.span.clone() } else { span };
        self.settings.mount_diagnostic((self.name, self.mount), (key, span), message, hint)
    }
}
