//! Builds the configuration provider from the settings, over a folder.

use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, MethodClass, Mount, MountOptions};
use machinery::GlobError;
use providers::VisibilityRule;
use providers::config::{ConfigFiles, ConfigLayer, FileGlobs, LayerSource, Options};
use providers::fs::{self, DEFAULT_POLL_INTERVAL, Fs, HideFilter, ListingMode, WatchMode};
use resource::{Provider, Uri, UriRewrite as _, uri};
use toml::Spanned;

use super::env::own_environment;
use super::{
    MountParts, MountSize, MountSummary, charsets, mount_terms, refuse_archives, watch_mode,
};
use crate::descriptors;
use crate::settings::{ConfigMount, Diagnostic, MountSettings, Settings};

/// The most layers of a mount.
const MAX_LAYERS: usize = 32;

/// Builds one configuration mount.
pub(super) fn config_mount(
    settings: &Settings,
    name: &str,
    mount: &MountSettings,
    declared: &ConfigMount,
) -> Result<MountParts, Diagnostic> {
    refuse_archives(settings, mount)?;
    let mut terms = mount_terms(settings, mount, std::iter::empty())?;
    let layers = build_layers(settings, declared)?;
    let globs = build_globs(settings, mount, declared, &layers)?;
    let hidden = globs.clone();
    let hide: HideFilter = Arc::new(move |path: &str| hidden.excludes(path));
    let folder = fs::Options {
        listing: ListingMode::Flat,
        // The globs say which dot files are served, and that ignored ones are.
        hidden: true,
        ignore_files: false,
        charsets: charsets::build_charsets(settings, mount)?,
        open_folders: descriptors::open_folders_per_mount(settings.mounts.len()),
        ..fs::Options::new(settings.resolve_path(declared.path.get_ref()))
    };
    let schemas = fs::Options { watch: WatchMode::Off, ..folder.clone() };
    let files = fs::Options {
        hide: Some(hide),
        watch: watch_mode(declared.watch),
        poll: declared.poll.map_or(DEFAULT_POLL_INTERVAL, |span| span.0),
        ..folder
    };
    let address = Address::Authority { scheme: "config", name: name.to_owned() };
    let provider = Arc::new(ConfigFiles::new(Options {
        files: open_folder(settings, name, declared, files)?,
        schemas: open_folder(settings, name, declared, schemas)?,
        globs,
        layers,
        schema: declared.schema.as_ref().map(|path| to_local_path(path.get_ref())),
        // The provider masks each file before it reads its keys, so that no layer has to.
        redaction: std::mem::take(&mut terms.redaction),
        visibility: build_visibility(&terms, &address),
        ttl: declared.ttl.map_or(Duration::ZERO, |span| span.0),
    }));
    let part = MountSummary {
        name: name.to_owned(),
        kind: "config",
        root: address.root(),
        size: MountSize::Config(Arc::clone(&provider)),
    };
    Ok((Mount::new(name, address, provider, terms), part))
}

/// The rule of the files that the keys, layers and schemas of a mount are made of. A file is refused if
/// a rule denies or hides it, and not because none allows it: `allow = ["effective/**"]` is enough to
/// read what is made of it.
fn build_visibility(terms: &MountOptions, address: &Address) -> Option<VisibilityRule> {
    let has_rules = !terms.access.is_empty() || terms.rules.has_hide_rule();
    has_rules.then(|| {
        let (access, metadata) = (Arc::clone(&terms.access), terms.rules.clone());
        let address = address.clone();
        let rule = move |principal: &_, file: &Uri| {
            let public = address.to_public(file.as_str());
            let path = uri::percent_decode_lossy(file.after_scheme().trim_matches('/'));
            let is_denied = [MethodClass::List, MethodClass::Read]
                .into_iter()
                .any(|class| access.denies(principal, class, file, public.as_deref()));
            !is_denied && !metadata.is_hidden(&path)
        };
        Arc::new(rule) as VisibilityRule
    })
}

fn build_layers(
    settings: &Settings,
    declared: &ConfigMount,
) -> Result<Vec<ConfigLayer>, Diagnostic> {
    let environment = own_environment();
    let mut layers: Vec<ConfigLayer> = Vec::new();
    for name in &declared.layers {
        let refused = |message: String| settings.diagnostic(name.span(), message, None);
        if layers.iter().any(|layer| layer.name == *name.get_ref()) {
            return Err(refused(format!("the layer `{}` is given twice", name.get_ref())));
        }
        if layers.len() == MAX_LAYERS {
            return Err(refused(format!("more than {MAX_LAYERS} layers")));
        }
        let layer = ConfigLayer::parse(name.get_ref(), &environment);
        layers.push(layer.map_err(|error| not_a_glob(settings, name, &error))?);
    }
    Ok(layers)
}

/// The globs of the served files: those of `files`, and the layers.
fn build_globs(
    settings: &Settings,
    mount: &MountSettings,
    declared: &ConfigMount,
    layers: &[ConfigLayer],
) -> Result<FileGlobs, Diagnostic> {
    if declared.files.is_empty() && layers.is_empty() {
        let message = "a configuration mount needs `files` or `layers`";
        let hint = "example: files = [\"*.toml\", \"config/**/*.yaml\", \".env\"]";
        return Err(settings.diagnostic(mount.span.clone(), message, Some(hint.to_owned())));
    }
    let mut globs = FileGlobs::default();
    for glob in &declared.files {
        globs.add(glob.get_ref()).map_err(|error| not_a_glob(settings, glob, &error))?;
    }
    for (layer, name) in layers.iter().zip(&declared.layers) {
        if let LayerSource::File(path) = &layer.source {
            globs.add_path(path).map_err(|error| not_a_glob(settings, name, &error))?;
        }
    }
    Ok(globs)
}

fn not_a_glob(settings: &Settings, text: &Spanned<String>, error: &GlobError) -> Diagnostic {
    settings.diagnostic(text.span(), format!("not a glob: {error}"), None)
}

/// A path of the settings as the folder's provider writes it.
fn to_local_path(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}

fn open_folder(
    settings: &Settings,
    name: &str,
    declared: &ConfigMount,
    options: fs::Options,
) -> Result<Arc<dyn Provider>, Diagnostic> {
    let fs = Fs::open(options).map_err(|error| {
        let shown = declared.path.get_ref().display().to_string();
        let message = format!("the folder `{shown}` of mount `{name}` cannot be opened: {error}");
        let hint = "paths are relative to the settings file";
        settings.diagnostic(declared.path.span(), message, Some(hint.to_owned()))
    })?;
    Ok(Arc::new(fs))
}
