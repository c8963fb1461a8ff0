//! Descriptions of pages: language, title, priority, audience, and links to translations.

use std::sync::Arc;

use machinery::{Cache, CacheBounds};
use redaction::{RedactionScope, Syntax};
use resource::{Context, MemberPlace, Resource, Uri};

use super::docs_source::{DocsSource, FolderScope, PageFacts};
use super::judgement::judge;
use super::language::LanguageTag;
use super::manual;
use super::page_faults::{FaultFinder, PageFault};
use super::page_path::{PageKind, PagePath};
use super::translations::{PageVersion, PageVersions};

/// Name of the member of `_meta` that lists the translations of a page.
const TRANSLATIONS_KEY: &str = "dev.refdesk/translations";
/// The MIME type of pages that are made.
pub(super) const MADE_MIME: &str = "text/markdown";
/// What follows the etag of a file in that of the page that is made of it.
const MADE_ETAG: &str = "-md";
/// The descriptions that are kept, so that the same page is the same object.
const MAX_KEPT: usize = 32 << 10;

/// Descriptions by URI and principal, so that what did not change is the same object.
pub(super) struct KeptDescriptions(Cache<(Uri, Option<Arc<str>>), Arc<Resource>>);

impl Default for KeptDescriptions {
    fn default() -> Self {
        Self(Cache::new(CacheBounds::entries(MAX_KEPT)))
    }
}

impl KeptDescriptions {
    /// The object that is kept for an equal description, or this one.
    pub(super) fn unify(&self, principal: Option<Arc<str>>, made: Resource) -> Arc<Resource> {
        let key = (made.uri.clone(), principal);
        if let Some(kept) = self.0.get(&key)
            && *kept == made
        {
            return kept;
        }
        let made = Arc::new(made);
        self.0.insert(key, Arc::clone(&made), 1);
        made
    }
}

/// What kind of page a file is, and what is known of it.
pub(super) struct KnownPage {
    pub(super) path: PagePath,
    pub(super) kind: PageKind,
    pub(super) facts: Arc<PageFacts>,
}

impl DocsSource {
    /// Whether a file is masked because of its name: its text describes nothing.
    pub(super) fn is_opaque(&self, path: &PagePath) -> bool {
        self.options.redaction.scope() != RedactionScope::Off && Syntax::is_sensitive(&path.text())
    }

    /// What is known of a file; `None` if it is no page.
    pub(super) async fn known_page(&self, ctx: &Context, file: &Resource) -> Option<KnownPage> {
        let path = self.path_of(&file.uri).filter(|_| file.listable != Some(true))?;
        let kind = PageKind::of_name(path.name()).filter(|_| !self.is_opaque(&path))?;
        let facts = self.facts(ctx, file, kind).await;
        Some(KnownPage { path, kind, facts })
    }

    /// Describes a file or folder as a page.
    pub(super) async fn describe(
        &self,
        ctx: &Context,
        file: &Arc<Resource>,
        scope: &mut FolderScope,
    ) -> Resource {
        let mut page = Resource::clone(file);
        let Some(path) = self.path_of(&file.uri) else { return page };
        if file.listable == Some(true) {
            let as_folder = [path.segments.clone(), vec![String::new()]].concat();
            let tag = PagePath::new(as_folder, &self.options.languages).folder.map(|(_, tag)| tag);
            page.language = tag.map(|tag| tag.as_str().to_owned());
            return page;
        }
        let Some(known) = self.known_page(ctx, file).await else {
            page.language = path.language().map(|tag| tag.as_str().to_owned());
            return page;
        };
        let mut faults: Vec<PageFault> =
            known.facts.faults.iter().cloned().map(PageFault::from).collect();
        let language = page_language(&known, &mut faults);
        let versions = self.versions(ctx, &path.page(), path.language_place(), scope).await;
        apply_facts(&mut page, &known, language.as_ref());
        self.link_translations(&mut page, &known, &versions, &mut faults);
        page.notes.extend(faults.iter().map(|fault| fault.text.clone()));
        let is_seen = |uri: &Uri| self.may_see(ctx, uri);
        self.faults.set(&file.uri, FaultFinder::Description, faults, is_seen);
        page
    }

    /// Adds the translations to `_meta`, and says if the page is an old one.
    fn link_translations(
        &self,
        page: &mut Resource,
        known: &KnownPage,
        versions: &PageVersions,
        faults: &mut Vec<PageFault>,
    ) {
        for (later, earlier, language) in &versions.rivals {
            if *later == page.uri {
                let (language, public) = (language.as_str(), self.public(earlier));
                let text = format!("{public} is this page in `{language}` too, and is used for it");
                faults.push(PageFault { text, named: Some(earlier.clone()) });
            }
        }
        let original = versions.original(self);
        let is_own = |version: &PageVersion| version.path == known.path.segments;
        let own = versions.versions.iter().find(|version| is_own(version));
        if let (Some(own), Some(original)) = (own, original)
            && !is_own(original)
            && own.is_older_than(original)
        {
            let (uri, language) = (self.public(&original.file.uri), original.language.as_ref());
            let language = language.map(|tag| format!(" ({})", tag.as_str())).unwrap_or_default();
            page.notes
                .push(format!("this translation is older than its original{language}, {uri}"));
        }
        let mut links = Vec::new();
        for version in versions.versions.iter().filter(|version| !is_own(version)) {
            let Some(language) = &version.language else { continue };
            let is_original = original.is_some_and(|original| original.path == version.path);
            let is_older =
                !is_original && original.is_some_and(|original| version.is_older_than(original));
            let uri = self.public(&version.file.uri);
            let (language, uri) =
                (json_escape_simd::escape(language.as_str()), json_escape_simd::escape(&uri));
            links.push(format!(r#"{{"language":{language},"uri":{uri},"isOlder":{is_older}}}"#));
        }
        if !links.is_empty() {
            page.extra.set(MemberPlace::Meta, TRANSLATIONS_KEY, format!("[{}]", links.join(",")));
        }
    }

    /// The principal that descriptions are kept for: all share them, unless each may see other files.
    pub(super) fn kept_for(&self, ctx: &Context) -> Option<Arc<str>> {
        self.options.visibility.as_ref().map(|_| Arc::clone(ctx.principal().key()))
    }
}

/// The language of a page: what it says itself, what its path says, what its text is written in.
fn page_language(known: &KnownPage, faults: &mut Vec<PageFault>) -> Option<LanguageTag> {
    let (own, named) = (known.facts.head.front.language.as_ref(), known.path.language());
    if let (Some(own), Some(named)) = (own, named)
        && !own.serves(named)
    {
        let (own, named) = (own.as_str(), named.as_str());
        let text = format!("front matter says `{own}`, and the path says `{named}`");
        faults.push(text.into());
    }
    own.or(named).or(known.facts.head.language.as_ref()).cloned()
}

fn apply_facts(page: &mut Resource, known: &KnownPage, language: Option<&LanguageTag>) {
    let KnownPage { path, kind, facts } = known;
    let named =
        || (*kind == PageKind::Manual).then(|| manual::title_of_name(path.name())).flatten();
    page.language = language.map(|tag| tag.as_str().to_owned());
    page.title = facts.head.title().or_else(named);
    page.description = facts.head.description();
    let front = &facts.head.front;
    let judged = || judge(path, page.title.as_deref(), front.is_draft);
    page.annotations.priority = Some(front.priority.unwrap_or_else(judged));
    if !front.audience.is_empty() {
        page.annotations.audience.clone_from(&front.audience);
    }
    if facts.has_sections {
        (page.listable, page.is_archive) = (Some(true), true);
    }
    if kind.is_made() && facts.is_readable {
        page.mime = Some(MADE_MIME.to_owned());
        (page.size, page.charset) = (None, None);
        page.etag = page.etag.take().map(|etag| format!("{etag}{MADE_ETAG}"));
    }
}
