//! Entries of lists: the members of resources, templates and prompts.

use resource::Uri;
use serde_json::Value;

use super::Visit;
use super::values::{is_date_time, is_mime, template_variables};
use crate::plain_text::plain_json;

impl Visit<'_> {
    pub(super) fn check_entries(&mut self) {
        for entry in std::mem::take(&mut self.resources) {
            self.check_resource(&entry);
            self.resources.push(entry);
        }
        for entry in std::mem::take(&mut self.templates) {
            let place = entry["uriTemplate"].as_str().unwrap_or_default().to_owned();
            self.check_described(&entry, &place);
            let fault = match entry["uriTemplate"].as_str() {
                Some(text) => template_variables(text).err(),
                None => Some("there is no uriTemplate"),
            };
            self.log.judge_at("template-uri", &place, fault.is_none(), || {
                fault.unwrap_or_default().to_owned()
            });
            self.templates.push(entry);
        }
        for entry in std::mem::take(&mut self.prompts) {
            let place = entry["name"].as_str().unwrap_or_default().to_owned();
            self.check_described(&entry, &place);
            self.log.judge_at("prompt-arguments", &place, has_named_arguments(&entry), || {
                format!("arguments is {}", plain_json(&entry["arguments"]))
            });
            self.prompts.push(entry);
        }
        for entry in std::mem::take(&mut self.tools) {
            let place = entry["name"].as_str().unwrap_or_default().to_owned();
            self.check_members(&entry, &place);
            self.check_icons(&entry, &place);
            self.tools.push(entry);
        }
    }

    fn check_resource(&mut self, entry: &Value) {
        let place = entry["uri"].as_str().unwrap_or_default().to_owned();
        let fault = match entry["uri"].as_str() {
            Some(text) => Uri::parse(text).err().map(|error| error.to_string()),
            None => Some("there is no uri".to_owned()),
        };
        self.log.judge_at("resource-uri", &place, fault.is_none(), || {
            let name = plain_json(&entry["name"]);
            format!("{}, in the entry with the name {name}", fault.unwrap_or_default())
        });
        let size = entry.get("size");
        self.log.judge_at("resource-size", &place, size.is_none_or(is_byte_count), || {
            format!("size is {}", plain_json(&entry["size"]))
        });
        self.check_described(entry, &place);
    }

    /// Checks what resources, templates and prompts have in common.
    fn check_described(&mut self, entry: &Value, place: &str) {
        let is_named = entry["name"].as_str().is_some_and(|name| !name.is_empty());
        self.log.judge_at("resource-name", place, is_named, || {
            format!("name is {}", plain_json(&entry["name"]))
        });
        self.check_members(entry, place);
        if let Some(mime) = entry["mimeType"].as_str() {
            self.log.judge_at("mime-form", place, is_mime(mime), || {
                format!("mimeType is {}", plain_json(&entry["mimeType"]))
            });
        }
        self.check_annotations(&entry["annotations"], place);
        self.check_icons(entry, place);
    }

    fn check_members(&mut self, entry: &Value, place: &str) {
        for member in ["title", "description", "mimeType"] {
            let value = entry.get(member);
            self.log.judge_at("member-types", place, value.is_none_or(Value::is_string), || {
                format!("{member} is {}", plain_json(&entry[member]))
            });
        }
    }

    fn check_annotations(&mut self, annotations: &Value, place: &str) {
        if let Some(audience) = annotations.get("audience") {
            let is_role = |role: &Value| matches!(role.as_str(), Some("user" | "assistant"));
            let is_right = audience.as_array().is_some_and(|roles| roles.iter().all(is_role));
            self.log.judge_at("annotations-audience", place, is_right, || {
                format!("audience is {}", plain_json(audience))
            });
        }
        if let Some(priority) = annotations.get("priority") {
            let is_right = priority.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value));
            self.log.judge_at("annotations-priority", place, is_right, || {
                format!("priority is {}", plain_json(priority))
            });
        }
        let stamp = annotations.get("lastModified").filter(|_| self.revision.has_last_modified());
        if let Some(stamp) = stamp {
            let is_right = stamp.as_str().is_some_and(is_date_time);
            self.log.judge_at("annotations-last-modified", place, is_right, || {
                format!("lastModified is {}", plain_json(stamp))
            });
        }
    }

    fn check_icons(&mut self, entry: &Value, place: &str) {
        let Some(icons) = entry.get("icons").filter(|_| self.revision.has_icons()) else { return };
        let is_safe = |icon: &Value| {
            let source = icon["src"].as_str().unwrap_or_default().to_ascii_lowercase();
            source.starts_with("https:") || source.starts_with("data:")
        };
        let is_right = icons.as_array().is_some_and(|icons| icons.iter().all(is_safe));
        self.log
            .judge_at("icon-src", place, is_right, || format!("icons is {}", plain_json(icons)));
    }
}

/// Whether a value is a whole number from 0 on; 12.0 is one too.
fn is_byte_count(value: &Value) -> bool {
    value.is_u64() || value.as_f64().is_some_and(|size| size >= 0.0 && size.fract() == 0.0)
}

fn has_named_arguments(prompt: &Value) -> bool {
    let Some(arguments) = prompt.get("arguments") else { return true };
    let is_right = |argument: &Value| {
        let required = argument.get("required");
        argument["name"].is_string() && required.is_none_or(Value::is_boolean)
    };
    arguments.as_array().is_some_and(|arguments| arguments.iter().all(is_right))
}
