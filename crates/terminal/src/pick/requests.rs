//! Requests of the picker to the server: each becomes one event.

use std::sync::Arc;
use std::time::Duration;

use resource::{Uri, tokens};
use serde_json::json;

use crate::args::WindowArgs;
use crate::connection::ServerConnection;
use crate::content::{Selection, failure_words};
use crate::error::CommandError;
use crate::output::visible;
use crate::pick::events::{PickEvent, PickPassage, PickRequest, PickTimer, PickTokens};
use crate::pick::node::{NodeId, PickRow};
use crate::pick::placement::PickMount;
use crate::pick::preview::{PREVIEW_BYTES, PREVIEW_LINES, PickPreview, PreviewKey};

/// The tool that searches content.
pub(super) const SEARCH_TOOL: &str = "resources_search";
/// How long typing pauses before the server searches.
const SEARCH_PAUSE: Duration = Duration::from_millis(250);
/// How long the cursor rests before a resource is read.
const PREVIEW_PAUSE: Duration = Duration::from_millis(60);
/// How long changes pause before lists are read again.
const REFRESH_PAUSE: Duration = Duration::from_millis(300);
/// How many passages are shown.
const MAX_HITS: usize = 30;
/// How many lines before a passage are shown with it.
const LINES_BEFORE: u64 = 3;

/// Text that was read of a resource.
struct TextStart {
    text: String,
    is_whole: bool,
    tokens: PickTokens,
}

/// Answers a request.
pub(super) async fn perform(connection: &ServerConnection, request: PickRequest) -> PickEvent {
    match request {
        PickRequest::Mounts => PickEvent::Mounts(mounts(connection).await),
        PickRequest::Page { node, uri, cursor } => {
            match page(connection, uri.as_deref(), cursor.as_deref()).await {
                Ok((rows, next)) => PickEvent::Page { node, rows, next },
                Err(error) => {
                    let words = error.to_string();
                    // The line stands below the name already.
                    let start = uri.map(|uri| format!("{uri}: ")).unwrap_or_default();
                    let words = words.strip_prefix(&start).unwrap_or(&words).to_owned();
                    PickEvent::PageFailed { node, words }
                }
            }
        }
        PickRequest::Timer { timer, serial } => {
            tokio::time::sleep(match timer {
                PickTimer::Search => SEARCH_PAUSE,
                PickTimer::Preview => PREVIEW_PAUSE,
                PickTimer::Refresh => REFRESH_PAUSE,
            })
            .await;
            PickEvent::Timer { timer, serial }
        }
        PickRequest::Search { serial, query } => {
            let hits = search(connection, &query).await.map_err(|error| error.to_string());
            PickEvent::Hits { serial, hits }
        }
        PickRequest::Preview { key, uri, format } => preview(connection, key, &uri, format).await,
        PickRequest::Measure { node, uri, format } => measure(connection, node, &uri, format).await,
        PickRequest::Watch { uri } => {
            // Without it, changes of the list still come.
            if let Err(error) = connection.client.subscribe(&uri).await {
                tracing::debug!("no subscription to {uri}: {error}");
            }
            PickEvent::Step
        }
        PickRequest::Redraw => PickEvent::Step,
    }
}

async fn mounts(connection: &ServerConnection) -> Result<Vec<PickMount>, String> {
    let mounts = connection.mounts().await.map_err(|error| error.to_string())?;
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let mounts = mounts.iter().filter_map(|mount| {
        Some(PickMount { name: text(&mount["name"])?, root: text(&mount["root"]) })
    });
    Ok(mounts.collect())
}

async fn page(
    connection: &ServerConnection,
    uri: Option<&str>,
    cursor: Option<&str>,
) -> Result<(Vec<PickRow>, Option<String>), CommandError> {
    let uri = uri.map(parse_uri).transpose()?;
    let page = connection.page(uri.as_ref(), cursor).await?;
    Ok((page.rows.iter().map(PickRow::from).collect(), page.next))
}

fn parse_uri(uri: &str) -> Result<Uri, CommandError> {
    Uri::parse(uri).map_err(|error| CommandError::Failed(error.to_string()))
}

async fn search(
    connection: &ServerConnection,
    query: &str,
) -> Result<Vec<PickPassage>, CommandError> {
    let arguments = json!({ "query": query, "limit": MAX_HITS });
    let result = connection.call_tool(SEARCH_TOOL, &arguments).await?;
    if result["isError"] == true {
        return Err(CommandError::Failed(failure_words(&result, query)));
    }
    let answer = &result["structuredContent"];
    let base = answer["base"].as_str().unwrap_or_default();
    let hits = answer["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let hits = hits.iter().take(MAX_HITS).filter_map(|hit| {
        let text = hit["snippet"].as_str().unwrap_or_default();
        Some(PickPassage {
            uri: format!("{base}{}", hit["uri"].as_str()?),
            line: hit["start_line"].as_u64(),
            snippet: text.chars().take(300).collect(),
        })
    });
    Ok(hits.collect())
}

async fn preview(
    connection: &ServerConnection,
    key: PreviewKey,
    uri: &str,
    format: Option<&'static str>,
) -> PickEvent {
    let line = key.line.filter(|line| *line > 1 && format.is_none());
    let preview = match read_start(connection, uri, format, line).await {
        Ok(Some(TextStart { text, is_whole, tokens })) => {
            PickPreview::Text { text: Arc::from(visible(&text)), is_whole, tokens }
        }
        Ok(None) => PickPreview::Words("no text to show".to_owned()),
        Err(error) => PickPreview::Words(visible(&error.to_string())),
    };
    PickEvent::Preview { key, preview }
}

async fn measure(
    connection: &ServerConnection,
    node: NodeId,
    uri: &str,
    format: Option<&'static str>,
) -> PickEvent {
    let read = read_start(connection, uri, format, None).await;
    let tokens = read.ok().flatten().map(|start| start.tokens).unwrap_or_default();
    PickEvent::Measured { node, tokens }
}

/// The text of a resource from its beginning, or around a line; `None` if it has none.
async fn read_start(
    connection: &ServerConnection,
    uri: &str,
    format: Option<&'static str>,
    line: Option<u64>,
) -> Result<Option<TextStart>, CommandError> {
    let uri = parse_uri(uri)?;
    let lines = line.map(|line| line.saturating_sub(LINES_BEFORE).max(1));
    let window = WindowArgs {
        lines: lines.map(|first| format!("{first}-{}", first.saturating_add(PREVIEW_LINES))),
        bytes: lines.is_none().then(|| format!("0-{}", PREVIEW_BYTES - 1)),
        accept: format.map(str::to_owned),
        ..WindowArgs::default()
    };
    let (mut bytes, mut is_text, mut size) = (Vec::new(), false, None);
    let most = PREVIEW_BYTES as usize;
    connection
        .read_chunks(&uri, &Selection::parse(&window)?, |chunk| {
            is_text = chunk.is_text;
            size = size.or(chunk.resource.size);
            let room = most.saturating_sub(bytes.len());
            bytes.extend_from_slice(&chunk.bytes[..chunk.bytes.len().min(room)]);
            Ok(is_text && bytes.len() < most)
        })
        .await?;
    if !is_text {
        return Ok(None);
    }
    let is_whole = bytes.len() < most && line.is_none();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let count = tokens::estimate(&text);
    // The rest is taken to be like the start.
    let count = match size.filter(|_| !is_whole && format.is_none()) {
        Some(size) => (count as f64 * (size as f64 / bytes.len().max(1) as f64)) as u64,
        None => count,
    };
    let tokens = PickTokens { count, is_whole };
    Ok(Some(TextStart { text, is_whole, tokens }))
}
