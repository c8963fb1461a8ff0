//! Tests of the page for people: its files, their headers, who gets them, and the off switch.

use std::sync::Arc;

use server::transport::http::{AccessToken, HttpOptions, OriginGuard, TokenTable};

use crate::fixture::{HttpAnswer, HttpFixture, default_server};

fn options(tokens: TokenTable) -> HttpOptions {
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    HttpOptions { guard, tokens: Arc::new(tokens), page: true, ..HttpOptions::default() }
}

async fn open_site() -> HttpFixture {
    HttpFixture::open_with(default_server(), options(TokenTable::default())).await
}

fn token(name: &str) -> AccessToken {
    let hash = *blake3::hash(format!("rdk_{name}").as_bytes()).as_bytes();
    AccessToken { name: name.to_owned(), hash, expires: None, scopes: Vec::new() }
}

async fn closed_site() -> HttpFixture {
    let tokens = TokenTable::new(vec![token("ada")], false);
    HttpFixture::open_with(default_server(), options(tokens)).await
}

/// The cookie that an answer sets, without its attributes.
fn set_cookie(answer: &HttpAnswer) -> String {
    let cookie = answer.header("set-cookie").unwrap();
    cookie.split_once(';').unwrap().0.to_owned()
}

#[tokio::test]
async fn the_page_and_its_files_are_served_with_their_types() {
    let site = open_site().await;
    let page = site.send("GET /", &[], "").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.body.contains("/explorer/app.js"), "{page:?}");
    let files = [
        ("app.js", "text/javascript; charset=utf-8"),
        ("base.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ];
    for (name, kind) in files {
        let file = site.send(&format!("GET /explorer/{name}"), &[], "").await;
        assert_eq!((file.status, file.header("content-type")), (200, Some(kind)), "{name}");
    }
    for name in ["", "none.js", "../Cargo.toml", "..%2FCargo.toml", "tsconfig.json", "app.js/"] {
        let missing = site.send(&format!("GET /explorer/{name}"), &[], "").await;
        assert_eq!(missing.status, 404, "{name}");
    }
}

#[tokio::test]
async fn every_file_has_the_headers_that_protect_the_page() {
    let site = open_site().await;
    for path in ["/", "/explorer/app.js", "/explorer/base.css"] {
        let file = site.send(&format!("GET {path}"), &[], "").await;
        let policy = file.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{path}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(file.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(file.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(file.header("cache-control"), Some("no-cache"), "{path}");
        assert_eq!(file.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert_eq!(file.header("set-cookie"), None, "{path}");
    }
    // A frame without an origin may load its style, and nothing else.
    let style = site.send("GET /explorer/frame.css", &[], "").await;
    assert_eq!(style.header("cross-origin-resource-policy"), Some("cross-origin"));
}

#[tokio::test]
async fn a_browser_that_has_a_file_does_not_get_it_again() {
    let site = open_site().await;
    let first = site.send("GET /explorer/app.js", &[], "").await;
    let etag = first.header("etag").unwrap();
    let again = site.send("GET /explorer/app.js", &[("if-none-match", etag)], "").await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let older = site.send("GET /explorer/app.js", &[("if-none-match", "\"0\"")], "").await;
    assert_eq!(older.status, 200);
    let head = site.send("HEAD /explorer/app.js", &[], "").await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), Some(first.body.len().to_string().as_str()));
    let post = site.send("POST /", &[], "{}").await;
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")));
}

/// The page is no way around the checks of the endpoint.
#[tokio::test]
async fn the_page_has_the_host_and_origin_checks_of_the_endpoint() {
    let site = open_site().await;
    for path in ["GET /", "GET /explorer/app.js", "POST"] {
        let rebound = site.send(path, &[("host", "evil.example")], "").await;
        assert_eq!(rebound.status, 403, "{path}");
        let foreign = site.send(path, &[("origin", "https://evil.example")], "").await;
        assert_eq!(foreign.status, 403, "{path}");
        assert_eq!(foreign.header("access-control-allow-origin"), None, "{path}");
    }
}

/// Rendered documents are in a frame without an origin, which loads its style and nothing else.
#[tokio::test]
async fn a_frame_without_an_origin_gets_its_style_alone() {
    let opaque = ("origin", "null");
    for site in [open_site().await, closed_site().await] {
        let style = site.send("GET /explorer/frame.css", &[opaque], "").await;
        assert_eq!(style.status, 200);
        assert_eq!(style.header("access-control-allow-origin"), None);
        for path in ["GET /", "GET /explorer/app.js", "POST /mcp", "GET /explorer/frame.css/"] {
            assert_eq!(site.send(path, &[opaque], "").await.status, 403, "{path}");
        }
        let foreign = [("origin", "https://evil.example")];
        assert_eq!(site.send("GET /explorer/frame.css", &foreign, "").await.status, 403);
        let rebound = [opaque, ("host", "evil.example")];
        assert_eq!(site.send("GET /explorer/frame.css", &rebound, "").await.status, 403);
    }
}

#[tokio::test]
async fn without_the_page_its_paths_are_unknown() {
    let site = HttpFixture::open(default_server()).await;
    for path in ["GET /", "GET /explorer/app.js"] {
        let answer = site.send(path, &[], "").await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("/mcp"), "{answer:?}");
    }
}

#[tokio::test]
async fn where_tokens_are_needed_the_page_needs_one_too() {
    let site = closed_site().await;
    let form = site.send("GET /", &[], "").await;
    assert_eq!((form.status, form.header("set-cookie")), (401, None));
    assert!(form.body.contains("name=\"token\"") && !form.body.contains("script"), "{form:?}");
    assert_eq!(form.header("www-authenticate"), Some("Bearer realm=\"refdesk\""));
    let policy = form.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self'") && policy.contains("default-src 'none'"));
    for path in ["/explorer/app.js", "/explorer/none.js", "/?token=rdk_alan", "/?token="] {
        assert_eq!(site.send(&format!("GET {path}"), &[], "").await.status, 401, "{path}");
    }
    // The token opens the page by its address, never another file: scripts have no secret in theirs.
    let script = site.send("GET /explorer/app.js?token=rdk_ada", &[], "").await;
    assert_eq!(script.status, 401);
    let by_header = site.send("GET /", &[("authorization", "Bearer rdk_ada")], "").await;
    assert_eq!((by_header.status, by_header.header("set-cookie")), (200, None));
    assert_eq!(site.send("GET /explorer/frame.css", &[], "").await.status, 200);
}

#[tokio::test]
async fn the_cookie_of_a_token_opens_the_files_and_nothing_else() {
    let tokens = Arc::new(TokenTable::new(vec![token("ada")], false));
    let mut options = options(TokenTable::default());
    options.tokens = Arc::clone(&tokens);
    let site = HttpFixture::open_with(default_server(), options).await;
    let page = site.send("GET /?token=rdk_ada", &[], "").await;
    assert_eq!(page.status, 200);
    let whole = page.header("set-cookie").unwrap();
    for part in ["; Path=/", "; HttpOnly", "; SameSite=Strict"] {
        assert!(whole.contains(part), "{whole}");
    }
    assert!(!whole.contains("rdk_"), "{whole}");
    let cookie = set_cookie(&page);
    let both = format!("other=1; {cookie}");
    for path in ["GET /", "GET /explorer/app.js"] {
        assert_eq!(site.send(path, &[("cookie", &both)], "").await.status, 200, "{path}");
    }
    let endpoint = site.send("POST", &[("cookie", &cookie)], "{}").await;
    assert_eq!(endpoint.status, 401, "the endpoint takes no cookie");
    let (name, key) = cookie.split_once('=').unwrap();
    let wrong = format!("{name}={}0", &key[..key.len() - 1]);
    let wrong = if wrong == cookie { format!("{name}=1") } else { wrong };
    assert_eq!(site.send("GET /", &[("cookie", &wrong)], "").await.status, 401);
    tokens.replace(vec![token("alan")]);
    let revoked = site.send("GET /explorer/app.js", &[("cookie", &cookie)], "").await;
    assert_eq!(revoked.status, 401, "the cookie ends with its token");
}
