//! Tests of the tree builder: the shapes of trees.

use super::MAX_DEPTH;
use crate::html::tree::{HtmlNodeId, HtmlTree, ROOT, TEXT};

/// The tree as names and brackets.
fn shape(page: &str) -> String {
    fn write(tree: &HtmlTree, id: HtmlNodeId, text: &mut String) {
        for child in tree.children(id) {
            if tree.name(child) == TEXT {
                text.push_str(tree.text(child));
                continue;
            }
            text.push_str(tree.name(child));
            text.push('(');
            write(tree, child, text);
            text.push(')');
        }
    }
    let tree = HtmlTree::parse(page).unwrap();
    let mut text = String::new();
    write(&tree, ROOT, &mut text);
    text
}

#[test]
fn end_tags_that_pages_leave_out_are_implied() {
    assert_eq!(shape("<p>a<p>b<div>c"), "p(a)p(b)div(c)");
    assert_eq!(shape("<ul><li>a<ul><li>b</ul><li>c</ul>d"), "ul(li(aul(li(b)))li(c))d");
    assert_eq!(shape("<table><tr><td>a<td>b<tr><th>c</table>"), "table(tr(td(a)td(b))tr(th(c)))");
    assert_eq!(shape("<dl><dt>a<dd>b<dt>c</dl>"), "dl(dt(a)dd(b)dt(c))");
    assert_eq!(shape("<ruby>漢<rt>かん<rp>)</ruby>x"), "ruby(漢rt(かん)rp()))x");
    assert_eq!(shape("<head><title>t</title><p>x"), "head(title(t))p(x)");
    assert_eq!(shape("<html>a<body>b</body>c</html>d"), "html(abcd)");
    assert_eq!(shape("<html><body>b</body>c</html>d<body>e"), "html(body(bcde))");
}

#[test]
fn crossed_and_stray_end_tags_keep_the_content_in_place() {
    assert_eq!(shape("<b><p>a</b>b</p>c"), "b(p(ab))c");
    assert_eq!(shape("a</div></p>b"), "ab");
    assert_eq!(shape("<table><tr><td>a</div></tr></table>b"), "table(tr(td(a)))b");
    assert_eq!(shape("<td>a</td><tr>b"), "ab");
    assert_eq!(shape("<svg><path/><p>a"), "svg(unknown())p(a)");
}

#[test]
fn nesting_is_bounded_and_loses_no_text() {
    let page = format!("{}deep{}after", "<div>".repeat(100_000), "</div>".repeat(100_000));
    let tree = HtmlTree::parse(&page).unwrap();
    assert_eq!(tree.nodes.len(), MAX_DEPTH + 3);
    assert_eq!(tree.raw_text(ROOT), "deepafter");
    assert_eq!(tree.node(tree.node(ROOT).last_child).name, TEXT);
}
