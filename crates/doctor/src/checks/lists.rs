//! Lists: walks their pages, twice, and checks that they end, stay, and hold what they should.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Visit;
use crate::plain_text::{plain, plain_json};

/// How many entries of a list are kept.
const MAX_ENTRIES: usize = 20_000;
/// How many pages in a row may bring nothing new.
const MAX_STALE_PAGES: usize = 20;
/// How many pages the second walk has.
const SECOND_PAGES: usize = 20;

/// A list of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListKind {
    pub(super) method: &'static str,
    /// The member of the result that has the entries.
    pub(super) member: &'static str,
    pub(super) capability: &'static str,
    /// The member of an entry that identifies it.
    pub(super) key: &'static str,
}

const RESOURCES: ListKind =
    ListKind { method: "resources/list", member: "resources", capability: "resources", key: "uri" };
const TEMPLATES: ListKind = ListKind {
    method: "resources/templates/list",
    member: "resourceTemplates",
    capability: "resources",
    key: "uriTemplate",
};
const TOOLS: ListKind =
    ListKind { method: "tools/list", member: "tools", capability: "tools", key: "name" };
const PROMPTS: ListKind =
    ListKind { method: "prompts/list", member: "prompts", capability: "prompts", key: "name" };

/// What a walk over the pages of a list gave.
#[derive(Default)]
struct ListWalk {
    entries: Vec<Value>,
    pages: usize,
    scopes: Vec<Value>,
    keys: HashSet<String>,
    /// How many pages in a row brought nothing new.
    stale_pages: usize,
}

impl ListWalk {
    fn add(&mut self, kind: ListKind, result: &Value) {
        self.pages += 1;
        self.stale_pages += 1;
        for entry in result[kind.member].as_array().into_iter().flatten() {
            let key = entry[kind.key].as_str().unwrap_or_default();
            if self.keys.insert(key.to_owned()) {
                self.stale_pages = 0;
            }
            if entry.is_object() && self.entries.len() < MAX_ENTRIES {
                self.entries.push(entry.clone());
            }
        }
        self.scopes.push(result["cacheScope"].clone());
    }
}

impl Visit<'_> {
    pub(super) async fn check_lists(&mut self) {
        let mut has_pages = false;
        for kind in [RESOURCES, TEMPLATES, TOOLS, PROMPTS] {
            if self.capability(kind.capability).is_none() {
                self.check_undeclared(kind).await;
                continue;
            }
            let Some(walk) = self.walk(kind, self.options.page_limit, true).await else { continue };
            has_pages |= walk.pages > 1;
            if walk.pages > 1 {
                self.check_pages(kind, &walk).await;
            }
            self.check_second_walk(kind, &walk).await;
            self.check_duplicates(kind, &walk.entries);
            match kind.member {
                "resources" => self.resources = walk.entries,
                "resourceTemplates" => self.templates = walk.entries,
                "tools" => self.tools = walk.entries,
                _ => self.prompts = walk.entries,
            }
        }
        if !has_pages {
            let why = "no list has more than one page";
            self.log.skipped("list-invalid-cursor", why);
            self.log.skipped("cache-scope-pages", why);
        }
        self.check_entries();
    }

    async fn check_undeclared(&mut self, kind: ListKind) {
        let reply = self.talk.request(kind.method, json!({})).await;
        let count = reply.result().and_then(|result| result[kind.member].as_array()).map(Vec::len);
        if !reply.is_nothing() {
            self.log.judge("capability-undeclared", count.is_none_or(|count| count == 0), || {
                format!("{} has entries, and {} is not declared", kind.method, kind.capability)
            });
        }
    }

    /// Walks a list. The first walk judges; the second only collects.
    async fn walk(&mut self, kind: ListKind, most: usize, is_first: bool) -> Option<ListWalk> {
        let mut walk = ListWalk::default();
        let mut cursors = HashSet::new();
        let mut cursor: Option<String> = None;
        loop {
            let params = cursor.as_ref().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let reply = self.talk.request(kind.method, params).await;
            let Some(result) = reply.result() else {
                if is_first && !reply.is_nothing() {
                    self.judge_refusal(kind, reply.code(), &reply.describe());
                }
                return None;
            };
            walk.add(kind, result);
            if is_first {
                self.judge_page(kind, result);
            }
            let Some(next) = result["nextCursor"].as_str() else { break };
            let is_new = cursors.insert(next.to_owned());
            let is_circle = !is_new || walk.stale_pages > MAX_STALE_PAGES;
            let is_long = walk.pages >= most || walk.entries.len() >= MAX_ENTRIES;
            if is_first && is_circle {
                self.log.found("list-pages-end", endless(kind, is_new, walk.pages, next));
            } else if is_first && is_long {
                let count = walk.entries.len();
                let evidence = format!("{} has more than {count} entries", kind.method);
                self.log.found("list-length", format!("{evidence} on {} pages", walk.pages));
            }
            if is_circle || is_long {
                return Some(walk);
            }
            cursor = Some(next.to_owned());
        }
        if is_first {
            self.log.passed("list-pages-end");
            self.log.passed("list-length");
        }
        Some(walk)
    }

    fn judge_refusal(&mut self, kind: ListKind, code: Option<i64>, shown: &str) {
        let evidence = format!("{} got {shown}", kind.method);
        match code {
            Some(-32601) if kind == TEMPLATES => self.log.found("templates-answer", evidence),
            Some(-32601) => self.log.found("capability-methods", evidence),
            _ => self.log.found_at("list-answers", Some(kind.method), evidence),
        }
    }

    fn judge_page(&mut self, kind: ListKind, result: &Value) {
        self.log.passed("list-answers");
        let answers = if kind == TEMPLATES { "templates-answer" } else { "capability-methods" };
        self.log.passed(answers);
        let entries = result[kind.member].as_array();
        let is_right = entries.is_some_and(|entries| entries.iter().all(Value::is_object));
        self.log.judge("list-shape", is_right, || {
            format!("{} of {} is {}", kind.member, kind.method, plain_json(&result[kind.member]))
        });
        let next = result.get("nextCursor");
        self.log.judge("list-cursor-type", next.is_none_or(Value::is_string), || {
            format!("nextCursor of {} is {}", kind.method, plain_json(&result["nextCursor"]))
        });
    }

    async fn check_pages(&mut self, kind: ListKind, walk: &ListWalk) {
        if !self.revision.has_handshake() {
            let is_one = walk.scopes.windows(2).all(|pair| pair[0] == pair[1]);
            self.log.judge("cache-scope-pages", is_one, || {
                format!("the pages of {} have more than one cacheScope", kind.method)
            });
        }
        let params = json!({ "cursor": "refdesk-doctor-no-such-cursor" });
        let reply = self.talk.request(kind.method, params).await;
        if !reply.is_nothing() {
            self.log.judge("list-invalid-cursor", reply.code() == Some(-32602), || {
                format!("{} with a made-up cursor got {}", kind.method, reply.describe())
            });
        }
    }

    async fn check_second_walk(&mut self, kind: ListKind, first: &ListWalk) {
        if first.entries.len() < 2 {
            return self.log.skipped("list-stable", "no list has two entries");
        }
        let Some(second) = self.walk(kind, SECOND_PAGES, false).await else { return };
        let keys = |entries: &[Value]| -> Vec<Value> {
            entries.iter().map(|entry| entry[kind.key].clone()).collect()
        };
        let is_whole = second.pages < SECOND_PAGES;
        let (first, second) = (keys(&first.entries), keys(&second.entries));
        let differs = second.iter().zip(&first).find(|(second, first)| second != first);
        let is_short = is_whole && second.len() < first.len();
        self.log.judge("list-stable", differs.is_none() && !is_short, || match differs {
            Some((second, first)) => {
                let (first, second) = (plain_json(first), plain_json(second));
                format!("{}: {first} is at the place of {second} the second time", kind.method)
            }
            None => format!("{} is shorter the second time", kind.method),
        });
    }

    fn check_duplicates(&mut self, kind: ListKind, entries: &[Value]) {
        let rule = if kind == TOOLS { "tool-unique" } else { "list-duplicates" };
        let mut seen = HashSet::new();
        for key in entries.iter().filter_map(|entry| entry[kind.key].as_str()) {
            self.log.judge_at(rule, key, seen.insert(key), || {
                format!("it is more than once in {}", kind.method)
            });
        }
    }
}

fn endless(kind: ListKind, is_new: bool, pages: usize, cursor: &str) -> String {
    match is_new {
        true => format!("{} brings nothing new after {pages} pages", kind.method),
        false => format!("{} gives the cursor \"{}\" again", kind.method, plain(cursor)),
    }
}
