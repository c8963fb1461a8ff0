//! The main content of a page: which nodes a reader wants, without navigation and banners.
//!
//! It prefers to give too much: a part is left out only where its element, role or class says what
//! it is and its size does not speak against it.

use super::elements::{is_block, is_machinery};
use super::tree::{HtmlNodeId, HtmlTree, ROOT, TEXT};

/// The nodes of a page that are written, and where they start.
pub(super) struct MainContent {
    /// The element whose content is the main content.
    pub(super) root: HtmlNodeId,
    /// By node: whether it is content.
    is_kept: Vec<bool>,
    /// By node: whether it has blocks among its descendants.
    has_block: Vec<bool>,
    /// By node: whether it has a heading of the first two levels among its descendants.
    has_title: Vec<bool>,
}

/// How many characters of text a node has, and how many of them are links.
#[derive(Clone, Copy, Default)]
struct TextWeight {
    all: u32,
    linked: u32,
}

impl MainContent {
    /// The main content of a page.
    pub(super) fn find(tree: &HtmlTree) -> Self {
        let mut content = Self::whole(tree);
        let weights = content.weights(tree);
        let body = content.root;
        content.root = main_element(tree, &content, &weights).unwrap_or(body);
        let total = weights[content.root as usize].all;
        let before = content.is_kept.clone();
        for id in tree.ids() {
            let at = id as usize;
            let has_title = content.has_title[at];
            let share = ChromeSigns::of(weights[at], total, has_title);
            if is_chrome(tree, id, &share) && !is_above(tree, id, content.root) {
                content.is_kept[at] = false;
            }
        }
        content.spread(tree);
        if total > 0 && content.weights(tree)[content.root as usize].all == 0 {
            content.is_kept = before;
        }
        content
    }

    /// The whole body, but for hidden elements and machinery.
    pub(super) fn whole(tree: &HtmlTree) -> Self {
        let is_kept = tree.ids().map(|id| !is_hidden(tree, id)).collect();
        let root = tree.first("body").unwrap_or(ROOT);
        let mut content = Self {
            root,
            is_kept,
            has_block: vec![false; tree.nodes.len()],
            has_title: vec![false; tree.nodes.len()],
        };
        content.spread(tree);
        for id in tree.ids().rev() {
            let node = tree.node(id);
            if content.has_block[id as usize] || is_block(node.name) {
                content.has_block[node.parent as usize] = true;
            }
            if content.has_title[id as usize] || matches!(node.name, "h1" | "h2") {
                content.has_title[node.parent as usize] = true;
            }
        }
        content
    }

    pub(super) fn is_kept(&self, id: HtmlNodeId) -> bool {
        self.is_kept[id as usize]
    }

    pub(super) fn has_block(&self, id: HtmlNodeId) -> bool {
        self.has_block[id as usize]
    }

    /// What is in an element that is left out is left out.
    fn spread(&mut self, tree: &HtmlTree) {
        for id in tree.ids().skip(1) {
            self.is_kept[id as usize] &= self.is_kept[tree.node(id).parent as usize];
        }
    }

    fn weights(&self, tree: &HtmlTree) -> Vec<TextWeight> {
        let mut weights = vec![TextWeight::default(); tree.nodes.len()];
        for id in tree.ids().rev().filter(|id| *id != ROOT && self.is_kept(*id)) {
            let node = tree.node(id);
            let mut weight = weights[id as usize];
            if node.name == TEXT {
                let letters = tree.text(id).chars().filter(|letter| !letter.is_whitespace());
                weight.all = u32::try_from(letters.count()).unwrap_or(u32::MAX);
            }
            if node.name == "a" && tree.attribute(id, "href").is_some() {
                weight.linked = weight.all;
            }
            let parent = &mut weights[node.parent as usize];
            parent.all = parent.all.saturating_add(weight.all);
            parent.linked = parent.linked.saturating_add(weight.linked);
        }
        weights
    }
}

/// The element that says it is the main content, and has enough of the text for that to be true.
fn main_element(
    tree: &HtmlTree,
    content: &MainContent,
    weights: &[TextWeight],
) -> Option<HtmlNodeId> {
    let total = f64::from(weights[content.root as usize].all);
    let heaviest = |is_wanted: &dyn Fn(HtmlNodeId) -> bool| {
        let found = tree.ids().filter(|id| content.is_kept(*id) && is_wanted(*id));
        found.max_by_key(|id| (weights[*id as usize].all, std::cmp::Reverse(*id)))
    };
    let has_share = |share: f64| {
        move |id: &HtmlNodeId| f64::from(weights[*id as usize].all) >= share * total && total > 0.0
    };
    let role = |id, role: &str| tree.attribute(id, "role") == Some(role);
    let is_main = |id| tree.name(id) == "main" || role(id, "main");
    let is_article = |id| tree.name(id) == "article" || role(id, "article");
    let is_named = |id| {
        tree.attribute(id, "id").is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            matches!(name.as_str(), "main" | "content" | "main-content" | "maincontent" | "article")
                || name == "mw-content-text"
        })
    };
    let by_main = heaviest(&is_main).filter(has_share(0.2));
    let by_article = || heaviest(&is_article).filter(has_share(0.5));
    by_main.or_else(by_article).or_else(|| heaviest(&is_named).filter(has_share(0.6)))
}

/// Whether readers of the page do not see the element.
fn is_hidden(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    let name = tree.name(id);
    if name == TEXT {
        return false;
    }
    if is_machinery(name) || (name == "dialog" && tree.attribute(id, "open").is_none()) {
        return true;
    }
    if tree.attribute(id, "hidden").is_some_and(|value| value != "until-found") {
        return true;
    }
    if tree.attribute(id, "aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return true;
    }
    tree.attribute(id, "style").is_some_and(|style| {
        let mut style: String = style.chars().filter(|letter| !letter.is_whitespace()).collect();
        style.make_ascii_lowercase();
        style
            .split(';')
            .any(|rule| rule.starts_with("display:none") || rule.starts_with("visibility:hidden"))
    })
}

fn is_above(tree: &HtmlTree, id: HtmlNodeId, descendant: HtmlNodeId) -> bool {
    let mut at = descendant;
    while at != ROOT {
        if at == id {
            return true;
        }
        at = tree.node(at).parent;
    }
    id == ROOT
}

/// What speaks for and against an element being around the content.
struct ChromeSigns {
    /// Its share of the text.
    share: f64,
    /// The share of its text that is links.
    links: f64,
    has_title: bool,
}

impl ChromeSigns {
    fn of(weight: TextWeight, total: u32, has_title: bool) -> Self {
        let share = f64::from(weight.all) / f64::from(total.max(1));
        let links = f64::from(weight.linked) / f64::from(weight.all.max(1));
        Self { share, links, has_title }
    }

    fn is_small(&self) -> bool {
        self.share < 0.3 || self.links > 0.7
    }
}

/// Whether the element is around the content and no part of it.
fn is_chrome(tree: &HtmlTree, id: HtmlNodeId, signs: &ChromeSigns) -> bool {
    let name = tree.name(id);
    if name == TEXT || !signs.is_small() {
        return false;
    }
    match name {
        "nav" | "search" => return true,
        "aside" => return signs.links > 0.5,
        "footer" => return !is_in_section(tree, id),
        "header" => return !is_in_section(tree, id) && !signs.has_title,
        "button" => return signs.share < 0.1,
        _ => {}
    }
    let role = tree.attribute(id, "role").unwrap_or("");
    if matches!(role, "navigation" | "search" | "menu" | "menubar" | "contentinfo" | "alertdialog")
    {
        return true;
    }
    let is_named = |is_wanted: fn(&str) -> bool| {
        tree.has_class(id, is_wanted) || tree.attribute(id, "id").is_some_and(is_wanted)
    };
    // Boxes of text are called sidebars too: links must prove that it is navigation.
    (signs.links > 0.5 && is_named(is_navigation_class))
        || (signs.share < 0.2 && !signs.has_title && is_named(is_banner_class))
}

/// Whether the element is in a section, whose header and footer are its content.
fn is_in_section(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    let mut at = tree.node(id).parent;
    while at != ROOT {
        if matches!(tree.name(at), "article" | "blockquote" | "figure" | "main" | "section") {
            return true;
        }
        at = tree.node(at).parent;
    }
    false
}

/// Whether a class or an id says that the element is navigation.
fn is_navigation_class(class: &str) -> bool {
    const CLASSES: &[&str] = &[
        "breadcrumb",
        "breadcrumbs",
        "docnav",
        "footer",
        "menu",
        "nav",
        "navbar",
        "navfooter",
        "navheader",
        "navigation",
        "noprint",
        "pagination",
        "related",
        "share",
        "sidebar",
        "sidenav",
        "site-footer",
        "site-header",
        "social",
        "sphinxsidebar",
        "toolbar",
        "topbar",
    ];
    CLASSES.binary_search(&class.to_ascii_lowercase().as_str()).is_ok()
}

/// Whether a class or an id says that the element is a banner or an advertisement.
fn is_banner_class(class: &str) -> bool {
    let class = class.to_ascii_lowercase();
    matches!(class.as_str(), "ad" | "ads" | "advert" | "advertisement" | "gdpr" | "newsletter")
        || matches!(class.as_str(), "skip-link" | "skip-to-content")
        || class.contains("cookie")
        || class.starts_with("consent")
        || class.ends_with("-consent")
}

#[cfg(test)]
mod tests {
    use super::{MainContent, is_banner_class, is_navigation_class};
    use crate::html::tree::{HtmlTree, TEXT};

    /// The words of the main content.
    fn words(page: &str) -> String {
        let tree = HtmlTree::parse(page).unwrap();
        let content = MainContent::find(&tree);
        let is_in = |id| super::is_above(&tree, content.root, id);
        let texts =
            tree.ids().filter(|id| tree.name(*id) == TEXT && content.is_kept(*id) && is_in(*id));
        texts.map(|id| tree.text(id).trim()).collect::<Vec<_>>().join(" ")
    }

    const LONG: &str = "One sentence that is long enough to be the content of a page.";

    #[test]
    fn navigation_banners_and_hidden_elements_are_no_content() {
        let page = format!(
            "<body><nav><a href=/>Home</a></nav><aside><a href=/x>Menu</a></aside>\
             <div class='cookie-banner'>We use cookies</div><p hidden>no</p>\
             <p style='color:red; Display : NONE'>no</p><i aria-hidden=true>x</i>\
             <p>{LONG}</p><aside>A side note that is text.</aside><footer>Imprint</footer>"
        );
        assert_eq!(words(&page), format!("{LONG} A side note that is text."));
    }

    #[test]
    fn main_and_article_are_taken_if_they_hold_the_text() {
        let page = format!("<body><div>Aside text</div><main><p>{LONG}</p></main>");
        assert_eq!(words(&page), LONG);
        let page = format!("<body><article><p>{LONG}</p></article><div>more</div>");
        assert_eq!(words(&page), LONG);
        let page = format!("<body><main></main><div>{LONG}</div>");
        assert_eq!(words(&page), LONG);
    }

    #[test]
    fn a_page_that_is_all_navigation_is_still_given() {
        assert_eq!(words("<nav><a href=a>One</a> <a href=b>Two</a></nav>"), "One  Two");
        assert_eq!(words(&format!("<div class=sidebar>{LONG}</div>")), LONG);
    }

    #[test]
    fn a_box_of_text_that_is_called_a_sidebar_is_content() {
        let page = format!(
            "<p>{LONG}</p><p>{LONG}</p><div class=sidebar>A word on terms.</div>\
                            <div class=sidebar><a href=x>Menu</a></div>"
        );
        assert_eq!(words(&page), format!("{LONG} {LONG} A word on terms."));
    }

    #[test]
    fn content_after_the_end_of_the_body_is_given() {
        assert_eq!(words("<html><body><p>a</p></body></html><p>b</p>"), "a b");
    }

    #[test]
    fn classes_are_compared_as_words() {
        assert!(is_navigation_class("Navbar") && is_banner_class("onetrust-cookie-box"));
        assert!(!is_banner_class("adaptive") && !is_navigation_class("shared-memory"));
    }
}
