//! Minimal in-memory resource server on `rmcp`, the baseline of the benchmarks.
//!
//! It has every advantage: no disk access, base64 encoded once, plain JSON responses, no sessions,
//! no router between socket and SDK, and the SDK's own non-blocking pipes for stdio.

use std::{convert::Infallible, io::Write, net::SocketAddr, sync::Arc};

use anyhow::Context;
use bench::test_data::{self, CONCURRENCY, TestBody};
use clap::Parser;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities,
        ServerConfig,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, io::stdio_pipes,
        streamable_http_server::session::never::NeverSessionManager,
    },
};
use tokio::net::{TcpListener, TcpStream};

/// A minimal MCP resources server on rmcp, for comparison.
#[derive(Parser)]
#[command(name = "bench-peer")]
struct Arguments {
    /// Use standard input and output.
    #[arg(long)]
    stdio: bool,
    /// Serve Streamable HTTP on this address.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Worker threads; by default one per core over HTTP, and one over stdio.
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// Hold copies of the two texts instead of ten thousand small resources.
    #[arg(long)]
    copies: bool,
    /// TTL of read results in milliseconds.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    ttl: u64,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    // For a single pipe, a second thread only adds hand-offs (measured).
    let threads = arguments.threads.or(arguments.stdio.then_some(1));
    let mut builder = match threads {
        Some(1) => tokio::runtime::Builder::new_current_thread(),
        Some(count) => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(count);
            builder
        }
        None => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = builder.enable_all().build().context("start the runtime")?;
    let shelf = Arc::new(PeerServer::new(&arguments));
    if arguments.stdio {
        runtime.block_on(serve_stdio(shelf))
    } else {
        runtime.block_on(serve_http(shelf, arguments.listen))
    }
}

async fn serve_stdio(shelf: Arc<PeerServer>) -> anyhow::Result<()> {
    let running = shelf.serve(stdio_pipes()).await.context("open the connection")?;
    running.waiting().await.context("serve the connection")?;
    Ok(())
}

type Service = StreamableHttpService<Arc<PeerServer>, NeverSessionManager>;

async fn serve_http(shelf: Arc<PeerServer>, address: SocketAddr) -> anyhow::Result<()> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_sse_retry(None);
    let factory = move || Ok(Arc::clone(&shelf));
    let service = Arc::new(Service::new(factory, Arc::default(), config));
    let listener = TcpListener::bind(address).await.context("bind the address")?;
    let bound = listener.local_addr().context("read the local address")?;
    writeln!(std::io::stderr(), "listening on http://{bound}/mcp").context("print the address")?;
    loop {
        let (stream, _) = listener.accept().await.context("accept a connection")?;
        tokio::spawn(serve_connection(stream, Arc::clone(&service)));
    }
}

async fn serve_connection(stream: TcpStream, service: Arc<Service>) -> anyhow::Result<()> {
    stream.set_nodelay(true).context("turn Nagle's delay off")?;
    // Calling the SDK's handler directly saves the clone its tower service makes per request.
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.handle(request).await) }
    });
    http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await?;
    Ok(())
}

/// All results of the server, built once.
struct PeerServer {
    resources: Vec<Resource>,
    bodies: Vec<ResourceContents>,
    ttl: u64,
}

impl PeerServer {
    fn new(arguments: &Arguments) -> Self {
        let entries = if arguments.copies { 0..0 } else { test_data::entries() };
        let mut resources: Vec<Resource> = entries
            .map(|number| {
                Resource::new(test_data::entry_uri(number), test_data::entry_name(number))
                    .with_mime_type("text/plain")
                    .with_size(test_data::entry_text(number).len() as u64)
            })
            .collect();
        let mut bodies: Vec<ResourceContents> = Vec::new();
        for body in TestBody::ALL {
            let copies = if arguments.copies && body != TestBody::Blob { CONCURRENCY } else { 0 };
            for uri in [body.uri()].into_iter().chain(body.copies(copies)) {
                resources.push(
                    Resource::new(uri.clone(), body.name())
                        .with_mime_type(body.mime())
                        .with_size(body.size() as u64),
                );
                bodies.push(contents(body, uri));
            }
        }
        Self { resources, bodies, ttl: arguments.ttl }
    }

    fn page(&self, cursor: Option<&str>) -> Option<ListResourcesResult> {
        let start = cursor.map_or(Some(0), |cursor| cursor.parse().ok())?;
        let rest = self.resources.get(start..)?;
        let page = rest.get(..test_data::PAGE).unwrap_or(rest);
        let next = start + page.len();
        let mut result = ListResourcesResult::with_all_items(page.to_vec());
        result.next_cursor = (next < self.resources.len()).then(|| next.to_string());
        Some(result)
    }

    fn body(&self, wanted: &str) -> Option<ReadResourceResult> {
        let found = self.bodies.iter().find(|contents| match contents {
            ResourceContents::TextResourceContents { uri, .. }
            | ResourceContents::BlobResourceContents { uri, .. } => uri == wanted,
            _ => false,
        })?;
        Some(ReadResourceResult::new(vec![found.clone()]).with_ttl_ms(self.ttl))
    }
}

fn contents(body: TestBody, uri: String) -> ResourceContents {
    let bytes = body.bytes();
    let contents = match body {
        TestBody::Kib | TestBody::Mib => {
            ResourceContents::text(String::from_utf8_lossy(&bytes), uri)
        }
        TestBody::Blob => {
            ResourceContents::blob(base64_simd::STANDARD.encode_to_string(bytes), uri)
        }
    };
    contents.with_mime_type(body.mime())
}

impl ServerHandler for PeerServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_resources().build())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.as_ref().and_then(|request| request.cursor.as_deref());
        self.page(cursor).ok_or_else(|| ErrorData::invalid_params("no such cursor", None))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = self.body(&request.uri);
        found
            .map(ReadResourceResponse::from)
            .ok_or_else(|| ErrorData::invalid_params("no such resource", None))
    }
}
