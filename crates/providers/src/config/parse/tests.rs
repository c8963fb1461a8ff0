//! Golden examples of every syntax, and its bounds.

use super::{ConfigSyntax, MAX_DEPTH};
use crate::config::tree::{ConfigNode, NodeValue};

/// The JSON on one line, then the lines of all scalars in order.
fn told(syntax: ConfigSyntax, text: &str) -> (String, Vec<u32>) {
    let node = syntax.parse(text).unwrap_or_else(|error| panic!("{error} in {text:?}"));
    let value: serde_json::Value = serde_json::from_str(&node.to_json()).unwrap();
    let mut lines = Vec::new();
    scalar_lines(&node, &mut lines);
    (value.to_string(), lines)
}

fn scalar_lines(node: &ConfigNode, into: &mut Vec<u32>) {
    match &node.value {
        NodeValue::Scalar(_) => into.push(node.line),
        _ => node.children().for_each(|(_, child)| scalar_lines(child, into)),
    }
}

fn failure(syntax: ConfigSyntax, text: &str) -> String {
    syntax.parse(text).expect_err("it is not valid").to_string()
}

#[test]
fn toml_has_tables_lists_dates_and_numbers_of_every_notation() {
    let text = "title = \"é\\n\"\nhex = 0x1F\nday = 1979-05-27\ninf = inf\n\n[db]\nport = 5_432\n\
                on = true\nlist = [\n  1,\n  2.50,\n]\n[db.\"a.b/c\"]\nx.y = 'z'\n[[srv]]\nn = 1\n\
                [[srv]]\nn = 2\n";
    let (json, lines) = told(ConfigSyntax::Toml, text);
    let expected = r#"{"day":"1979-05-27","db":{"a.b/c":{"x":{"y":"z"}},"list":[1,2.5],"on":true,"port":5432},"hex":31,"inf":"inf","srv":[{"n":1},{"n":2}],"title":"é\n"}"#;
    assert_eq!(json, expected);
    assert_eq!(lines, [1, 2, 3, 4, 7, 8, 10, 11, 14, 16, 18]);
}

#[test]
fn yaml_has_anchors_merge_keys_block_scalars_and_documents() {
    let text = "base: &b\n  host: h\n  port: 0o17\nprod:\n  <<: *b\n  port: 2\ntext: |\n  one\n  \
                two\nfold: >-\n  a\n  b\nnone: ~\nyes: yes\nquoted: \"1\"\nlist: [1, .5, true]\n";
    let (json, lines) = told(ConfigSyntax::Yaml, text);
    let expected = r#"{"base":{"host":"h","port":15},"fold":"a b","list":[1,0.5,true],"none":null,"prod":{"host":"h","port":2},"quoted":"1","text":"one\ntwo\n","yes":"yes"}"#;
    assert_eq!(json, expected);
    assert_eq!(lines[..3], [2, 3, 6]);
    assert_eq!(
        told(ConfigSyntax::Yaml, "a: 1\n---\nb: 2\n"),
        (r#"[{"a":1},{"b":2}]"#.into(), vec![1, 3])
    );
    assert_eq!(told(ConfigSyntax::Yaml, "").0, "null");
    assert_eq!(
        told(ConfigSyntax::Yaml, "? [a, b]\n: 1\n").0,
        "{\"[\\n  \\\"a\\\",\\n  \\\"b\\\"\\n]\":1}"
    );
}

#[test]
fn json_has_comments_trailing_commas_and_the_notations_of_json5() {
    let text = "// head\n{\n  \"a\": [1, 2,], /* x */\n  b: 'it\\'s',\n  'c': 0xFF, d: +.5, e: null,\n  f: \
                Infinity, true: false,\n}\n";
    let (json, lines) = told(ConfigSyntax::Json5, text);
    let expected = r#"{"a":[1,2],"b":"it's","c":255,"d":0.5,"e":null,"f":"Infinity","true":false}"#;
    assert_eq!(json, expected);
    assert_eq!(lines, [3, 3, 4, 5, 5, 5, 6, 6]);
    assert_eq!(told(ConfigSyntax::Json, "\u{feff}12345678901234567890").1, [1]);
}

#[test]
fn ini_has_sections_empty_keys_and_continued_values() {
    let text = "top = 1\n; note\n[core]\n\teditor = vim\n\tbare\n[remote \"origin\"]\nurl: https://h/x\n\
                [list]\nvalues =\n  one\n  two\n[core]\nlast=a=b\n";
    let (json, lines) = told(ConfigSyntax::Ini, text);
    let expected = r#"{"core":{"bare":null,"editor":"vim","last":"a=b"},"list":{"values":"one\ntwo"},"remote \"origin\"":{"url":"https://h/x"},"top":"1"}"#;
    assert_eq!(json, expected);
    assert!(lines.contains(&13) && lines.contains(&7));
}

#[test]
fn env_files_have_quotes_escapes_export_and_values_over_lines() {
    let text = "# note\nexport A=1\nB = two words # note\nC='it #1'\nD=\"a\\nb\\\"\"\nE=\"one\ntwo\"\nF=\n\
                export G\nH=`x` # y\nI=a#b\n";
    let (json, lines) = told(ConfigSyntax::Dotenv, text);
    let expected = r#"{"A":"1","B":"two words","C":"it #1","D":"a\nb\"","E":"one\ntwo","F":"","G":null,"H":"x","I":"a#b"}"#;
    assert_eq!(json, expected);
    assert_eq!(lines, [2, 3, 4, 5, 6, 8, 9, 10, 11]);
}

#[test]
fn properties_have_escapes_and_continued_lines_and_do_not_nest() {
    let text = "! note\ndb.host = h\ndb\\:port : 1\nempty\nlong = a \\\n   b\nword value\n\
                u = \\u00e9\\ud83e\\udd80\\t\\=\n";
    let (json, lines) = told(ConfigSyntax::Properties, text);
    let expected = "{\"db.host\":\"h\",\"db:port\":\"1\",\"empty\":\"\",\"long\":\"a b\",\"u\":\"é🦀\\t=\",\"word\":\"value\"}";
    assert_eq!(json, expected);
    assert_eq!(lines, [2, 3, 4, 5, 7, 8]);
}

#[test]
fn a_failure_names_the_place_and_never_quotes_it() {
    for (syntax, text, at) in [
        (ConfigSyntax::Toml, "a = 1\npassword = hunter2 x\n", "line 2, column"),
        (ConfigSyntax::Yaml, "a: 1\nb: [hunter2\n", "line"),
        (ConfigSyntax::Json, "{\"a\": 1,\n \"b\" hunter2}", "line 2, column 6"),
        (ConfigSyntax::Ini, "[hunter2\n", "line 1, column 1"),
        (ConfigSyntax::Dotenv, "A=1\nB=\"hunter2\n", "line 2, column 1"),
        (ConfigSyntax::Properties, "a=1\nb=\\uhunter2\n", "line 2, column 1"),
    ] {
        let told = failure(syntax, text);
        assert!(told.starts_with(at), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
}

#[test]
fn bombs_are_refused_before_they_take_memory() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    assert!(failure(ConfigSyntax::Yaml, &bomb).contains("values"));
    let wide = format!("[{}0]", "0,".repeat(8 << 20));
    assert!(failure(ConfigSyntax::Json, &wide).contains("values"));
    assert!(failure(ConfigSyntax::Toml, &format!("a = {wide}")).contains("values"));
    assert!(failure(ConfigSyntax::Yaml, &wide).contains("values"));
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    assert!(failure(ConfigSyntax::Json, &deep("[", "]")).contains(&MAX_DEPTH.to_string()));
    failure(ConfigSyntax::Yaml, &deep("[", "]"));
    failure(ConfigSyntax::Toml, &format!("a = {}", deep("[", "]")));
    failure(ConfigSyntax::Yaml, &format!("{}x", "- ".repeat(100_000)));
    let merges = "a: &a {<<: [*a]}\n";
    failure(ConfigSyntax::Yaml, merges);
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_tree_or_a_failure(text in "[\\PC\n\"'=:{}\\[\\],#&*<>|-]{0,80}") {
        use ConfigSyntax::{Dotenv, Ini, Json, Json5, Properties, Toml, Yaml};
        for syntax in [Toml, Yaml, Json, Json5, Ini, Dotenv, Properties] {
            if let Ok(node) = syntax.parse(&text) {
                let json = node.to_json();
                assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
                // The normalised form is stable.
                let again = Json.parse(&json).unwrap();
                assert_eq!(again.to_json(), json);
            }
        }
    }
}

#[test]
fn hcl_has_blocks_labels_heredocs_and_expressions_as_they_are_written() {
    let text = "# head\nname = \"a\\\"b${var.x[\"k\"]}\" // tail\nn = -1.5\non = true\nnone = null\n\
                list = [\n  1, \"two\", // three\n  [3],\n]\nmap = { a = 1, \"b c\" : [2]\n  c = var.c }\n\
                ref = module.x.y[0] # why\ncall = merge({ a = 1 }, local.m)\neach = [for x in l : x]\n\
                cond = var.a ? \"y\" : \"n\"\ntext = <<-EOT\n    one\n      two\n  EOT\n\
                resource \"db\" \"main\" {\n  port = 5432\n  tag {\n    k = 1\n  }\n  tag {\n    k = 2\n  }\n}\n\
                resource \"db\" other { port = 1 }\n/* end */\n";
    let (json, lines) = told(ConfigSyntax::Hcl, text);
    let expected = concat!(
        r#"{"call":"merge({ a = 1 }, local.m)","cond":"var.a ? \"y\" : \"n\"","each":"[for x in l : x]","#,
        r#""list":[1,"two",[3]],"map":{"a":1,"b c":[2],"c":"var.c"},"n":-1.5,"name":"a\"b${var.x[\"k\"]}","#,
        r#""none":null,"on":true,"ref":"module.x.y[0]","#,
        r#""resource":{"db":{"main":{"port":5432,"tag":[{"k":1},{"k":2}]},"other":{"port":1}}},"#,
        r#""text":"one\n  two\n"}"#
    );
    assert_eq!(json, expected);
    assert_eq!(lines[..4], [2, 3, 4, 5]);
    for bad in [
        "a = ",
        "a = [1",
        "a {",
        "a = \"x",
        "= 1",
        "a = <<E\nx",
        "}",
        "a = {b}",
        "a \"b\" = 1",
        "a = 1 }",
    ] {
        assert!(failure(ConfigSyntax::Hcl, bad).contains("HCL"), "{bad}");
    }
    let deep = [
        "a {\n".repeat(9_000),
        format!("a = {}", "[".repeat(9_000)),
        format!("a = {}", "(".repeat(9_000)),
    ];
    for text in deep {
        assert!(failure(ConfigSyntax::Hcl, &text).contains("nested deeper"), "{}", &text[..9]);
    }
}

#[test]
fn a_short_yaml_does_not_become_a_long_tree() {
    for (what, text) in crate::repeated_text::tests::long_from_short() {
        let words = failure(ConfigSyntax::Yaml, &text);
        assert!(words.contains("values, repeated ones included"), "{what}: {words}");
    }
}
