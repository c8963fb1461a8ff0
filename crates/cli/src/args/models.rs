//! Arguments of `refdesk models`. The doc comments are the help texts.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Check a model's folder, and install a copy of it
    Add(AddModelArgs),
    /// List the installed models
    List(ListModelsArgs),
    /// Remove an installed model
    Remove(RemoveModelArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    refdesk models add ~/Downloads/potion-base-8M       as potion-base-8m\n  \
    refdesk models add ./wordllama --name english       under another name\n\n\
    A model is a folder with model.safetensors and tokenizer.json (Model2Vec, or a static model of\n\
    Sentence Transformers), or with weights/ and tokenizers/ (WordLlama).")]
pub(crate) struct AddModelArgs {
    /// The folder of the model
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// The model's name here [default: the folder's, in small letters]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListModelsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RemoveModelArgs {
    /// The name of the model, as `refdesk models list` shows it
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
