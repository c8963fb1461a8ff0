//! Tests of the environment provider.

use std::collections::BTreeMap;

use machinery::PathGlob;
use resource::{
    Complete as _, CompletionRequest, Content, ErrorKind, PageRequest, Provider as _, ReadRequest,
    Uri,
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
        open_watches: None,
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
