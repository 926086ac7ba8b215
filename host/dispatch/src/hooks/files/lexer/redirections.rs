//! Redirections and here-documents.

use super::{Lexer, Token};

impl Lexer {
    pub(super) fn redirection(&mut self, c: char) {
        // A number in front says which file is meant, and is no word; neither is a variable for one.
        if let Some(word) = &self.word {
            let is_number = word.text.chars().all(|c| c.is_ascii_digit());
            if is_number || word.text.starts_with('{') && word.text.ends_with('}') {
                self.word = None;
            }
        }
        self.finish_word();
        match (c, self.peek()) {
            (_, Some('(')) => {
                self.at += 1;
                let text = self.commands();
                self.inner.push(text);
                self.variable("");
            }
            ('<', Some('<')) => {
                self.at += 1;
                match self.peek() {
                    Some('<') => {
                        self.at += 1;
                        self.tokens.push(Token::From);
                    }
                    Some(_) | None => self.document(),
                }
            }
            ('<', Some('>' | '&')) => {
                self.at += 1;
                self.tokens.push(Token::From);
            }
            ('<', _) => self.tokens.push(Token::From),
            (_, next) => {
                if let Some('>' | '|' | '&') = next {
                    self.at += 1;
                }
                self.tokens.push(Token::Into);
            }
        }
    }

    fn document(&mut self) {
        let sign = self.sign();
        self.documents.push(sign);
    }

    /// The line that ends a here-document, without its quotes; behind a tab if it may stand behind tabs.
    pub(super) fn sign(&mut self) -> String {
        let mut sign = String::new();
        if self.peek() == Some('-') {
            self.at += 1;
            sign.push('\t');
        }
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.at += 1;
        }
        let mut quote = None;
        while let Some(c) = self.peek() {
            match (c, quote) {
                ('\n', _) => break,
                (c, Some(open)) if c == open => quote = None,
                (c, Some(_)) => sign.push(c),
                ('\'' | '"', None) => quote = Some(c),
                ('\\', None) => {
                    self.at += 1;
                    sign.extend(self.peek());
                }
                (c, None) if c.is_whitespace() || ";|&()<>".contains(c) => break,
                (c, None) => sign.push(c),
            }
            self.at += 1;
        }
        self.at = self.at.min(self.chars.len());
        sign
    }

    /// The here-documents that begin on this line: commands of their own, for whoever reads them.
    pub(super) fn read_documents(&mut self) {
        for sign in std::mem::take(&mut self.documents) {
            let text = self.document_of(&sign);
            self.inner.extend(text);
        }
    }

    /// Skips a here-document. One that has no end is none.
    pub(super) fn document_of(&mut self, sign: &str) -> Option<String> {
        self.documents_left = self.documents_left.checked_sub(1)?;
        let rest: String = self.chars.get(self.at..)?.iter().collect();
        let mut length = 0;
        let mut text = String::new();
        let mut lines = rest.split_inclusive('\n');
        lines.by_ref().find(|line| {
            length += line.chars().count();
            let line_of_sign = match sign.strip_prefix('\t') {
                Some(sign) => (line.trim_start_matches('\t'), sign),
                None => (*line, sign),
            };
            let is_end = line_of_sign.0.trim_end_matches('\n') == line_of_sign.1;
            if !is_end {
                text.push_str(line);
            }
            is_end
        })?;
        self.at += length;
        Some(text)
    }
}
