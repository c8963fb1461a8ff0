//! `refdesk check --secrets`: what redaction masks, by file and line, without showing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use providers::config;
use redaction::{Redaction, RedactionScope, Redactor, Syntax};
use resource::{
    Body, ByteSource, Content, Context, Filter, PageRequest, Part, Principal, Provider as _,
    ReadRequest, Resource, Result, Uri, uri,
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
    /// The mounts of which only the checked-out commit was looked through.
    only_head: Vec<String>,
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
        let mount = ScannedMount { name, kind: made.summary.kind, redaction };
        match mount.kind {
            // A server is asked for nothing that a client did not ask for.
            "upstream" => scan.skipped.push(name.clone()),
            // All of a history would take hours.
            "git" => {
                scan.only_head.push(name.clone());
                let Some(root) = &made.summary.root else { continue };
                let head = Uri::parse(&format!("{root}HEAD"))?;
                if assembly.catalog.stat(&local_context(), &head).await.is_ok() {
                    scan.look_through(&assembly, &mount, Some(head)).await?;
                }
            }
            _ => scan.look_through(&assembly, &mount, None).await?,
        }
    }
    Ok(scan)
}

/// A mount that is looked through.
struct ScannedMount<'a> {
    name: &'a str,
    kind: &'static str,
    redaction: &'a Redaction,
}

fn local_context() -> Context {
    Context::new(Principal::local())
}

impl ScannedMount<'_> {
    /// How the content of a resource is masked, as the mount does it.
    fn syntax_of(&self, resource: &Resource) -> Option<Syntax> {
        let path = path_of(&resource.uri);
        let named = self.redaction.syntax_of(&path);
        match self.kind {
            "config" => named.map(|named| config::masked_syntax(&path).unwrap_or(named)),
            "git" => named,
            _ => {
                let (target, mime) = (resource.link_target.as_deref(), resource.mime.as_deref());
                self.redaction.syntax_of_content(named, target, mime)
            }
        }
    }
}

/// The path of a URI, decoded.
fn path_of(uri: &Uri) -> String {
    let path = uri::percent_decode(&uri.as_str()[uri.scheme().len() + 1..]);
    String::from_utf8_lossy(&path).into_owned()
}

impl SecretScan {
    /// Looks through the collection `top`, or through everything that the mount lists.
    async fn look_through(
        &mut self,
        assembly: &Assembly,
        mount: &ScannedMount<'_>,
        top: Option<Uri>,
    ) -> Result<()> {
        let ctx = local_context();
        let filter = Filter { mount: Some(mount.name.to_owned()), ..Filter::default() };
        let filter = Some(Arc::new(filter));
        let mut seen = BTreeSet::new();
        let mut parents = vec![top];
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
                        self.look_at(&ctx, assembly, &item, mount).await;
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
        item: &Resource,
        mount: &ScannedMount<'_>,
    ) {
        let uri = &item.uri;
        if mount.syntax_of(item).is_none() || is_derived(uri) {
            return;
        }
        let (resource, text) = match read_text(ctx, assembly, uri).await {
            Ok(Some(read)) => read,
            Ok(None) => return,
            Err(error) => {
                return self.unread.push((uri.to_string(), error.message.into_owned()));
            }
        };
        self.texts += 1;
        let redactor = mount.redaction.redactor();
        if mount.kind == "env" {
            let path = path_of(uri);
            let name = path.rsplit('/').next().unwrap_or_default();
            self.places.extend(redactor.mask_value(&[name], &text).map(|mask| {
                let (uri, mask) = (uri.to_string(), bare_mask(&mask).to_owned());
                SecretPlace { uri, line: 1, kind: "key", mask }
            }));
            return;
        }
        // What was read knows its MIME type, which a list may not.
        let Some(syntax) = mount.syntax_of(&resource) else { return };
        self.places.extend(redactor.find(&text, syntax).into_iter().map(|secret| SecretPlace {
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
        for name in &self.only_head {
            text.push_str(&format!(
                "mount {name}: only HEAD was looked through; the history is masked as it is read\n"
            ));
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
            "only_head": self.only_head,
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

/// A resource and its text; `None` if it is no text.
async fn read_text(
    ctx: &Context,
    assembly: &Assembly,
    uri: &Uri,
) -> Result<Option<(Arc<Resource>, String)>> {
    let request = ReadRequest::whole(Redactor::MAX_PARSED_BYTES);
    let reading = assembly.catalog.read(ctx, uri, &request).await?;
    let Content::Parts(parts) = reading.content else { return Ok(None) };
    let Some(Part { resource, body: Body::Text(source), .. }) = parts.into_iter().next() else {
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
    Ok(String::from_utf8(bytes).ok().map(|text| (resource, text)))
}
