//! Verifies responses before they are measured.

use std::net::SocketAddr;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    http::Connection,
    message::{BenchRequest, REVISION},
};

#[derive(Deserialize)]
struct RpcResponse<T> {
    result: Option<T>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListResult {
    resources: Vec<IgnoredAny>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct BenchReadResult {
    contents: Vec<ContentsItem>,
}

#[derive(Deserialize)]
struct ContentsItem {
    text: Option<String>,
    blob: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovery {
    supported_versions: Vec<String>,
}

/// The fields of a list page that the benchmarks use.
pub(crate) struct PageSummary {
    pub(crate) count: usize,
    pub(crate) next: Option<String>,
    pub(crate) length: usize,
}

fn decode_result<'a, T: Deserialize<'a>>(body: &'a [u8]) -> anyhow::Result<T> {
    let answer: RpcResponse<T> = serde_json::from_slice(body).context("decode a response")?;
    if let Some(error) = answer.error {
        bail!("the server returned an error: {error}");
    }
    answer.result.context("response without a result")
}

/// Checks that a response is a list page; returns its size and cursor.
pub(crate) fn check_page(body: &[u8]) -> anyhow::Result<PageSummary> {
    let listing: ListResult = decode_result(body).context("list a page")?;
    Ok(PageSummary {
        count: listing.resources.len(),
        next: listing.next_cursor,
        length: body.len(),
    })
}

/// Checks that a response contains exactly these bytes, as text or blob.
pub(crate) fn check_read(body: &[u8], expected: &[u8]) -> anyhow::Result<()> {
    let reading: BenchReadResult = decode_result(body).context("read a resource")?;
    let element = reading.contents.first().context("read result without contents")?;
    let bytes = match (&element.text, &element.blob) {
        (Some(text), None) => text.clone().into_bytes(),
        (None, Some(blob)) => {
            base64_simd::STANDARD.decode_to_vec(blob).context("decode the blob")?
        }
        _ => bail!("contents must hold either text or a blob"),
    };
    ensure!(
        bytes == expected,
        "the server returned {} bytes that differ from the {} expected",
        bytes.len(),
        expected.len()
    );
    Ok(())
}

/// Checks that the server supports the protocol revision of the benchmarks.
pub(crate) fn check_discovery(body: &[u8]) -> anyhow::Result<()> {
    let discovery: Discovery = decode_result(body).context("discover the server")?;
    let speaks = discovery.supported_versions.iter().any(|version| version == REVISION);
    ensure!(speaks, "the server does not support {REVISION}");
    Ok(())
}

/// A client whose responses are inspected, not measured.
pub(crate) struct VerifyingClient {
    connection: Connection,
    host: String,
}

impl VerifyingClient {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self { connection: Connection::open(address).await?, host: address.to_string() })
    }

    pub(crate) async fn request(&mut self, message: &BenchRequest) -> anyhow::Result<Vec<u8>> {
        self.connection.request_body(&message.over_http(&self.host)).await
    }
}

#[cfg(test)]
mod tests {
    use super::{check_page, check_read};

    #[test]
    fn a_refusal_is_not_a_result() {
        let body = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
        assert!(check_page(body).is_err());
    }

    #[test]
    fn other_bytes_are_not_a_reading() {
        let body = br#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"text":"ab"}]}}"#;
        assert!(check_read(body, b"ab").is_ok());
        assert!(check_read(body, b"abc").is_err());
    }
}
