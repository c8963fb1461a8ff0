//! Tests of outlines, written as `kind name start-end` with an indent for each level.

use serde_json::Value;

use super::outline;

fn outlined(text: &str, name: &str) -> Vec<String> {
    fn write(level: &Value, depth: usize, lines: &mut Vec<String>) {
        for symbol in level.as_array().unwrap() {
            let text = |name: &str| symbol[name].as_str().unwrap().to_owned();
            let (kind, name) = (text("kind"), text("name"));
            let (start, end) = (&symbol["start_line"], &symbol["end_line"]);
            lines.push(format!("{}{kind} {name} {start}-{end}", "  ".repeat(depth)));
            write(&symbol["children"], depth + 1, lines);
        }
    }
    let converted = outline(text, name).unwrap();
    let json: Value = serde_json::from_slice(&converted.body).unwrap();
    let mut lines = Vec::new();
    write(&json, 0, &mut lines);
    lines
}

#[test]
fn a_symbol_is_written_with_its_name_first() {
    let converted = outline("a = \"\"", "a.toml").unwrap();
    let json = r#"[{"name":"a","kind":"key","start_line":1,"end_line":1,"children":[]}]"#;
    assert_eq!(String::from_utf8(converted.body).unwrap().trim_end(), json);
}

#[test]
fn rust_has_its_items_and_methods() {
    let text = "mod a {\n    pub struct S;\n    impl Display for S {\n        fn fmt(&self) {}\n    }\n}\n\
                const MAX: u8 = 1;\ntrait T {\n    fn x();\n}\nenum E { A }\ntype B = u8;\nmacro_rules! m {\n}\n";
    assert_eq!(
        outlined(text, "lib.rs"),
        [
            "module a 1-6",
            "  struct S 2-2",
            "  class impl Display for S 3-5",
            "    method fmt 4-4",
            "constant MAX 7-7",
            "trait T 8-10",
            "  method x 9-9",
            "enum E 11-11",
            "type B 12-12",
            "function m 13-14",
        ]
    );
}

#[test]
fn python_has_classes_functions_and_constants() {
    let text = "MAX_SIZE = 1\nname = 2\nclass A(B):\n    def f(self):\n        LOCAL = 1\n        def g(): pass\n\n\
                @decorated\nasync def h():\n    pass\n";
    assert_eq!(
        outlined(text, "a.py"),
        [
            "constant MAX_SIZE 1-1",
            "class A 3-6",
            "  method f 4-6",
            "    function g 6-6",
            "function h 9-10"
        ]
    );
}

#[test]
fn scripts_have_functions_classes_and_types() {
    let text = "export interface I { m(): void }\nconst f = async () => {\n};\nclass C {\n  x() {}\n}\n\
                enum E {}\ntype T = string;\nnamespace N { function g() {} }\nconst LIMIT = 3, other = 4;\n";
    assert_eq!(
        outlined(text, "a.ts"),
        [
            "interface I 1-1",
            "  method m 1-1",
            "function f 2-3",
            "class C 4-6",
            "  method x 5-5",
            "enum E 7-7",
            "type T 8-8",
            "module N 9-9",
            "  function g 9-9",
            "constant LIMIT 10-10",
        ]
    );
    assert_eq!(outlined("function* g() {}\nclass A { b() {} }", "a.js").len(), 3);
    assert_eq!(outlined("const A = () => <p>x</p>;", "a.tsx"), ["function A 1-1"]);
}

#[test]
fn go_java_ruby_and_shell_have_their_symbols() {
    let go = "package p\nconst A = 1\ntype S struct {\n\tx int\n}\ntype I interface {\n\tM()\n}\nfunc (s S) F() {\n}\nfunc g() {}\n";
    assert_eq!(
        outlined(go, "a.go"),
        [
            "constant A 2-2",
            "struct S 3-5",
            "interface I 6-8",
            "  method M 7-7",
            "method F 9-10",
            "function g 11-11"
        ]
    );
    let java = "class A {\n  A() {}\n  int f() { return 1; }\n}\ninterface I { void g(); }\nenum E { X }\n";
    assert_eq!(
        outlined(java, "A.java"),
        [
            "class A 1-4",
            "  method A 2-2",
            "  method f 3-3",
            "interface I 5-5",
            "  method g 5-5",
            "enum E 6-6"
        ]
    );
    let ruby = "module M\n  class C\n    def f\n    end\n    def self.g; end\n  end\nend\n";
    assert_eq!(
        outlined(ruby, "a.rb"),
        ["module M 1-7", "  class C 2-6", "    method f 3-4", "    method g 5-5"]
    );
    assert_eq!(
        outlined("f() {\n  echo\n}\nfunction g { :; }\n", "a.sh"),
        ["function f 1-3", "function g 4-4"]
    );
}

#[test]
fn c_names_are_found_in_their_declarators() {
    let c = "#define MAX 3\nstruct S {\n  int a;\n};\nenum E { A };\ntypedef int T;\nstatic char *f(int x)\n{\n}\nstruct S *g(void);\n";
    assert_eq!(
        outlined(c, "a.c"),
        ["constant MAX 1-1", "struct S 2-4", "enum E 5-5", "type T 6-6", "function f 7-9"]
    );
    let cpp = "namespace n {\nclass C {\n  void m() {}\n};\n}\nint &C::r() { return x; }\ntemplate <class T> T id(T t) { return t; }\n";
    assert_eq!(
        outlined(cpp, "a.cpp"),
        [
            "module n 1-5",
            "  class C 2-4",
            "    method m 3-3",
            "function C::r 6-6",
            "function id 7-7"
        ]
    );
}

#[test]
fn languages_without_a_parser_are_read_by_keywords_and_indents() {
    let kotlin =
        "package a\n\ndata class P(val x: Int) {\n    fun f() {\n    }\n}\n\nfun main() = 1\n";
    assert_eq!(
        outlined(kotlin, "a.kt"),
        ["module a 1-1", "class P 3-6", "  method f 4-5", "function main 8-8"]
    );
    let sql = "CREATE TABLE users (\n  id int\n);\nCREATE OR REPLACE FUNCTION f() AS 1;\n";
    assert_eq!(outlined(sql, "a.sql"), ["struct users 1-3", "function f 4-4"]);
    let terraform = "resource \"aws_x\" \"y\" {\n  a = 1\n}\n";
    assert_eq!(outlined(terraform, "a.tf"), ["type aws_x.y 1-3"]);
}

#[test]
fn json_yaml_and_toml_have_the_keys_of_their_first_levels() {
    let json = "{\n  \"a\": 1, \"b\": {\n    \"c\": [\n      {\"d\": \"x:y\"}\n    ]\n  },\n  \"e\\\"f\": null\n}\n";
    assert_eq!(
        outlined(json, "a.json"),
        ["key a 2-2", "key b 2-6", "  key c 3-5", "key e\\\"f 7-7"]
    );
    let yaml = "# c\na: 1\nb:\n  c: |\n    d: no\n  e:\n    - f: 1\n      g: 2\n\"q r\": {x: y}\n";
    assert_eq!(
        outlined(yaml, "a.yaml"),
        [
            "key a 2-2",
            "key b 3-8",
            "  key c 4-5",
            "  key e 6-8",
            "    key f 7-7",
            "    key g 8-8",
            "key q r 9-9"
        ]
    );
    let toml = "a = 1\n[b.c]\nd = [\n  1,\n]\ne = \"\"\"\nx = 1\n\"\"\"\n[[f]]\n";
    assert_eq!(
        outlined(toml, "a.toml"),
        ["key a 1-1", "key b.c 2-8", "  key d 3-5", "  key e 6-8", "key f 9-9"]
    );
}

#[test]
fn a_diff_has_files_and_hunks() {
    let diff = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn a\n--- y\n+++ z\n c\n@@ -9 +9 @@\n-a\n+b\n\
                --- old\t2026\n+++ new\t2026\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(
        outlined(diff, "a.diff"),
        [
            "file x 1-11",
            "  hunk @@ -1,2 +1,2 @@ fn a 5-8",
            "  hunk @@ -9 +9 @@ 9-11",
            "file new 12-16",
            "  hunk @@ -1 +1 @@ 14-16",
        ]
    );
}

#[test]
fn documents_that_are_read_as_source_have_headings() {
    let rst = "=====\nTitle\n=====\n\nOne\n---\ntext\n\nTwo\n---\n";
    assert_eq!(
        outlined(rst, "a.rst"),
        ["heading Title 2-10", "  heading One 5-8", "  heading Two 9-10"]
    );
    let adoc = "= Title\n\n== One\n----\n== no\n----\n=== Two\n";
    assert_eq!(
        outlined(adoc, "a.adoc"),
        ["heading Title 1-7", "  heading One 3-7", "    heading Two 7-7"]
    );
}

#[test]
fn hostile_sources_are_bounded() {
    for (text, name) in [
        ("(".repeat(100_000), "a.rs"),
        ("class A:\n".repeat(30_000), "a.py"),
        ("{\"a\":".repeat(100_000), "a.json"),
        ("[".repeat(1_000_000), "a.json"),
        ("a:\n ".repeat(50_000), "a.yaml"),
        ("function a( { [ ) ".repeat(5_000), "a.js"),
        ("@@ -1,99999999999999999999 +1 @@\n".repeat(20_000), "a.diff"),
        ("class a\n".repeat(50_000), "a.kt"),
        ("a\n=\n".repeat(50_000), "a.rst"),
        ("\u{0}\"\\".repeat(50_000), "a.json"),
    ] {
        let converted = outline(&text, name).unwrap();
        assert!(converted.body.len() < 4 << 20, "{name}");
    }
    let many: String = (0..20_000).map(|at| format!("fn f{at}() {{}}\n")).collect();
    assert_eq!(outline(&many, "a.rs").unwrap().losses, ["10000 more symbols are left out"]);
}
