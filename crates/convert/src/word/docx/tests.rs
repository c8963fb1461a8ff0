//! Tests of the reader of Word documents.

use crate::document::DocumentKind;
use crate::error::ConvertErrorKind;
use crate::form::Form;
use crate::office_fixture::{converted, docx, docx_body, html, markdown};

fn text_of(bytes: &[u8]) -> String {
    markdown(DocumentKind::Docx, bytes)
}

fn run(text: &str) -> String {
    format!("<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>")
}

fn paragraph(text: &str) -> String {
    format!("<w:p>{}</w:p>", run(text))
}

fn styled(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr>{}</w:p>", run(text))
}

fn item(level: u8, list: u8, text: &str) -> String {
    format!(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr></w:pPr>\
         {}</w:p>",
        run(text)
    )
}

#[test]
fn headings_are_told_by_name_by_parent_and_by_outline_level() {
    let styles = "<w:styles>\
        <w:style w:type='paragraph' w:styleId='1'><w:name w:val='heading 1'/></w:style>\
        <w:style w:type='paragraph' w:styleId='b2'><w:name w:val='Überschrift 2'/></w:style>\
        <w:style w:type='paragraph' w:styleId='own'><w:name w:val='Own'/><w:basedOn w:val='b2'/></w:style>\
        <w:style w:type='paragraph' w:styleId='lvl'><w:name w:val='X'/><w:pPr><w:outlineLvl w:val='3'/></w:pPr></w:style>\
        <w:style w:type='paragraph' w:styleId='toc'><w:name w:val='TOC Heading'/><w:basedOn w:val='1'/>\
        <w:pPr><w:outlineLvl w:val='9'/></w:pPr></w:style></w:styles>";
    let direct = "<w:p><w:pPr><w:outlineLvl w:val='4'/></w:pPr><w:r><w:t>E</w:t></w:r></w:p>";
    let body = ["1", "b2", "own", "lvl", "toc"].map(|style| styled(style, style)).concat() + direct;
    let bytes = docx(&body, &[("s", "styles", "styles.xml")], &[("styles.xml", styles)]);
    assert_eq!(text_of(&bytes), "# 1\n\n## b2\n\n## own\n\n#### lvl\n\ntoc\n\n##### E");
}

#[test]
fn lists_have_their_bullets_numbers_labels_and_levels() {
    let level = |at: u8, format: &str, pattern: &str| {
        format!(
            "<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{format}'/>\
             <w:lvlText w:val='{pattern}'/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:numbering><w:abstractNum w:abstractNumId='0'>{}{}{}</w:abstractNum>\
         <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>\
         <w:num w:numId='2'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'>\
         <w:startOverride w:val='7'/></w:lvlOverride></w:num></w:numbering>",
        level(0, "decimal", "%1."),
        level(1, "aiueo", "第%2項"),
        level(2, "bullet", "•"),
    );
    let body = item(0, 1, "a")
        + &item(1, 1, "b")
        + &item(2, 1, "c")
        + &item(0, 1, "d")
        + &item(1, 1, "e")
        + &paragraph("x")
        + &item(0, 2, "f")
        + &item(0, 0, "plain");
    let rows = [("n", "numbering", "numbering.xml")];
    let bytes = docx(&body, &rows, &[("numbering.xml", &numbering)]);
    let wanted = "1. a\n   - 第ア項 b\n     - c\n2. d\n   - 第ア項 e\n\nx\n\n7. f\n\nplain";
    assert_eq!(text_of(&bytes), wanted);
    let page = html(DocumentKind::Docx, &bytes);
    assert!(page.starts_with("<ol>\n<li>a<ul>\n<li>第ア項 b<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>"));
    assert!(page.contains("<ol start=\"7\">\n<li>f</li>\n</ol>"), "{page}");
}

#[test]
fn lists_of_styles_have_the_level_of_their_name() {
    let styles = "<w:styles><w:style w:type='paragraph' w:styleId='ListBullet2'>\
        <w:name w:val='List Bullet 2'/></w:style><w:style w:type='paragraph' w:styleId='LB'>\
        <w:name w:val='List Bullet'/></w:style></w:styles>";
    let body = styled("LB", "a") + &styled("ListBullet2", "b");
    let bytes = docx(&body, &[("s", "styles", "styles.xml")], &[("styles.xml", styles)]);
    assert_eq!(text_of(&bytes), "- a\n  - b");
}

#[test]
fn a_merged_cell_has_its_text_once() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", paragraph(text))
    };
    let wide = "<w:gridSpan w:val='2'/>";
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}{}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
        cell(wide, "ab"),
        cell("", "c"),
        cell("<w:vMerge w:val='restart'/>", "tall"),
        cell("", "2"),
        cell("", "a|b"),
        cell("<w:vMerge/>", ""),
        cell("", "4"),
        cell("", "5"),
    );
    let bytes = docx_body(&body);
    let wanted = "| ab |  | c |\n| --- | --- | --- |\n| tall | 2 | a\\|b |\n|  | 4 | 5 |";
    assert_eq!(text_of(&bytes), wanted);
    let page = html(DocumentKind::Docx, &bytes);
    assert!(page.contains("<th colspan=\"2\">ab</th><th>c</th>"), "{page}");
    assert!(page.contains("<td rowspan=\"2\">tall</td>"), "{page}");
}

#[test]
fn a_table_in_a_cell_stays_in_its_cell_and_a_frame_is_no_table() {
    let cell = |inner: &str| format!("<w:tc>{inner}</w:tc>");
    let inner =
        format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell(&paragraph("x")), cell(&paragraph("y")));
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr></w:tbl><w:tbl><w:tr>{}</w:tr></w:tbl>",
        cell(&paragraph("a")),
        cell(&inner),
        cell(&paragraph("frame"))
    );
    assert_eq!(text_of(&docx_body(&body)), "| a | x / y |\n| --- | --- |\n\nframe");
}

#[test]
fn notes_and_comments_are_defined_once_after_the_text() {
    let note = |name: &str, attributes: &str, text: &str| {
        format!("<w:{name} {attributes}>{}</w:{name}>", paragraph(text))
    };
    let footnotes = format!("<w:footnotes>{}</w:footnotes>", note("footnote", "w:id='2'", "foot"));
    let endnotes = format!("<w:endnotes>{}</w:endnotes>", note("endnote", "w:id='2'", "end"));
    let by = "w:id='0' w:author='Kim' w:date='2024-05-06T07:08:09Z'";
    let comments = format!("<w:comments>{}</w:comments>", note("comment", by, "why"));
    let mark = |name: &str, id: u8| format!("<w:r><w:{name}Reference w:id='{id}'/></w:r>");
    let body = format!(
        "<w:p>{}{}{}{}{}</w:p>",
        run("text"),
        mark("endnote", 2),
        mark("footnote", 2),
        mark("footnote", 2),
        mark("comment", 0)
    );
    let rows = [
        ("f", "footnotes", "footnotes.xml"),
        ("e", "endnotes", "endnotes.xml"),
        ("c", "comments", "comments.xml"),
    ];
    let parts = [
        ("footnotes.xml", footnotes.as_str()),
        ("endnotes.xml", &endnotes),
        ("comments.xml", &comments),
    ];
    let bytes = docx(&body, &rows, &parts);
    let wanted = "text[^1][^2][^2][^c1]\n\n[^1]: end\n\n[^2]: foot\n\n[^c1]: Comment by Kim (2024-05-06): why";
    assert_eq!(text_of(&bytes), wanted);
    let page = html(DocumentKind::Docx, &bytes);
    assert!(page.contains("<a href=\"#note-1\">[1]</a>"), "{page}");
    assert!(page.contains("<div id=\"note-1\">\n<p>[1] end</p>"), "{page}");
}

#[test]
fn links_are_kept_unless_they_would_run_something() {
    let field = |kind: &str| format!("<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>");
    let link = |id: &str| format!("<w:hyperlink r:id='{id}'>{}</w:hyperlink> ", run(id));
    let body = format!(
        "<w:p>{}{}{}<w:hyperlink w:anchor='here'>{}</w:hyperlink></w:p><w:p>{}<w:r><w:instrText> HYPERLINK \
         \"https://b.example\" </w:instrText></w:r>{}{}{}</w:p><w:p><w:bookmarkStart w:name='here'/>{}</w:p>",
        link("web"),
        link("bad"),
        link("mail"),
        run("inner"),
        field("begin"),
        field("separate"),
        run("field"),
        field("end"),
        run("target"),
    );
    let rows = [
        ("web", "hyperlink", "https://a.example/?a=1&amp;b=2"),
        ("bad", "hyperlink", "javascript:alert(1)"),
        ("mail", "hyperlink", "mailto:a@b.example"),
    ];
    let bytes = docx(&body, &rows, &[]);
    let wanted = "[web](https://a.example/?a=1&b=2)bad[mail](mailto:a@b.example)inner\n\n\
        [field](https://b.example)\n\ntarget";
    assert_eq!(text_of(&bytes), wanted);
    let page = html(DocumentKind::Docx, &bytes);
    assert!(page.contains("<a href=\"https://a.example/?a=1&amp;b=2\">web</a>bad"), "{page}");
    assert!(page.contains("<a href=\"#here\">inner</a>"), "{page}");
    assert!(page.contains("<span id=\"here\"></span>target"), "{page}");
}

#[test]
fn deleted_text_is_left_out_and_inserted_text_given() {
    let deleted = "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>";
    let mark = "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>";
    let row = format!(
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>{}</w:tc></w:tr></w:tbl>",
        paragraph("gone")
    );
    let body = format!(
        "<w:p>{mark}{}{deleted}<w:ins>{}</w:ins><w:moveFrom>{}</w:moveFrom><w:moveTo>{}</w:moveTo></w:p>{}{row}",
        run("a "),
        run("new "),
        run("from"),
        run("to "),
        paragraph("joined"),
    );
    assert_eq!(text_of(&docx_body(&body)), "a new to joined");
}

#[test]
fn ruby_symbols_equations_tabs_and_breaks_are_text() {
    let ruby = format!(
        "<w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>",
        run("かんじ"),
        run("漢字")
    );
    let math = "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b+c</m:t></m:r>\
        </m:den></m:f></m:oMath>";
    let rest = "<w:r><w:tab/><w:sym w:font='Wingdings' w:char='F0FC'/><w:br/><w:t>x</w:t>\
        <w:noBreakHyphen/><w:softHyphen/><w:t>y</w:t></w:r>";
    let bytes = docx_body(&format!("<w:p>{ruby} {math}{rest}</w:p>"));
    assert_eq!(text_of(&bytes), "漢字(かんじ)a/(b+c) ✓  \nx-y");
    assert!(html(DocumentKind::Docx, &bytes).contains("<ruby>漢字<rp>(</rp><rt>かんじ</rt>"));
}

#[test]
fn a_text_box_comes_once_after_its_paragraph_and_an_image_with_its_description() {
    let content = format!("<w:txbxContent>{}</w:txbxContent>", paragraph("box"));
    let body = format!(
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing>{content}</w:drawing></mc:Choice>\
         <mc:Fallback><w:pict>{content}</w:pict></mc:Fallback></mc:AlternateContent></w:r>{}</w:p>\
         <w:p><w:r><w:drawing><wp:docPr descr='a cat'/><pic:pic/></w:drawing></w:r></w:p>{}",
        run("anchor"),
        paragraph("after")
    );
    assert_eq!(text_of(&docx_body(&body)), "anchor\n\nbox\n\n![a cat]()\n\nafter");
}

#[test]
fn a_chart_is_a_table_and_a_diagram_a_list() {
    let chart = "<c:chartSpace><c:chart><c:title><a:t>Sales</a:t></c:title><c:ser><c:tx><c:v>2024</c:v></c:tx>\
        <c:cat><c:pt idx='0'><c:v>May</c:v></c:pt></c:cat><c:val><c:pt idx='0'><c:v>5</c:v></c:pt></c:val></c:ser>\
        </c:chart></c:chartSpace>";
    let diagram = "<dgm:dataModel><dgm:pt modelId='2'><dgm:t><a:p><a:t>below</a:t></a:p></dgm:t></dgm:pt>\
        <dgm:pt modelId='1'><dgm:t><a:p><a:t>top</a:t></a:p></dgm:t></dgm:pt>\
        <dgm:cxn srcId='1' destId='2'/></dgm:dataModel>";
    let body = "<w:p><w:r><w:drawing><c:chart r:id='c'/></w:drawing><w:drawing><dgm:relIds r:dm='d'/>\
        </w:drawing><w:drawing><c:chart r:id='c'/></w:drawing></w:r></w:p>";
    let rows = [("c", "chart", "chart.xml"), ("d", "diagramData", "diagram.xml")];
    let bytes = docx(body, &rows, &[("chart.xml", chart), ("diagram.xml", diagram)]);
    let wanted = "Chart: Sales\n\n|  | 2024 |\n| --- | --- |\n| May | 5 |\n\n- top\n  - below";
    assert_eq!(text_of(&bytes), wanted);
}

#[test]
fn headers_and_footers_come_once_and_page_numbers_do_not() {
    let part = |text: &str| format!("<w:hdr>{}</w:hdr>", paragraph(text));
    let body = paragraph("x")
        + "<w:sectPr><w:headerReference r:id='a'/><w:headerReference r:id='b'/>\
           <w:footerReference r:id='c'/><w:footerReference r:id='d'/></w:sectPr>";
    let rows = [
        ("a", "header", "a.xml"),
        ("b", "header", "b.xml"),
        ("c", "footer", "c.xml"),
        ("d", "footer", "d.xml"),
    ];
    let (same, number, foot) = (part("Company"), part("- 3 -"), part("Secret"));
    let parts = [("a.xml", &*same), ("b.xml", &*same), ("c.xml", &*number), ("d.xml", &*foot)];
    assert_eq!(text_of(&docx(&body, &rows, &parts)), "Header: Company\n\nx\n\nFooter: Secret");
}

#[test]
fn styles_mark_whole_words_and_white_space_stays_outside() {
    let bold = |text: &str| {
        format!("<w:r><w:rPr><w:b/></w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
    };
    let italic = "<w:r><w:rPr><w:b/><w:i/></w:rPr><w:t>both</w:t></w:r>";
    let off = "<w:r><w:rPr><w:b w:val='0'/></w:rPr><w:t xml:space='preserve'> no</w:t></w:r>";
    let lines = [
        format!("{}{}{}", run("un"), bold("believ"), run("able")),
        format!("{}{}{italic}{off}", run("a"), bold(" bold ")),
        format!("{}{}{}", run("注意"), bold("重要"), run("です")),
        bold("  "),
    ];
    let body: String = lines.iter().map(|line| format!("<w:p>{line}</w:p>")).collect();
    let wanted = "unbelievable\n\na **bold *both*** no\n\n注意**重要**です";
    assert_eq!(text_of(&docx_body(&body)), wanted);
}

#[test]
fn controls_hidden_text_and_code_are_given() {
    let styles = "<w:styles><w:style w:type='paragraph' w:styleId='c'><w:name w:val='Source Code'/></w:style>\
        <w:style w:type='character' w:styleId='v'><w:name w:val='Verbatim Char'/></w:style></w:styles>";
    let body = format!(
        "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt><w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>\
         {}{}<w:p>{}<w:r><w:rPr><w:rStyle w:val='v'/></w:rPr><w:t>x_y()</w:t></w:r></w:p>",
        paragraph("control"),
        styled("c", "if x:"),
        styled("c", "    y()"),
        run("call "),
    );
    let bytes = docx(&body, &[("s", "styles", "styles.xml")], &[("styles.xml", styles)]);
    assert_eq!(text_of(&bytes), "control\n\nhidden\n\n```\nif x:\n    y()\n```\n\ncall `x_y()`");
}

#[test]
fn html_escapes_what_the_document_says() {
    let bytes = docx_body(&paragraph("&lt;script&gt;alert('1')&lt;/script&gt; &amp; \"x\""));
    let wanted = "<p>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;</p>";
    assert_eq!(html(DocumentKind::Docx, &bytes), wanted);
    assert_eq!(text_of(&bytes), "\\<script>alert('1')\\</script> & \"x\"");
}

#[test]
fn what_is_lost_is_said() {
    let body = "<w:p><w:r><w:object><o:OLEObject ProgID='Excel.Sheet.12'/></w:object></w:r></w:p><w:altChunk/>";
    let losses = converted(DocumentKind::Docx, &docx_body(body), Form::Markdown).unwrap().losses;
    assert_eq!(losses.len(), 2, "{losses:?}");
    assert!(losses[0].contains("Excel.Sheet.12"), "{losses:?}");
}

#[test]
fn bad_documents_have_errors_of_the_right_kind() {
    let kind = |bytes: &[u8]| {
        converted(DocumentKind::Docx, bytes, Form::Markdown).err().map(|error| error.kind)
    };
    assert_eq!(kind(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1]), Some(ConvertErrorKind::Protected));
    assert_eq!(kind(b"PK\x03\x04"), Some(ConvertErrorKind::Damaged));
    assert_eq!(kind(&docx_body("<w:p>")), Some(ConvertErrorKind::Damaged));
    let deep = "<w:tbl><w:tr><w:tc>".repeat(1_000);
    assert_eq!(kind(&docx_body(&deep)), Some(ConvertErrorKind::OverLimit));
}

#[test]
fn a_list_may_change_levels_of_the_list_it_follows() {
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:start w:val='1'/>\
        <w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl></w:abstractNum>\
        <w:num w:numId='1'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'><w:lvl w:ilvl='0'>\
        <w:start w:val='1'/><w:numFmt w:val='upperRoman'/><w:lvlText w:val='Article %1'/></w:lvl>\
        </w:lvlOverride></w:num></w:numbering>";
    let heading = "<w:p><w:pPr><w:outlineLvl w:val='0'/><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>Scope</w:t></w:r></w:p>";
    let rows = [("n", "numbering", "numbering.xml")];
    let bytes =
        docx(&(heading.to_owned() + &item(0, 1, "x")), &rows, &[("numbering.xml", numbering)]);
    assert_eq!(text_of(&bytes), "# Article I Scope\n\n- Article II x");
}

#[test]
fn an_empty_paragraph_of_a_list_counts_and_shows_its_number_in_a_cell() {
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:start w:val='1'/>\
        <w:numFmt w:val='decimal'/><w:lvlText w:val='%1'/></w:lvl></w:abstractNum>\
        <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num></w:numbering>";
    let cell = |inner: &str| format!("<w:tc>{inner}</w:tc>");
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr></w:tbl>{}{}",
        cell(&item(0, 1, "")),
        cell(&paragraph("name")),
        item(0, 1, ""),
        item(0, 1, "third"),
    );
    let rows = [("n", "numbering", "numbering.xml")];
    let bytes = docx(&body, &rows, &[("numbering.xml", numbering)]);
    assert_eq!(text_of(&bytes), "| 1. | name |\n| --- | --- |\n\n3. third");
}

#[test]
fn initials_watermarks_and_symbols_of_fonts_are_read() {
    let initial = format!("<w:p><w:pPr><w:framePr w:dropCap='drop'/></w:pPr>{}</w:p>", run("O"));
    let symbol =
        "<w:p><w:r><w:rPr><w:rFonts w:ascii='Wingdings'/></w:rPr><w:t>\u{F0E0}</w:t></w:r></w:p>";
    let watermark =
        "<w:p><w:r><w:pict><v:shape><v:textpath string='DRAFT'/></v:shape></w:pict></w:r></w:p>";
    let body = initial + &paragraph("nce upon") + symbol + watermark;
    assert_eq!(text_of(&docx_body(&body)), "Once upon\n\n→\n\nDRAFT");
}

#[test]
fn a_field_without_end_is_said_to_hide_text() {
    let body = format!("<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r>{}</w:p>", run("lost"));
    let converted = converted(DocumentKind::Docx, &docx_body(&body), Form::Markdown).unwrap();
    assert!(converted.losses[0].contains("a field has no end"), "{:?}", converted.losses);
}

#[test]
fn lines_that_look_like_markdown_stay_text() {
    let lines = ["# no heading", "1. an item", "> no quote", "a_b_c * d", "[x](y)", "---"];
    let body: String = lines.iter().map(|line| paragraph(&line.replace('>', "&gt;"))).collect();
    let wanted = "\\# no heading\n\n1. an item\n\n\\> no quote\n\na_b_c * d\n\n[x\\](y)\n\n\\---";
    assert_eq!(text_of(&docx_body(&body)), wanted);
}
