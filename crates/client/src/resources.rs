//! Typed resource requests: list, templates, metadata, read, complete.
//!
//! Each function sends one request and decodes its result. It caches nothing and follows no cursor.

use protocol::ask::{completing, verb};
use protocol::ingest::{self, Listed, Opened};
use resource::{Completion, Freshness, Question, Resource, Template, Uri};

use crate::client::{Client, Request};
use crate::error::Error;

/// Which list of resources to request. The caller checks that the server offers it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum List {
    /// The server's top-level list.
    All,
    /// The children of a resource (SEP-2093).
    In(Uri),
    /// The entries of a directory (the skills extension, and refdesk's own).
    Directory(Uri),
}

impl Client {
    fn about(&self, verb: &str) -> Request {
        Request::new(verb).timeout(self.link.dial.options.reading)
    }

    /// One page of resources.
    pub async fn list(&self, list: &List, from: Option<&str>) -> Result<Listed<Resource>, Error> {
        let request = match list {
            List::All => self.about(verb::LIST),
            List::In(uri) => self.about(verb::LIST).about(uri.as_str()),
            List::Directory(uri) => self.about(verb::DIRECTORY).about(uri.as_str()),
        };
        let answer = self.ask(&request.from(from)?).await?;
        Ok(ingest::resources(&answer.result)?)
    }

    /// One page of templates.
    pub async fn templates(&self, from: Option<&str>) -> Result<Listed<Template>, Error> {
        let answer = self.ask(&self.about(verb::TEMPLATES).from(from)?).await?;
        Ok(ingest::templates(&answer.result)?)
    }

    /// The description of a resource, from a server with `resources/metadata` (SEP-2093).
    pub async fn metadata(&self, uri: &Uri) -> Result<(Resource, Freshness), Error> {
        let answer = self.ask(&self.about(verb::METADATA).about(uri.as_str())).await?;
        Ok(ingest::described(&answer.result)?)
    }

    /// The content of a resource.
    pub async fn read(&self, uri: &Uri) -> Result<Opened, Error> {
        let answer = self.ask(&self.about(verb::READ).about(uri.as_str())).await?;
        Ok(ingest::opened(&answer.result, uri)?)
    }

    /// Completion values for a template variable.
    pub async fn complete(&self, question: &Question<'_>) -> Result<Completion, Error> {
        let request = self.about(verb::COMPLETE).params(completing(question));
        let answer = self.ask(&request).await?;
        Ok(ingest::completion(&answer.result)?)
    }
}
