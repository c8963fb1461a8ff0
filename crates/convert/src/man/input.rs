//! Input of roff: the lines of a page and of the macros that it calls.

use std::borrow::Cow;
use std::rc::Rc;
use std::str::Lines;

/// How deep macros call each other.
pub(super) const MAX_CALLS: usize = 32;

/// The most lines of macros that a page runs.
const MAX_MACRO_LINES: usize = 400_000;

/// The lines of a page, and above them those of each macro that is being called.
pub(super) struct RoffInput<'t> {
    page: Lines<'t>,
    calls: Vec<RoffCall>,
    macro_lines: usize,
}

struct RoffCall {
    body: Rc<Vec<String>>,
    next: usize,
    args: Vec<String>,
}

impl<'t> RoffInput<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { page: text.lines(), calls: Vec::new(), macro_lines: 0 }
    }

    /// The next line, with those joined to it that a backslash continues.
    pub(super) fn next_line(&mut self) -> Option<Cow<'t, str>> {
        let mut line = self.next_physical()?;
        while is_continued(&line) {
            let Some(more) = self.next_physical() else { break };
            let joined = line.to_mut();
            joined.pop();
            joined.push_str(&more);
        }
        Some(line)
    }

    fn next_physical(&mut self) -> Option<Cow<'t, str>> {
        while let Some(call) = self.calls.last_mut() {
            if let Some(line) = call.body.get(call.next) {
                call.next += 1;
                self.macro_lines += 1;
                return Some(Cow::Owned(line.clone()));
            }
            self.calls.pop();
        }
        self.page.next().map(Cow::Borrowed)
    }

    /// Calls a macro; false if the page runs too many.
    pub(super) fn call(&mut self, body: &Rc<Vec<String>>, args: Vec<String>) -> bool {
        // A call at the end of a macro replaces it.
        while self.calls.last().is_some_and(|call| call.next >= call.body.len()) {
            self.calls.pop();
        }
        let is_allowed = self.calls.len() < MAX_CALLS && self.macro_lines < MAX_MACRO_LINES;
        if is_allowed {
            // A macro without lines costs its call.
            self.macro_lines += 1;
            self.calls.push(RoffCall { body: Rc::clone(body), next: 0, args });
        }
        is_allowed
    }

    /// Counts work as lines of macros.
    pub(super) fn charge(&mut self, lines: usize) {
        self.macro_lines = self.macro_lines.saturating_add(lines);
    }

    /// The arguments of the macro that is being called.
    pub(super) fn args(&self) -> &[String] {
        self.calls.last().map_or(&[], |call| &call.args)
    }

    /// Takes arguments of the macro away.
    pub(super) fn shift(&mut self, count: usize) {
        if let Some(call) = self.calls.last_mut() {
            call.args.drain(..count.min(call.args.len()));
        }
    }

    /// Ends the macro that is being called.
    pub(super) fn end_call(&mut self) {
        if let Some(call) = self.calls.last_mut() {
            call.next = call.body.len();
        }
    }
}

/// Whether an odd number of backslashes ends a line, and no comment.
fn is_continued(line: &str) -> bool {
    let slashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
    slashes % 2 == 1 && !line.starts_with(".\\\"") && !line.starts_with("'\\\"")
}

/// The arguments of a macro: words, or texts in quotes, where two quotes are one.
pub(super) fn split_args(text: &str) -> Vec<RoffArg> {
    let mut args = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if_eq(&' ').is_some() {}
        let Some(first) = letters.peek() else { return args };
        let is_quoted = *first == '"';
        if is_quoted {
            letters.next();
        }
        let mut arg = String::new();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => {
                    arg.push(letter);
                    arg.extend(letters.next());
                }
                '"' if is_quoted => match letters.next_if_eq(&'"') {
                    Some(quote) => arg.push(quote),
                    None => break,
                },
                ' ' if !is_quoted => break,
                letter => arg.push(letter),
            }
        }
        args.push(RoffArg { text: arg, is_quoted });
    }
}

/// An argument of a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RoffArg {
    pub(super) text: String,
    /// Whether it stood in quotes, so that it is never the name of a macro.
    pub(super) is_quoted: bool,
}
