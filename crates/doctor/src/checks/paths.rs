//! Paths: reads of `file://` URIs that lead out of what a server serves. Reads only.

use resource::Uri;
use serde_json::{Value, json};

use super::Visit;

/// A file that most machines have and that holds no secret.
const OUTSIDE: &str = "etc/hostname";
/// Steps up, more than any served folder is deep.
const STEPS: usize = 12;
/// How many templates are tried.
const MAX_TEMPLATES: usize = 3;
const RULES: [&str; 3] = ["path-traversal", "path-absolute", "path-nul"];

impl Visit<'_> {
    pub(super) async fn check_paths(&mut self) {
        let folders = self.file_folders();
        if self.talk.is_unanswered() {
            return;
        }
        if folders.is_empty() {
            let why = "no file:// URI is listed, and no file:// template";
            return RULES.into_iter().for_each(|id| self.log.skipped(id, why));
        }
        let own = self.own_content().await;
        for folder in folders {
            for (rule, uri) in probes(&folder) {
                self.check_escape(rule, &uri, own.as_ref()).await;
            }
        }
        let absolute = format!("file:///{OUTSIDE}");
        if self.file_uris().any(|uri| is_above(uri, &absolute)) {
            return self.log.skipped("path-absolute", "the server lists a folder above it");
        }
        self.check_escape("path-absolute", &absolute, own.as_ref()).await;
    }

    /// Judges a read of what must not be there.
    async fn check_escape(&mut self, rule: &'static str, uri: &str, own: Option<&Value>) {
        let reply = self.talk.request("resources/read", json!({ "uri": uri })).await;
        if reply.is_nothing() {
            return;
        }
        let got = reply.result().map(content);
        // A server that makes the path plain may give the resource itself.
        let foreign = got.as_ref().filter(|got| got.is_array() && Some(*got) != own);
        self.log.judge_at(rule, uri, foreign.is_none(), || {
            let bodies = foreign.and_then(Value::as_array).into_iter().flatten();
            let length: usize = bodies.filter_map(Value::as_str).map(str::len).sum();
            format!("it has content, {length} characters")
        });
    }

    fn file_uris(&self) -> impl Iterator<Item = &str> {
        let uris = self.resources.iter().filter_map(|entry| entry["uri"].as_str());
        uris.filter(|uri| Uri::parse(uri).is_ok_and(|parsed| parsed.scheme() == "file"))
    }

    /// The folder of the first listed file, and those that templates begin with; each ends with a slash.
    fn file_folders(&self) -> Vec<String> {
        let listed = self.file_uris().find_map(folder_of);
        let templates = self.templates.iter().filter_map(|entry| entry["uriTemplate"].as_str());
        let literal = templates.filter_map(|template| template.split('{').next());
        let literal = literal.filter(|start| start.starts_with("file:")).filter_map(folder_of);
        let mut folders: Vec<String> = listed.into_iter().collect();
        for folder in literal.take(MAX_TEMPLATES) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// What the listed file holds.
    async fn own_content(&mut self) -> Option<Value> {
        let uri = self.file_uris().next()?.to_owned();
        let reply = self.talk.request("resources/read", json!({ "uri": uri })).await;
        reply.result().map(content)
    }
}

/// The URI up to its last slash; `None` if nothing follows the authority.
fn folder_of(uri: &str) -> Option<String> {
    let uri = uri.split(['?', '#']).next().unwrap_or_default();
    let rest = uri.strip_prefix("file://")?;
    let end = rest.rfind('/')?;
    Some(format!("file://{}", &rest[..=end]))
}

/// Whether one URI is a folder that another is in.
fn is_above(folder: &str, uri: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    uri.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// URIs that lead to the file outside, each with the rule that it tries.
fn probes(folder: &str) -> Vec<(&'static str, String)> {
    let climb = |step: &str, file: &str| format!("{folder}{}{file}", step.repeat(STEPS));
    let encoded = OUTSIDE.replace('/', "%2f");
    let twice = OUTSIDE.replace('/', "%252f");
    vec![
        ("path-traversal", climb("../", OUTSIDE)),
        ("path-traversal", climb("%2e%2e/", OUTSIDE)),
        ("path-traversal", climb("..%2f", &encoded)),
        ("path-traversal", climb("%2e%2e%2f", &encoded)),
        ("path-traversal", climb("%252e%252e%252f", &twice)),
        ("path-traversal", format!("{folder}/{OUTSIDE}")),
        ("path-nul", format!("{}%00.txt", climb("../", OUTSIDE))),
        ("path-nul", format!("file:///{OUTSIDE}%00.txt")),
    ]
}

/// The texts and blobs of a read; `null` where there are none.
fn content(result: &Value) -> Value {
    let elements = result["contents"].as_array().into_iter().flatten();
    let bodies = elements.filter_map(|element| element.get("text").or(element.get("blob")));
    let bodies: Vec<&Value> = bodies.filter(|body| body.as_str() != Some("")).collect();
    if bodies.is_empty() { Value::Null } else { json!(bodies) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{content, folder_of, is_above, probes};

    #[test]
    fn a_probe_begins_with_the_folder_of_the_uri() {
        assert_eq!(folder_of("file:///a/b.txt?x=/y").as_deref(), Some("file:///a/"));
        assert_eq!(folder_of("file://documents/").as_deref(), Some("file://documents/"));
        assert_eq!(folder_of("file://documents"), None);
        assert_eq!(folder_of("doc:///a"), None);
        assert!(probes("file:///a/").iter().any(|(_, uri)| uri.starts_with("file:///a/../../")));
    }

    #[test]
    fn a_listed_folder_covers_what_is_in_it() {
        assert!(is_above("file:///etc", "file:///etc/hostname"));
        assert!(is_above("file:///", "file:///etc/hostname"));
        assert!(!is_above("file:///et", "file:///etc/hostname"));
        assert!(!is_above("file:///etc/hosts", "file:///etc/hostname"));
    }

    #[test]
    fn a_read_without_content_gives_nothing_away() {
        assert!(content(&json!({ "contents": [] })).is_null());
        assert!(content(&json!({ "contents": [{ "uri": "x", "text": "" }] })).is_null());
        assert_eq!(content(&json!({ "contents": [{ "text": "a" }] })), json!(["a"]));
    }
}
