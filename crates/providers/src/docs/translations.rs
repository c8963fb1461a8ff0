//! Translations of a page: the same page in other languages, by name and by folder.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use resource::{Context, Resource, Uri};

use super::docs_source::{DocsSource, FolderScope};
use super::docusaurus::translation_folders;
use super::language::LanguageTag;
use super::page_path::{PageKind, PagePath, file_uri, with_suffix};

/// The deepest folder in which folders of languages are looked for, if the path has none.
const MAX_LANGUAGE_FOLDERS: usize = 4;
/// The most translations of a page.
const MAX_TRANSLATIONS: usize = 40;
/// By how much a translation must be older: the files of a checkout are not written at one moment.
const AGE_MARGIN: Duration = Duration::from_secs(60);

/// A page in one language.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PageVersion {
    pub(super) path: Vec<String>,
    pub(super) file: Arc<Resource>,
    /// The language; `None` if neither path nor text say it.
    pub(super) language: Option<LanguageTag>,
    /// Whether its path says no language.
    pub(super) is_plain: bool,
}

/// All versions of a page, in a fixed order: without language, by name, by folder.
#[derive(Debug, Default)]
pub(super) struct PageVersions {
    pub(super) versions: Vec<PageVersion>,
    /// Versions that claim a language that an earlier one has: the later and the earlier path.
    pub(super) rivals: Vec<(Uri, Uri, LanguageTag)>,
}

impl PageVersions {
    /// The version that the others are translated from.
    pub(super) fn original(&self, source: &DocsSource) -> Option<&PageVersion> {
        let options = &source.options;
        let wanted = options.original.as_ref().or(options.languages.first());
        let in_wanted = || {
            let wanted = wanted?;
            self.versions
                .iter()
                .find(|one| one.language.as_ref().is_some_and(|own| own.serves(wanted)))
        };
        let plain = || self.versions.iter().find(|one| one.is_plain);
        let english = || {
            self.versions
                .iter()
                .find(|one| one.language.as_ref().is_some_and(|own| own.primary() == "en"))
        };
        match options.original {
            Some(_) => in_wanted().or_else(plain),
            None => plain().or_else(in_wanted).or_else(english),
        }
    }
}

impl PageVersion {
    /// Whether it was written before the original was last changed.
    pub(super) fn is_older_than(&self, original: &Self) -> bool {
        let time = |version: &Self| version.file.annotations.modified;
        let is_before = |own: SystemTime, other: SystemTime| {
            other.duration_since(own).is_ok_and(|age| age >= AGE_MARGIN)
        };
        time(self).zip(time(original)).is_some_and(|(own, other)| is_before(own, other))
    }
}

impl DocsSource {
    /// The versions of the page whose path without language is `page`. `folder` is the place of a
    /// folder that says a language, if one is known.
    pub(super) async fn versions(
        &self,
        ctx: &Context,
        page: &[String],
        folder: Option<usize>,
        scope: &mut FolderScope,
    ) -> PageVersions {
        let Some((name, folders)) = page.split_last() else { return PageVersions::default() };
        let mut paths = vec![page.to_vec()];
        for suffix in &self.folder_languages(ctx, folders, scope).await.suffixes {
            let name = with_suffix(name, suffix);
            paths.push(folders.iter().cloned().chain([name]).collect());
        }
        let places = match folder {
            Some(at) => at..=at,
            None => 0..=folders.len().min(MAX_LANGUAGE_FOLDERS),
        };
        for at in places {
            for language in
                &self.folder_languages(ctx, &page[..at.min(page.len())], scope).await.folders
            {
                let (before, after) = page.split_at(at.min(folders.len()));
                paths.push(before.iter().chain([language]).chain(after).cloned().collect());
            }
        }
        for folder in translation_folders(page) {
            let found = self.folder_languages(ctx, &folder.languages, scope).await;
            paths.extend(found.folders.iter().map(|language| folder.path(language)));
        }
        self.stat_versions(ctx, paths).await
    }

    async fn stat_versions(&self, ctx: &Context, paths: Vec<Vec<String>>) -> PageVersions {
        let mut found = PageVersions::default();
        for path in paths.into_iter().take(MAX_TRANSLATIONS) {
            let Some(uri) = file_uri(&path) else { continue };
            if uri.as_str().len() > self.options.max_uri || !self.may_see(ctx, &uri) {
                continue;
            }
            let Ok(file) = self.files().stat(ctx, &uri).await else { continue };
            if file.listable == Some(true) {
                continue;
            }
            let parsed = PagePath::new(path, &self.options.languages);
            let language = self.language_of(ctx, &file, &parsed).await;
            let same = found
                .versions
                .iter()
                .find(|one| one.language.is_some() && one.language == language);
            if let Some((same, language)) = same.zip(language.clone()) {
                found.rivals.push((uri, same.file.uri.clone(), language));
                continue;
            }
            let is_plain = parsed.language().is_none();
            found.versions.push(PageVersion { path: parsed.segments, file, language, is_plain });
        }
        found
    }

    /// The language of a file: of its path, else of its text. Only a path without one takes a look
    /// at the text; front matter that disagrees with the path is a fault of the page itself.
    async fn language_of(
        &self,
        ctx: &Context,
        file: &Resource,
        path: &PagePath,
    ) -> Option<LanguageTag> {
        if let Some(tag) = path.language() {
            return Some(tag.clone());
        }
        let kind = PageKind::of_name(path.name()).filter(|_| !self.is_opaque(path))?;
        let facts = self.facts(ctx, file, kind).await;
        facts.head.front.language.clone().or_else(|| facts.head.language.clone())
    }
}
