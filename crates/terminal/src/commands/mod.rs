//! The commands, one file each.

mod call;
mod cat;
mod cp;
mod find;
mod get;
mod grep;
mod ls;
mod pack;
mod search;
mod stat;
mod watch;

pub(crate) use get::find as find_template;
pub(crate) use pack::print_part;

use crate::args::TerminalCommand;
use crate::connection::ServerConnection;
use crate::error::CommandError;
use crate::output::Output;

pub(crate) async fn run(
    command: &TerminalCommand,
    connection: &ServerConnection,
    output: &mut Output,
) -> Result<(), CommandError> {
    match command {
        TerminalCommand::Ls(args) => ls::run(args, connection, output).await,
        TerminalCommand::Cat(args) => cat::run(args, connection, output).await,
        TerminalCommand::Stat(args) => stat::run(args, connection, output).await,
        TerminalCommand::Find(args) => find::run(args, connection, output).await,
        TerminalCommand::Search(args) => search::run(args, connection, output).await,
        TerminalCommand::Grep(args) => grep::run(args, connection, output).await,
        TerminalCommand::Get(args) => get::run(args, connection, output).await,
        TerminalCommand::Call(args) => call::run(args, connection, output).await,
        TerminalCommand::Watch(args) => watch::run(args, connection, output).await,
        TerminalCommand::Pack(args) => pack::run(args, connection, output).await,
        TerminalCommand::Cp(args) => cp::run(args, connection, output).await,
        TerminalCommand::Pick(args) => crate::pick::run(args, connection, output).await,
        TerminalCommand::Top(args) => crate::top::run(args, connection, output).await,
    }
}
