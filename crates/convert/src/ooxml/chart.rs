//! Charts of Office documents as a title and a table of their data.

use crate::rich_text::{RichBlock, RichCell, RichTable};
use crate::xml_tree::XmlNode;

/// The most points of a series that are laid out.
const MAX_POINTS: usize = 10_000;

/// The most series of a chart that are laid out.
const MAX_SERIES: usize = 255;

/// The blocks of the part of a chart.
pub(crate) fn chart_blocks(root: XmlNode<'_>) -> Vec<RichBlock> {
    let Some(chart) = root.descendant("c:chart") else { return Vec::new() };
    let mut blocks = Vec::new();
    let title = chart.child("c:title").map(title_text).unwrap_or_default();
    let words = if title.is_empty() { "Chart".to_owned() } else { format!("Chart: {title}") };
    blocks.push(RichBlock::plain(words));
    let mut series = chart.descendants("c:ser");
    series.truncate(MAX_SERIES);
    let Some(first) = series.first() else { return blocks };
    let categories = points(*first, &["c:cat", "c:xVal"]);
    let columns: Vec<Vec<String>> =
        series.iter().map(|series| points(*series, &["c:val", "c:yVal"])).collect();
    let length = columns.iter().map(Vec::len).max().unwrap_or(0).max(categories.len());
    let cell = |text: &str| RichCell::single(vec![RichBlock::plain(text)]);
    let mut header = vec![cell("")];
    header.extend(
        series.iter().map(|series| cell(&series.child("c:tx").map(title_text).unwrap_or_default())),
    );
    let mut rows = vec![header];
    let get = |texts: &[String], at: usize| cell(texts.get(at).map_or("", String::as_str));
    for at in 0..length {
        let mut row = vec![get(&categories, at)];
        row.extend(columns.iter().map(|column| get(column, at)));
        rows.push(row);
    }
    blocks.push(RichBlock::Table(RichTable { rows }));
    blocks
}

/// The text of a title or of the name of a series.
fn title_text(node: XmlNode<'_>) -> String {
    let texts = ["a:t", "c:v"].iter().flat_map(|name| node.descendants(name));
    texts.map(|text| text.all_text()).collect::<Vec<_>>().join("").trim().to_owned()
}

/// The cached points of the first of `names` that a series has, at their places.
fn points(series: XmlNode<'_>, names: &[&str]) -> Vec<String> {
    let Some(node) = names.iter().find_map(|name| series.child(name)) else { return Vec::new() };
    let mut texts: Vec<String> = Vec::new();
    for point in node.descendants("c:pt").into_iter().take(MAX_POINTS) {
        let index = point.attribute("idx").and_then(|index| index.parse().ok());
        let at = index.unwrap_or(texts.len()).min(MAX_POINTS);
        if texts.len() <= at {
            texts.resize(at + 1, String::new());
        }
        texts[at] = point.child("c:v").map(XmlNode::all_text).unwrap_or_default();
    }
    texts
}
