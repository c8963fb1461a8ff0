//! URI template matching (RFC 6570): finds the values that expand a template to a URI.
//!
//! Matching takes time linear in the length of the URI for each part of the
//! template, for any input.

mod expand;

use crate::error::{Error, Result};
use crate::uri::{Uri, is_reserved, is_unreserved, percent_decode};
use crate::variable::{VariableValue, VariableValues};

/// The longest template, in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 8 << 10;

/// The most expressions in a template. Matching takes memory for each of them.
pub const MAX_EXPRESSIONS: usize = 64;

/// A parsed URI template.
#[derive(Debug, Clone, PartialEq)]
pub struct UriTemplate {
    text: String,
    pieces: Vec<TemplatePiece>,
}

#[derive(Debug, Clone, PartialEq)]
enum TemplatePiece {
    Literal(String),
    Expression(TemplateExpression),
}

/// One expression, such as `{id}`, `{+path}` or `{?q,limit}`.
#[derive(Debug, Clone, PartialEq)]
struct TemplateExpression {
    operator: Option<char>,
    variables: Vec<TemplateVariable>,
    /// The first bytes of later expressions, `?` or `#`, which this one therefore excludes.
    excluded: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq)]
struct TemplateVariable {
    name: String,
    explodes: bool,
}

impl UriTemplate {
    /// Parses a template. Each variable may occur only once, or matching would be ambiguous.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::invalid(format!("not a valid URI template: {why}"));
        if text.len() > MAX_TEMPLATE_BYTES {
            return Err(bad(&format!("it may have at most {MAX_TEMPLATE_BYTES} bytes")));
        }
        if text.matches('{').count() > MAX_EXPRESSIONS {
            return Err(bad(&format!("it may have at most {MAX_EXPRESSIONS} expressions")));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let open = rest.find('{').unwrap_or(rest.len());
            if rest[..open].contains('}') {
                return Err(bad("a } has no matching {"));
            }
            if open > 0 {
                pieces.push(TemplatePiece::Literal(rest[..open].to_owned()));
            }
            let Some(inside) = rest[open..].strip_prefix('{') else { break };
            let close = inside.find('}').ok_or_else(|| bad("a { has no matching }"))?;
            pieces.push(TemplatePiece::Expression(
                TemplateExpression::parse(&inside[..close]).map_err(|why| bad(&why))?,
            ));
            rest = &inside[close + 1..];
        }
        let mut template = Self { text: text.to_owned(), pieces };
        template.exclude_later_operators();
        let mut seen = std::collections::BTreeSet::new();
        if let Some(name) = template.variables().find(|name| !seen.insert(*name)) {
            return Err(bad(&format!("the variable {name} occurs twice")));
        }
        Ok(template)
    }

    /// Excludes `?` and `#` from an expression that would swallow the query or fragment after it.
    fn exclude_later_operators(&mut self) {
        let mut later = Vec::new();
        for piece in self.pieces.iter_mut().rev() {
            if let TemplatePiece::Expression(hole) = piece {
                hole.excluded.clone_from(&later);
                later.extend(hole.operator_byte().filter(|byte| b"?#".contains(byte)));
            }
        }
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.expressions().flat_map(|hole| &hole.variables).map(|variable| variable.name.as_str())
    }

    fn expressions(&self) -> impl Iterator<Item = &TemplateExpression> {
        self.pieces.iter().filter_map(|piece| match piece {
            TemplatePiece::Expression(hole) => Some(hole),
            TemplatePiece::Literal(_) => None,
        })
    }

    /// Whether the variable is exploded, as in `{/path*}`, so that its value is a list.
    pub fn is_list(&self, name: &str) -> bool {
        let mut variables = self.expressions().flat_map(|hole| &hole.variables);
        variables.any(|variable| variable.name == name && variable.explodes)
    }

    /// Finds the values that expand this template to `uri`; `None` if there are none.
    ///
    /// If several match, the leftmost expression takes as much as it can.
    pub fn matches(&self, uri: &Uri) -> Option<VariableValues> {
        let text = uri.as_str();
        let spans = self.spans(text)?;
        let mut values = VariableValues::new();
        for (piece, (start, end)) in self.pieces.iter().zip(spans) {
            if let TemplatePiece::Expression(hole) = piece {
                hole.extract_values(&text[start..end], &mut values)?;
            }
        }
        Some(values)
    }

    /// Finds the byte range of `text` that each piece covers. `behind[i][at]` is true if the
    /// pieces from `i` on can cover `text` from `at` to its end.
    fn spans(&self, text: &str) -> Option<Vec<(usize, usize)>> {
        let bytes = text.as_bytes();
        let mut behind = vec![vec![false; bytes.len() + 1]; self.pieces.len() + 1];
        behind[self.pieces.len()][bytes.len()] = true;
        for (i, piece) in self.pieces.iter().enumerate().rev() {
            let (before, after) = behind.split_at_mut(i + 1);
            piece.mark_starts(bytes, &after[0], &mut before[i]);
            for (at, reached) in before[i].iter_mut().enumerate() {
                *reached = *reached && is_char_edge(text, at);
            }
        }
        let mut at = 0;
        let mut spans = Vec::with_capacity(self.pieces.len());
        for (i, piece) in self.pieces.iter().enumerate() {
            let end = piece.longest_end(bytes, at, &behind[i + 1])?;
            spans.push((at, end));
            at = end;
        }
        (at == bytes.len()).then_some(spans)
    }
}

impl TemplatePiece {
    /// Marks in `here` where this piece may begin, given where the next one may begin.
    fn mark_starts(&self, bytes: &[u8], next: &[bool], here: &mut [bool]) {
        match self {
            Self::Literal(literal) => {
                for at in 0..here.len() {
                    let end = at + literal.len();
                    here[at] =
                        end < next.len() && next[end] && bytes[at..end] == *literal.as_bytes();
                }
            }
            Self::Expression(hole) => {
                // `open`: a run of accepted bytes leads from here to a valid end of this piece.
                let mut open = false;
                for at in (0..here.len()).rev() {
                    let goes_on = at < bytes.len() && hole.accepts(bytes[at]);
                    open = open && goes_on;
                    here[at] = if hole.may_be_empty() { open || next[at] } else { open };
                    if hole.operator_byte().is_some_and(|byte| bytes.get(at) != Some(&byte)) {
                        here[at] = hole.may_be_empty() && next[at];
                    }
                    open = open || next[at];
                }
            }
        }
    }

    /// The furthest end of this piece, begun at `at`, from which the remaining pieces still match.
    fn longest_end(&self, bytes: &[u8], at: usize, next: &[bool]) -> Option<usize> {
        match self {
            Self::Literal(literal) => {
                let end = at + literal.len();
                (bytes.get(at..end) == Some(literal.as_bytes()) && next[end]).then_some(end)
            }
            Self::Expression(hole) => {
                let begins = hole.operator_byte().is_none_or(|byte| bytes.get(at) == Some(&byte));
                let run = if begins {
                    bytes[at..].iter().take_while(|byte| hole.accepts(**byte)).count()
                } else {
                    0
                };
                let least = usize::from(!hole.may_be_empty());
                (least..=run).rev().map(|length| at + length).find(|end| next[*end])
            }
        }
    }
}

impl TemplateExpression {
    fn parse(inside: &str) -> Result<Self, String> {
        let operator = inside.chars().next().filter(|first| "+#./;?&".contains(*first));
        let list = &inside[operator.map_or(0, char::len_utf8)..];
        let variables = list.split(',').map(TemplateVariable::parse).collect::<Result<_, _>>()?;
        Ok(Self { operator, variables, excluded: Vec::new() })
    }

    /// The character that an expansion begins with.
    fn operator_byte(&self) -> Option<u8> {
        self.operator.filter(|operator| *operator != '+').map(|operator| operator as u8)
    }

    /// Whether all variables may be undefined, so that the expression expands to nothing.
    fn may_be_empty(&self) -> bool {
        self.operator_byte().is_some()
    }

    /// Whether an expansion may contain `byte`.
    fn accepts(&self, byte: u8) -> bool {
        let plain = is_unreserved(byte) || byte == b'%' || byte >= 0x80;
        plain
            || match self.operator {
                Some('+' | '#') => is_reserved(byte) && !self.excluded.contains(&byte),
                Some('.') => byte == b',',
                Some('/') => byte == b'/' || byte == b',',
                Some(';') => b";=,".contains(&byte),
                Some('?') => b"?&=,".contains(&byte),
                Some('&') => b"&=,".contains(&byte),
                _ => (self.explodes() || self.variables.len() > 1) && byte == b',',
            }
    }

    fn explodes(&self) -> bool {
        self.variables.iter().any(|variable| variable.explodes)
    }

    /// Adds the values that expand to `run` to `into`; `None` if there are none.
    fn extract_values(&self, run: &str, into: &mut VariableValues) -> Option<()> {
        let inside = match self.operator_byte() {
            Some(_) if run.is_empty() => return Some(()),
            Some(_) => &run[1..],
            None => run,
        };
        match self.operator {
            Some('?' | '&') => self.extract_named(inside, '&', into),
            Some(';') => self.extract_named(inside, ';', into),
            Some(separator @ ('/' | '.')) => self.extract_positional(inside, separator, into),
            _ => self.extract_positional(inside, ',', into),
        }
    }

    /// Parses `a=1&b=2`, in any order.
    fn extract_named(&self, run: &str, separator: char, into: &mut VariableValues) -> Option<()> {
        for pair in run.split(separator) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode_value(value)?;
            let variable = self.variables.iter().find(|variable| variable.name == name)?;
            match into.get_mut(name) {
                Some(VariableValue::List(values)) => values.push(value),
                Some(VariableValue::Text(_)) => return None,
                None => {
                    let value = if variable.explodes {
                        VariableValue::List(vec![value])
                    } else {
                        VariableValue::Text(value)
                    };
                    into.insert(name.to_owned(), value);
                }
            }
        }
        Some(())
    }

    /// Parses `1,2` or `/1/2`: one value per variable, of which the last may take the remainder.
    fn extract_positional(
        &self,
        run: &str,
        separator: char,
        into: &mut VariableValues,
    ) -> Option<()> {
        let keeps_rest = self.variables.len() == 1 && self.operator.is_none_or(|o| o != '/')
            || self.variables.last().is_some_and(|variable| variable.explodes);
        let most = self.variables.len();
        let values: Vec<&str> = if keeps_rest {
            run.splitn(most, separator).collect()
        } else {
            run.split(separator).collect()
        };
        if values.len() > most {
            return None;
        }
        for (variable, value) in self.variables.iter().zip(values) {
            let value = if variable.explodes {
                let values = value.split(separator).map(decode_value);
                VariableValue::List(values.collect::<Option<_>>()?)
            } else {
                VariableValue::Text(decode_value(value)?)
            };
            into.insert(variable.name.clone(), value);
        }
        Some(())
    }
}

impl TemplateVariable {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, explodes) = text.strip_suffix('*').map_or((text, false), |name| (name, true));
        let name = match name.split_once(':') {
            Some((name, most)) => {
                let fits = most.parse::<u16>().is_ok_and(|most| (1..10_000).contains(&most));
                fits.then_some(name).ok_or("a prefix length is not between 1 and 9999")?
            }
            None => name,
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "_.%".contains(c);
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!("{name:?} is not a valid variable name"));
        }
        Ok(Self { name: name.to_owned(), explodes })
    }
}

/// Whether `text` may be split at `at`: not inside a character, percent-encoded or not.
fn is_char_edge(text: &str, at: usize) -> bool {
    let encoded = |back: usize| at >= back && text.as_bytes()[at - back] == b'%';
    text.is_char_boundary(at) && (at == text.len() || !encoded(1) && !encoded(2))
}

/// The percent-decoded value; `None` if it is not UTF-8.
fn decode_value(value: &str) -> Option<String> {
    String::from_utf8(percent_decode(value).into_owned()).ok()
}

#[cfg(test)]
mod tests;
