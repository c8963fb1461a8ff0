//! Builds the catalog of mounts from the settings.
//!
//! The only module that knows every kind of provider.

mod claims;
mod statics;
mod upstream;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, Catalog, Effect, Mount, Rule, Rules, Terms};
use providers::fs::{Count, Fs, Hide, Listing, Options, POLL, WATCHES, Watching};
use providers::statics::Statics;
use providers::upstream::Upstream;
use resource::{Icon, Provider, Role, Uri};
use server::Watchers;
use toml::Spanned;

use crate::mounts::{Known, Mounts};
use crate::rules;
use crate::settings::{self, Flaw, Kind, RuleSettings, Secret, Settings};

const MAX_READ: u64 = 10 << 20;
const TIMEOUT: Duration = Duration::from_secs(30);
/// Added to an upstream mount's timeout, so that the client in the provider times out first, with
/// a better message than the mount's.
const WORDING: Duration = Duration::from_secs(1);
/// Default TTL of static mounts: their content changes only with the settings or the files behind
/// it, and subscribers are notified.
const STATIC_TTL: Duration = Duration::from_secs(60);

/// Everything that is served: the catalog, its mounts and the watchers.
pub(crate) struct Assembly {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) made: Vec<Made>,
    /// The watchers, which survive a reload of the settings.
    pub(crate) watchers: Arc<Watchers>,
}

/// A built mount with its status, its summary and the settings it was built from.
#[derive(Clone)]
pub(crate) struct Made {
    mount: Arc<Mount>,
    known: Arc<Known>,
    pub(crate) part: Part,
    /// The upstream server, if the mount is one.
    upstream: Option<Arc<Upstream>>,
    said: Option<Secret>,
}

impl Made {
    /// Connects to the upstream server, if any, to learn its capabilities.
    pub(crate) async fn reach(&self) {
        if let Some(upstream) = &self.upstream
            && let Err(error) = upstream.reach().await
        {
            let name = &self.part.name;
            tracing::warn!(mount = name, cause = ?error, "the server is not reachable yet");
        }
    }
}

/// Summary of a mount for the banner and `refdesk check`.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) root: Option<String>,
    pub(crate) size: Size,
}

/// How to count the resources of a mount.
#[derive(Clone)]
pub(crate) enum Size {
    Known(usize),
    /// A folder, counted on demand up to a limit.
    Folder(Arc<Fs>),
    /// Unknown: an upstream server is not counted.
    Elsewhere,
}

impl Size {
    /// Counts the resources, up to `most`; `None` if they cannot be counted.
    pub(crate) async fn count(&self, most: usize) -> Option<Count> {
        match self {
            Self::Known(leaves) => Some(Count { leaves: *leaves, all: true }),
            Self::Folder(fs) => Some(fs.count(most).await),
            Self::Elsewhere => None,
        }
    }
}

/// Builds every mount of the settings; reuses a mount in `made` whose settings did not change.
pub(crate) fn assemble(
    settings: &Settings,
    made: &[Made],
    watchers: &Arc<Watchers>,
) -> Result<Assembly, Flaw> {
    claims::check(settings)?;
    let mut all = Vec::new();
    for (name, mount) in &settings.mounts {
        let same = |known: &&Made| known.part.name == *name && known.said == mount.said;
        all.push(match made.iter().find(same).filter(|_| mount.said.is_some()) {
            Some(known) => known.clone(),
            None => make(settings, name, mount)?,
        });
    }
    let mounts = own(&all).map_err(|error| flawed(settings, 0..0, &error))?;
    let catalog = Catalog::new(vec![mounts, subscriptions(watchers)]);
    let own = catalog.mounts();
    catalog.replace(all.iter().map(|made| &made.mount).chain(&*own).cloned().collect());
    Ok(Assembly { catalog: Arc::new(catalog), made: all, watchers: Arc::clone(watchers) })
}

fn make(settings: &Settings, name: &str, mount: &settings::Mount) -> Result<Made, Flaw> {
    let mut upstream = None;
    let (mounted, part, provider) = match &mount.kind {
        Kind::Files(files) => folder(settings, name, mount, files)?,
        Kind::Static(declared) => {
            declared_mount(settings, name, mount, statics::make(settings, declared)?)?
        }
        Kind::Server(declared) => {
            let made = upstream::make(settings, name, mount.at.clone(), declared)?;
            let made = upstream.insert(Arc::new(made));
            server(settings, name, (mount, declared), Arc::clone(made))?
        }
    };
    let known = Known::new(name, part.kind, part.root.clone(), provider)
        .map_err(|error| flawed(settings, mount.at.clone(), &error))?;
    let said = mount.said.clone();
    Ok(Made { mount: Arc::new(mounted), known: Arc::new(known), part, upstream, said })
}

/// A mount, its summary and its provider.
type Parts = (Mount, Part, Arc<dyn Provider>);

/// The internal mount with the status of all mounts.
fn own(made: &[Made]) -> resource::Result<Mount> {
    let mounts = Mounts::new(made.iter().map(|made| Arc::clone(&made.known)).collect())?;
    // Mount names in the settings cannot contain a colon, so this name is free.
    Ok(Mount::new("refdesk:mounts", mounts.address(), mounts, plain()).unlisted())
}

/// The internal mount that lists the watchers.
fn subscriptions(watchers: &Arc<Watchers>) -> Mount {
    let uris = std::iter::once(watchers.uri().clone()).collect();
    let address = Address::Own { uris, templates: Vec::new() };
    Mount::new("refdesk:subscriptions", address, Arc::clone(watchers), plain()).unlisted()
}

/// The terms of the internal mounts.
fn plain() -> Terms {
    Terms { rules: Rules::default(), max_read: MAX_READ, timeout: TIMEOUT, required: false }
}

fn folder(
    settings: &Settings,
    name: &str,
    mount: &settings::Mount,
    files: &settings::Files,
) -> Result<Parts, Flaw> {
    let built_in = files.builtin_rules.then(rules::built_in).into_iter().flatten();
    let mut terms = terms(settings, mount, built_in)?;
    // The folder provider applies the hiding rules itself, since only it resolves symlinks.
    let hide = terms.rules.hides().then(|| {
        let rules = terms.rules.clone();
        Arc::new(move |path: &str| rules.hide(path)) as Hide
    });
    terms.rules = terms.rules.without_hiding();
    let options = Options {
        root: settings.path(files.path.get_ref()),
        listing: match files.listing {
            settings::Listing::Auto => Listing::Auto,
            settings::Listing::Flat => Listing::Flat,
            settings::Listing::Tree => Listing::Tree,
        },
        hidden: files.hidden,
        hide,
        ttl: files.ttl.map_or(Duration::ZERO, |span| span.0),
        watch: match files.watch {
            settings::Watch::Auto => Watching::Auto,
            settings::Watch::Poll => Watching::Poll,
            settings::Watch::Off => Watching::Off,
        },
        poll: files.poll.map_or(POLL, |span| span.0),
        watches: files.watches.unwrap_or(WATCHES),
    };
    let fs = Fs::open(options).map_err(|error| {
        let shown = files.path.get_ref().display().to_string();
        let message = format!("the folder `{shown}` of mount `{name}` cannot be opened: {error}");
        let hint = "paths are relative to the settings file";
        settings.flaw(files.path.span(), message, Some(hint.to_owned()))
    })?;
    let fs = Arc::new(fs);
    let address = Address::Path { scheme: "file", name: name.to_owned() };
    let part = Part {
        name: name.to_owned(),
        kind: "fs",
        root: address.root(),
        size: Size::Folder(Arc::clone(&fs)),
    };
    Ok((Mount::new(name, address, Arc::clone(&fs), terms), part, fs))
}

fn declared_mount(
    settings: &Settings,
    name: &str,
    mount: &settings::Mount,
    statics: Statics,
) -> Result<Parts, Flaw> {
    let (uris, templates) = statics.claims();
    let address = Address::Own { uris: uris.into_iter().collect(), templates };
    let size = Size::Known(statics.len());
    let part = Part { name: name.to_owned(), kind: "static", root: None, size };
    let terms = terms(settings, mount, std::iter::empty())?;
    let statics = Arc::new(statics);
    Ok((Mount::new(name, address, Arc::clone(&statics), terms), part, statics))
}

fn server(
    settings: &Settings,
    name: &str,
    (mount, declared): (&settings::Mount, &settings::UpstreamMount),
    upstream: Arc<Upstream>,
) -> Result<Parts, Flaw> {
    let address = match declared.unprefixed() {
        Some(_) => Address::Rest,
        None => Address::Scheme { name: name.to_owned() },
    };
    let part = Part {
        name: name.to_owned(),
        kind: "upstream",
        root: address.root(),
        size: Size::Elsewhere,
    };
    let mut terms = terms(settings, mount, std::iter::empty())?;
    terms.timeout += WORDING;
    Ok((Mount::new(name, address, Arc::clone(&upstream), terms), part, upstream))
}

fn terms(
    settings: &Settings,
    mount: &settings::Mount,
    built_in: impl Iterator<Item = Rule>,
) -> Result<Terms, Flaw> {
    let common = mount.common();
    let own = common.rules.iter().map(|rule| self::rule(settings, rule));
    let all: Vec<Rule> = built_in.map(Ok).chain(own).collect::<Result<_, _>>()?;
    let rules = Rules::new(all)
        .map_err(|error| settings.flaw(mount.at.clone(), error.to_string(), None))?;
    Ok(Terms {
        rules,
        max_read: common.max_read.map_or(MAX_READ, |size| size.0),
        timeout: common.timeout.map_or(TIMEOUT, |span| span.0),
        required: common.required,
    })
}

fn rule(settings: &Settings, rule: &RuleSettings) -> Result<Rule, Flaw> {
    let glob = rule.glob.get_ref();
    Rules::glob(glob).map_err(|error| {
        let message = format!("not a glob: {}", error.kind());
        settings.flaw(rule.glob.span(), message, Some("example: `docs/**/*.md`".to_owned()))
    })?;
    let icons = rule.icons.as_ref().map(|icons| self::icons(settings, icons)).transpose()?;
    Ok(Rule {
        glob: glob.clone(),
        effect: Effect {
            priority: priority(settings, rule.priority.as_ref())?,
            audience: rule.audience.as_deref().map(roles),
            title: rule.title.clone(),
            description: rule.description.clone(),
            icons,
            hide: rule.hide,
        },
    })
}

fn roles(roles: &[settings::Role]) -> Vec<Role> {
    let role = |role: &settings::Role| match role {
        settings::Role::User => Role::User,
        settings::Role::Assistant => Role::Assistant,
    };
    roles.iter().map(role).collect()
}

fn priority(settings: &Settings, said: Option<&Spanned<f64>>) -> Result<Option<f64>, Flaw> {
    let Some(said) = said else { return Ok(None) };
    let fits = (0.0..=1.0).contains(said.get_ref());
    fits.then_some(Some(*said.get_ref()))
        .ok_or_else(|| settings.flaw(said.span(), "a priority must be between 0 and 1", None))
}

fn icons(settings: &Settings, icons: &[settings::Icon]) -> Result<Vec<Icon>, Flaw> {
    let icon = |icon: &settings::Icon| {
        let src = icon.src.get_ref();
        if !(src.starts_with("https://") || src.starts_with("data:")) {
            let message = "an icon must be an https: or data: URI";
            return Err(settings.flaw(icon.src.span(), message, None));
        }
        let theme = icon.theme.clone();
        if theme.as_deref().is_some_and(|theme| theme != "light" && theme != "dark") {
            let message = "an icon theme must be \"light\" or \"dark\"";
            return Err(settings.flaw(icon.src.span(), message, None));
        }
        Ok(Icon { src: src.clone(), mime: icon.mime.clone(), sizes: icon.sizes.clone(), theme })
    };
    icons.iter().map(icon).collect()
}

/// Parses a URI of the settings.
fn uri(settings: &Settings, text: &Spanned<String>) -> Result<Uri, Flaw> {
    Uri::parse(text.get_ref()).map_err(|error| flawed(settings, text.span(), &error))
}

fn flawed(settings: &Settings, span: Range<usize>, error: &resource::Error) -> Flaw {
    settings.flaw(span, error.to_string(), None)
}
