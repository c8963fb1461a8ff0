//! Interpolation of roff: strings, registers and arguments put into a line before it runs.

use super::escape::{delimited, parse_name};
use super::machine::RoffMachine;

/// The longest line that strings make.
const MAX_LINE: usize = 1 << 20;

/// How much text strings and arguments may become in all.
const MAX_EXPANSION: usize = 32 << 20;

/// How deep strings stand in strings.
const MAX_STRINGS: usize = 16;

impl RoffMachine<'_> {
    /// Appends `text` with its strings, registers and arguments put in, up to a comment.
    pub(super) fn interpolate(&mut self, text: &str, out: &mut String, depth: usize) {
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let first = after.chars().next().unwrap_or('\\');
            let inner = after.get(first.len_utf8()..).unwrap_or("");
            let mut taken = first.len_utf8().min(after.len());
            match first {
                '"' | '#' => return,
                '*' | 'n' | '$' => taken += self.name(first, inner, out, depth),
                'w' => {
                    let (measured, width) = delimited(inner);
                    out.push_str(&(measured.chars().count() * 24).to_string());
                    taken += width;
                }
                first => {
                    out.push('\\');
                    if !after.is_empty() {
                        out.push(first);
                    }
                }
            }
            rest = &after[taken..];
        }
        out.push_str(rest);
    }

    /// Appends what the name at the start of `text` stands for; returns how many bytes it takes.
    fn name(&mut self, kind: char, text: &str, out: &mut String, depth: usize) -> usize {
        let sign = match text.chars().next() {
            Some(sign @ ('+' | '-')) if kind == 'n' => Some(sign),
            _ => None,
        };
        let skipped = usize::from(sign.is_some());
        let (name, taken) = parse_name(&text[skipped..]);
        if kind == 'n' {
            let step = sign.map_or(0, |sign| if sign == '-' { -1 } else { 1 });
            let value = self.register(name, step);
            out.push_str(&value.to_string());
            return skipped + taken;
        }
        let value = match (kind, name) {
            ('$', "*" | "@") => self.input.args().join(" "),
            ('$', name) => {
                let at = name.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
                at.and_then(|at| self.input.args().get(at)).cloned().unwrap_or_default()
            }
            (_, name) => {
                let name = name.split(' ').next().unwrap_or(name);
                self.strings.get(name).cloned().unwrap_or_default()
            }
        };
        self.expanded += value.len();
        if self.expanded > MAX_EXPANSION || out.len() + value.len() > MAX_LINE {
            self.cut("strings that grow without end are left out");
        } else if kind == '*' && depth < MAX_STRINGS && value.contains('\\') {
            self.interpolate(&value, out, depth + 1);
        } else {
            out.push_str(&value);
        }
        taken
    }

    fn register(&mut self, name: &str, step: i64) -> i64 {
        match name {
            ".g" | ".x" | ".A" => 1,
            ".y" => 22,
            ".$" => self.input.args().len() as i64,
            ".l" => 1_560,
            ".H" | ".w" => 24,
            ".V" | ".v" => 40,
            ".s" => 10,
            ".u" => i64::from(self.page.is_filled),
            name => {
                let Some(value) = self.registers.get_mut(name) else { return 0 };
                *value = value.saturating_add(step);
                *value
            }
        }
    }
}
