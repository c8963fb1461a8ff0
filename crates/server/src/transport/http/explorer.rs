//! The page for people: static files, embedded in the program, at `/` and `/explorer/<file>`.
//!
//! The files hold no content. The page in the browser speaks MCP to the endpoint like any client,
//! with the token of the person, so the files themselves only need a proof that the browser had one.

use std::sync::LazyLock;

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, COOKIE, ETAG, HeaderName, HeaderValue,
    IF_NONE_MATCH, ORIGIN, REFERRER_POLICY, SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::body::HttpBody;
use super::guard::OriginGuard;
use super::tokens::{PageKey, TokenTable, Unauthorized};
use super::{header_text, method_not_allowed};

/// The path of the page.
const ROOT: &str = "/";

/// The folder of its other files.
const FOLDER: &str = "/explorer/";

/// What the name of the cookie begins with; the rest tells servers on one machine apart.
const COOKIE_PREFIX: &str = "refdesk_page_";

/// The style of rendered documents, as a file and as a path.
const FRAME_STYLE: &str = "frame.css";
const FRAME_STYLE_PATH: &str = "/explorer/frame.css";

/// No script or style but ours, no frame of others, requests to MCP addresses alone.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self' http: https:; frame-src blob: 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page that asks for a token has a form, and nothing else.
const FORM_POLICY: &str =
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// A file of the page.
struct PageFile {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! page_files {
    ($($kind:ident: $($name:literal)*;)*) => {
        &[$($(PageFile {
            name: $name,
            kind: $kind,
            bytes: include_bytes!(concat!("../../../../../explorer/", $name)),
        },)*)*]
    };
}

const INDEX: &str = "index.html";

const FILES: &[PageFile] = page_files! {
    HTML: "index.html";
    STYLE: "base.css" "panes.css" "views.css" "frame.css";
    SVG: "icon.svg";
    SCRIPT:
        "app.js" "ask.js" "basket.js" "basket_view.js" "blocks.js" "choices.js" "code_view.js"
        "components.js" "details.js" "dialogs.js" "document_view.js" "dom.js" "emitter.js"
        "folder.js" "folders.js" "format.js" "forms.js" "frame.js" "groups.js" "handshake.js"
        "history.js" "home.js" "hosts.js" "i18n.js" "image_view.js" "json_view.js" "list.js"
        "markdown.js" "mcp.js" "paging.js" "preview.js" "resources.js" "router.js" "sanitize.js"
        "search.js" "settings.js" "shell.js" "sse.js" "stateless.js" "strings.en.js"
        "strings.ja.js" "table_view.js" "text_source.js" "tree.js" "types.js" "uri_template.js"
        "virtual.js" "wire.js";
};

/// The etag of each file, in the order of `FILES`.
static ETAGS: LazyLock<Vec<HeaderValue>> = LazyLock::new(|| {
    let etag = |file: &PageFile| format!("\"{}\"", &blake3::hash(file.bytes).to_hex()[..16]);
    let value = |text: String| HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
    FILES.iter().map(etag).map(value).collect()
});

/// Asks for a token, without a script.
const TOKEN_FORM: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><title>refdesk</title>\
    <h1>refdesk</h1><p>This page needs a token. Open the address that refdesk printed at its start, \
    or enter a token. <code>refdesk token new NAME</code> makes one.</p>\
    <form action=\"/\" method=\"get\"><label>Token <input name=\"token\" type=\"password\" \
    autocomplete=\"off\" required></label> <button>Open</button></form></html>\n";

/// Whether a path belongs to the page.
pub(super) fn is_page_path(path: &str) -> bool {
    path == ROOT || path.starts_with(FOLDER)
}

/// Answers a request for the style of rendered documents; `None` if it is for something else.
///
/// They are shown in a frame without an origin, whose requests have `Origin: null` and no cookie. So
/// this file needs neither an origin nor a proof; its `Host` is checked as that of any request.
pub(super) fn serve_frame_style<B>(
    request: &Request<B>,
    guard: &OriginGuard,
) -> Option<Response<HttpBody>> {
    let is_opaque = || request.headers().get(ORIGIN).is_some_and(|origin| origin == "null");
    if request.uri().path() != FRAME_STYLE_PATH || !is_opaque() {
        return None;
    }
    let mut headers = request.headers().clone();
    headers.remove(ORIGIN);
    let authority = request.uri().authority().map(|authority| authority.as_str());
    guard.check(authority, &headers).is_ok().then(|| serve_file(request, FRAME_STYLE))
}

/// Answers a request for a file of the page.
pub(super) fn serve_page<B>(
    request: &Request<B>,
    tokens: &TokenTable,
    has_tls: bool,
) -> Response<HttpBody> {
    let path = request.uri().path();
    let name = if path == ROOT { INDEX } else { path.trim_start_matches(FOLDER) };
    let key = match admit(request, tokens, name) {
        Ok(key) => key,
        Err(why) => return refuse(request.method(), path, why),
    };
    let mut response = serve_file(request, name);
    if let Some(cookie) = key.and_then(|key| cookie(&key, has_tls)) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

fn serve_file<B>(request: &Request<B>, name: &str) -> Response<HttpBody> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return method_not_allowed("GET, HEAD");
    }
    let Some((file, etag)) = FILES.iter().zip(ETAGS.iter()).find(|(file, _)| file.name == name)
    else {
        return HttpBody::refusal(StatusCode::NOT_FOUND, "the page has no such file");
    };
    let mut response = if has_current(request.headers(), etag) {
        HttpBody::empty(StatusCode::NOT_MODIFIED)
    } else {
        file_response(request.method(), StatusCode::OK, (file.kind, file.bytes))
    };
    let headers = response.headers_mut();
    protect(headers, POLICY, name == FRAME_STYLE);
    headers.insert(ETAG, etag.clone());
    response
}

/// Lets in a browser with a token, or with the cookie that an earlier token got it. The key is that
/// of a new cookie.
fn admit<B>(
    request: &Request<B>,
    tokens: &TokenTable,
    name: &str,
) -> Result<Option<PageKey>, Unauthorized> {
    if name == FRAME_STYLE || tokens.admits_page(cookie_keys(request.headers())) {
        return Ok(None);
    }
    match query_token(request.uri().query().unwrap_or_default()) {
        Some(token) if name == INDEX => tokens.page_key(token.as_bytes()).map(Some),
        _ => tokens.authenticate(request.headers()).map(|_| None),
    }
}

/// The token in `?token=…`. Tokens have no characters that a query would escape.
fn query_token(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// What the cookies of the page hold.
fn cookie_keys(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';').map(str::trim));
    let own = pairs.filter_map(|pair| pair.strip_prefix(COOKIE_PREFIX)?.split_once('='));
    own.map(|(_, key)| key)
}

/// A cookie that lets the browser load the files again. It opens nothing else: the endpoint takes
/// no cookies.
fn cookie(key: &PageKey, has_tls: bool) -> Option<HeaderValue> {
    let key = key.to_text();
    let secure = if has_tls { "; Secure" } else { "" };
    let name = format!("{COOKIE_PREFIX}{}", key.get(..8)?);
    let text = format!("{name}={key}; Path=/; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).ok()
}

/// 401: a form where a person looks, the usual words elsewhere.
fn refuse(method: &Method, path: &str, why: Unauthorized) -> Response<HttpBody> {
    let status = StatusCode::UNAUTHORIZED;
    let mut response = match path {
        ROOT => file_response(method, status, (HTML, TOKEN_FORM.as_bytes())),
        _ => HttpBody::refusal(status, why.message()),
    };
    protect(response.headers_mut(), FORM_POLICY, false);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(why.challenge()));
    response
}

fn file_response(
    method: &Method,
    status: StatusCode,
    (kind, bytes): (&'static str, &'static [u8]),
) -> Response<HttpBody> {
    let body = (method != Method::HEAD).then_some(Bytes::from_static(bytes));
    let mut response = HttpBody::file(status, kind, body);
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    response
}

/// Adds the headers that keep the page, and others from using it.
fn protect(headers: &mut HeaderMap, policy: &'static str, is_for_frames: bool) {
    let resources = if is_for_frames { "cross-origin" } else { "same-origin" };
    let fixed = [
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-cache"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), resources),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Whether the browser has this version already.
fn has_current(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let known = header_text(headers, IF_NONE_MATCH.as_str()).unwrap_or_default();
    etag.to_str().is_ok_and(|etag| known.split(',').any(|one| one.trim() == etag))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{ETAGS, FILES, is_page_path, query_token};

    #[test]
    fn every_file_of_the_page_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../explorer");
        let mut on_disk: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "tsconfig.json")
            .collect();
        let mut embedded: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        on_disk.sort();
        embedded.sort_unstable();
        assert_eq!(embedded, on_disk);
        assert!(ETAGS.iter().all(|etag| etag.len() == 18));
    }

    #[test]
    fn the_page_has_its_own_paths_and_no_others() {
        assert!(is_page_path("/") && is_page_path("/explorer/app.js"));
        for path in ["/mcp", "/health", "/explorer", "//", "/explorers/app.js", ""] {
            assert!(!is_page_path(path), "{path}");
        }
    }

    #[test]
    fn a_token_is_found_in_a_query() {
        assert_eq!(query_token("token=rdk_a"), Some("rdk_a"));
        assert_eq!(query_token("x=1&token=rdk_a&y"), Some("rdk_a"));
        assert_eq!(query_token("xtoken=rdk_a&token"), None);
    }

    #[test]
    fn the_page_runs_no_inline_code_and_loads_nothing_from_elsewhere() {
        for file in FILES {
            let text = std::str::from_utf8(file.bytes).unwrap();
            for forbidden in
                ["unsafe-inline", "<script>", "javascript:void", "eval(", "new Function"]
            {
                assert!(!text.contains(forbidden), "{} has {forbidden}", file.name);
            }
            let is_markup = file.name.ends_with(".html") || file.name.ends_with(".css");
            assert!(!is_markup || !text.contains("//"), "{} names another host", file.name);
        }
    }
}
