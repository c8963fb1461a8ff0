//! Target `template`: URI templates, the values they find in a URI, and their variables.

use resource::uri::percent_decode;
use resource::{
    Annotations, ErrorKind, Template, UnknownMembers, Uri, UriTemplate, Variable, VariableKind,
    VariableValue, VariableValues,
};
use testkit::FuzzTarget;

use super::{halves, text_of};

pub(crate) const TARGET: FuzzTarget = FuzzTarget { name: "template", examples: EXAMPLES, check };

const EXAMPLES: &[&[u8]] = &[
    b"log://{service}{?level,page}\nlog://api?page=3&level=info",
    b"x://set{/id*}\nx://set/1/2/3",
    b"file:///{+path}\nfile:///a/b%20c?d#e",
    b"x://{a}/{b}.{c}{#d}\nx://1/2.3#4",
    b"x:{a,b}{.c}{;d,e}{&f*}\nx:1,2.3;d=4;e&f=5&f=6",
    b"x:{a:3}{+b}{?c*}\nx:abcd/%C3%A9?c=1&c=2",
    "é:{a}日{b}\né:%E6%97%A5日x".as_bytes(),
    b"x:{a}{b}{c}{d}\nx:aaaaaaaaaaaaaaaaaaaaaaaa",
    b"x:{+a}{+b}{+c}{/d*}{?e,f}{#g}\nx:a,b/c,d/e?e=1#2",
];

fn check(input: &[u8]) {
    let text = text_of(input);
    let (pattern, uri) = halves(&text);
    let Ok(template) = UriTemplate::parse(pattern) else { return };
    assert_eq!(template.as_str(), pattern);
    let names: Vec<String> = template.variables().map(str::to_owned).collect();
    let Ok(uri) = Uri::parse(uri) else { return };
    let values = template.matches(&uri);
    if let Some(values) = &values {
        check_values(&template, values);
        if let Some(whole) = expand_decoded(pattern, values) {
            assert_eq!(whole, &percent_decode(uri.as_str())[..], "the values expand to the URI");
        }
    }
    check_bind(template, &names, &uri, values.as_ref());
}

fn check_values(template: &UriTemplate, values: &VariableValues) {
    for (name, value) in values {
        assert!(template.variables().any(|variable| variable == name), "{name}");
        assert_eq!(template.is_list(name), matches!(value, VariableValue::List(_)));
    }
}

/// Values with types are taken or refused, and never change whether the template matches.
fn check_bind(uri: UriTemplate, names: &[String], at: &Uri, values: Option<&VariableValues>) {
    let variable = |(index, name): (usize, &String)| Variable {
        name: name.clone(),
        kind: VariableKind::ALL[index % 4],
        default: Some("1".to_owned()),
        ..Variable::default()
    };
    let template = Template {
        uri,
        name: "t".to_owned(),
        title: None,
        description: None,
        mime: None,
        icons: Vec::new(),
        annotations: Annotations::default(),
        variables: names.iter().enumerate().map(variable).collect(),
        extra: UnknownMembers::default(),
    };
    let bound = template.bind(at);
    assert_eq!(bound.is_some(), values.is_some());
    match bound {
        Some(Ok(bound)) => assert_eq!(bound.len(), names.len(), "each variable has a value"),
        Some(Err(error)) => assert_eq!(error.kind, ErrorKind::NotFound),
        None => {}
    }
}

/// The percent-decoded expansion; `None` if the order or the number of values is not known.
fn expand_decoded(pattern: &str, values: &VariableValues) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    let mut rest = pattern;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (inside, behind) = behind.split_once('}')?;
        whole.extend_from_slice(&percent_decode(literal));
        let operator = inside.chars().next().filter(|first| "+#./;?&".contains(*first));
        let names = operator.map_or(inside, |_| &inside[1..]);
        let separator = match operator {
            None | Some('+' | '#') => ",",
            Some('.') => ".",
            Some('/') => "/",
            _ => return None,
        };
        let found: Vec<String> = names
            .split(',')
            .filter_map(|name| {
                let name = name.trim_end_matches('*');
                let name = name.split_once(':').map_or(name, |(name, _)| name);
                values.get(name).map(|value| value.values().join(separator))
            })
            .collect();
        if !found.is_empty() {
            whole.extend(operator.filter(|operator| *operator != '+').map(|byte| byte as u8));
            whole.extend_from_slice(found.join(separator).as_bytes());
        }
        rest = behind;
    }
    whole.extend_from_slice(&percent_decode(rest));
    Some(whole)
}
