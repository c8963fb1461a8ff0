//! Macros of `man`: headings, paragraphs, items, fonts and links.

use super::input::RoffArg;
use super::machine::RoffMachine;
use super::page::ManPage;
use crate::rich_text::SpanStyle;

/// The title of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ManTitle {
    pub(super) name: String,
    pub(super) section: String,
    /// Its date, then what it belongs to.
    pub(super) footer: Vec<String>,
}

/// The state of the macros of `man`.
#[derive(Debug, Default)]
pub(super) struct ManMacros {
    pub(super) title: Option<ManTitle>,
    /// The font of the next line of text.
    next_font: Option<SpanStyle>,
    /// Whether the open link has text of its own.
    link_start: Option<(String, usize)>,
}

impl RoffMachine<'_> {
    /// Sets a line of text.
    pub(super) fn man_text(&mut self, line: &str) {
        let Some(font) = self.man.next_font.take() else { return self.page.line(line) };
        self.page.start_word();
        self.page.styled(line, font);
        self.page.end_line();
    }

    /// Runs a macro; one that is not known does nothing.
    pub(super) fn man_macro(&mut self, name: &str, args: &[RoffArg]) {
        let first = args.first().map_or("", |arg| arg.text.as_str());
        match name {
            "TH" => {
                let text = |at: usize| args.get(at).map(|arg| plain(&arg.text)).unwrap_or_default();
                let footer = [text(3), text(2)];
                let footer = footer.into_iter().filter(|part| !part.is_empty()).collect();
                self.man.title = Some(ManTitle { name: text(0), section: text(1), footer });
            }
            "SH" | "SS" => {
                self.end_table();
                self.man.next_font = None;
                self.page.start_heading(if name == "SH" { 2 } else { 3 });
                if !args.is_empty() {
                    self.page.line(&joined(args));
                }
            }
            "PP" | "P" | "LP" | "HP" => self.page.start_paragraph(),
            "TP" => self.page.start_tag(),
            "TQ" => self.page.continue_tag(),
            "IP" if first.trim().is_empty() => self.page.end_paragraph(),
            "IP" => {
                self.page.start_tag();
                self.page.line(first);
                self.page.end_tag();
            }
            "RS" => self.page.indent(),
            "RE" => self.page.outdent(),
            "EX" | "Vb" => self.page.fill(false),
            "EE" | "Ve" => self.page.fill(true),
            "Sp" => self.page.space(),
            "UR" | "MT" | "URL" | "MTO" => self.link(name, args),
            "UE" | "ME" => self.end_link(first),
            "SY" | "YS" => {
                self.page.start_paragraph();
                if name == "SY" {
                    set_words(&mut self.page, &[(first, SpanStyle::BOLD)]);
                }
            }
            "OP" => self.option(args),
            "MR" => {
                let text = |at: usize| args.get(at).map_or("", |arg| arg.text.as_str());
                let plain = SpanStyle::default();
                let section = format!("({}){}", text(1), text(2));
                set_words(&mut self.page, &[(first, SpanStyle::BOLD), (&section, plain)]);
            }
            name => self.font_macro(name, args),
        }
    }

    /// Sets words in a font, or in two that take turns, as `.B` and `.BR` do.
    fn font_macro(&mut self, name: &str, args: &[RoffArg]) {
        let font = |letter: u8| match letter {
            b'B' => SpanStyle::BOLD,
            b'I' => SpanStyle::ITALIC,
            _ => SpanStyle::default(),
        };
        let fonts = match name {
            "B" | "I" | "R" | "BI" | "BR" | "IB" | "IR" | "RB" | "RI" => name.as_bytes(),
            "SM" => b"R",
            "SB" => b"B",
            _ => return,
        };
        if args.is_empty() {
            self.man.next_font = Some(font(fonts[0]));
            return;
        }
        if fonts.len() == 1 {
            return set_words(&mut self.page, &[(&joined(args), font(fonts[0]))]);
        }
        let words = args.iter().enumerate();
        let words: Vec<_> =
            words.map(|(at, arg)| (arg.text.as_str(), font(fonts[at % 2]))).collect();
        set_words(&mut self.page, &words);
    }

    /// Begins a link; the macros of `www` have its text at once.
    fn link(&mut self, name: &str, args: &[RoffArg]) {
        let text = |at: usize| args.get(at).map_or("", |arg| arg.text.as_str());
        let address = plain(text(0));
        let is_mail = name.starts_with('M') && !address.starts_with("mailto:");
        let target = if is_mail { format!("mailto:{address}") } else { address.clone() };
        self.page.start_word();
        self.page.link = Some(target.into());
        let is_whole = matches!(name, "URL" | "MTO");
        self.man.link_start = Some((address, self.page.letters_set));
        if is_whole {
            self.page.is_joined = true;
            if !text(1).is_empty() {
                self.page.line(text(1));
            }
            self.end_link(text(2));
        } else {
            self.page.is_joined = true;
        }
    }

    fn end_link(&mut self, after: &str) {
        let Some((address, start)) = self.man.link_start.take() else { return };
        if self.page.letters_set == start {
            self.page.line(&address.replace('\\', "\\e"));
        }
        self.page.link = None;
        if !after.is_empty() {
            self.page.is_joined = true;
            self.page.line(after);
        }
    }

    /// An option of a synopsis: `[-o file]`.
    fn option(&mut self, args: &[RoffArg]) {
        let plain = SpanStyle::default();
        let mut words = vec![("[", plain)];
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                words.push((" ", plain));
            }
            let font = if at == 0 { SpanStyle::BOLD } else { SpanStyle::ITALIC };
            words.push((arg.text.as_str(), font));
        }
        words.push(("]", plain));
        set_words(&mut self.page, &words);
    }

    /// A page that is elsewhere is linked.
    pub(super) fn include(&mut self, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (name, section) = name.rsplit_once('.').unwrap_or((name, ""));
        if !section.starts_with(|letter: char| letter.is_ascii_digit()) {
            return self.lose("files that the page includes are left out");
        }
        let is_page = path.starts_with("man") && path.contains('/');
        let target = if is_page { format!("../{path}") } else { path.to_owned() };
        self.page.end_paragraph();
        self.page.line("See");
        self.page.start_word();
        self.page.link = Some(target.into());
        self.page.text(&format!("{name}({section})"));
        self.page.link = None;
        self.page.end_paragraph();
    }
}

/// Sets texts in their fonts as one word of the line.
fn set_words(page: &mut ManPage, words: &[(&str, SpanStyle)]) {
    page.start_word();
    for (word, font) in words {
        page.styled(word, *font);
    }
    page.end_line();
}

/// The texts of arguments with spaces between.
pub(super) fn joined(args: &[RoffArg]) -> String {
    args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The text of an argument without its escapes.
pub(super) fn plain(text: &str) -> String {
    let mut page = ManPage::default();
    page.text(text);
    page.plain_text()
}
