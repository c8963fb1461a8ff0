//! Tests of the reader of OpenDocument texts.

use crate::document::DocumentKind;
use crate::error::ConvertErrorKind;
use crate::form::Form;
use crate::office_fixture::{ODF_NAMES, converted, html, markdown, odf};

fn text_of(styles: &str, body: &str) -> String {
    markdown(DocumentKind::Odt, &odf("text", styles, body, &[]))
}

#[test]
fn headings_titles_and_code_are_told_by_element_and_style() {
    let styles = "<style:style style:name='P1' style:family='paragraph' style:parent-style-name='Title'/>\
        <style:style style:name='Title' style:family='paragraph'/>\
        <style:style style:name='Pre' style:display-name='Preformatted Text' style:family='paragraph'/>";
    let body = "<text:p text:style-name='P1'>T</text:p><text:h text:outline-level='2'>H</text:h>\
        <text:p text:style-name='Pre'>x<text:tab/>y</text:p><text:p text:style-name='Quotations'>q</text:p>";
    assert_eq!(text_of(styles, body), "# T\n\n## H\n\n```\nx\ty\n```\n\n> q");
}

#[test]
fn lists_nest_count_and_go_on() {
    let styles = "<text:list-style style:name='L'>\
        <text:list-level-style-number text:level='1' style:num-format='1' style:num-suffix='.'/>\
        <text:list-level-style-number text:level='2' style:num-format='a' style:num-prefix='(' style:num-suffix=')'/>\
        <text:list-level-style-bullet text:level='3' text:bullet-char='•'/></text:list-style>";
    let item = |inner: &str| format!("<text:list-item>{inner}</text:list-item>");
    let list = |inner: &str| format!("<text:list>{inner}</text:list>");
    let deep = list(&item("<text:p>c</text:p>"));
    let inner = list(&item(&format!("<text:p>b</text:p>{deep}")));
    let body = format!(
        "<text:list text:style-name='L'>{}{}</text:list><text:p>x</text:p>\
         <text:list text:style-name='L' text:continue-numbering='true'>{}</text:list>\
         <text:list text:style-name='L'>{}</text:list>",
        item(&format!("<text:p>a</text:p><text:p>more</text:p>{inner}")),
        item("<text:p>d</text:p>"),
        item("<text:p>e</text:p>"),
        item("<text:p>f</text:p>"),
    );
    let wanted = "1. a\n\n   more\n   - (a) b\n     - c\n2. d\n\nx\n\n3. e\n1. f";
    assert_eq!(text_of(styles, &body), wanted);
}

#[test]
fn covered_cells_are_empty_and_spans_are_kept() {
    let cell = |more: &str, text: &str| {
        format!("<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>")
    };
    let body = format!(
        "<table:table><table:table-header-rows><table:table-row>{}<table:covered-table-cell/>{}</table:table-row>\
         </table:table-header-rows><table:table-row>{}{}{}</table:table-row></table:table>",
        cell("table:number-columns-spanned='2'", "ab"),
        cell("", "c"),
        cell("", "1"),
        cell("", "2"),
        cell("", "3"),
    );
    assert_eq!(text_of("", &body), "| ab |  | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |");
    let page = html(DocumentKind::Odt, &odf("text", "", &body, &[]));
    assert!(page.contains("<th colspan=\"2\">ab</th>"), "{page}");
}

#[test]
fn notes_comments_links_ruby_and_boxes_are_given_and_deletions_are_not() {
    let styles = "<style:style style:name='B' style:family='text'><style:text-properties fo:font-weight='bold'/></style:style>";
    let body = "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>\
        </text:changed-region></text:tracked-changes>\
        <text:p>a<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation><text:note-body>\
        <text:p>foot</text:p></text:note-body></text:note> <text:a xlink:href='https://a.example'>link</text:a>\
        <text:s text:c='3'/><text:span text:style-name='B'>bold</text:span><text:line-break/>\
        <text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>\
        <office:annotation><dc:creator>Kim</dc:creator><dc:date>2024-05-06T00:00:00</dc:date><text:p>why</text:p></office:annotation>\
        <draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame></text:p>\
        <text:p><draw:frame><draw:image/><svg:desc>a cat</svg:desc></draw:frame></text:p>";
    let wanted = "a[^1] [link](https://a.example) **bold**  \n漢字(かんじ)[^c1]\n\nbox\n\n![a cat]()\n\n\
        [^1]: foot\n\n[^c1]: Comment by Kim (2024-05-06): why";
    assert_eq!(text_of(styles, body), wanted);
}

#[test]
fn formulas_and_charts_are_read_from_their_objects() {
    let formula = "<math:math xmlns:math='http://www.w3.org/1998/Math/MathML'><math:annotation>a over b</math:annotation></math:math>";
    let chart = format!(
        "<office:document-content {ODF_NAMES}><office:chart><chart:chart><chart:title><text:p>Sales</text:p></chart:title>\
         <table:table><table:table-row><table:table-cell/><table:table-cell><text:p>5</text:p></table:table-cell></table:table-row>\
         <table:table-row><table:table-cell><text:p>May</text:p></table:table-cell></table:table-row></table:table>\
         </chart:chart></office:chart></office:document-content>"
    );
    let body = "<text:p>x = <draw:frame><draw:object xlink:href='./Object 1'/><draw:image/></draw:frame></text:p>\
        <text:p><draw:frame><draw:object xlink:href='./Object 2'/></draw:frame></text:p>";
    let parts = [("Object 1/content.xml", formula), ("Object 2/content.xml", chart.as_str())];
    let text = markdown(DocumentKind::Odt, &odf("text", "", body, &parts));
    assert_eq!(text, "x = a over b\n\nChart: Sales\n\n|  | 5 |\n| --- | --- |\n| May |  |");
}

#[test]
fn headers_and_footers_of_master_pages_come_once() {
    let page = "<style:master-page><style:header><text:p>Company</text:p></style:header>\
        <style:footer><text:p><text:page-number>3</text:page-number></text:p></style:footer></style:master-page>";
    let styles = format!(
        "<office:document-styles {ODF_NAMES}><office:master-styles>{page}{page}</office:master-styles></office:document-styles>"
    );
    let bytes = odf("text", "", "<text:p>x</text:p>", &[("styles.xml", &styles)]);
    assert_eq!(markdown(DocumentKind::Odt, &bytes), "Header: Company\n\nx");
}

#[test]
fn a_document_with_a_password_is_protected_and_one_without_text_damaged() {
    let manifest =
        format!("<manifest:manifest {ODF_NAMES}><manifest:encryption-data/></manifest:manifest>");
    let kind = |bytes: &[u8]| {
        converted(DocumentKind::Odt, bytes, Form::Markdown).err().map(|error| error.kind)
    };
    let protected = odf("text", "", "", &[("META-INF/manifest.xml", &manifest)]);
    assert_eq!(kind(&protected), Some(ConvertErrorKind::Protected));
    assert_eq!(kind(&odf("drawing", "", "", &[])), Some(ConvertErrorKind::Damaged));
    let deep = "<text:section>".repeat(500);
    assert_eq!(kind(&odf("text", "", &deep, &[])), Some(ConvertErrorKind::OverLimit));
}

#[test]
fn the_header_of_a_list_is_no_item_and_headings_have_their_numbers() {
    let styles = "<text:outline-style><text:outline-level-style text:level='1' style:num-format='1' style:num-suffix='.'/>\
        <text:outline-level-style text:level='2' style:num-format='1' text:display-levels='2'/></text:outline-style>";
    let body = "<text:h text:outline-level='1'>A</text:h><text:h text:outline-level='2'>B</text:h>\
        <text:list><text:list-header><text:p>head</text:p></text:list-header><text:list-item><text:p>x</text:p></text:list-item></text:list>";
    assert_eq!(text_of(styles, body), "# 1. A\n\n## 1.1 B\n\nhead\n\n- x");
}
