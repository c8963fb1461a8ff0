//! Equations of Office documents as a line of text.

use crate::xml_tree::XmlNode;

/// The text of an equation: fractions as `a/b`, powers as `x^2`, roots as `√(x)`.
pub(crate) fn math_text(node: XmlNode<'_>) -> String {
    let mut text = String::new();
    push_math(&mut text, node);
    text
}

fn push_math(text: &mut String, node: XmlNode<'_>) {
    for child in node.elements() {
        match child.name() {
            "m:t" | "w:t" => text.push_str(&child.all_text()),
            "m:f" => {
                push_group(text, child, "m:num");
                text.push('/');
                push_group(text, child, "m:den");
            }
            "m:sSup" | "m:sSub" | "m:sSubSup" | "m:sPre" | "m:nary" => push_scripts(text, child),
            "m:rad" => {
                let degree = part(child, "m:deg");
                text.push_str(if degree.is_empty() { "" } else { &degree });
                text.push_str(&format!("√({})", part(child, "m:e")));
            }
            "m:d" => push_delimited(text, child),
            "m:mr" => {
                let cells: Vec<String> = child.elements().map(math_text).collect();
                text.push_str(&cells.join(", "));
                text.push_str("; ");
            }
            "m:del" | "w:del" => {}
            _ => push_math(text, child),
        }
    }
}

fn part(node: XmlNode<'_>, name: &str) -> String {
    node.child(name).map(math_text).unwrap_or_default()
}

/// A part, in parentheses if it has more than one letter or number.
fn push_group(text: &mut String, node: XmlNode<'_>, name: &str) {
    let inner = part(node, name);
    let is_simple = inner.chars().all(char::is_alphanumeric);
    text.push_str(&if is_simple { inner } else { format!("({inner})") });
}

fn push_scripts(text: &mut String, node: XmlNode<'_>) {
    if node.name() == "m:nary" {
        let sign = node.child("m:naryPr").and_then(|pr| pr.child_attribute("m:chr", "m:val"));
        text.push_str(sign.unwrap_or("∫"));
    } else {
        text.push_str(&part(node, "m:e"));
    }
    for (name, mark) in [("m:sub", '_'), ("m:sup", '^')] {
        if !part(node, name).is_empty() {
            text.push(mark);
            push_group(text, node, name);
        }
    }
    if node.name() == "m:nary" {
        text.push(' ');
        text.push_str(&part(node, "m:e"));
    }
}

fn push_delimited(text: &mut String, node: XmlNode<'_>) {
    let sign = |name: &str, usual: &'static str| {
        let properties = node.child("m:dPr");
        properties.and_then(|pr| pr.child_attribute(name, "m:val")).unwrap_or(usual).to_owned()
    };
    let parts: Vec<String> =
        node.elements().filter(|child| child.name() == "m:e").map(math_text).collect();
    let between = sign("m:sepChr", "|");
    text.push_str(&sign("m:begChr", "("));
    text.push_str(&parts.join(&between));
    text.push_str(&sign("m:endChr", ")"));
}
