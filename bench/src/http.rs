//! Minimal HTTP/1.1 client with little CPU cost of its own.

use std::{io, net::SocketAddr};

use anyhow::{Context, bail, ensure};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream, rustls::pki_types::ServerName};

const BUFFER: usize = 256 << 10;

/// One keep-alive connection with one request at a time.
pub(crate) struct Connection {
    stream: ClientStream,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// TCP, plain or under TLS.
enum ClientStream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl ClientStream {
    async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Tls(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer).await,
            Self::Tls(stream) => stream.read(buffer).await,
        }
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("connect to the server")?;
        stream.set_nodelay(true).context("turn Nagle's delay off")?;
        Ok(Self::over(ClientStream::Plain(stream)))
    }

    /// The same under TLS, with a server whose certificate is for `localhost`.
    pub(crate) async fn open_tls(
        address: SocketAddr,
        connector: &TlsConnector,
    ) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("connect to the server")?;
        let name = ServerName::try_from("localhost").context("a server name")?;
        let stream = connector.connect(name, stream).await.context("shake hands")?;
        Ok(Self::over(ClientStream::Tls(Box::new(stream))))
    }

    fn over(stream: ClientStream) -> Self {
        Self { stream, buffer: vec![0; BUFFER], start: 0, end: 0 }
    }

    /// Sends a message to an HTTP+SSE connection, which answers elsewhere.
    pub(crate) async fn post_accepted(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.stream.write_all(request).await.context("send a request")?;
        let head = self.read_head().await?;
        self.read_body(head.framing, None).await?;
        ensure!(head.status == 202, "the server responded with status {}", head.status);
        Ok(())
    }

    /// Sends a request and discards the body; returns its length.
    pub(crate) async fn request_length(&mut self, request: &[u8]) -> anyhow::Result<usize> {
        self.exchange(request, None).await
    }

    /// Sends a request; returns the body.
    pub(crate) async fn request_body(&mut self, request: &[u8]) -> anyhow::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.exchange(request, Some(&mut body)).await?;
        Ok(body)
    }

    /// Sends an `initialize` request; returns the id of the session.
    pub(crate) async fn open_session(&mut self, request: &[u8]) -> anyhow::Result<String> {
        self.stream.write_all(request).await.context("send a request")?;
        let head = self.read_head().await?;
        self.read_body(head.framing, None).await?;
        head.session.with_context(|| format!("status {} and no session", head.status))
    }

    /// Opens an SSE stream; its chunks are read one at a time.
    pub(crate) async fn open_stream(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.stream.write_all(request).await.context("send a request")?;
        let head = self.read_head().await?;
        let is_open = head.events && matches!(head.framing, Framing::Chunked);
        ensure!(
            head.status == 200 && is_open,
            "the server responded with status {} and no event stream",
            head.status
        );
        Ok(())
    }

    /// Waits for the next chunk of the open stream and appends it to `text`.
    pub(crate) async fn next_chunk(&mut self, text: &mut Vec<u8>) -> anyhow::Result<()> {
        let size = self.read_chunk_size().await?;
        self.read_exact(size, Some(text)).await?;
        self.read_exact(2, None).await?;
        ensure!(size > 0, "the server ended the stream");
        Ok(())
    }

    async fn exchange(
        &mut self,
        request: &[u8],
        mut keep: Option<&mut Vec<u8>>,
    ) -> anyhow::Result<usize> {
        self.stream.write_all(request).await.context("send a request")?;
        let head = self.read_head().await?;
        if head.status != 200 {
            let mut body = Vec::new();
            self.read_body(head.framing, Some(&mut body)).await?;
            let words = String::from_utf8_lossy(body.get(..400).unwrap_or(&body)).into_owned();
            bail!("the server responded with status {}: {words}", head.status);
        }
        ensure!(head.json, "the server did not respond with application/json");
        self.read_body(head.framing, keep.take()).await
    }

    async fn read_head(&mut self) -> anyhow::Result<Head> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memmem::find(unread, b"\r\n\r\n") {
                let head = Head::parse(&unread[..length])?;
                self.start += length + 4;
                return Ok(head);
            }
            self.fill_buffer().await?;
        }
    }

    async fn read_body(
        &mut self,
        framing: Framing,
        mut keep: Option<&mut Vec<u8>>,
    ) -> anyhow::Result<usize> {
        if let Framing::Length(length) = framing {
            self.read_exact(length, keep).await?;
            return Ok(length);
        }
        let mut total = 0;
        loop {
            let size = self.read_chunk_size().await?;
            self.read_exact(size, keep.as_deref_mut()).await?;
            self.read_exact(2, None).await?;
            total += size;
            if size == 0 {
                return Ok(total);
            }
        }
    }

    async fn read_chunk_size(&mut self) -> anyhow::Result<usize> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memmem::find(unread, b"\r\n") {
                let line = std::str::from_utf8(&unread[..length]).context("read a chunk's size")?;
                let digits = line.split(';').next().unwrap_or(line).trim();
                let size = usize::from_str_radix(digits, 16).context("read a chunk's size")?;
                self.start += length + 2;
                return Ok(size);
            }
            self.fill_buffer().await?;
        }
    }

    async fn read_exact(
        &mut self,
        length: usize,
        mut keep: Option<&mut Vec<u8>>,
    ) -> anyhow::Result<()> {
        let mut left = length;
        while left > 0 {
            if self.start == self.end {
                self.fill_buffer().await?;
            }
            let part = left.min(self.end - self.start);
            if let Some(keep) = keep.as_deref_mut() {
                keep.extend_from_slice(&self.buffer[self.start..self.start + part]);
            }
            self.start += part;
            left -= part;
        }
        Ok(())
    }

    async fn fill_buffer(&mut self) -> anyhow::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            ensure!(self.start > 0, "a header or chunk line is longer than the buffer");
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let count = self.stream.read(&mut self.buffer[self.end..]).await.context("read")?;
        ensure!(count > 0, "the server closed the connection in the middle of a response");
        self.end += count;
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Framing {
    Length(usize),
    Chunked,
}

struct Head {
    status: u16,
    framing: Framing,
    json: bool,
    events: bool,
    session: Option<String>,
}

impl Head {
    fn parse(bytes: &[u8]) -> anyhow::Result<Self> {
        let text = std::str::from_utf8(bytes).context("read the answer's head")?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let status = status.and_then(|code| code.parse().ok()).context("read the status line")?;
        let mut framing = Framing::Length(0);
        let (mut json, mut events, mut session) = (false, false, None);
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                framing = Framing::Length(value.parse().context("read content-length")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                framing = Framing::Chunked;
            } else if name.eq_ignore_ascii_case("content-type") {
                json = value.starts_with("application/json");
                events = value.starts_with("text/event-stream");
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                session = Some(value.to_owned());
            }
        }
        Ok(Self { status, framing, json, events, session })
    }
}
