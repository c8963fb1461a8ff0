//! Comments of PowerPoint, of the old and the new kind.

use std::collections::HashMap;

use super::{PptxReader, optional_tree};
use crate::error::ConvertError;
use crate::ooxml::Relationships;
use crate::package::Package;
use crate::rich_text::{RichBlock, comment_lead};
use crate::xml_tree::XmlNode;

/// Reads the names of those who comment.
pub(super) fn read_authors(
    package: &Package<'_>,
    relationships: &Relationships,
) -> Result<HashMap<String, String>, ConvertError> {
    let mut authors = HashMap::new();
    for kind in ["commentAuthors", "authors"] {
        let Some(tree) = optional_tree(package, relationships.first(kind))? else { continue };
        for node in tree.root().elements() {
            if let (Some(id), Some(name)) = (node.attribute("id"), node.attribute("name")) {
                authors.insert(id.to_owned(), name.to_owned());
            }
        }
    }
    Ok(authors)
}

impl PptxReader<'_> {
    /// The comments on the slide that is read.
    pub(super) fn comments(&self) -> Result<Vec<(String, Vec<RichBlock>)>, ConvertError> {
        let mut comments = Vec::new();
        for part in self.relationships.all("comments") {
            let Some(tree) = optional_tree(self.package, Some(part))? else { continue };
            for node in tree.root().elements().filter(|node| node.name().ends_with(":cm")) {
                comments.push(self.comment(node));
                let replies = node.child("p188:replyLst");
                let replies = replies.iter().flat_map(|list| list.elements());
                comments.extend(replies.map(|reply| self.comment(reply)));
            }
        }
        Ok(comments)
    }

    fn comment(&self, node: XmlNode<'_>) -> (String, Vec<RichBlock>) {
        let author = node.attribute("authorId").and_then(|id| self.authors.get(id));
        let date = node.attribute("dt").or(node.attribute("created")).unwrap_or_default();
        let lead = comment_lead(author.map_or("", String::as_str), date.get(..10).unwrap_or(""));
        let blocks = match (node.child("p:text"), node.child("p188:txBody")) {
            (Some(text), _) => vec![RichBlock::plain(text.all_text())],
            (None, Some(body)) => {
                let lines = body.elements().filter(|node| node.name() == "a:p");
                lines.map(|line| RichBlock::Paragraph(self.spans(line))).collect()
            }
            (None, None) => Vec::new(),
        };
        (lead, blocks)
    }
}
