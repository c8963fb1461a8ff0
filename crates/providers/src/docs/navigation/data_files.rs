//! Orders of pages in data files: MkDocs, Docusaurus and Zenn.

use resource::{PageRequest, Provider as _, Uri};

use super::super::data_value::{DataSyntax, DataValue};
use super::super::page_path::file_uri;
use super::{NavigationBuilder, relative, split};

/// The endings of a page that Docusaurus names without one.
const PAGE_ENDINGS: [&str; 4] = [".md", ".mdx", "/index.md", "/index.mdx"];
/// The books of Zenn whose chapters are ordered.
const MAX_BOOKS: usize = 100;

/// Takes `nav` of a `mkdocs.yml`.
pub(super) fn take_mkdocs(builder: &mut NavigationBuilder<'_>, uri: &Uri, text: &str) {
    let values = match DataSyntax::Yaml.parse(text) {
        Ok(values) => values,
        Err(fault) => {
            return builder.fault(uri, format!("the order of its pages cannot be read: {fault}"));
        }
    };
    let folder = split(values.text_of("docs_dir").unwrap_or("docs"));
    if let Some(nav) = values.get("nav") {
        take_nav(builder, nav, None, &folder);
    }
}

/// The tree is as deep as a data value may be.
fn take_nav(
    builder: &mut NavigationBuilder<'_>,
    value: &DataValue,
    title: Option<&str>,
    folder: &[String],
) {
    match value {
        DataValue::Text(target) => {
            if let Some(path) = relative(folder, target) {
                builder.add(path, title.map(str::to_owned));
            }
        }
        DataValue::List(items) => {
            items.iter().for_each(|item| take_nav(builder, item, None, folder))
        }
        DataValue::Table(entries) => {
            entries.iter().for_each(|(name, value)| take_nav(builder, value, Some(name), folder));
        }
        DataValue::Null | DataValue::Bool(_) | DataValue::Number(_) => {}
    }
}

/// Takes the sidebars of Docusaurus. Their pages are named without an ending.
pub(super) async fn take_docusaurus(builder: &mut NavigationBuilder<'_>, uri: &Uri, text: &str) {
    let values = match DataSyntax::Json.parse(text) {
        Ok(values) => values,
        Err(fault) => {
            return builder.fault(uri, format!("the order of its pages cannot be read: {fault}"));
        }
    };
    let mut pages = Vec::new();
    values.entries().iter().for_each(|(_, sidebar)| collect_sidebar(sidebar, &mut pages));
    for (id, title) in pages.into_iter().take(super::MAX_ORDERED) {
        for ending in PAGE_ENDINGS {
            let path = relative(&split("docs"), &format!("{id}{ending}"));
            if let Some(path) = path
                && builder.exists(&path).await
            {
                builder.add(path, title);
                break;
            }
        }
    }
}

fn collect_sidebar(value: &DataValue, pages: &mut Vec<(String, Option<String>)>) {
    match value {
        DataValue::Text(id) => pages.push((id.clone(), None)),
        DataValue::List(items) => items.iter().for_each(|item| collect_sidebar(item, pages)),
        DataValue::Table(entries) => {
            let label = value.text_of("label").map(str::to_owned);
            if let Some(id) = value.text_of("id") {
                pages.push((id.to_owned(), label));
            }
            match value.get("items") {
                Some(items) => collect_sidebar(items, pages),
                // The short form of a category: its name and its pages.
                None if value.get("type").is_none() => {
                    entries.iter().for_each(|(_, items)| collect_sidebar(items, pages));
                }
                None => {}
            }
        }
        DataValue::Null | DataValue::Bool(_) | DataValue::Number(_) => {}
    }
}

/// Takes the chapters of the books of Zenn.
pub(super) async fn take_zenn(builder: &mut NavigationBuilder<'_>) {
    let Some(books) = file_uri(&split("books")) else { return };
    let (source, ctx) = (builder.source, builder.ctx);
    let Ok(page) = source.files().list(ctx, Some(&books), &PageRequest::first(MAX_BOOKS)).await
    else {
        return;
    };
    for book in page.items.iter().filter(|item| item.listable == Some(true)) {
        let folder = split(&format!("books/{}", book.name));
        let Some((uri, text)) = builder.read(&format!("books/{}/config.yaml", book.name)).await
        else {
            continue;
        };
        match DataSyntax::Yaml.parse(&text) {
            Ok(values) => {
                let chapters = values.get("chapters").map_or(&[][..], DataValue::items);
                for chapter in chapters.iter().filter_map(DataValue::text) {
                    if let Some(path) = relative(&folder, &format!("{chapter}.md")) {
                        builder.add(path, None);
                    }
                }
            }
            Err(fault) => {
                builder.fault(&uri, format!("the order of its pages cannot be read: {fault}"))
            }
        }
    }
}
