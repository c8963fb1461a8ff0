//! Tests of the client against a server on rmcp, in both eras and over both transports.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use client::{Client, NotificationKind, PipeOpener, PipeReader, PipeWriter, Request, ServerTarget};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    ListResourcesResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use tokio::io::{duplex, split};
use tokio::net::TcpListener;

use crate::scripted_pipe::{fast_options, in_time};

#[derive(Clone, Copy)]
struct RmcpResourceServer {
    versions: &'static [ProtocolVersion],
}

const OLD: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

impl ServerHandler for RmcpResourceServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.versions)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let _ = context.peer.notify_resource_list_changed().await;
        Ok(ListResourcesResult::with_all_items(vec![Resource::new("str:anger", "stranger")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match request.uri.as_str() {
            "str:anger" => {
                let contents = vec![ResourceContents::text("hello", "str:anger")];
                Ok(ReadResourceResponse::from(ReadResourceResult::new(contents)))
            }
            _ => Err(ErrorData::resource_not_found("no such resource", None)),
        }
    }
}

impl PipeOpener for RmcpResourceServer {
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)> {
        let (ours, theirs) = duplex(1 << 16);
        let stranger = *self;
        tokio::spawn(async move {
            let running = stranger.serve(split(theirs)).await.unwrap();
            running.waiting().await.unwrap();
        });
        let (read, write) = split(ours);
        Ok((Box::new(read), Box::new(write)))
    }
}

async fn served(server: RmcpResourceServer) -> ServerTarget {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        move || Ok(server),
        sessions,
        StreamableHttpServerConfig::default(),
    );
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service.clone();
            let answer = service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    ServerTarget::Http { url: format!("http://127.0.0.1:{port}/mcp"), headers: Vec::new() }
}

async fn check(target: ServerTarget, has_handshake: bool) {
    let client = Client::new(target, fast_options());
    let mut notices = client.notifications();
    let peer = in_time(client.peer()).await.unwrap();
    assert_eq!(peer.has_handshake(), has_handshake);
    assert!(peer.capabilities.has_subscribe && peer.capabilities.has_list_changed);
    let listed = in_time(client.send_request(&Request::new("resources/list"))).await.unwrap();
    assert!(listed.get().contains("str:anger"));
    let read = Request::new("resources/read");
    let answer = in_time(client.send_request(&read.clone().uri("str:anger"))).await.unwrap();
    assert!(answer.get().contains("hello"));
    let missing = in_time(client.send_request(&read.uri("str:anger/no"))).await.unwrap_err();
    assert!(missing.is_resource_not_found(), "{missing}");
    if has_handshake {
        let notice = in_time(notices.next()).await.unwrap();
        assert_eq!(notice.kind, NotificationKind::ResourceListChanged);
    }
    in_time(client.close()).await;
}

#[tokio::test]
async fn an_old_one_is_spoken_with_over_pipes() {
    check(ServerTarget::Pipes(Arc::new(RmcpResourceServer { versions: OLD })), true).await;
}

#[tokio::test]
async fn an_old_one_is_spoken_with_over_http() {
    check(served(RmcpResourceServer { versions: OLD }).await, true).await;
}

#[tokio::test]
async fn a_new_one_is_spoken_with_over_pipes() {
    let versions = ProtocolVersion::KNOWN_VERSIONS;
    check(ServerTarget::Pipes(Arc::new(RmcpResourceServer { versions })), false).await;
}

#[tokio::test]
async fn a_new_one_is_spoken_with_over_http() {
    let versions = ProtocolVersion::KNOWN_VERSIONS;
    check(served(RmcpResourceServer { versions }).await, false).await;
}
