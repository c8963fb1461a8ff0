//! Tests of the filters and the sort orders of the tool `resources_list`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use resource::Role;
use serde_json::{Value, json};
use server::Limits;
use testkit::MemoryProvider;

use crate::fixture::StdioClient;
use crate::grep::{call, open};

fn day(day: u64) -> Option<SystemTime> {
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400))
}

/// Resources that each differ from the others in some property.
fn sample_resources() -> MemoryProvider {
    MemoryProvider::new()
        .text("test://one.md", "1")
        .with_description(|resource| {
            resource.mime = Some("text/markdown; charset=utf-8".to_owned());
            resource.annotations.audience = vec![Role::User];
            resource.annotations.priority = Some(0.9);
            resource.annotations.modified = day(3);
        })
        .text("test://two.txt", "22")
        .with_description(|resource| {
            resource.title = Some("Ünique Title".to_owned());
            resource.annotations.audience = vec![Role::Assistant];
            resource.annotations.priority = Some(0.2);
            resource.annotations.modified = day(1);
        })
        .blob("test://three.png", &[0; 3])
        .with_description(|resource| {
            resource.mime = Some("image/png".to_owned());
            resource.annotations.modified = day(2);
        })
        .collection("test://in", &["test://in/four.md", "test://in/deep"])
        .text("test://in/four.md", "4444")
        .with_description(|resource| {
            resource.mime = Some("text/markdown".to_owned());
            resource.annotations.priority = Some(0.9);
        })
        .collection("test://in/deep", &["test://in/deep/five.txt"])
        .text("test://in/deep/five.txt", "55555")
        .with_description(|resource| resource.annotations.modified = day(3))
}

/// The names of all listed resources, over all pages.
async fn listed(pipe: &mut StdioClient, arguments: &Value, page: usize) -> Vec<String> {
    let (mut arguments, mut names) = (arguments.clone(), Vec::new());
    loop {
        let result = call(pipe, "resources_list", &arguments).await;
        let told = &result["structuredContent"];
        let resources = told["resources"].as_array().unwrap_or_else(|| panic!("{result}"));
        assert!(resources.len() <= page);
        let name =
            |one: &Value| one["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        names.extend(resources.iter().map(name));
        let Some(cursor) = told.get("cursor") else { return names };
        arguments["cursor"] = cursor.clone();
    }
}

async fn check(cases: &[(Value, &[&str])]) {
    let memory = Arc::new(sample_resources());
    for page in [1, 2, 100] {
        let mut pipe = open(&memory, Limits { page, ..Limits::default() });
        for (arguments, expected) in cases {
            let names = listed(&mut pipe, arguments, page).await;
            assert_eq!(names, *expected, "{arguments} in pages of {page}");
        }
    }
}

#[tokio::test]
async fn each_filter_lets_through_what_it_says() {
    let all: &[&str] = &["one.md", "two.txt", "three.png", "in", "four.md", "deep", "five.txt"];
    check(&[
        (json!({}), &all[..4]),
        (json!({ "recursive": true }), all),
        (json!({ "collection": "test://in" }), &["four.md", "deep"]),
        (json!({ "collection": "test://in", "recursive": true }), &all[4..]),
        (json!({ "name": "T" }), &["two.txt", "three.png"]),
        (json!({ "name": "üNIQUE" }), &["two.txt"]),
        (json!({ "uri": "test://*.{md,png}" }), &["one.md", "three.png"]),
        (json!({ "uri": "**/*.md", "recursive": true }), &["one.md", "four.md"]),
        (json!({ "uri": "test://*/*", "recursive": true }), &["four.md", "deep"]),
        (json!({ "mime": "text/markdown", "recursive": true }), &["one.md", "four.md"]),
        (json!({ "mime": "TEXT/" }), &["one.md", "two.txt"]),
        (json!({ "mime": "image/*" }), &["three.png"]),
        (json!({ "audience": "user" }), &["one.md", "three.png", "in"]),
        (json!({ "audience": "assistant" }), &["two.txt", "three.png", "in"]),
        (json!({ "min_priority": 0.2, "recursive": true }), &["one.md", "two.txt", "four.md"]),
        (json!({ "min_priority": 0.21 }), &["one.md"]),
        (json!({ "modified_since": "1970-01-03" }), &["one.md", "three.png"]),
        (json!({ "modified_since": "1970-01-03T00:00:01Z" }), &["one.md"]),
        (json!({ "mount": "any" }), &[]),
    ])
    .await;
}

#[tokio::test]
async fn filters_together_let_through_what_all_of_them_do() {
    check(&[
        (json!({ "name": "o", "mime": "text/", "min_priority": 0.5 }), &["one.md"]),
        (
            json!({ "name": "o", "uri": "**/*.md", "recursive": true, "audience": "assistant" }),
            &["four.md"],
        ),
        (
            json!({ "collection": "test://in", "recursive": true, "mime": "text/plain",
            "modified_since": "1970-01-04" }),
            &["five.txt"],
        ),
        (
            json!({ "audience": "user", "modified_since": "1970-01-02", "mime": "image/" }),
            &["three.png"],
        ),
        (json!({ "name": "one", "min_priority": 1 }), &[]),
    ])
    .await;
}

#[tokio::test]
async fn what_is_filtered_is_sorted_over_all_pages() {
    check(&[
        (json!({ "sort": "name" }), &["in", "one.md", "three.png", "two.txt"]),
        (
            json!({ "sort": "size", "recursive": true, "name": "." }),
            &["five.txt", "four.md", "three.png", "two.txt", "one.md"],
        ),
        (
            json!({ "sort": "priority", "recursive": true, "mime": "text/" }),
            &["four.md", "one.md", "two.txt", "five.txt"],
        ),
        (
            json!({ "sort": "modified", "recursive": true, "uri": "**/*.*" }),
            &["five.txt", "one.md", "three.png", "two.txt", "four.md"],
        ),
    ])
    .await;
}
