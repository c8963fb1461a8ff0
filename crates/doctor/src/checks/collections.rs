//! SEP-2093 where a server advertises it: metadata, and collections that can be listed.

use serde_json::{Value, json};

use super::{MISSING_URI, Visit};
use crate::plain_text::plain_json;

/// How many resources are asked for their metadata.
const METADATA_SAMPLE: usize = 5;
/// How many collections, and how many others, are listed.
const LIST_SAMPLE: usize = 2;
/// The rules of this family that need the method for metadata.
const METADATA_RULES: [&str; 3] = ["metadata-answers", "collection-lists", "collection-flags"];

impl Visit<'_> {
    /// Whether the server says that it implements SEP-2093.
    pub(super) fn advertises_metadata(&self) -> bool {
        self.metadata_settings().is_some()
    }

    fn metadata_settings(&self) -> Option<&Value> {
        let places = ["extensions", "experimental"].into_iter();
        let extensions = places.filter_map(|place| self.capabilities[place].as_object()).flatten();
        let mut settings = extensions.filter(|(name, value)| {
            value["sep"] == json!(2093) || name.contains("resource-metadata")
        });
        settings.next().map(|(_, value)| value)
    }

    pub(super) async fn check_collections(&mut self) {
        let Some(settings) = self.metadata_settings() else {
            for id in METADATA_RULES {
                self.log.skipped(id, "the server does not advertise SEP-2093");
            }
            return;
        };
        let is_off = |flag: &str| settings[flag] == json!(false);
        let (has_metadata, has_lists) = (!is_off("metadata"), !is_off("scopedList"));
        self.check_flags();
        if has_metadata {
            self.check_metadata().await;
        }
        if has_lists {
            self.check_scoped_lists(has_metadata).await;
        }
    }

    fn check_flags(&mut self) {
        for entry in &self.resources {
            let flags = (entry["isCollection"].as_bool(), entry["capabilities"]["list"].as_bool());
            if let (Some(collection), Some(list)) = flags {
                let uri = entry["uri"].as_str().unwrap_or_default();
                self.log.judge_at("collection-flags", uri, collection == list, || {
                    format!("isCollection is {collection}, capabilities.list is {list}")
                });
            }
        }
    }

    async fn check_metadata(&mut self) {
        let sample: Vec<Value> = self.resources.iter().take(METADATA_SAMPLE).cloned().collect();
        for entry in sample {
            let Some(uri) = entry["uri"].as_str() else { continue };
            let reply = self.talk.request("resources/metadata", json!({ "uri": uri })).await;
            if reply.is_nothing() {
                return;
            }
            let resource = reply.result().map(|result| &result["resource"]);
            let is_right = resource.is_some_and(Value::is_object);
            self.log.judge_at("metadata-answers", uri, is_right, || reply.describe());
            let Some(resource) = resource.filter(|_| is_right) else { continue };
            let has_content = resource.get("text").or(resource.get("blob")).is_some();
            self.log.judge_at("metadata-no-content", uri, !has_content, || {
                "the metadata has text or blob".to_owned()
            });
            let members = ["name", "mimeType", "size"];
            let differs = members.into_iter().find(|member| resource[*member] != entry[*member]);
            self.log.judge_at("metadata-equals-list", uri, differs.is_none(), || {
                let member = differs.unwrap_or_default();
                let (list, here) = (plain_json(&entry[member]), plain_json(&resource[member]));
                format!("{member} is {here}, in the list {list}")
            });
        }
        let reply = self.talk.request("resources/metadata", json!({ "uri": MISSING_URI })).await;
        if !reply.is_nothing() && reply.code() != Some(-32601) {
            let is_right = matches!(reply.code(), Some(-32602 | -32002));
            self.log.judge("metadata-unknown", is_right, || {
                format!("{MISSING_URI} got {}", reply.describe())
            });
        }
    }

    async fn check_scoped_lists(&mut self, has_metadata: bool) {
        for uri in self.uris_with(true) {
            self.check_children(&uri, has_metadata).await;
        }
        for uri in self.uris_with(false) {
            let reply = self.talk.request("resources/list", json!({ "uri": uri })).await;
            if !reply.is_nothing() {
                self.log.judge_at("collection-unlistable", &uri, reply.result().is_none(), || {
                    format!("resources/list with it got {}", reply.describe())
                });
            }
        }
    }

    /// The first URIs that say they can be listed, or that they cannot.
    fn uris_with(&self, is_listable: bool) -> Vec<String> {
        let says = |entry: &&Value| {
            let flag = entry["capabilities"]["list"].as_bool().or(entry["isCollection"].as_bool());
            flag == Some(is_listable)
        };
        let uris = self.resources.iter().filter(says).filter_map(|entry| entry["uri"].as_str());
        uris.take(LIST_SAMPLE).map(str::to_owned).collect()
    }

    async fn check_children(&mut self, uri: &str, has_metadata: bool) {
        let reply = self.talk.request("resources/list", json!({ "uri": uri })).await;
        if reply.is_nothing() {
            return;
        }
        let children = reply.result().and_then(|result| result["resources"].as_array());
        self.log.judge_at("collection-lists", uri, children.is_some(), || reply.describe());
        let Some(children) = children else { return };
        let is_child = |child: &Value| child["uri"].as_str() != Some(uri);
        self.log.judge_at("collection-children", uri, children.iter().all(is_child), || {
            "the collection is among its children".to_owned()
        });
        let first = children.iter().filter(|child| is_child(child));
        let Some(child) = first.filter_map(|child| child["uri"].as_str()).next() else { return };
        if !has_metadata {
            return;
        }
        let child = child.to_owned();
        let reply = self.talk.request("resources/metadata", json!({ "uri": child })).await;
        if !reply.is_nothing() {
            let is_found = reply.result().is_some();
            self.log.judge_at("collection-child-reachable", &child, is_found, || reply.describe());
        }
    }

    /// Checks what the SEP says of the elements of a read.
    pub(super) fn check_sep_contents(&mut self, entry: &Value, uri: &str, contents: &[Value]) {
        if entry["isCollection"] == json!(false) {
            let other = contents
                .iter()
                .find(|element| element["uri"].as_str().is_some_and(|element| element != uri));
            // A read without the requested URI breaks a rule of its own.
            let is_mixed = contents.iter().any(|element| element["uri"].as_str() == Some(uri));
            self.log.judge_at("collection-single", uri, other.is_none() || !is_mixed, || {
                format!("an element has {}", plain_json(&other.unwrap_or(&Value::Null)["uri"]))
            });
        }
        let is_named = contents.iter().all(|element| element["name"].is_string());
        self.log.judge_at("read-metadata", uri, is_named, || "an element has no name".to_owned());
    }
}
