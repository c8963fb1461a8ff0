//! Relationships: which parts and addresses a part of a package refers to.

use std::collections::HashMap;

use crate::error::ConvertError;
use crate::package::Package;
use crate::part_path::resolve_part;
use crate::xml_tree::XmlTree;

/// The relationships of a part.
#[derive(Default)]
pub(crate) struct Relationships {
    rows: HashMap<String, Relationship>,
    /// The ids in the order of the document.
    order: Vec<String>,
}

struct Relationship {
    /// The last word of its type, such as `hyperlink`.
    kind: String,
    /// The name of a part, or an address outside of the package.
    target: String,
    is_external: bool,
}

impl Relationships {
    /// The relationships of the part with this name; none if the package has none for it.
    pub(crate) fn of(package: &Package<'_>, part: &str) -> Result<Self, ConvertError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let rels = match folder {
            "" => format!("_rels/{name}.rels"),
            folder => format!("{folder}/_rels/{name}.rels"),
        };
        let Some(content) = package.part(&rels)? else { return Ok(Self::default()) };
        let tree = XmlTree::parse(&content, &rels)?;
        let mut relationships = Self::default();
        for node in tree.root().elements() {
            let (Some(id), Some(target)) = (node.attribute("Id"), node.attribute("Target")) else {
                continue;
            };
            let is_external = node.attribute("TargetMode") == Some("External");
            let kind = node.attribute("Type").unwrap_or_default().rsplit('/').next();
            let row = Relationship {
                kind: kind.unwrap_or_default().to_owned(),
                target: if is_external { target.to_owned() } else { resolve_part(folder, target) },
                is_external,
            };
            relationships.order.push(id.to_owned());
            relationships.rows.insert(id.to_owned(), row);
        }
        Ok(relationships)
    }

    /// The name of the part that `id` refers to.
    pub(crate) fn part(&self, id: &str) -> Option<&str> {
        self.rows.get(id).filter(|row| !row.is_external).map(|row| row.target.as_str())
    }

    /// The address outside of the package that `id` refers to.
    pub(crate) fn address(&self, id: &str) -> Option<&str> {
        self.rows.get(id).filter(|row| row.is_external).map(|row| row.target.as_str())
    }

    /// The first part of this kind.
    pub(crate) fn first(&self, kind: &str) -> Option<&str> {
        self.all(kind).next()
    }

    /// All parts of this kind, in the order of the document.
    pub(crate) fn all(&self, kind: &str) -> impl Iterator<Item = &str> {
        let rows = self.order.iter().filter_map(|id| self.rows.get(id));
        rows.filter(move |row| row.kind == kind && !row.is_external).map(|row| row.target.as_str())
    }
}

/// The name of the main part of a package; `usual` if the package does not say.
pub(crate) fn main_part(package: &Package<'_>, usual: &str) -> Result<String, ConvertError> {
    let relationships = Relationships::of(package, "")?;
    Ok(relationships.first("officeDocument").unwrap_or(usual).to_owned())
}
