//! Templates of pages, and completion of their variables: languages, then pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use resource::{
    Completion, CompletionRequest, Context, Error, Freshness, Page, PageRequest, Result, Template,
    UriTemplate, Variable, uri,
};

use super::Documentation;
use super::docs_source::FolderScope;
use super::language::LanguageTag;
use super::page_path::{PageKind, PagePath, file_uri};
use crate::list_page::{cursor_after, page_range};

/// A page in a language.
const BY_LANGUAGE: &str = "docs:///{lang}/{+path}";
/// A page in the language of the reader.
const BY_READER: &str = "docs:///{+path}";
/// The template of the files, which completes their paths.
const FILES: &str = "file:///{+path}";
/// The longest text to complete.
const MAX_TYPED_BYTES: usize = 4 << 10;
/// The folders below the root that are looked at for languages.
const MAX_LANGUAGE_PARENTS: usize = 16;

impl Documentation {
    /// Lists the templates of the files and those of pages by language.
    pub(super) async fn list_templates(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<Template>> {
        let files = self.source.files().templates(ctx, &PageRequest::first(100)).await?;
        let mut all = files.items;
        all.extend(own_templates()?);
        let place = |key: &str| all.iter().position(|one| one.uri.as_str() == key);
        let (start, end) = page_range(paging, all.len(), place)?;
        let mut page = Page::from_items(all[start..end].to_vec(), Freshness::default());
        page.next = (end < all.len()).then(|| cursor_after(all[end - 1].uri.as_str()));
        Ok(page)
    }

    /// Completes a variable.
    pub(super) async fn complete_variable(
        &self,
        ctx: &Context,
        request: &CompletionRequest<'_>,
    ) -> Result<Completion> {
        let is_own = [BY_LANGUAGE, BY_READER].contains(&request.template);
        if !is_own {
            let files = self.source.files().facets().complete;
            let files =
                files.ok_or_else(|| Error::invalid("this template has no variable to complete"))?;
            return files.complete(ctx, request).await;
        }
        if request.typed.len() > MAX_TYPED_BYTES {
            return Err(Error::invalid("the value to complete is too long"));
        }
        match (request.template, request.variable) {
            (BY_LANGUAGE, "lang") => {
                let typed = request.typed.to_ascii_lowercase();
                let known =
                    self.languages(ctx).await.into_iter().map(|tag| tag.as_str().to_owned());
                let matching = known.filter(|tag| tag.to_ascii_lowercase().starts_with(&typed));
                Ok(Completion::from_values(matching.collect()))
            }
            (_, "path") => {
                let wanted =
                    request.resolved.get("lang").and_then(|tag| LanguageTag::parse(tag).ok());
                let values = self.complete_path(ctx, wanted.as_ref(), request.typed).await?;
                Ok(Completion::from_values(values))
            }
            _ => Err(Error::invalid("only `lang` and `path` can be completed")),
        }
    }

    /// The languages of the mount: those of the settings, then those of folders and names at the top.
    pub(super) async fn languages(&self, ctx: &Context) -> Vec<LanguageTag> {
        let source = &self.source;
        let mut found = source.options.languages.clone();
        let mut scope = FolderScope::new();
        let root = source.files().list(ctx, Some(&self.root), &PageRequest::first(100)).await;
        let folders = root.map(|page| page.items).unwrap_or_default();
        let folders = folders.iter().filter(|item| item.listable == Some(true));
        let mut parents: Vec<Vec<String>> = vec![Vec::new()];
        parents.extend(folders.take(MAX_LANGUAGE_PARENTS).map(|folder| vec![folder.name.clone()]));
        for parent in parents {
            let names = source.folder_languages(ctx, &parent, &mut scope).await;
            for name in names.folders.iter().chain(&names.suffixes) {
                let is_seen = |tag: &LanguageTag| {
                    let folder = parent.iter().chain([name]).cloned().collect::<Vec<_>>();
                    let uri = file_uri(&folder);
                    !found.contains(tag) && uri.is_some_and(|uri| source.may_see(ctx, &uri))
                };
                if let Some(tag) = LanguageTag::parse(name).ok().filter(is_seen) {
                    found.push(tag);
                }
            }
        }
        found
    }

    /// Paths without language that begin with `typed`: of folders of the language, then of pages
    /// whose name says it or nothing.
    async fn complete_path(
        &self,
        ctx: &Context,
        wanted: Option<&LanguageTag>,
        typed: &str,
    ) -> Result<Vec<String>> {
        let mut values: Vec<String> = Vec::new();
        let root = self.source.folder_languages(ctx, &[], &mut FolderScope::new()).await;
        let fits = |name: &&String| {
            LanguageTag::parse(name).is_ok_and(|tag| wanted.is_none_or(|wanted| tag.serves(wanted)))
        };
        let prefixes: Vec<String> =
            root.folders.iter().filter(fits).map(|name| format!("{name}/")).collect();
        for prefix in prefixes.iter().map(String::as_str).chain([""]) {
            for value in self.complete_file(ctx, &format!("{prefix}{typed}")).await? {
                let Some(value) = self.page_value(ctx, &value, wanted) else { continue };
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        Ok(values)
    }

    async fn complete_file(&self, ctx: &Context, typed: &str) -> Result<Vec<String>> {
        let Some(files) = self.source.files().facets().complete else { return Ok(Vec::new()) };
        let resolved = BTreeMap::new();
        let request =
            CompletionRequest { template: FILES, variable: "path", typed, resolved: &resolved };
        Ok(files.complete(ctx, &request).await?.values)
    }

    /// The value without language for the path of a file or folder; `None` if it is of another
    /// language, no page, or not for the principal.
    fn page_value(
        &self,
        ctx: &Context,
        value: &str,
        wanted: Option<&LanguageTag>,
    ) -> Option<String> {
        let decoded = String::from_utf8(uri::percent_decode(value).into_owned()).ok()?;
        let is_folder = decoded.ends_with('/');
        let mut segments: Vec<String> = decoded.split('/').map(str::to_owned).collect();
        let local = file_uri(&segments[..segments.len() - usize::from(is_folder)])?;
        if !self.source.may_see(ctx, &local) {
            return None;
        }
        if is_folder {
            // A folder that is a language alone names no page.
            segments.pop();
            segments.push("x".to_owned());
        }
        let path = PagePath::new(segments, &self.source.options.languages);
        let is_page = is_folder || PageKind::of_name(path.name()).is_some();
        let fits = path.language().is_none_or(|own| wanted.is_none_or(|wanted| own.serves(wanted)));
        let mut page = path.page();
        if is_folder {
            page.pop();
            page.push(String::new());
        }
        let text = page.join("/");
        (is_page && fits && !text.is_empty() && text != "/").then(|| uri::reserved_value(&text))
    }
}

fn own_templates() -> Result<[Arc<Template>; 2]> {
    let path = Variable {
        name: "path".to_owned(),
        description: Some("Path of the page, without its language: `guide.md`".to_owned()),
        ..Variable::default()
    };
    let lang = Variable {
        name: "lang".to_owned(),
        description: Some("Language tag, such as `ja` or `pt-BR`".to_owned()),
        ..Variable::default()
    };
    let mut by_language = Template::new(UriTemplate::parse(BY_LANGUAGE)?, "page-in-language");
    by_language.title = Some("Page in a language".to_owned());
    by_language.description = Some(
        "A page of the documentation in a language. Falls back to another one if there is no translation, and says so"
            .to_owned(),
    );
    by_language.variables = vec![lang, path.clone()];
    let mut by_reader = Template::new(UriTemplate::parse(BY_READER)?, "page");
    by_reader.title = Some("Page in your language".to_owned());
    by_reader.description =
        Some("A page of the documentation in the language of the reader".to_owned());
    by_reader.variables = vec![path];
    Ok([Arc::new(by_language), Arc::new(by_reader)])
}
