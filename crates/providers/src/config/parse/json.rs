//! Parser for JSON, JSON with comments and JSON5.
//!
//! It builds the tree from the tokens of a scanner, so that a large file is refused before its
//! tree takes memory.

use indexmap::IndexMap;
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::super::tree::{ConfigNode, NodeValue, ScalarKind};
use super::{LineStarts, NodeBudget, ParseFailure};

const SYNTAX: &str = "JSON";

struct JsonParser<'a> {
    scanner: Scanner<'a>,
    lines: LineStarts,
    budget: NodeBudget,
}

pub(super) fn parse(text: &str, budget: NodeBudget) -> Result<ConfigNode, ParseFailure> {
    let scanner = Scanner::new(text, &ScannerOptions::default());
    let mut parser = JsonParser { scanner, lines: LineStarts::of(text), budget };
    let first = parser.next()?;
    let root = parser.value(first, 1)?;
    match parser.next()? {
        None => Ok(root),
        Some(_) => Err(parser.failure()),
    }
}

impl<'a> JsonParser<'a> {
    /// The next token that is no comment.
    fn next(&mut self) -> Result<Option<Token<'a>>, ParseFailure> {
        loop {
            match self.scanner.scan() {
                Ok(Some(Token::CommentLine(_) | Token::CommentBlock(_))) => {}
                Ok(token) => return Ok(token),
                Err(_) => return Err(self.failure()),
            }
        }
    }

    fn failure(&self) -> ParseFailure {
        ParseFailure::syntax(SYNTAX, self.lines.position(self.scanner.token_start()))
    }

    fn value(
        &mut self,
        token: Option<Token<'a>>,
        depth: usize,
    ) -> Result<ConfigNode, ParseFailure> {
        let line = self.lines.line(self.scanner.token_start());
        self.budget.take(1, line)?;
        NodeBudget::check_depth(depth, line)?;
        match token {
            Some(Token::OpenBrace) => self.table(line, depth),
            Some(Token::OpenBracket) => self.list(line, depth),
            Some(Token::String(text)) => Ok(ConfigNode::text(line, text)),
            Some(Token::Boolean(value)) => {
                let text = if value { "true" } else { "false" };
                Ok(ConfigNode::scalar(line, ScalarKind::Bool(value), text))
            }
            Some(Token::Null) => Ok(ConfigNode::scalar(line, ScalarKind::Null, "null")),
            Some(Token::Number(written)) => Ok(ConfigNode::number(line, written)),
            _ => Err(self.failure()),
        }
    }

    fn table(&mut self, line: usize, depth: usize) -> Result<ConfigNode, ParseFailure> {
        let mut table = IndexMap::new();
        let mut token = self.next()?;
        while token != Some(Token::CloseBrace) {
            let key = match token {
                Some(Token::String(key)) => key.into_owned(),
                Some(Token::Word(key) | Token::Number(key)) => key.to_owned(),
                Some(Token::Boolean(_) | Token::Null) => {
                    token.as_ref().map(Token::as_str).unwrap_or_default().to_owned()
                }
                _ => return Err(self.failure()),
            };
            if self.next()? != Some(Token::Colon) {
                return Err(self.failure());
            }
            let value = self.next()?;
            table.insert(key, self.value(value, depth + 1)?);
            token = self.after_item(&Token::CloseBrace)?;
        }
        Ok(ConfigNode::new(line, NodeValue::Table(table)))
    }

    fn list(&mut self, line: usize, depth: usize) -> Result<ConfigNode, ParseFailure> {
        let mut items = Vec::new();
        let mut token = self.next()?;
        while token != Some(Token::CloseBracket) {
            items.push(self.value(token, depth + 1)?);
            token = self.after_item(&Token::CloseBracket)?;
        }
        Ok(ConfigNode::new(line, NodeValue::List(items)))
    }

    /// The token after an item: that of the next item, or the end.
    fn after_item(&mut self, end: &Token<'a>) -> Result<Option<Token<'a>>, ParseFailure> {
        match self.next()? {
            Some(Token::Comma) => self.next(),
            Some(token) if token == *end => Ok(Some(token)),
            _ => Err(self.failure()),
        }
    }
}
