//! MCP hosts: the files in which each keeps its servers, and how an entry is read and written.

mod config_file;
mod config_value;
mod entry;
mod host_table;
mod json_config;
mod server_entry;
mod toml_config;
mod yaml_config;

pub(crate) use config_file::{ConfigFile, ConfigFormat, FileChange};
pub(crate) use config_value::ConfigValue;
pub(crate) use entry::{HostConnection, entry_value};
pub(crate) use host_table::{Host, HostInfo, is_host_folder};
pub(crate) use json_config::parse as parse_json;
pub(crate) use server_entry::{EntryFault, EntryTarget, ServerEntry};
