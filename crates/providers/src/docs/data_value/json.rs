//! Reader of JSON, also with comments and trailing commas, from the tokens of a scanner.

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::{DataFault, DataValue, ValueBudget};

struct JsonValues<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
    budget: ValueBudget,
}

pub(super) fn parse(text: &str, budget: ValueBudget) -> Result<DataValue, DataFault> {
    let scanner = Scanner::new(text, &ScannerOptions::default());
    let mut values = JsonValues { text, scanner, budget };
    let first = values.next()?;
    let root = values.value(first, 1)?;
    match values.next()? {
        None => Ok(root),
        Some(_) => Err(values.fault()),
    }
}

impl<'a> JsonValues<'a> {
    /// The next token that is no comment.
    fn next(&mut self) -> Result<Option<Token<'a>>, DataFault> {
        loop {
            match self.scanner.scan() {
                Ok(Some(Token::CommentLine(_) | Token::CommentBlock(_))) => {}
                Ok(token) => return Ok(token),
                Err(_) => return Err(self.fault()),
            }
        }
    }

    fn fault(&self) -> DataFault {
        let end = self.scanner.token_start().min(self.text.len());
        let before = &self.text.as_bytes()[..end];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        DataFault::new(line, "this is not valid JSON")
    }

    fn value(&mut self, token: Option<Token<'a>>, depth: usize) -> Result<DataValue, DataFault> {
        self.budget.take(1, 1)?;
        ValueBudget::check_depth(depth, 1)?;
        match token {
            Some(Token::OpenBrace) => self.table(depth),
            Some(Token::OpenBracket) => self.list(depth),
            Some(Token::String(text)) => Ok(DataValue::Text(text.into_owned())),
            Some(Token::Boolean(is_set)) => Ok(DataValue::Bool(is_set)),
            Some(Token::Null) => Ok(DataValue::Null),
            Some(Token::Number(written)) => {
                written.parse().map(DataValue::Number).map_err(|_| self.fault())
            }
            _ => Err(self.fault()),
        }
    }

    fn table(&mut self, depth: usize) -> Result<DataValue, DataFault> {
        let mut entries = Vec::new();
        let mut token = self.next()?;
        while token != Some(Token::CloseBrace) {
            let key = match token {
                Some(Token::String(key)) => key.into_owned(),
                Some(Token::Word(key) | Token::Number(key)) => key.to_owned(),
                _ => return Err(self.fault()),
            };
            if self.next()? != Some(Token::Colon) {
                return Err(self.fault());
            }
            let first = self.next()?;
            entries.push((key, self.value(first, depth + 1)?));
            token = self.next()?;
            if token == Some(Token::Comma) {
                token = self.next()?;
            } else if token != Some(Token::CloseBrace) {
                return Err(self.fault());
            }
        }
        Ok(DataValue::Table(entries))
    }

    fn list(&mut self, depth: usize) -> Result<DataValue, DataFault> {
        let mut items = Vec::new();
        let mut token = self.next()?;
        while token != Some(Token::CloseBracket) {
            items.push(self.value(token, depth + 1)?);
            token = self.next()?;
            if token == Some(Token::Comma) {
                token = self.next()?;
            } else if token != Some(Token::CloseBracket) {
                return Err(self.fault());
            }
        }
        Ok(DataValue::List(items))
    }
}
