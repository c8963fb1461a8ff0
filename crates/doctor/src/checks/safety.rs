//! Safety of what is listed: hidden characters, credentials in URIs, names of home folders.

use resource::Uri;
use serde_json::Value;

use super::Visit;
use crate::plain_text::{is_hidden, plain};

impl Visit<'_> {
    pub(super) fn check_safety(&mut self) {
        let lists = [
            (&self.resources, "uri"),
            (&self.templates, "uriTemplate"),
            (&self.tools, "name"),
            (&self.prompts, "name"),
        ];
        for (entries, key) in lists {
            for entry in entries {
                let place = entry[key].as_str().unwrap_or_default();
                let found = hidden_in(entry);
                self.log.judge_at("hidden-characters", place, found.is_none(), || {
                    found.unwrap_or_default()
                });
            }
        }
        for uri in self.resources.iter().filter_map(|entry| entry["uri"].as_str()) {
            let Ok(parsed) = Uri::parse(uri) else { continue };
            let user = parsed.authority().and_then(|authority| authority.rsplit_once('@'));
            let has_password = user.is_some_and(|(user, _)| user.contains(':'));
            // The place would repeat the password.
            let place = uri.split('@').next_back().unwrap_or_default();
            let place = if has_password {
                format!("{}://…@{place}", parsed.scheme())
            } else {
                uri.to_owned()
            };
            self.log.judge_at("uri-credentials", &place, !has_password, || {
                "the URI has a user and a password".to_owned()
            });
            let home = (parsed.scheme() == "file").then(|| home_folder(parsed.path())).flatten();
            self.log.judge_at("home-paths", home.unwrap_or(uri), home.is_none(), || {
                format!("{} is listed", plain(uri))
            });
        }
    }
}

/// The first hidden character of an entry, in words.
fn hidden_in(entry: &Value) -> Option<String> {
    for member in ["name", "title", "description", "uri", "uriTemplate"] {
        let text = entry[member].as_str().unwrap_or_default();
        let is_line = |c: char| member == "description" && matches!(c, '\n' | '\r' | '\t');
        if let Some(found) = text.chars().find(|c| is_hidden(*c) && !is_line(*c)) {
            return Some(format!("{member} has {}", found.escape_unicode()));
        }
    }
    None
}

/// The home folder that a path is in.
fn home_folder(path: &str) -> Option<&str> {
    let rest = ["/home/", "/Users/", "/C:/Users/", "/c:/Users/"];
    let prefix = rest.into_iter().find(|prefix| path.starts_with(prefix))?;
    let end = path[prefix.len()..].find('/').map(|end| end + prefix.len())?;
    (end > prefix.len()).then(|| &path[..end])
}
