//! Redirections and here-documents.

use super::{Lexer, MOST_DOCUMENTS, Token};

impl Lexer {
    pub(super) fn redirection(&mut self, c: char) {
        // A number in front says which file is meant, and is no word.
        if let Some(word) = &self.word
            && word.text.chars().all(|c| c.is_ascii_digit())
        {
            self.word = None;
        }
        self.finish_word();
        match (c, self.peek()) {
            (_, Some('(')) => {
                self.at += 1;
                let text = self.enclosed('(', ')');
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
                    _ => self.document(),
                }
            }
            ('<', Some('>')) => {
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

    /// The sign that ends a here-document.
    fn document(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, '-' | ' ' | '\t')) {
            self.at += 1;
        }
        let rest = self.chars[self.at..].iter();
        let is_end = |c: &char| c.is_whitespace() || ";|&()<>".contains(*c);
        let written: String = rest.take_while(|c| !is_end(c)).collect();
        self.at += written.chars().count();
        let sign: String = written.chars().filter(|c| !"'\"\\".contains(*c)).collect();
        if self.documents.len() < MOST_DOCUMENTS {
            self.documents.push(sign);
        }
    }

    /// The here-documents that begin on this line: commands of their own, for whoever reads them. One
    /// that has no end is none.
    pub(super) fn read_documents(&mut self) {
        for sign in std::mem::take(&mut self.documents) {
            let rest: String = self.chars[self.at..].iter().collect();
            let mut length = 0;
            let mut text = String::new();
            let mut lines = rest.split_inclusive('\n');
            let end = lines.by_ref().find(|line| {
                length += line.chars().count();
                let is_end = line.trim() == sign;
                if !is_end {
                    text.push_str(line);
                }
                is_end
            });
            if end.is_some() {
                self.at += length;
                self.inner.push(text);
            }
        }
    }
}
