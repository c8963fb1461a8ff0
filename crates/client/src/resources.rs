//! Typed requests for resources: list, templates, metadata, read, complete.
//!
//! Each function sends one request and decodes its result. It caches nothing and follows no cursor.

use protocol::outbound::components;
use protocol::outbound::decode::{self, DecodedPage, ReadResult};
use protocol::outbound::request::{completion_params, methods, window_params};
use resource::{
    Caller, Completion, CompletionRequest, Freshness, ReadRequest, Resource, Template, Uri,
};
use serde_json::value::RawValue;

use crate::client::{Client, Request};
use crate::error::{CallError, Error};
use crate::server_requests::repeat_with_input;

/// Which list of resources to request. The caller checks that the server offers it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListScope {
    /// The server's top-level list.
    All,
    /// The children of a resource (SEP-2093).
    Children(Uri),
    /// The entries of a directory (the skills extension, and refdesk's own).
    Directory(Uri),
}

impl Client {
    pub(crate) fn resource_request(&self, verb: &str) -> Request {
        Request::new(verb).timeout(self.connection.connector.options.resource_timeout)
    }

    /// One page of resources.
    pub async fn list(
        &self,
        list: &ListScope,
        from: Option<&str>,
    ) -> Result<DecodedPage<Resource>, Error> {
        let request = match list {
            ListScope::All => self.resource_request(methods::LIST_RESOURCES),
            ListScope::Children(uri) => {
                self.resource_request(methods::LIST_RESOURCES).uri(uri.as_str())
            }
            ListScope::Directory(uri) => {
                self.resource_request(methods::READ_DIRECTORY).uri(uri.as_str())
            }
        };
        let answer = self.send_request(&request.at_cursor(from)?).await?;
        Ok(decode::resource_page(&answer)?)
    }

    /// One page of templates.
    pub async fn templates(&self, from: Option<&str>) -> Result<DecodedPage<Template>, Error> {
        let answer = self
            .send_request(&self.resource_request(methods::LIST_TEMPLATES).at_cursor(from)?)
            .await?;
        Ok(decode::template_page(&answer)?)
    }

    /// The description of a resource, from a server with `resources/metadata` (SEP-2093).
    pub async fn metadata(&self, uri: &Uri) -> Result<(Resource, Freshness), Error> {
        let answer = self
            .send_request(&self.resource_request(methods::RESOURCE_METADATA).uri(uri.as_str()))
            .await?;
        Ok(decode::metadata_result(&answer)?)
    }

    /// The content of a resource.
    pub async fn read(&self, uri: &Uri) -> Result<ReadResult, Error> {
        let request = self.resource_request(methods::READ_RESOURCE).uri(uri.as_str());
        Ok(decode::read_result(&self.send_for_content(&request).await?, uri)?)
    }

    /// A window of a resource, from a server that may cut it: then the elements have their byte
    /// range. Otherwise they are the whole.
    pub async fn read_window(&self, uri: &Uri, request: &ReadRequest) -> Result<ReadResult, Error> {
        let params = window_params(uri.as_str(), request);
        let request = self.resource_request(methods::READ_RESOURCE).params(params);
        Ok(decode::read_result(&self.send_for_content(&request).await?, uri)?)
    }

    /// The content of a resource, for one caller: the server may ask it for input. The result
    /// requires input only if the caller cannot receive requests meanwhile.
    pub async fn read_for_caller(
        &self,
        uri: &Uri,
        caller: &dyn Caller,
    ) -> Result<ReadResult, CallError> {
        let params =
            components::read_params(uri, caller).map_err(|flaw| CallError::invalid(&flaw))?;
        let result = repeat_with_input(Some(caller), params, |params| async move {
            let request = Request::new(methods::READ_RESOURCE).params(params);
            Ok(self.send_request(&request).await?.get().into())
        });
        let result = result.await?;
        let raw: &RawValue = serde_json::from_str(result.as_str())
            .map_err(|flaw| Error::Malformed(flaw.to_string()))?;
        Ok(decode::read_result(&raw.into(), uri).map_err(Error::from)?)
    }

    /// Completion values for a template variable.
    pub async fn complete(&self, request: &CompletionRequest<'_>) -> Result<Completion, Error> {
        self.send_completion(completion_params(request)).await
    }

    pub(crate) async fn send_completion(&self, params: Box<RawValue>) -> Result<Completion, Error> {
        let request = self.resource_request(methods::COMPLETE).params(params);
        let answer = self.send_request(&request).await?;
        Ok(decode::completion_result(&answer)?)
    }
}
