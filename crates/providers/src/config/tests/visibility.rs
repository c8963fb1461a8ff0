//! Tests of files that a rule refuses to a principal: nothing that is made of files tells of them.

use std::sync::Arc;

use resource::{
    Change, Complete as _, CompletionRequest, Content, Context, ErrorKind, Interest, PageRequest,
    Provider as _, ReadRequest, Uri, Watch as _,
};
use testkit::contract::bytes_of;
use testkit::{Denial, Expectations, contract_with_denial};

use super::super::{ConfigFiles, ConfigLayer, Options};
use super::watching::{next, until};
use super::{ConfigFolder, uri};
use crate::VisibilityRule;

const LAYERS: [&str; 3] = ["base.toml", "deploy/covert.toml", "prod.toml"];

/// What only files that are refused to `other` say.
const COVERT: &str = "covert";

/// Files, layers and a schema, those with `covert` in their names refused to the principal `other`.
fn folder() -> ConfigFolder {
    let schema = r#"{"properties": {"port": {"title": "covert title"}, "own": {}}}"#;
    let own = r#"{"properties": {"port": {"title": "Own"}}}"#;
    ConfigFolder::of(&[
        ("base.toml", "port = 1\n"),
        ("deploy/covert.toml", "port = 2\ncovert_key = 'covert value'\n"),
        ("prod.toml", "host = 'x'\n"),
        ("own.json", r#"{"$schema": "./schemas/own.json", "port": 3}"#),
        ("schemas/covert.json", schema),
        ("schemas/own.json", own),
    ])
}

fn serve(folder: &ConfigFolder) -> ConfigFiles {
    let visibility: VisibilityRule = Arc::new(|who, file| {
        assert!(file.as_str().starts_with("config:///"), "{file}");
        &**who.key() != "other" || !file.as_str().contains(COVERT)
    });
    let layers = LAYERS.map(|name| ConfigLayer::parse(name, &Default::default()).unwrap());
    ConfigFiles::new(Options {
        visibility: Some(visibility),
        layers: layers.into(),
        schema: Some("schemas/covert.json".to_owned()),
        ..folder.options(&["*.toml", "*.json", "deploy/*"])
    })
}

/// Every text of a mount that a principal gets: descriptions and all formats of all resources.
async fn everything(served: &ConfigFiles, ctx: &Context) -> String {
    let mut told = String::new();
    let mut pending = vec![None];
    while let Some(parent) = pending.pop() {
        let paging = PageRequest::first(1000);
        let Ok(page) = served.list(ctx, parent.as_ref(), &paging).await else { continue };
        for item in &page.items {
            told.push_str(&format!("{item:?}\n"));
            pending.extend((item.listable == Some(true)).then(|| Some(item.uri.clone())));
            let reading = served.read(ctx, &item.uri, &ReadRequest::whole(1 << 20)).await;
            let Content::Parts(parts) = reading.unwrap().content else { continue };
            for part in parts {
                told.push_str(&format!("{:?}\n", part.resource));
                told.push_str(&String::from_utf8_lossy(&bytes_of(part.body).await));
            }
        }
    }
    told
}

async fn complete(
    served: &ConfigFiles,
    ctx: &Context,
    (template, variable): (&str, &str),
    typed: &str,
) -> Vec<String> {
    let resolved = [("file".to_owned(), "deploy/covert.toml".to_owned())].into();
    let request = CompletionRequest { template, variable, typed, resolved: &resolved };
    served.complete(ctx, &request).await.unwrap().values
}

#[tokio::test]
async fn keys_layers_differences_and_schemas_tell_nothing_of_a_refused_file() {
    let folder = folder();
    let served = serve(&folder);
    let [whole, other] = testkit::two_contexts();
    // The one after the other, so that nothing that is kept is told to the wrong one.
    for _ in 0..2 {
        let told = everything(&served, &whole).await;
        for text in ["covert title", "covert value", "deploy/covert.toml", "keys/deploy/covert"] {
            assert!(told.contains(text), "{text} in {told}");
        }
        let told = everything(&served, &other).await;
        assert!(!told.contains(COVERT), "{told}");
        assert!(told.contains("diff/base.toml..prod.toml") && told.contains("Own"), "{told}");
    }
    for hidden in [
        "deploy/covert.toml",
        "keys/deploy/covert.toml",
        "keys/deploy/covert.toml/port",
        "effective/covert_key",
        "diff/base.toml..deploy%2Fcovert.toml",
        "diff/deploy%2Fcovert.toml..prod.toml",
    ] {
        let at = uri(&format!("config:///{hidden}"));
        assert!(served.stat(&whole, &at).await.is_ok(), "{hidden}");
        let missing = served.stat(&other, &at).await.unwrap_err();
        assert_eq!(missing.kind, ErrorKind::NotFound, "{hidden}");
    }
}

/// An index reads as the program, which sees all files.
#[tokio::test]
async fn what_is_made_of_files_is_no_entry_of_an_index() {
    let folder = folder();
    let served = serve(&folder);
    let [whole, _] = testkit::two_contexts();
    for (made, is_view) in
        [("base.toml", false), ("keys", true), ("keys/base.toml", true), ("effective/port", true)]
    {
        let described = served.stat(&whole, &uri(&format!("config:///{made}"))).await.unwrap();
        assert_eq!(described.is_view, is_view, "{made}");
    }
    let page = served.list(&whole, None, &PageRequest::first(99)).await.unwrap();
    let views = page.items.iter().filter(|item| item.is_view);
    let views: Vec<_> = views.map(|item| item.uri.as_str()).collect();
    assert_eq!(views, ["config:///effective", "config:///diff", "config:///keys"]);
}

#[tokio::test]
async fn the_contract_holds_where_a_file_is_refused() {
    let folder = folder();
    let served = serve(&folder);
    let is_denied = |uri: &Uri| uri.as_str().contains(COVERT);
    let [whole, limited] = testkit::two_contexts();
    let missing = vec![uri("config:///none.toml")];
    let expected = Expectations { missing, ..Expectations::default() };
    let denial = Denial { whole, limited, is_denied: &is_denied };
    contract_with_denial(&served, &expected, &denial).await;
}

#[tokio::test]
async fn neither_a_refused_file_nor_its_keys_are_completed() {
    let folder = folder();
    let served = serve(&folder);
    let [whole, other] = testkit::two_contexts();
    let keys = "config:///keys/{+file}/{+key}";
    for (template, variable, typed, found) in [
        ("config:///{+file}", "file", "dep", "deploy/"),
        (keys, "file", "deploy/", "deploy/covert.toml"),
        (keys, "key", "", "covert_key"),
        ("config:///effective/{+key}", "key", "cov", "covert_key"),
        ("config:///diff/{from}..{to}", "from", "dep", "deploy/covert.toml"),
    ] {
        let values = complete(&served, &whole, (template, variable), typed).await;
        assert!(values.iter().any(|value| value == found), "{values:?}");
        let values = complete(&served, &other, (template, variable), typed).await;
        assert_eq!(values, Vec::<String>::new(), "{template}");
    }
}

#[tokio::test]
async fn changes_of_a_refused_file_are_told_to_those_alone_who_see_it() {
    let folder = folder();
    let served = serve(&folder);
    let [whole, other] = testkit::two_contexts();
    assert!(!served.is_shared(&Interest::Everything));
    let mut seen = served.watch(&whole, Interest::Everything).await.unwrap();
    let mut limited = served.watch(&other, Interest::Everything).await.unwrap();
    let effective = Interest::Resource(uri("config:///effective"));
    let mut merged = served.watch(&other, effective).await.unwrap();
    let missing =
        served.watch(&other, Interest::Resource(uri("config:///keys/deploy/covert.toml")));
    assert_eq!(missing.await.err().map(|error| error.kind), Some(ErrorKind::NotFound));
    folder.write("deploy/covert.toml", "port = 4\ncovert_key = 'covert value'\nmore = 1\n");
    let told = until(&mut seen, "config:///diff/prod.toml..deploy%2Fcovert.toml").await;
    assert!(told.contains("config:///effective/more"), "{told:?}");
    folder.write("schemas/covert.json", r#"{"properties": {"port": {"title": "other"}}}"#);
    until(&mut seen, "config:///effective/port").await;
    // What comes first is the change that comes last.
    folder.write("base.toml", "port = 5\n");
    let told = until(&mut limited, "config:///diff/prod.toml..base.toml").await;
    let expected = [
        "config:///base.toml",
        "config:///diff/base.toml..prod.toml",
        "config:///diff/prod.toml..base.toml",
        "config:///effective",
        "config:///effective/port",
        "config:///keys/base.toml",
        "config:///keys/base.toml/port",
    ];
    assert_eq!(told, expected.map(str::to_owned).into());
    assert_eq!(next(&mut merged).await, Change::Updated(uri("config:///effective")));
    drop((seen, limited, merged));
    assert!(!served.watchers.is_running());
}
