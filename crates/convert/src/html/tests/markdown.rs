//! Tests of Markdown and text of pages.

use super::converted;
use crate::{Document, DocumentKind, Form, Options, convert};

fn markdown(page: &str) -> String {
    converted(page, Form::Markdown)
}

#[test]
fn headings_paragraphs_quotes_and_rules_are_blocks() {
    let page = "<h1>One <small>two</small></h1><p>a\n  b&nbsp;&amp;&lt;c</p><hr>\
                <blockquote><p>q<p>r<blockquote>s</blockquote></blockquote><h3>T<br>U</h3>end";
    let expected = "# One two\n\na b &<c\n\n---\n\n> q\n>\n> r\n>\n> > s\n\n### T U\n\nend\n";
    assert_eq!(markdown(page).replace("\\<", "<"), expected);
}

#[test]
fn lists_nest_with_their_numbers_and_check_boxes() {
    let page = "<ul><li>a<ol start=3><li>b<li value=7><p>c</ol><li>d</ul>\
                <ol reversed><li>x<li>y</ol><ul><li><input type=checkbox checked> done</ul>";
    let expected = "- a\n  3. b\n  7. c\n- d\n\n2. x\n1. y\n\n- [x] done\n";
    assert_eq!(markdown(page), expected);
}

#[test]
fn items_of_several_blocks_are_set_off_and_stay_items() {
    let page = "<ul><li><p>a<p>b<pre>code\n  c</pre><li>d</ul>";
    assert_eq!(markdown(page), "- a\n\n  b\n\n  ```\n  code\n    c\n  ```\n\n- d\n");
}

#[test]
fn definitions_details_and_figures_keep_their_parts() {
    let page = "<dl><dt>T<dd>one<dd><p>two<p>three</dl><details><summary>S</summary>inner</details>\
                <figure><img src=a.png alt=A><figcaption>Cap</figcaption></figure>";
    let expected = "T\n:   one\n:   two\n\n    three\n\n**S**\n\ninner\n\n![A](a.png)\n\nCap\n";
    assert_eq!(markdown(page), expected);
}

#[test]
fn code_keeps_its_characters_and_its_language() {
    let page = "<pre><code class='hljs language-rust'>fn a() {\n    *b &lt; `c`\n}\n</code></pre>\
                <div class=highlight-python><pre>x</pre></div><p>run <code>a_b *c*</code> and \
                <code>`</code> and <code><a href=d.html>d</a></code></p>";
    let expected = "```rust\nfn a() {\n    *b < `c`\n}\n```\n\n```python\nx\n```\n\n\
                    run `a_b *c*` and `` ` `` and [`d`](d.html)\n";
    assert_eq!(markdown(page), expected);
}

#[test]
fn emphasis_links_and_images_are_inline() {
    let page = "<p>a<b> bold </b>and <i>it<b>al</b></i>, <del>no</del>; \
                <a href='x y(1).html'>t[e]xt</a> <a href='JavaScript:x()'>js</a> <a href='#a'>#</a>\
                <a href='https://e.org/'>https://e.org/</a> <img src='data:image/png;base64,AA' alt=dot> \
                <a href=/p><img src=i.png alt='a]b'></a><a name=x></a>";
    let expected = "a **bold** and *it**al***, ~~no~~; [t\\[e\\]xt](x%20y\\(1\\).html) js \
                    <https://e.org/> dot [![a\\]b](i.png)](/p)\n";
    assert_eq!(markdown(page), expected);
}

#[test]
fn a_link_around_blocks_is_a_link_in_each_of_them() {
    let page = "<a href=/x><h2>Head</h2><p>Text</p></a>";
    assert_eq!(markdown(page), "## [Head](/x)\n\n[Text](/x)\n");
}

#[test]
fn ruby_is_the_word_with_its_reading() {
    assert_eq!(
        markdown("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>です"),
        "漢字(かんじ)です\n"
    );
    assert_eq!(markdown("<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>"), "漢字(かんじ)\n");
}

#[test]
fn japanese_lines_join_without_a_space_and_english_ones_with() {
    assert_eq!(
        markdown("<p>日本語の\n  文書です。\nEnglish\ntext"),
        "日本語の文書です。 English text\n"
    );
}

#[test]
fn tables_give_merged_cells_once_and_keep_their_columns() {
    let page = "<table><caption>Cap</caption><tr><th colspan=2>A|B<th>C<tr><td rowspan=2>1<td>2<td>3\
                <tr><td>4<td><p>5<p>6</table>";
    let expected =
        "Cap\n\n| A\\|B |  | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5<br>6 |\n";
    assert_eq!(markdown(page), expected);
}

#[test]
fn tables_over_the_limits_say_what_they_leave_out() {
    let row = "<tr><td colspan=999999>x<td>y".repeat(1_100);
    let text = markdown(&format!("<table>{row}</table>"));
    assert!(text.ends_with("\n\n*99 more rows and 951 columns are left out*\n"), "{}", &text[..80]);
    assert_eq!(text.lines().filter(|line| line.starts_with("| x")).count(), 1_001);
}

#[test]
fn a_table_that_lays_out_is_given_as_blocks() {
    let page = "<table><tr><td><h2>Left</h2><td><table><tr><td>a<td>b</table></table>";
    assert_eq!(markdown(page), "## Left\n\n| a | b |\n| --- | --- |\n");
}

#[test]
fn raised_marks_that_refer_to_notes_are_footnotes() {
    let page = "<p>x<sup><a href='#n1' id=r1>[1]</a></sup> y<sup>2</sup>, 1<sup>st</sup></p>\
                <ol><li id=n1><p>The note. <a href='#r1'>↩</a></p></li></ol>";
    assert_eq!(markdown(page), "x[^1] y<sup>2</sup>, 1st\n\n[^1]: The note.\n");
    let docbook = "<p>x<a href='#f' class=footnote><sup id=back>[1]</sup></a></p>\
                   <div id=f class=footnote><p><a href='#back'><sup>[1]</sup></a> Note</p></div>";
    assert_eq!(markdown(docbook), "x[^1]\n\n[^1]: Note\n");
}

#[test]
fn the_title_is_the_heading_of_a_page_that_has_none() {
    assert_eq!(markdown("<title>T &amp; U</title><p>x"), "# T & U\n\nx\n");
    assert_eq!(markdown("<title>T</title><h1>H</h1>x"), "# H\n\nx\n");
    assert_eq!(markdown("<title>T</title><h3> T</h3>x"), "### T\n\nx\n");
}

#[test]
fn formulas_are_given_as_tex_where_the_page_has_it() {
    let page = "<math><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></math>";
    assert_eq!(markdown(page), "$x^2$\n");
}

#[test]
fn text_without_marks_has_the_words_alone() {
    let page = "<h1>A</h1><p>*b* <a href=x>c</a> <code>d_e</code><ul><li>f</ul>\
                <table><tr><td>1<td>2</table><pre>x\n y</pre>";
    assert_eq!(converted(page, Form::Plain), "A\n\n*b* c d_e\n\n- f\n\n1\t2\n\nx\n y\n");
}

#[test]
fn what_a_page_hides_in_drawings_is_said() {
    let options = Options::default();
    let bytes = b"<p>a</p><svg><text>label</text></svg>";
    let document = Document { kind: DocumentKind::Html, bytes, name: "", options: &options };
    let converted = convert(&document, Form::Markdown).unwrap();
    assert_eq!(converted.losses, ["1 text in a drawing is left out"]);
}

#[test]
fn hostile_pages_end_in_time_and_keep_their_text() {
    let deep =
        |open: &str, close: &str| format!("{}x{}y", open.repeat(20_000), close.repeat(20_000));
    for (open, close) in [
        ("<div>", "</div>"),
        ("<b>", "</b>"),
        ("<ul><li>", "</ul>"),
        ("<blockquote>", ""),
        ("<table><tr><td>", ""),
        ("<a href=x>", ""),
        ("<svg>", "</svg>"),
        ("<ruby>", ""),
        ("<p><b>", "</p>"),
        ("<dl><dd>", ""),
    ] {
        let text = markdown(&deep(open, close));
        assert!(text.contains('y'), "{open}");
    }
    assert_eq!(markdown(&"<".repeat(100_000)).trim().len(), 100_000);
    let attributes: String = (0..100_000).map(|at| format!(" a{at}=b")).collect();
    assert_eq!(markdown(&format!("<p{attributes}>x")), "x\n");
    assert_eq!(markdown("<p"), "");
    assert_eq!(markdown("a<!-- b"), "a\n");
}

#[test]
fn a_result_over_the_limit_is_refused() {
    let options = Options { max_output_bytes: 100, ..Options::default() };
    let page = "<p>words</p>".repeat(100);
    let bytes = page.as_bytes();
    let document = Document { kind: DocumentKind::Html, bytes, name: "", options: &options };
    for form in [Form::Markdown, Form::SanitisedHtml] {
        let error = convert(&document, form).unwrap_err();
        assert_eq!(error.kind, crate::ConvertErrorKind::OverLimit);
    }
}
