//! Builds the documentation provider from the settings, over a folder.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, Mount};
use providers::VisibilityRule;
use providers::docs::{Documentation, LanguageTag, Options};
use providers::fs::{self, DEFAULT_MAX_WATCHES, DEFAULT_POLL_INTERVAL, Fs, HideFilter};
use resource::UriRewrite;
use toml::Spanned;

use super::folder::{file_api, listing_mode};
use super::{
    MountParts, MountSize, MountSummary, charsets, mount_terms, to_diagnostic, watch_mode,
};
use crate::descriptors;
use crate::settings::{Diagnostic, DocsMount, MountSettings, Settings};

/// Builds one documentation mount.
pub(super) fn docs_mount(
    settings: &Settings,
    name: &str,
    mount: &MountSettings,
    declared: &DocsMount,
) -> Result<MountParts, Diagnostic> {
    // The provider judges pages itself, so no built-in rule overrides what a page says of itself.
    let terms = mount_terms(settings, mount, std::iter::empty())?;
    let languages = parse_languages(settings, &declared.languages)?;
    let original =
        declared.original.as_ref().map(|tag| parse_language(settings, tag)).transpose()?;
    let hide = terms.rules.has_hide_rule().then(|| {
        let rules = terms.rules.clone();
        Arc::new(move |path: &str| rules.is_hidden(path)) as HideFilter
    });
    // A public URI has the mount's name and a slash more.
    let max_uri = settings.server.limits().uri.saturating_sub(name.len() + 1);
    let folder = fs::Options {
        listing: listing_mode(declared.listing),
        hidden: declared.hidden,
        hide,
        charsets: charsets::build_charsets(settings, mount)?,
        ttl: declared.ttl.map_or(Duration::ZERO, |span| span.0),
        watch: watch_mode(declared.watch),
        poll: declared.poll.map_or(DEFAULT_POLL_INTERVAL, |span| span.0),
        watches: declared.watches.unwrap_or(DEFAULT_MAX_WATCHES),
        max_uri,
        open_folders: descriptors::open_folders_per_mount(settings.mounts.len()),
        file_api: file_api(declared.file_api),
        ..fs::Options::new(settings.resolve_path(declared.path.get_ref()))
    };
    let root = std::path::absolute(&folder.root).unwrap_or_else(|_| folder.root.clone());
    let files = Fs::open(folder).map_err(|error| {
        let shown = declared.path.get_ref().display().to_string();
        let message = format!("the folder `{shown}` of mount `{name}` cannot be opened: {error}");
        let hint = "paths are relative to the settings file";
        settings.diagnostic(declared.path.span(), message, Some(hint.to_owned()))
    })?;
    let files = Arc::new(files);
    let address = Address::Docs { name: name.to_owned() };
    let rewrite = Arc::new(address.clone());
    let visibility = (!terms.access.is_empty()).then(|| {
        let (rules, address) = (Arc::clone(&terms.access), Arc::clone(&rewrite));
        let rule = move |principal: &_, uri: &resource::Uri| {
            let public = address.to_public(uri.as_str());
            rules.may_read(principal, uri, public.as_deref())
        };
        Arc::new(rule) as VisibilityRule
    });
    let provider = Documentation::new(Options {
        files: Arc::clone(&files) as _,
        languages,
        original,
        rewrite,
        visibility,
        redaction: terms.redaction.clone(),
        max_uri,
    });
    let provider = provider.map_err(|error| to_diagnostic(settings, mount.span.clone(), &error))?;
    let part = MountSummary {
        name: name.to_owned(),
        kind: "docs",
        root: address.root(),
        size: MountSize::Folder(files),
    };
    Ok((Mount::new(name, address, provider, terms).at_folder(root), part))
}

fn parse_languages(
    settings: &Settings,
    tags: &[Spanned<String>],
) -> Result<Vec<LanguageTag>, Diagnostic> {
    let mut languages = Vec::new();
    for tag in tags {
        let language = parse_language(settings, tag)?;
        if languages.contains(&language) {
            let message = format!("`languages` has `{}` twice", language.as_str());
            return Err(settings.diagnostic(tag.span(), message, None));
        }
        languages.push(language);
    }
    Ok(languages)
}

fn parse_language(settings: &Settings, tag: &Spanned<String>) -> Result<LanguageTag, Diagnostic> {
    LanguageTag::parse(tag.get_ref()).map_err(|reason| {
        let message = format!("`{}`: {reason}", tag.get_ref());
        let hint = "example: languages = [\"ja\", \"en\"]";
        settings.diagnostic(tag.span(), message, Some(hint.to_owned()))
    })
}
