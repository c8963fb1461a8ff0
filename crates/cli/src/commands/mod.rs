//! The subcommands of the program, one file each.

pub(crate) mod check;
mod check_secrets;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod doctor;
pub(crate) mod host_config;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod man;
pub(crate) mod models;
pub(crate) mod serve;
pub(crate) mod supervise;
pub(crate) mod terminal;
pub(crate) mod token;
