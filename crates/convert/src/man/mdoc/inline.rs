//! Macros of `mdoc` in a line: fonts, enclosures, references to pages and functions.

use super::words::{bracket, enclosure, font, is_callable, is_closing, is_opening, system};
use crate::man::input::RoffArg;
use crate::man::machine::RoffMachine;
use crate::man::macros::{joined, plain};
use crate::rich_text::SpanStyle;

/// The macro whose words are being set.
#[derive(Clone, Copy, Default)]
struct MdocRun<'a> {
    name: &'a str,
    font: SpanStyle,
    /// Whether it had no words yet.
    is_fresh: bool,
}

impl RoffMachine<'_> {
    /// Runs a macro of a line; false if it is none.
    pub(in crate::man) fn mdoc_inline(&mut self, name: &str, args: &[RoffArg]) -> bool {
        let first = args.first().map_or("", |arg| arg.text.as_str());
        match name {
            "Nd" => {
                self.set("—", SpanStyle::default());
                self.mdoc_line(None, args);
            }
            "Rs" => {
                self.end_reference();
                self.mdoc.reference = Some(Vec::new());
            }
            "Re" => self.end_reference(),
            "Sm" => {
                self.mdoc.is_tight = first == "off";
                self.page.is_joined &= self.mdoc.is_tight;
            }
            "Rv" | "Ex" => self.exit_text(name, args),
            "Bt" => self.page.line("is currently in beta test."),
            "Ud" => self.page.line("currently under development."),
            name if name.starts_with('%') => {
                let text = joined(args);
                let rank = match name {
                    "%A" => 0,
                    "%T" | "%B" => 1,
                    _ => 2,
                };
                match &mut self.mdoc.reference {
                    Some(parts) => parts.push((rank, text)),
                    None => self.page.line(&text),
                }
            }
            name if is_callable(name) => {
                let is_declaration = matches!(name, "Fd" | "In" | "Ft" | "Fn" | "Fo" | "Vt" | "Nm");
                let is_continued = matches!(name, "Fn" | "Fo") && self.mdoc.is_after_type;
                if is_declaration && !is_continued {
                    self.start_declaration();
                }
                self.mdoc.is_after_type = name == "Ft";
                self.mdoc_line(Some(name), args);
            }
            _ => return false,
        }
        true
    }

    /// Sets a line: the words of `name`, of the macros among `args`, and punctuation.
    pub(in crate::man) fn mdoc_line(&mut self, name: Option<&str>, args: &[RoffArg]) {
        let is_tail = |arg: &&RoffArg| !arg.is_quoted && is_closing(&arg.text);
        let tail = args.iter().rev().take_while(is_tail).count();
        let (words, tail) = args.split_at(args.len() - tail);
        let mut closers: Vec<&'static str> = Vec::new();
        let mut run = MdocRun::default();
        let mut at = 0;
        if let Some(name) = name {
            run = self.enter(name, words, &mut at, &mut closers);
        }
        while let Some(arg) = words.get(at) {
            at += 1;
            let text = arg.text.as_str();
            if !arg.is_quoted && is_callable(text) {
                self.finish(run, true);
                run = self.enter(text, words, &mut at, &mut closers);
            } else if !arg.is_quoted && is_closing(text) {
                self.finish(run, false);
                run.is_fresh = false;
                self.set_joined(text);
            } else if !arg.is_quoted && is_opening(text) {
                self.set(text, SpanStyle::default());
                self.page.is_joined = true;
            } else {
                self.word(text, &run);
                run.is_fresh = false;
            }
        }
        self.finish(run, false);
        while let Some(closer) = closers.pop() {
            self.set_joined(closer);
        }
        for mark in tail {
            self.set_joined(&mark.text);
        }
        self.page.end_line();
    }

    /// Begins a macro: sets its marks, and takes the arguments that are its own.
    fn enter<'a>(
        &mut self,
        name: &'a str,
        args: &[RoffArg],
        at: &mut usize,
        closers: &mut Vec<&'static str>,
    ) -> MdocRun<'a> {
        if let Some((open, close)) = enclosure(name) {
            self.set(open, SpanStyle::default());
            self.page.is_joined = true;
            closers.push(close);
        } else if let Some((mark, is_open)) = bracket(name) {
            if is_open {
                self.set(mark, SpanStyle::default());
                self.page.is_joined = true;
            } else {
                self.set_joined(mark);
            }
        } else if let Some(font) = font(name) {
            if name == "Xc" {
                self.end_mdoc_tag();
            }
            let is_fresh = matches!(name, "Fl" | "Ar" | "Nm");
            return MdocRun { name, font, is_fresh };
        } else {
            self.set_special(name, args, at);
        }
        MdocRun::default()
    }

    /// Sets a macro that is neither a font nor an enclosure.
    fn set_special(&mut self, name: &str, args: &[RoffArg], at: &mut usize) {
        let mut next = || {
            let arg = args.get(*at).filter(|arg| arg.is_quoted || !is_closing(&arg.text));
            *at += usize::from(arg.is_some());
            arg.map(|arg| arg.text.clone())
        };
        match name {
            "Ns" => self.page.is_joined = true,
            "Ap" => {
                self.set_joined("'");
                self.page.is_joined = true;
            }
            "Pf" => {
                self.set(&next().unwrap_or_default(), SpanStyle::default());
                self.page.is_joined = true;
            }
            "Xr" => {
                self.set(&next().unwrap_or_default(), SpanStyle::BOLD);
                if let Some(section) = next() {
                    self.set_joined(&format!("({section})"));
                }
            }
            "In" => {
                self.set(&format!("#include <{}>", next().unwrap_or_default()), SpanStyle::BOLD)
            }
            "Lk" | "Mt" => {
                let address = plain(&next().unwrap_or_default());
                let text = if name == "Lk" { next() } else { None };
                let target =
                    if name == "Mt" { format!("mailto:{address}") } else { address.clone() };
                self.page.link = Some(target.into());
                self.set(&text.unwrap_or(address), SpanStyle::default());
                self.page.link = None;
            }
            "Fn" | "Fo" => self.function(name, args, at),
            "Fc" => {
                self.mdoc.arguments = None;
                self.set_joined(if self.mdoc.is_synopsis { ");" } else { ")" });
            }
            name => {
                let version = next().unwrap_or_default();
                if let Some(text) = system(name, &version) {
                    self.set(&text, SpanStyle::default());
                }
            }
        }
    }

    /// A function with its arguments, or its beginning.
    fn function(&mut self, name: &str, args: &[RoffArg], at: &mut usize) {
        let rest = &args[(*at).min(args.len())..];
        let is_end =
            |arg: &RoffArg| !arg.is_quoted && (is_closing(&arg.text) || is_callable(&arg.text));
        let count = rest.iter().position(is_end).unwrap_or(rest.len());
        let (words, _) = rest.split_at(count);
        *at += count;
        self.set(words.first().map_or("", |arg| &arg.text), SpanStyle::BOLD);
        self.set_joined("(");
        self.page.is_joined = true;
        if name == "Fo" {
            self.mdoc.arguments = Some(0);
            return;
        }
        for (index, arg) in words.iter().skip(1).enumerate() {
            if index > 0 {
                self.set_joined(",");
            }
            self.set(&arg.text, SpanStyle::ITALIC);
        }
        self.set_joined(if self.mdoc.is_synopsis { ");" } else { ")" });
    }

    /// Sets a word of a macro.
    fn word(&mut self, text: &str, run: &MdocRun<'_>) {
        match run.name {
            "Fl" => {
                let dash = if text.is_empty() { "-".to_owned() } else { format!("-{text}") };
                self.set(&dash, run.font);
            }
            "Nm" => {
                if run.is_fresh && self.mdoc.name.is_none() {
                    self.mdoc.name = Some(text.to_owned());
                }
                self.set(text, run.font);
            }
            "Fa" => {
                if let Some(count) = &mut self.mdoc.arguments {
                    *count += 1;
                    if *count > 1 {
                        self.set_joined(",");
                    }
                }
                self.set(text, run.font);
            }
            _ => self.set(text, run.font),
        }
    }

    /// Ends a macro: one without words has a text of its own. Another macro joins a dash.
    fn finish(&mut self, run: MdocRun<'_>, is_before_macro: bool) {
        if !run.is_fresh {
            return;
        }
        match run.name {
            "Fl" => {
                self.set("-", run.font);
                self.page.is_joined |= is_before_macro;
            }
            "Ar" => self.set("file ...", run.font),
            _ => {
                let name = self.mdoc.name.clone().unwrap_or_default();
                self.set(&name, run.font);
            }
        }
    }

    /// The sentence on what a function or command returns.
    fn exit_text(&mut self, name: &str, args: &[RoffArg]) {
        let named: Vec<_> = args.iter().skip(1).map(|arg| arg.text.clone()).collect();
        let named = match named.as_slice() {
            [] => self.mdoc.name.clone().unwrap_or_default(),
            names => names.join(", "),
        };
        self.page.line(&if name == "Ex" {
            format!("The \\fB{named}\\fR utility exits 0 on success, and >0 if an error occurs.")
        } else {
            format!(
                "The \\fB{named}\\fR() function returns the value 0 if successful; otherwise the \
                 value -1 is returned and the global variable \\fIerrno\\fR is set to indicate the error."
            )
        });
    }

    /// Sets text in a font, after a space unless it joins.
    fn set(&mut self, text: &str, font: SpanStyle) {
        self.page.start_word();
        self.page.styled(text, font);
        self.page.is_joined |= self.mdoc.is_tight;
    }

    /// Sets text that joins what stands before it.
    fn set_joined(&mut self, text: &str) {
        self.page.cancel_space();
        self.page.styled(text, SpanStyle::default());
        self.page.is_joined |= self.mdoc.is_tight;
    }
}
