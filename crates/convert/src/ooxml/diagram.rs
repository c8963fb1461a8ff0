//! SmartArt diagrams of Office documents as lists.

use std::collections::{HashMap, HashSet};

use crate::rich_text::{ListMarker, RichBlock, RichSpan, SpanStyle};
use crate::xml_tree::XmlNode;

/// The deepest level of the list.
const MAX_LEVEL: u8 = 8;

/// The items of the data part of a diagram, in the order of their connections.
pub(crate) fn diagram_blocks(root: XmlNode<'_>) -> Vec<RichBlock> {
    let mut points: HashMap<&str, XmlNode<'_>> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for point in root.descendants("dgm:pt") {
        let kind = point.attribute("type").unwrap_or("node");
        if let (Some(id), "node" | "asst" | "doc") = (point.attribute("modelId"), kind) {
            points.insert(id, point);
            order.push(id);
        }
    }
    let mut children: HashMap<&str, Vec<(u32, &str)>> = HashMap::new();
    let mut inner: HashSet<&str> = HashSet::new();
    for connection in root.descendants("dgm:cxn") {
        let from = connection.attribute("srcId").unwrap_or_default();
        let to = connection.attribute("destId").unwrap_or_default();
        let is_parent = matches!(connection.attribute("type"), None | Some("parOf"));
        if is_parent && points.contains_key(from) && points.contains_key(to) {
            let place = connection.attribute("srcOrd").and_then(|order| order.parse().ok());
            children.entry(from).or_default().push((place.unwrap_or(0), to));
            inner.insert(to);
        }
    }
    children.values_mut().for_each(|children| children.sort_by_key(|(place, _)| *place));
    let mut blocks = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    // Points of a circle have no beginning; they come last.
    let starts = order.iter().filter(|id| !inner.contains(**id)).chain(&order);
    for start in starts {
        let mut open: Vec<(&str, u8)> = vec![(start, 0)];
        while let Some((id, level)) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let text = points.get(id).map(|point| point_text(*point)).unwrap_or_default();
            let below = if text.is_empty() { level } else { (level + 1).min(MAX_LEVEL) };
            if !text.is_empty() {
                let spans = vec![RichSpan::text(text, SpanStyle::default())];
                blocks.push(RichBlock::Item { level, marker: ListMarker::Bullet, spans });
            }
            let below = children.get(id).into_iter().flatten().rev().map(|(_, to)| (*to, below));
            open.extend(below);
        }
    }
    blocks
}

fn point_text(point: XmlNode<'_>) -> String {
    let Some(body) = point.child("dgm:t") else { return String::new() };
    let lines = body.descendants("a:p").into_iter().map(|line| {
        let texts = line.descendants("a:t").into_iter().map(XmlNode::all_text);
        texts.collect::<String>()
    });
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}
