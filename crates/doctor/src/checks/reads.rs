//! Reads: the first listed resources, and resources that do not exist.

use serde_json::{Value, json};

use super::values::{base64_len, essence};
use super::{MISSING_URI, Visit};
use crate::plain_text::plain_json;

impl Visit<'_> {
    pub(super) async fn check_reads(&mut self) {
        let limit = self.options.message_limit as f64 / 2.0;
        let is_small = |entry: &&Value| entry["size"].as_f64().is_none_or(|size| size < limit);
        let readable = self.resources.iter().filter(|entry| entry["uri"].is_string());
        let sample = readable.filter(is_small).take(self.options.read_limit).cloned();
        let sample: Vec<Value> = sample.collect();
        if sample.is_empty() {
            for id in ["read-listed", "read-shape", "read-text-or-blob", "read-element-uri"] {
                self.log.skipped(id, "no resource is listed");
            }
        }
        for entry in sample {
            let uri = entry["uri"].as_str().unwrap_or_default();
            let reply = self.talk.request("resources/read", json!({ "uri": uri })).await;
            if reply.is_nothing() {
                continue;
            }
            self.log.judge_at("read-listed", uri, reply.result().is_some(), || reply.describe());
            let Some(result) = reply.result() else { continue };
            if result["resultType"] != "input_required" {
                self.check_contents(&entry, uri, result);
            }
        }
    }

    fn check_contents(&mut self, entry: &Value, uri: &str, result: &Value) {
        let contents = result["contents"].as_array();
        let is_right = contents.is_some_and(|contents| contents.iter().all(Value::is_object));
        self.log.judge_at("read-shape", uri, is_right, || {
            format!("contents is {}", plain_json(&result["contents"]))
        });
        let Some(contents) = contents.filter(|_| is_right) else { return };
        self.log.judge_at("read-empty", uri, !contents.is_empty(), || "contents is []".to_owned());
        for element in contents {
            self.check_element(uri, element);
        }
        let is_same = |element: &&Value| element["uri"].as_str() == Some(uri);
        let same: Vec<&Value> = contents.iter().filter(is_same).collect();
        if let Some(first) = contents.iter().find(|element| element["uri"].is_string()) {
            self.log.judge_at("read-uri-matches", uri, !same.is_empty(), || {
                format!("the first element has {}", plain_json(&first["uri"]))
            });
        }
        if self.advertises_metadata() {
            self.check_sep_contents(entry, uri, contents);
        }
        if entry["isCollection"] != json!(true) {
            self.check_agreement(entry, uri, &same);
        }
    }

    fn check_element(&mut self, uri: &str, element: &Value) {
        self.log.judge_at("read-element-uri", uri, element["uri"].is_string(), || {
            format!("the uri of an element is {}", plain_json(&element["uri"]))
        });
        let (text, blob) = (element.get("text"), element.get("blob"));
        let is_one = match (text, blob) {
            (Some(text), None) => text.is_string(),
            (None, Some(blob)) => blob.is_string(),
            _ => false,
        };
        self.log.judge_at("read-text-or-blob", uri, is_one, || {
            let members = element.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            format!("an element has {}", members.collect::<Vec<_>>().join(", "))
        });
        if let Some(blob) = blob.and_then(Value::as_str) {
            self.log.judge_at("read-base64", uri, base64_len(blob).is_some(), || {
                format!("blob is {}", plain_json(&element["blob"]))
            });
        }
    }

    /// Compares the elements with the requested URI with the list entry.
    fn check_agreement(&mut self, entry: &Value, uri: &str, same: &[&Value]) {
        let read: Vec<String> =
            same.iter().filter_map(|element| element["mimeType"].as_str()).map(essence).collect();
        if let (Some(listed), false) = (entry["mimeType"].as_str(), read.is_empty()) {
            self.log.judge_at("read-mime", uri, read.contains(&essence(listed)), || {
                format!("the list says {listed}, the read {}", read.join(", "))
            });
        }
        let [element] = same else { return };
        let bytes = match (element["text"].as_str(), element["blob"].as_str()) {
            (Some(text), _) => Some(text.len()),
            (None, blob) => blob.and_then(base64_len),
        };
        // The size is that of the raw content; a text in another charset is read as UTF-8. Where a
        // description has no place for the charset, a text beyond ASCII may be such a one.
        let is_beyond_ascii = element["text"].as_str().is_some_and(|text| !text.is_ascii());
        let is_converted = is_beyond_ascii
            && (!self.revision.has_resource_meta()
                || declares_charset(entry)
                || declares_charset(element));
        if let (Some(listed), Some(bytes), false) = (entry["size"].as_u64(), bytes, is_converted) {
            self.log.judge_at("read-size", uri, listed == bytes as u64, || {
                format!("the list says {listed} bytes, the read has {bytes}")
            });
        }
    }

    pub(super) async fn check_missing(&mut self) {
        if self.capability("resources").is_none() {
            return self.log.skipped("not-found-error", "the server offers no resources");
        }
        let reply = self.talk.request("resources/read", json!({ "uri": MISSING_URI })).await;
        if reply.is_nothing() {
            return;
        }
        self.log.judge("not-found-error", reply.result().is_none(), || {
            format!("{MISSING_URI} got {}", reply.describe())
        });
        if reply.result().is_none() {
            let has_handshake = self.revision.has_handshake();
            let rule = if has_handshake { "not-found-code" } else { "not-found-code-stateless" };
            let is_right = reply.code() == Some(self.revision.not_found_code());
            self.log.judge(rule, is_right, || format!("{MISSING_URI} got {}", reply.describe()));
            let data = reply.fault().map(|fault| &fault.data["uri"]);
            self.log.judge("not-found-uri", data.is_some_and(|uri| uri == MISSING_URI), || {
                format!("data.uri is {}", plain_json(data.unwrap_or(&Value::Null)))
            });
        }
        let reply = self.talk.request("resources/read", json!({ "uri": "not a uri" })).await;
        if !reply.is_nothing() {
            self.log.judge("malformed-uri", reply.result().is_none(), || {
                format!("\"not a uri\" got {}", reply.describe())
            });
        }
    }
}

/// Whether a description says that the content is stored in another charset than UTF-8: as a
/// parameter of its MIME type, or in `_meta`.
fn declares_charset(description: &Value) -> bool {
    let is_other = |charset: &str| !charset.trim_matches('"').eq_ignore_ascii_case("utf-8");
    let mime = description["mimeType"].as_str().unwrap_or_default().to_ascii_lowercase();
    let of_mime = mime.split("charset=").nth(1).and_then(|rest| rest.split(';').next());
    let meta = description["_meta"].as_object().into_iter().flatten();
    let mut of_meta = meta
        .filter(|(key, _)| key.rsplit('/').next() == Some("charset"))
        .filter_map(|(_, value)| value.as_str());
    of_mime.is_some_and(is_other) || of_meta.any(is_other)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::declares_charset;

    #[test]
    fn a_charset_is_declared_by_the_type_or_beside_it() {
        for other in [
            json!({ "mimeType": "text/plain; charset=Shift_JIS" }),
            json!({ "mimeType": "text/plain", "_meta": { "dev.refdesk/charset": "shift_jis" } }),
            json!({ "_meta": { "charset": "euc-jp" } }),
        ] {
            assert!(declares_charset(&other), "{other}");
        }
        for usual in [
            json!({ "mimeType": "text/plain; charset=\"UTF-8\"" }),
            json!({ "mimeType": "text/plain", "_meta": { "charset": "utf-8", "mycharset": "x" } }),
            json!({ "mimeType": "text/plain" }),
        ] {
            assert!(!declares_charset(&usual), "{usual}");
        }
    }
}
