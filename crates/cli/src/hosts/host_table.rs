//! Table of the hosts: file, format, place of the servers in it, and what to do after an edit.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::config_file::ConfigFormat;

/// A host that can use refdesk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    /// Claude Code
    #[value(alias = "claude-code")]
    Claude,
    /// Claude Desktop (starts refdesk itself; no HTTP)
    ClaudeDesktop,
    /// Visual Studio Code
    Vscode,
    /// Cursor
    Cursor,
    /// Windsurf
    Windsurf,
    /// Zed
    Zed,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// OpenCode
    Opencode,
    /// Goose
    Goose,
    /// Cline
    Cline,
    /// Continue
    Continue,
    /// JetBrains AI Assistant
    Jetbrains,
    /// LM Studio
    LmStudio,
    /// GitHub Copilot CLI
    Copilot,
    /// Any host that reads `mcpServers`
    Generic,
}

/// What refdesk knows of a host.
#[derive(Debug)]
pub(crate) struct HostInfo {
    host: Host,
    pub(crate) title: &'static str,
    pub(crate) format: ConfigFormat,
    /// The keys that lead to the servers in the file.
    pub(crate) keys: &'static [&'static str],
    /// The files that have this form; the first is the one that `--write` edits.
    files: &'static [ConfigLocation],
    /// What a person does after the edit.
    pub(crate) next: &'static str,
}

#[derive(Debug)]
enum ConfigLocation {
    /// In the current folder.
    Project(&'static str),
    Home(&'static str),
    /// In `XDG_CONFIG_HOME`, by default `~/.config`.
    Config(&'static str),
    /// In the folder that a variable names, by default one in the home folder.
    Variable {
        variable: &'static str,
        default: &'static str,
        file: &'static str,
    },
}

use ConfigLocation::{Config, Home, Project, Variable};

const MCP_SERVERS: &[&str] = &["mcpServers"];

const HOSTS: &[HostInfo] = &[
    HostInfo {
        host: Host::Claude,
        title: "Claude Code",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Project(".mcp.json"), Home(".claude.json")],
        next: "start claude in this folder and approve the server; claude mcp list shows its state",
    },
    HostInfo {
        host: Host::ClaudeDesktop,
        title: "Claude Desktop",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Config("Claude/claude_desktop_config.json")],
        next: "quit Claude Desktop and start it again",
    },
    HostInfo {
        host: Host::Vscode,
        title: "Visual Studio Code",
        format: ConfigFormat::Json,
        keys: &["servers"],
        files: &[Project(".vscode/mcp.json"), Config("Code/User/mcp.json")],
        next: "run the command \"MCP: List Servers\", and start refdesk there",
    },
    HostInfo {
        host: Host::Cursor,
        title: "Cursor",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Project(".cursor/mcp.json"), Home(".cursor/mcp.json")],
        next: "enable the server under Settings, MCP",
    },
    HostInfo {
        host: Host::Windsurf,
        title: "Windsurf",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Home(".codeium/windsurf/mcp_config.json")],
        next: "refresh the list of MCP servers in Cascade",
    },
    HostInfo {
        host: Host::Zed,
        title: "Zed",
        format: ConfigFormat::Json,
        keys: &["context_servers"],
        files: &[Config("zed/settings.json"), Project(".zed/settings.json")],
        next: "Zed starts the server at once; its settings show a green dot",
    },
    HostInfo {
        host: Host::Codex,
        title: "Codex",
        format: ConfigFormat::Toml,
        keys: &["mcp_servers"],
        files: &[
            Variable { variable: "CODEX_HOME", default: ".codex", file: "config.toml" },
            Project(".codex/config.toml"),
        ],
        next: "start codex and type /mcp",
    },
    HostInfo {
        host: Host::Gemini,
        title: "Gemini CLI",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Home(".gemini/settings.json"), Project(".gemini/settings.json")],
        next: "start gemini in a folder that it trusts and type /mcp",
    },
    HostInfo {
        host: Host::Qwen,
        title: "Qwen Code",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Home(".qwen/settings.json"), Project(".qwen/settings.json")],
        next: "start qwen and type /mcp",
    },
    HostInfo {
        host: Host::Opencode,
        title: "OpenCode",
        format: ConfigFormat::Json,
        keys: &["mcp"],
        files: &[Config("opencode/opencode.json"), Project("opencode.json")],
        next: "opencode mcp list shows its state",
    },
    HostInfo {
        host: Host::Goose,
        title: "Goose",
        format: ConfigFormat::Yaml,
        keys: &["extensions"],
        files: &[Config("goose/config.yaml")],
        next: "start a new session",
    },
    HostInfo {
        host: Host::Cline,
        title: "Cline",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[
            Home(".cline/data/settings/cline_mcp_settings.json"),
            Config(
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
        ],
        next: "Cline connects at once; its MCP Servers panel shows the state",
    },
    HostInfo {
        host: Host::Continue,
        title: "Continue",
        format: ConfigFormat::OwnFile,
        keys: MCP_SERVERS,
        files: &[Project(".continue/mcpServers/refdesk.yaml")],
        next: "reload the window; Continue uses MCP servers in agent mode",
    },
    HostInfo {
        host: Host::Jetbrains,
        title: "JetBrains AI Assistant",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[],
        next: "paste it under Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON",
    },
    HostInfo {
        host: Host::LmStudio,
        title: "LM Studio",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Home(".lmstudio/mcp.json")],
        next: "enable mcp/refdesk in a chat",
    },
    HostInfo {
        host: Host::Copilot,
        title: "GitHub Copilot CLI",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[Variable {
            variable: "COPILOT_HOME",
            default: ".copilot",
            file: "mcp-config.json",
        }],
        next: "start copilot and type /mcp show",
    },
    HostInfo {
        host: Host::Generic,
        title: "any host that reads mcpServers",
        format: ConfigFormat::Json,
        keys: MCP_SERVERS,
        files: &[],
        next: "paste it where the host keeps its MCP servers",
    },
];

/// Whether hosts keep their files in a folder of a project that has this name.
pub(crate) fn is_host_folder(name: &OsStr) -> bool {
    let folder = |location: &ConfigLocation| match location {
        Project(file) => Path::new(*file).parent().map(Path::as_os_str),
        Home(_) | Config(_) | Variable { .. } => None,
    };
    let mut folders = HOSTS.iter().flat_map(|info| info.files).filter_map(folder);
    folders.any(|folder| !name.is_empty() && folder == name)
}

impl Host {
    /// What refdesk knows of this host.
    pub(crate) fn info(self) -> &'static HostInfo {
        // The last one is the generic host, so the fallback is right too.
        HOSTS.iter().find(|info| info.host == self).unwrap_or(&HOSTS[HOSTS.len() - 1])
    }
}

impl HostInfo {
    /// The file that `--write` edits, if the host has a known one.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.files.first()?.path()
    }

    /// All files in which the host may keep servers.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().filter_map(ConfigLocation::path)
    }
}

impl ConfigLocation {
    fn path(&self) -> Option<PathBuf> {
        let named = |variable: &str| {
            env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let home = || named("HOME");
        Some(match self {
            Project(file) => PathBuf::from(file),
            Home(file) => home()?.join(file),
            Config(file) => {
                named("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))?.join(file)
            }
            Variable { variable, default, file } => {
                named(variable).or_else(|| Some(home()?.join(default)))?.join(file)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::{Host, is_host_folder};

    #[test]
    fn the_folders_of_hosts_in_a_project_are_known() {
        for name in [".vscode", ".cursor", ".gemini", ".qwen", ".zed", ".codex"] {
            assert!(is_host_folder(name.as_ref()), "{name}");
        }
        for name in ["", ".", "src", ".codeium", ".config", "Claude"] {
            assert!(!is_host_folder(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn every_host_stands_in_the_table() {
        for host in Host::value_variants() {
            assert_eq!(host.info().host, *host);
        }
    }
}
