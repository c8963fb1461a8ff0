//! `refdesk check --secrets`: what redaction masks, by file and line, without showing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{
    Body, ByteSource, Content, Context, Filter, PageRequest, Principal, Provider as _, ReadRequest,
    Result, Uri, uri,
};
use serde_json::{Value, json};

use crate::assemble::{Assembly, OwnResources, assemble, build_redaction};
use crate::output;
use crate::settings::{RedactSetting, Settings};

const PAGE: usize = 1000;

/// One secret, by its place.
struct SecretPlace {
    uri: String,
    line: usize,
    kind: &'static str,
    mask: String,
}

/// What was looked through.
#[derive(Default)]
struct SecretScan {
    places: Vec<SecretPlace>,
    /// How many texts were looked through.
    texts: usize,
    /// What could not be read, and why.
    unread: Vec<(String, String)>,
    /// The mounts that were not looked through.
    skipped: Vec<String>,
}

/// Prints what the mounts of `settings` mask.
pub(super) async fn run(settings: Settings, is_json: bool) -> anyhow::Result<()> {
    let scan = scan(settings).await?;
    output::print(&if is_json { scan.to_json().to_string() + "\n" } else { scan.to_text() })
}

/// Looks through every mount as if nothing were masked.
async fn scan(mut settings: Settings) -> anyhow::Result<SecretScan> {
    let mut redactions = BTreeMap::new();
    for (name, mount) in &settings.mounts {
        redactions.insert(name.clone(), build_redaction(&settings, mount)?);
    }
    settings.access.clear();
    for mount in settings.mounts.values_mut() {
        mount.shared.redact = Some(RedactSetting::Off);
        mount.shared.access.clear();
    }
    let assembly = assemble(&settings, &[], &OwnResources::new(), None)?;
    let mut scan = SecretScan::default();
    for made in &assembly.mounts {
        let name = &made.summary.name;
        let Some(redaction) = redactions.get(name) else { continue };
        if redaction.scope() == RedactionScope::Off {
            continue;
        }
        match made.summary.kind {
            // A server is asked for nothing that a client did not ask for, and all of a history
            // would take hours.
            "upstream" | "git" => scan.skipped.push(name.clone()),
            _ => scan.look_through(&assembly, name, redaction).await?,
        }
    }
    Ok(scan)
}

impl SecretScan {
    async fn look_through(
        &mut self,
        assembly: &Assembly,
        mount: &str,
        redaction: &Redaction,
    ) -> Result<()> {
        let ctx = Context::new(Principal::local());
        let filter = Filter { mount: Some(mount.to_owned()), ..Filter::default() };
        let filter = Some(Arc::new(filter));
        let mut seen = BTreeSet::new();
        let mut parents = vec![None];
        while let Some(parent) = parents.pop() {
            let mut paging = PageRequest::first(PAGE).with_filter(filter.clone());
            loop {
                let page = assembly.catalog.list(&ctx, parent.as_ref(), &paging).await?;
                for item in page.items {
                    if !seen.insert(item.uri.clone()) {
                        continue;
                    }
                    // An archive is looked through only where it is named.
                    if item.is_archive && !item.is_page() {
                        continue;
                    }
                    if item.listable == Some(true) && !item.is_page() {
                        parents.push(Some(item.uri.clone()));
                    } else {
                        self.look_at(&ctx, assembly, &item.uri, redaction).await;
                    }
                }
                let Some(next) = page.next else { break };
                paging.cursor = Some(next);
            }
        }
        Ok(())
    }

    /// Finds the secrets of one resource.
    async fn look_at(
        &mut self,
        ctx: &Context,
        assembly: &Assembly,
        uri: &Uri,
        redaction: &Redaction,
    ) {
        let path = uri::percent_decode(&uri.as_str()[uri.scheme().len() + 1..]);
        let Some(syntax) = redaction.syntax_of(&String::from_utf8_lossy(&path)) else { return };
        if is_derived(uri) {
            return;
        }
        let text = match read_text(ctx, assembly, uri).await {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(error) => {
                return self.unread.push((uri.to_string(), error.message.into_owned()));
            }
        };
        self.texts += 1;
        if uri.scheme() == "env" {
            let name = String::from_utf8_lossy(&path);
            let name = name.rsplit('/').next().unwrap_or_default();
            self.places.extend(redaction.redactor().mask_value(&[name], &text).map(|mask| {
                let (uri, mask) = (uri.to_string(), bare_mask(&mask).to_owned());
                SecretPlace { uri, line: 1, kind: "key", mask }
            }));
            return;
        }
        let found = redaction.redactor().find(&text, syntax);
        self.places.extend(found.into_iter().map(|secret| SecretPlace {
            uri: uri.to_string(),
            line: secret.line,
            kind: secret.kind.name(),
            mask: bare_mask(&secret.mask).to_owned(),
        }));
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        for SecretPlace { uri, line, mask, .. } in &self.places {
            text.push_str(&format!("{uri}:{line}  {mask}\n"));
        }
        for (uri, why) in &self.unread {
            text.push_str(&format!("{uri}  not looked at: {why}\n"));
        }
        for name in &self.skipped {
            text.push_str(&format!("mount {name} is masked as it is read; not looked through\n"));
        }
        let files: BTreeSet<&str> = self.places.iter().map(|place| place.uri.as_str()).collect();
        let (count, texts) = (self.places.len(), self.texts);
        let (secrets, of) = (plural(count, "secret"), plural(texts, "file"));
        text.push_str(&match count {
            0 => format!("no secret found in {of}\n"),
            _ => format!("{secrets} masked in {} of {of}\n", files.len()),
        });
        text
    }

    fn to_json(&self) -> Value {
        let place = |place: &SecretPlace| json!({ "uri": place.uri, "line": place.line, "kind": place.kind, "mask": place.mask });
        let unread = |(uri, why): &(String, String)| json!({ "uri": uri, "reason": why });
        json!({
            "secrets": self.places.iter().map(place).collect::<Vec<_>>(),
            "files": self.texts,
            "unread": self.unread.iter().map(unread).collect::<Vec<_>>(),
            "skipped": self.skipped,
        })
    }
}

/// Whether `uri` is a key or a layer of configuration: its file is looked at itself.
fn is_derived(uri: &Uri) -> bool {
    let path = uri.as_str().strip_prefix("config://").and_then(|rest| rest.split_once('/'));
    path.is_some_and(|(_, path)| {
        ["keys/", "effective", "diff/"].iter().any(|start| path.starts_with(start))
    })
}

/// The mask without the quotes, and the rest of the value, that stand around it.
fn bare_mask(mask: &str) -> &str {
    let start = mask.find("[redacted").unwrap_or(0);
    let end = mask[start..].find(']').map_or(mask.len(), |end| start + end + 1);
    &mask[start..end]
}

fn plural(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", output::format_number(count), if count == 1 { "" } else { "s" })
}

/// The text of a resource; `None` if it is no text.
async fn read_text(ctx: &Context, assembly: &Assembly, uri: &Uri) -> Result<Option<String>> {
    let request = ReadRequest::whole(Redactor::MAX_PARSED_BYTES);
    let reading = assembly.catalog.read(ctx, uri, &request).await?;
    let Content::Parts(parts) = reading.content else { return Ok(None) };
    let Some(Body::Text(source)) = parts.into_iter().next().map(|part| part.body) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    match source {
        ByteSource::Bytes(all) => bytes.extend_from_slice(&all),
        ByteSource::Stream(mut chunks) => {
            while let Some(chunk) = chunks.next().await {
                bytes.extend_from_slice(&chunk?);
            }
        }
    }
    Ok(String::from_utf8(bytes).ok())
}
