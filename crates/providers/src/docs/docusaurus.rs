//! Docusaurus sites: where the translations of a page stand.
//!
//! A site has its pages in `docs/`, `versioned_docs/`, `blog/` and `src/pages/`, and their translations
//! in `i18n/<language>/<plugin>/` beside those.

const TRANSLATED: &str = "i18n";
/// The deepest folder that is looked at as a site.
const MAX_SITE_DEPTH: usize = 4;

/// Folders of pages, each with that of its translations below their language. The first that fits
/// counts.
const FOLDERS: [(&[&str], &[&str]); 4] = [
    (&["docs"], &["docusaurus-plugin-content-docs", "current"]),
    (&["versioned_docs"], &["docusaurus-plugin-content-docs"]),
    (&["blog"], &["docusaurus-plugin-content-blog"]),
    (&["src", "pages"], &["docusaurus-plugin-content-pages"]),
];

/// Where translations of a page may stand.
pub(super) struct TranslationFolder {
    /// The folder with a folder for each language.
    pub(super) languages: Vec<String>,
    /// The path below the folder of a language.
    rest: Vec<String>,
}

impl TranslationFolder {
    /// The path of the translation into `language`, a name of a folder.
    pub(super) fn path(&self, language: &str) -> Vec<String> {
        [&self.languages[..], &[language.to_owned()], &self.rest[..]].concat()
    }
}

/// The page that the file `path` translates, if the folder at `language` is one of `i18n`.
pub(super) fn translated_page(path: &[String], language: usize) -> Option<Vec<String>> {
    let (before, inside) = (path.get(..language)?, path.get(language + 1..)?);
    let (name, site) = before.split_last()?;
    let found = |(own, folder): &(&[&str], &[&str])| {
        strip_folders(inside, folder).map(|rest| [site, &owned(own), rest].concat())
    };
    (name == TRANSLATED).then(|| FOLDERS.iter().find_map(found)).flatten()
}

/// Where translations of `page` may stand, if it is a page of a site.
pub(super) fn translation_folders(page: &[String]) -> impl Iterator<Item = TranslationFolder> {
    (0..page.len().min(MAX_SITE_DEPTH)).flat_map(|depth| {
        let (site, inside) = page.split_at(depth);
        let folder = |(own, folder): &(&[&str], &[&str])| {
            let rest = strip_folders(inside, own)?;
            let languages = [site, &[TRANSLATED.to_owned()]].concat();
            Some(TranslationFolder { languages, rest: [&owned(folder), rest].concat() })
        };
        FOLDERS.iter().find_map(folder)
    })
}

fn strip_folders<'a>(path: &'a [String], folders: &[&str]) -> Option<&'a [String]> {
    let (first, rest) = path.split_at_checked(folders.len())?;
    (first == folders && !rest.is_empty()).then_some(rest)
}

fn owned(folders: &[&str]) -> Vec<String> {
    folders.iter().map(|folder| (*folder).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{translated_page, translation_folders};

    fn split(path: &str) -> Vec<String> {
        path.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn a_translation_and_its_page_lead_to_each_other() {
        for (page, translation) in [
            ("docs/a/guide.md", "i18n/ja/docusaurus-plugin-content-docs/current/a/guide.md"),
            ("docs/guide.md", "i18n/ja/docusaurus-plugin-content-docs/current/guide.md"),
            (
                "versioned_docs/version-1.0/a.md",
                "i18n/ja/docusaurus-plugin-content-docs/version-1.0/a.md",
            ),
            ("website/blog/x.md", "website/i18n/ja/docusaurus-plugin-content-blog/x.md"),
            ("src/pages/help.mdx", "i18n/ja/docusaurus-plugin-content-pages/help.mdx"),
        ] {
            let language = split(translation).iter().position(|folder| folder == "ja").unwrap();
            let found = translated_page(&split(translation), language);
            assert_eq!(found, Some(split(page)), "{translation}");
            let folders: Vec<_> = translation_folders(&split(page)).collect();
            assert_eq!(folders.len(), 1, "{page}");
            assert_eq!(folders[0].path("ja"), split(translation), "{page}");
        }
    }

    #[test]
    fn other_paths_are_no_translations() {
        for (path, language) in [
            ("ja/docs/a.md", 0),
            ("i18n/ja/other/a.md", 1),
            ("i18n/ja", 1),
            ("x/ja/docusaurus-plugin-content-docs/current/a.md", 1),
        ] {
            assert_eq!(translated_page(&split(path), language), None, "{path}");
        }
        assert!(translation_folders(&split("docs")).next().is_none(), "a file called so");
        assert!(translation_folders(&split("a/b/c.md")).next().is_none());
    }
}
