//! Tests of the environment provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use machinery::PathGlob;
use redaction::{Redaction, RedactionScope, Redactor, RedactorOptions};
use resource::{
    Complete as _, CompletionRequest, Content, ErrorKind, PageRequest, Provider as _, ReadRequest,
    Uri, Window,
};
use testkit::contract::bytes_of;
use testkit::{Expectations, contract, local_context};

use super::{EnvVariables, Options};

fn serve(names: &[&str], environment: &[(&str, &str)]) -> EnvVariables {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let names = names.iter().map(|name| PathGlob::parse(name).unwrap()).collect();
    let environment = environment.iter().map(own).collect();
    EnvVariables::new(Options { environment, names, ..Options::default() }).unwrap()
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

const SAMPLE: [(&str, &str); 5] = [
    ("APP_GREETING", "Grüße 🦀\nzweite Zeile"),
    ("APP_EMPTY", ""),
    ("APP WITH/SLASH", "odd"),
    ("LANG", "ja_JP.UTF-8"),
    ("HOME", "/home/user"),
];

#[tokio::test]
async fn the_environment_is_a_provider_like_any_other() {
    let served = serve(&["APP*", "**/SLASH", "LANG"], &SAMPLE);
    let known = Expectations {
        leaves: vec![
            (uri("env:///LANG"), b"ja_JP.UTF-8".to_vec()),
            (uri("env:///APP_EMPTY"), Vec::new()),
            (uri("env:///APP_GREETING"), "Grüße 🦀\nzweite Zeile".into()),
        ],
        collections: vec![(
            uri("env:///"),
            ["APP%20WITH%2FSLASH", "APP_EMPTY", "APP_GREETING", "LANG"]
                .map(|name| uri(&["env:///", name].concat()))
                .into(),
        )],
        missing: ["env:///HOME", "env:///lang", "env:///LANG/", "env:///LANG?x", "env:///A/B"]
            .map(uri)
            .to_vec(),
        prefix: Some("env:///".to_owned()),
        outside: Vec::new(),
    };
    // Without the root: it is no member of the list, but a known collection.
    let listed = served.list(&local_context(), None, &PageRequest::first(10)).await.unwrap();
    assert_eq!(listed.items.len(), 4);
    contract(&served, &known).await;
}

#[tokio::test]
async fn what_no_glob_allows_does_not_exist() {
    let served = serve(&["LANG"], &SAMPLE);
    assert_eq!(served.len(), 1);
    let ctx = local_context();
    let whole = ReadRequest::whole(1 << 20);
    for name in ["HOME", "APP_EMPTY", "PATH"] {
        let error = served.read(&ctx, &uri(&["env:///", name].concat()), &whole).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound);
    }
    assert!(serve(&[], &SAMPLE).is_empty());
}

#[tokio::test]
async fn values_are_masked_by_their_names_and_shapes() {
    let token = format!("{}{}", concat!("gh", "p_"), "q7Rk2Vx9Lm4Tz8Wb3Yc6Np1Hd5Js0Fg2Ka7e");
    let url = "postgres://app:hunter2-u@db/app";
    let environment = [
        ("DB_PASSWORD", "hunter2-p"),
        ("NOTE", &token),
        ("URL", url),
        ("LANG", "C"),
        ("SHOWN_TOKEN", "plain"),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let glob = |text: &str| PathGlob::parse(text).unwrap();
    for scope in [RedactionScope::Everything, RedactionScope::SensitiveFiles] {
        let options = RedactorOptions { reveal: vec![glob("SHOWN_*")], hmac_key: None };
        let redaction = Redaction::new(scope, Arc::new(Redactor::new(options)));
        let environment = environment.clone().into_iter().collect();
        let options =
            Options { environment, names: vec![glob("*")], redaction, ..Options::default() };
        let served = EnvVariables::new(options).unwrap();
        let mut told = String::new();
        let page = served.list(&local_context(), None, &PageRequest::first(9)).await.unwrap();
        for item in &page.items {
            let value = read(&served, item.uri.as_str()).await;
            assert_eq!(item.size, Some(value.len() as u64), "the size of what is given");
            told.push_str(&format!("{item:?} {value}\n"));
        }
        assert!(!told.contains("hunter2") && !told.contains(&token), "{told}");
        assert_eq!(read(&served, "env:///DB_PASSWORD").await, "[redacted password short]");
        assert_eq!(read(&served, "env:///NOTE").await, "[redacted github-token long]");
        let masked = read(&served, "env:///URL").await;
        assert_eq!(masked, "postgres://app:[redacted url-password short]@db/app");
        assert_eq!(read(&served, "env:///LANG").await, "C");
        assert_eq!(read(&served, "env:///SHOWN_TOKEN").await, "plain");
        for offset in 0..25 {
            let window = Window::Part { offset, length: 3, etag: None }.into();
            let part = served.read(&local_context(), &uri("env:///DB_PASSWORD"), &window).await;
            let Content::Parts(mut parts) = part.unwrap().content else { panic!("no parts") };
            let part = bytes_of(parts.remove(0).body).await;
            let end = (offset as usize + 3).min(25);
            assert_eq!(part, &"[redacted password short]"[offset as usize..end]);
        }
    }
    let unmasked = serve(&["*"], &[("DB_PASSWORD", "hunter2")]);
    assert_eq!(read(&unmasked, "env:///DB_PASSWORD").await, "hunter2", "with `redact = false`");
}

async fn read(served: &EnvVariables, of: &str) -> String {
    let whole = ReadRequest::whole(1 << 20);
    let reading = served.read(&local_context(), &uri(of), &whole).await.unwrap();
    let Content::Parts(mut parts) = reading.content else { panic!("no parts") };
    String::from_utf8(bytes_of(parts.remove(0).body).await.to_vec()).unwrap()
}

#[tokio::test]
async fn names_are_completed_whatever_their_case() {
    let served = serve(&["*"], &SAMPLE);
    let resolved = BTreeMap::new();
    let request = CompletionRequest {
        template: "env:///{variable}",
        variable: "variable",
        typed: "app_",
        resolved: &resolved,
    };
    let completion = served.complete(&local_context(), &request).await.unwrap();
    assert_eq!(completion.values, ["APP_EMPTY", "APP_GREETING"]);
}

#[tokio::test]
async fn another_spelling_of_a_name_is_kept() {
    let served = serve(&["LANG"], &SAMPLE);
    let spelled = uri("env:///%4CANG");
    assert_eq!(served.stat(&local_context(), &spelled).await.unwrap().uri, spelled);
    let reading = served.read(&local_context(), &spelled, &ReadRequest::whole(99)).await.unwrap();
    let Content::Parts(mut parts) = reading.content else { panic!("no parts") };
    assert_eq!(bytes_of(parts.remove(0).body).await, "ja_JP.UTF-8");
}
