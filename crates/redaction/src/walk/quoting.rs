//! Quoting: how a text is written in the place of a value.

/// How a text is written in the place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// As it is: the value has quotes, or its syntax needs none.
    Verbatim,
    /// As it is for a mask; anything else with the escapes of a JSON string.
    Escaped,
    /// As it is for a mask; anything else with doubled single quotes.
    Doubled,
    /// In double quotes, with escapes of a JSON string.
    AddQuotes,
    /// The same, in the place of a block of lines; a shape in it is masked on its line.
    ReplaceBlock,
    /// In quotes of a shell.
    AddShellQuotes,
}

impl Quoting {
    /// Whether the value's text is what it means, so that shapes are found in the text itself.
    pub(super) fn keeps_lines(self) -> bool {
        matches!(self, Self::Verbatim | Self::ReplaceBlock)
    }

    /// A mask, in the place of a value.
    pub(crate) fn write_mask(self, mask: &str) -> String {
        match self {
            Self::Verbatim | Self::Escaped | Self::Doubled => mask.to_owned(),
            Self::AddQuotes | Self::ReplaceBlock | Self::AddShellQuotes => format!("\"{mask}\""),
        }
    }

    /// Any text, in the place of a value.
    pub(crate) fn write(self, text: &str) -> String {
        match self {
            Self::Verbatim => text.to_owned(),
            Self::Escaped => escape(text),
            Self::Doubled => text.replace('\'', "''"),
            Self::AddQuotes | Self::ReplaceBlock => format!("\"{}\"", escape(text)),
            Self::AddShellQuotes if text.contains('\'') => {
                format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Self::AddShellQuotes => format!("'{text}'"),
        }
    }
}

/// The inside of a JSON string, which is one of TOML and YAML too.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            // Line breaks of other kinds too: YAML would fold them.
            '\0'..='\x1f' | '\x7f' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}
