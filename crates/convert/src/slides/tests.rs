//! Tests of the readers of presentations.

use crate::conversion::Section;
use crate::document::DocumentKind;
use crate::error::ConvertErrorKind;
use crate::form::Form;
use crate::office_fixture::{OFFICE_NAMES, converted, markdown, odf, package, relationships};

fn text(words: &str) -> String {
    format!("<a:p><a:r><a:t>{words}</a:t></a:r></a:p>")
}

fn shape(placeholder: &str, paragraphs: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"
    )
}

fn title(words: &str) -> String {
    shape("<p:ph type='title'/>", &text(words))
}

fn slide(attributes: &str, shapes: &str) -> String {
    format!(
        "<p:sld {OFFICE_NAMES} {attributes}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    )
}

/// A presentation whose slides are in the reverse order of their parts.
fn pptx(slides: [&str; 2], rows: &[(&str, &str, &str)], parts: &[(&str, &str)]) -> Vec<u8> {
    let deck = format!(
        "<p:presentation {OFFICE_NAMES}><p:sldIdLst><p:sldId r:id='b'/><p:sldId r:id='a'/></p:sldIdLst></p:presentation>"
    );
    let links = relationships(&[
        ("a", "slide", "slides/slide1.xml"),
        ("b", "slide", "slides/slide2.xml"),
        ("c", "commentAuthors", "authors.xml"),
    ]);
    let rows = relationships(rows);
    let mut all = vec![
        ("ppt/presentation.xml", deck.as_str()),
        ("ppt/_rels/presentation.xml.rels", &links),
        ("ppt/slides/slide1.xml", slides[1]),
        ("ppt/slides/slide2.xml", slides[0]),
        ("ppt/slides/_rels/slide2.xml.rels", &rows),
    ];
    all.extend(parts);
    package(&all)
}

#[test]
fn slides_come_in_the_order_of_the_presentation_with_titles_and_hidden_ones_marked() {
    let first = slide("", &(shape("", &text("body")) + &title("One")));
    let second = slide("show='0'", &title("Two"));
    let bytes = pptx([&first, &second], &[], &[]);
    let converted = converted(DocumentKind::Pptx, &bytes, Form::Markdown).unwrap();
    let body = String::from_utf8(converted.body.clone()).unwrap();
    assert_eq!(body, "## Slide 1: One\n\nbody\n\n## Slide 2: Two (hidden)\n");
    let section =
        |title: &str, start, is_hidden| Section { title: Some(title.to_owned()), start, is_hidden };
    assert_eq!(converted.sections, [section("One", 0, false), section("Two", 23, true)]);
    assert!(converted.section(1).unwrap().starts_with(b"## Slide 2"));
}

#[test]
fn lists_take_their_bullets_from_the_slide_the_layout_and_the_master() {
    let paragraph = |properties: &str, words: &str| {
        format!("<a:p><a:pPr {properties}</a:pPr><a:r><a:t>{words}</a:t></a:r></a:p>")
    };
    let body = shape(
        "<p:ph idx='1'/>",
        &(paragraph("lvl='0'>", "a")
            + &paragraph("lvl='1'>", "b")
            + &paragraph("lvl='0'><a:buNone/>", "c")
            + &paragraph("lvl='0'><a:buAutoNum type='arabicPeriod' startAt='4'/>", "d")
            + &paragraph("lvl='0'><a:buAutoNum type='arabicPeriod' startAt='4'/>", "e")),
    );
    let plain = shape("<p:ph type='body' idx='2'/>", &text("plain"));
    let layout = format!(
        "<p:sldLayout {OFFICE_NAMES}><p:cSld><p:spTree>{}{}</p:spTree></p:cSld></p:sldLayout>",
        shape("<p:ph idx='1'/>", ""),
        shape(
            "<p:ph type='body' idx='2'/>",
            "<a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></a:lstStyle>"
        ),
    );
    let first = slide("", &(body + &plain));
    let rows = [("l", "slideLayout", "../layouts/layout1.xml")];
    let bytes = pptx([&first, &slide("", "")], &rows, &[("ppt/layouts/layout1.xml", &layout)]);
    let wanted = "## Slide 1\n\n- a\n  - b\n\nc\n\n4. d\n5. e\n\nplain\n\n## Slide 2";
    assert_eq!(markdown(DocumentKind::Pptx, &bytes), wanted);
}

#[test]
fn tables_groups_images_notes_and_comments_are_given() {
    let cell = |more: &str, words: &str| {
        format!("<a:tc {more}><a:txBody>{}</a:txBody></a:tc>", text(words))
    };
    let table = format!(
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>{}{}{}</a:tr><a:tr>{}{}{}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
        cell("gridSpan='2'", "ab"),
        cell("hMerge='1'", ""),
        cell("", "c"),
        cell("", "1"),
        cell("", "2"),
        cell("", "3"),
    );
    let group = format!(
        "<p:grpSp>{}<p:grpSp>{}</p:grpSp></p:grpSp>",
        shape("", &text("outer")),
        shape("", &text("inner"))
    );
    let image = "<p:pic><p:nvPicPr><p:cNvPr descr='a cat'/></p:nvPicPr></p:pic>";
    let link =
        "<a:p><a:r><a:rPr b='1'><a:hlinkClick r:id='web'/></a:rPr><a:t>link</a:t></a:r></a:p>";
    let first = slide("", &(table + &group + image + &shape("", link)));
    let notes = format!(
        "<p:notes {OFFICE_NAMES}><p:cSld><p:spTree>{}{}</p:spTree></p:cSld></p:notes>",
        shape("<p:ph type='sldNum'/>", &text("7")),
        shape("<p:ph type='body'/>", &text("say this")),
    );
    let comments = format!(
        "<p:cmLst {OFFICE_NAMES}><p:cm authorId='1' dt='2024-05-06T00:00:00'><p:text>why</p:text></p:cm></p:cmLst>"
    );
    let authors =
        format!("<p:cmAuthorLst {OFFICE_NAMES}><p:cmAuthor id='1' name='Kim'/></p:cmAuthorLst>");
    let rows = [
        ("n", "notesSlide", "../notes1.xml"),
        ("c", "comments", "../comments1.xml"),
        ("web", "hyperlink", "https://a.example"),
    ];
    let parts = [
        ("ppt/notes1.xml", notes.as_str()),
        ("ppt/comments1.xml", &comments),
        ("ppt/authors.xml", &authors),
    ];
    let bytes = pptx([&first, &slide("", "")], &rows, &parts);
    let wanted = "## Slide 1\n\n| ab |  | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n\nouter\n\ninner\n\n![a cat]()\n\n\
        [**link**](https://a.example)\n\n> Notes:\n>\n> say this\n\n> Comment by Kim (2024-05-06): why\n\n## Slide 2";
    assert_eq!(markdown(DocumentKind::Pptx, &bytes), wanted);
}

#[test]
fn comments_of_the_new_kind_come_with_their_replies() {
    let space = "xmlns:q='http://schemas.microsoft.com/office/powerpoint/2018/8/main'";
    let body = |words: &str| format!("<q:txBody>{}</q:txBody>", text(words));
    let comments = format!(
        "<q:cmLst {space} {OFFICE_NAMES}><q:cm authorId='{{1}}' created='2024-05-06T00:00:00'>\
         <q:replyLst><q:reply authorId='{{2}}'>{}</q:reply></q:replyLst>{}</q:cm></q:cmLst>",
        body("because"),
        body("why")
    );
    let authors = format!(
        "<q:authorLst {space}><q:author id='{{1}}' name='Kim'/><q:author id='{{2}}' name='Lee'/></q:authorLst>"
    );
    let rows = [("c", "comments", "../comments1.xml")];
    let parts = [("ppt/comments1.xml", comments.as_str()), ("ppt/authors.xml", &authors)];
    let bytes = pptx([&slide("", ""), &slide("", "")], &rows, &parts);
    let wanted = "## Slide 1\n\n> Comment by Kim (2024-05-06): why\n\n> Comment by Lee: because\n\n## Slide 2";
    assert_eq!(markdown(DocumentKind::Pptx, &bytes), wanted);
}

#[test]
fn charts_and_diagrams_are_read_and_footers_come_once() {
    let frame = |inner: &str| {
        format!(
            "<p:graphicFrame><a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
        )
    };
    let footer =
        shape("<p:ph type='ftr'/>", &text("Company")) + &shape("<p:ph type='sldNum'/>", &text("1"));
    let first =
        slide("", &(frame("<c:chart r:id='ch'/>") + &frame("<dgm:relIds r:dm='dm'/>") + &footer));
    let second = slide("", &footer);
    let chart = format!(
        "<c:chartSpace {OFFICE_NAMES}><c:chart><c:ser><c:tx><c:v>n</c:v></c:tx><c:cat><c:pt idx='1'><c:v>May</c:v></c:pt></c:cat></c:ser></c:chart></c:chartSpace>"
    );
    let diagram = format!(
        "<dgm:dataModel {OFFICE_NAMES}><dgm:pt modelId='1'><dgm:t><a:p><a:t>step</a:t></a:p></dgm:t></dgm:pt></dgm:dataModel>"
    );
    let rows = [("ch", "chart", "../chart.xml"), ("dm", "diagramData", "../data.xml")];
    let parts = [("ppt/chart.xml", chart.as_str()), ("ppt/data.xml", &diagram)];
    let wanted = "## Slide 1\n\nChart\n\n|  | n |\n| --- | --- |\n|  |  |\n| May |  |\n\n- step\n\nFooter: Company\n\n## Slide 2";
    assert_eq!(markdown(DocumentKind::Pptx, &pptx([&first, &second], &rows, &parts)), wanted);
}

#[test]
fn slides_of_opendocument_have_titles_lists_notes_and_comments() {
    let styles = "<style:style style:name='h' style:family='drawing-page'><style:drawing-page-properties presentation:visibility='hidden'/></style:style>";
    let frame = |class: &str, inner: &str| {
        format!(
            "<draw:frame presentation:class='{class}'><draw:text-box>{inner}</draw:text-box></draw:frame>"
        )
    };
    let list = "<text:list><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list></text:list-item></text:list>";
    let body = format!(
        "<presentation:footer-decl presentation:name='f'>Company</presentation:footer-decl>\
         <draw:page draw:style-name='h' presentation:use-footer-name='f'>{}{}{}<draw:g><draw:custom-shape><text:p>shape</text:p></draw:custom-shape></draw:g>\
         <presentation:notes><draw:page-thumbnail/>{}</presentation:notes>\
         <office:annotation><dc:creator>Kim</dc:creator><text:p>why</text:p></office:annotation></draw:page><draw:page presentation:use-footer-name='f'/>",
        frame("outline", list),
        frame("title", "<text:p>One</text:p>"),
        frame("footer", "<text:p>repeated</text:p>"),
        frame("notes", "<text:p>say this</text:p>"),
    );
    let bytes = odf("presentation", styles, &body, &[]);
    let wanted = "## Slide 1: One (hidden)\n\n- a\n  - b\n\nshape\n\nFooter: Company\n\n> Notes:\n>\n> say this\n\n> Comment by Kim: why\n\n## Slide 2";
    assert_eq!(markdown(DocumentKind::Odp, &bytes), wanted);
}

#[test]
fn bad_presentations_have_errors_of_the_right_kind() {
    let kind = |kind: DocumentKind, bytes: &[u8]| {
        converted(kind, bytes, Form::Markdown).err().map(|error| error.kind)
    };
    assert_eq!(kind(DocumentKind::Pptx, &package(&[])), Some(ConvertErrorKind::Damaged));
    assert_eq!(kind(DocumentKind::Odp, &odf("text", "", "", &[])), Some(ConvertErrorKind::Damaged));
    let deep = slide("", &"<p:grpSp>".repeat(1_000));
    let bytes = pptx([&deep, &deep], &[], &[]);
    assert_eq!(kind(DocumentKind::Pptx, &bytes), Some(ConvertErrorKind::OverLimit));
}
