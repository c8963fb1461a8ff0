//! Completion of the arguments of templates and prompts.

use serde_json::{Value, json};

use super::values::template_variables;
use super::{MISSING_NAME, Visit};
use crate::plain_text::plain_json;

/// The most values that a completion may have.
const MAX_VALUES: usize = 100;

impl Visit<'_> {
    pub(super) async fn check_completion(&mut self) {
        let is_declared = self.capability("completions").is_some();
        if !is_declared || !self.revision.has_completions_capability() {
            return self.log.skipped("completion-answers", "completions is not declared");
        }
        match self.completable() {
            None => self.log.skipped("completion-shape", "nothing has arguments to complete"),
            Some((reference, argument)) => self.check_completed(reference, &argument).await,
        }
        let params = json!({
            "ref": { "type": "ref/prompt", "name": MISSING_NAME },
            "argument": { "name": "name", "value": "" },
        });
        let reply = self.talk.request("completion/complete", params).await;
        if !reply.is_nothing() && reply.code() != Some(-32601) {
            self.log.judge("completion-unknown", reply.code() == Some(-32602), || {
                format!("an unknown prompt got {}", reply.describe())
            });
        }
        if !reply.is_nothing() {
            self.log.judge("completion-answers", reply.code() != Some(-32601), || {
                format!("completion/complete got {}", reply.describe())
            });
        }
    }

    /// A reference that has an argument, and the name of that.
    fn completable(&self) -> Option<(Value, String)> {
        let templates = self.templates.iter().filter_map(|entry| entry["uriTemplate"].as_str());
        let template = templates.filter_map(|text| {
            let names = template_variables(text).ok()?;
            let name = names.first()?;
            Some((json!({ "type": "ref/resource", "uri": text }), (*name).to_owned()))
        });
        let prompts = self.prompts.iter().filter_map(|prompt| {
            let name = prompt["arguments"][0]["name"].as_str()?;
            Some((json!({ "type": "ref/prompt", "name": prompt["name"] }), name.to_owned()))
        });
        template.chain(prompts).next()
    }

    async fn check_completed(&mut self, reference: Value, argument: &str) {
        let place = reference.get("uri").or(reference.get("name"));
        let place = place.and_then(Value::as_str).unwrap_or_default().to_owned();
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": "" } });
        let reply = self.talk.request("completion/complete", params).await;
        let Some(result) = reply.result() else { return };
        let completion = &result["completion"];
        let values = completion["values"].as_array();
        let is_right = values.is_some_and(|values| values.iter().all(Value::is_string));
        self.log.judge_at("completion-shape", &place, is_right, || {
            format!("completion is {}", plain_json(completion))
        });
        let Some(count) = values.map(Vec::len) else { return };
        self.log.judge_at("completion-limit", &place, count <= MAX_VALUES, || {
            format!("there are {count} values")
        });
        let total = completion.get("total").filter(|total| !total.is_null());
        let more = completion.get("hasMore").filter(|more| !more.is_null());
        let is_total = total.is_none_or(|total| {
            let is_more = more.is_some_and(|more| *more == json!(true));
            total
                .as_u64()
                .is_some_and(|total| total >= count as u64 && (!is_more || total > count as u64))
        });
        let is_right = is_total && more.is_none_or(Value::is_boolean);
        self.log.judge_at("completion-total", &place, is_right, || {
            let (total, more) = (&completion["total"], &completion["hasMore"]);
            let (total, more) = (plain_json(total), plain_json(more));
            format!("{count} values, total {total}, hasMore {more}")
        });
    }
}
