//! Symbols in a syntax tree: which nodes are symbols, of which kind, and how they are called.

use tree_sitter::Node;

/// The most declarators around the name of a C function.
const MAX_DECLARATORS: usize = 16;

/// Whether functions in a symbol of this kind are its methods.
pub(super) fn is_container(kind: &str) -> bool {
    matches!(kind, "class" | "struct" | "trait" | "interface" | "enum")
}

/// The name and kind of a node that is a symbol, inside a symbol of kind `parent`.
pub(super) fn symbol_of(
    node: Node<'_>,
    text: &str,
    parent: Option<&str>,
) -> Option<(String, &'static str)> {
    if !node.is_named() || node.is_missing() {
        return None;
    }
    let is_local = matches!(parent, Some("function" | "method"));
    match node.kind() {
        "impl_item" => Some((impl_name(node, text)?, "class")),
        "function_definition" => Some((function_name(node, text)?, "function")),
        "struct_specifier" | "union_specifier" if has_body(node) => named(node, text, "struct"),
        "class_specifier" if has_body(node) => named(node, text, "class"),
        "enum_specifier" if has_body(node) => named(node, text, "enum"),
        "type_definition" => Some((field_text(node, "declarator", text)?, "type")),
        "type_spec" => Some((field_text(node, "name", text)?, go_kind(node))),
        "variable_declarator" if !is_local => variable(node, text),
        "assignment" if !is_local => python_constant(node, text),
        "method_elem" => named(node, text, "method"),
        "const_spec" | "const_item" | "static_item" | "preproc_def" if !is_local => {
            named(node, text, "constant")
        }
        kind => named(node, text, kind_of_node(kind)?),
    }
}

/// The kind of symbol that a node of this type is, whose name is its field.
fn kind_of_node(node: &str) -> Option<&'static str> {
    Some(match node {
        "function_item"
        | "function_signature_item"
        | "function_declaration"
        | "generator_function_declaration"
        | "function_signature"
        | "macro_definition"
        | "preproc_function_def" => "function",
        "method_definition"
        | "method_signature"
        | "abstract_method_signature"
        | "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration"
        | "method"
        | "singleton_method" => "method",
        "class_definition"
        | "class_declaration"
        | "abstract_class_declaration"
        | "record_declaration"
        | "class" => "class",
        "struct_item" | "union_item" => "struct",
        "enum_item" | "enum_declaration" => "enum",
        "trait_item" => "trait",
        "interface_declaration" | "annotation_type_declaration" => "interface",
        "mod_item" | "internal_module" | "module" | "namespace_definition" => "module",
        "type_item" | "type_alias_declaration" | "type_alias" | "alias_declaration" => "type",
        _ => return None,
    })
}

fn named(node: Node<'_>, text: &str, kind: &'static str) -> Option<(String, &'static str)> {
    Some((field_text(node, "name", text)?, kind))
}

fn field_text(node: Node<'_>, field: &str, text: &str) -> Option<String> {
    let name = text.get(node.child_by_field_name(field)?.byte_range())?;
    (!name.trim().is_empty()).then(|| name.to_owned())
}

fn has_body(node: Node<'_>) -> bool {
    node.child_by_field_name("body").is_some()
}

/// The head of an implementation, as in `impl Display for Name`.
fn impl_name(node: Node<'_>, text: &str) -> Option<String> {
    let end = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    text.get(node.start_byte()..end).map(|head| head.trim().to_owned())
}

/// The name of a function, which C and C++ wrap in declarators.
fn function_name(node: Node<'_>, text: &str) -> Option<String> {
    if let Some(name) = field_text(node, "name", text) {
        return Some(name);
    }
    let mut at = node.child_by_field_name("declarator")?;
    for _ in 0..MAX_DECLARATORS {
        match at.child_by_field_name("declarator") {
            Some(inner) => at = inner,
            // A reference has its declarator without a field.
            None if at.kind() == "reference_declarator" => at = at.named_child(0)?,
            None => break,
        }
    }
    text.get(at.byte_range()).map(str::to_owned)
}

fn go_kind(node: Node<'_>) -> &'static str {
    match node.child_by_field_name("type").map(|kind| kind.kind()) {
        Some("struct_type") => "struct",
        Some("interface_type") => "interface",
        _ => "type",
    }
}

/// A variable that holds a function or a class, or a constant that is written like one.
fn variable(node: Node<'_>, text: &str) -> Option<(String, &'static str)> {
    let name = field_text(node, "name", text)?;
    match node.child_by_field_name("value").map(|value| value.kind()) {
        Some("arrow_function" | "function_expression" | "generator_function") => {
            Some((name, "function"))
        }
        Some("class") => Some((name, "class")),
        _ => is_constant_name(&name).then_some((name, "constant")),
    }
}

fn python_constant(node: Node<'_>, text: &str) -> Option<(String, &'static str)> {
    let name = field_text(node, "left", text)?;
    is_constant_name(&name).then_some((name, "constant"))
}

fn is_constant_name(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
