//! Resolution of URIs: finds the file, the section and the language that a URI names.

use std::sync::Arc;

use resource::{Context, Error, ErrorKind, MemberPlace, Resource, Result, Uri};

use super::Documentation;
use super::describe::KnownPage;
use super::docs_source::FolderScope;
use super::language::LanguageTag;
use super::members::PageMembers;
use super::place::{DocsPlace, is_docs_uri, split_section};
use super::translations::{PageVersion, PageVersions};

/// Name of the member of `_meta` that links a page by language to its file.
const PAGE_KEY: &str = "dev.refdesk/page";

/// What a URI names.
pub(super) struct FoundPage {
    /// The file.
    pub(super) file: Arc<Resource>,
    /// What is known of it, if it is a page.
    pub(super) known: Option<KnownPage>,
    /// Its description, under the URI that was asked for.
    pub(super) described: Resource,
    /// The member that the URI names.
    pub(super) member: Option<(PageMembers, usize)>,
    /// Whether the URI names it by language.
    pub(super) is_by_language: bool,
}

impl Documentation {
    /// Finds what `uri` names.
    pub(super) async fn find(&self, ctx: &Context, uri: &Uri) -> Result<FoundPage> {
        let source = &self.source;
        if uri.as_str().len() > source.options.max_uri {
            return Err(Error::not_found(uri));
        }
        if is_docs_uri(uri) {
            return self.find_by_language(ctx, uri).await;
        }
        let missing = match source.files().stat(ctx, uri).await {
            Ok(file) => return self.found_file(ctx, file).await,
            Err(error) => error,
        };
        let may_be_section = matches!(missing.kind, ErrorKind::NotFound | ErrorKind::Invalid);
        let Some((page, name)) = split_section(uri).filter(|_| may_be_section) else {
            return Err(missing);
        };
        let file = source.files().stat(ctx, &page).await.map_err(|error| error.about(uri))?;
        let found = self.found_file(ctx, file).await?;
        self.enter_section(ctx, uri, found, &name).await
    }

    async fn found_file(&self, ctx: &Context, file: Arc<Resource>) -> Result<FoundPage> {
        let described = self.source.describe(ctx, &file, &mut FolderScope::new()).await;
        let known = self.source.known_page(ctx, &file).await;
        Ok(FoundPage { file, known, described, member: None, is_by_language: false })
    }

    async fn enter_section(
        &self,
        ctx: &Context,
        uri: &Uri,
        mut found: FoundPage,
        name: &str,
    ) -> Result<FoundPage> {
        let known = found.known.as_ref().filter(|known| known.facts.has_sections);
        let known = known.ok_or_else(|| Error::not_found(uri))?;
        let members =
            self.members(ctx, &found.file, known).await.map_err(|error| error.about(uri))?;
        let at = members.position(name).ok_or_else(|| Error::not_found(uri))?;
        found.described = members.describe(at, uri.clone(), &found.described, &known.path.text());
        found.member = Some((members, at));
        Ok(found)
    }

    async fn find_by_language(&self, ctx: &Context, uri: &Uri) -> Result<FoundPage> {
        let source = &self.source;
        let not_found = || Error::not_found(uri);
        let place = DocsPlace::parse(uri, &source.options.languages).ok_or_else(not_found)?;
        let versions = source.versions(ctx, &place.page, None, &mut FolderScope::new()).await;
        let locale = ctx.principal().locale().and_then(|locale| LanguageTag::parse(locale).ok());
        let wanted = place.language.as_ref().or(locale.as_ref());
        let chosen = self.choose(&versions, wanted).ok_or_else(not_found)?;
        let note = fallback_note(chosen, wanted);
        let (file, file_uri) = (Arc::clone(&chosen.file), chosen.file.uri.clone());
        let mut found = self.found_file(ctx, file).await?;
        if let Some(name) = &place.section {
            found = self.enter_section(ctx, uri, found, name).await?;
        }
        let path = source.path_of(&file_uri).map(|path| path.text()).unwrap_or_default();
        let described = &mut found.described;
        described.uri = uri.clone();
        described.is_view = true;
        (described.listable, described.is_archive) = (Some(false), false);
        described.notes.extend(note);
        // Its name says how it is masked, not the URI by which it was asked for.
        described.link_target.get_or_insert_with(|| path.into());
        let public = json_escape_simd::escape(&source.public(&file_uri));
        described.extra.set(MemberPlace::Meta, PAGE_KEY, format!(r#"{{"uri":{public}}}"#));
        found.is_by_language = true;
        Ok(found)
    }

    /// The version for a reader of `wanted`: in that language, else the first of the settings that
    /// there is, else the original, else any.
    fn choose<'a>(
        &self,
        versions: &'a PageVersions,
        wanted: Option<&LanguageTag>,
    ) -> Option<&'a PageVersion> {
        let exact = |tag: &LanguageTag| {
            versions.versions.iter().find(|one| one.language.as_ref() == Some(tag))
        };
        let near = |tag: &LanguageTag| {
            let serves =
                |one: &&PageVersion| one.language.as_ref().is_some_and(|own| own.serves(tag));
            versions.versions.iter().find(serves)
        };
        let by_order = || {
            let mut order = self.source.options.languages.iter();
            order.find_map(|tag| exact(tag).or_else(|| near(tag)))
        };
        wanted
            .and_then(|tag| exact(tag).or_else(|| near(tag)))
            .or_else(by_order)
            .or_else(|| versions.original(&self.source))
            .or_else(|| versions.versions.first())
    }
}

/// Says that a reader gets another language than the wanted one.
fn fallback_note(chosen: &PageVersion, wanted: Option<&LanguageTag>) -> Option<String> {
    let wanted = wanted?;
    let is_served = chosen.language.as_ref().is_some_and(|own| own.serves(wanted));
    let given = chosen
        .language
        .as_ref()
        .map_or_else(|| "of another language".to_owned(), |own| format!("in `{}`", own.as_str()));
    let wanted = wanted.as_str();
    (!is_served)
        .then(|| format!("there is no version of this page in `{wanted}`; this one is {given}"))
}
