//! One pass over a text with the state of its quotes, to see what kinds of thing are in it.

/// What was seen. Nothing here is exact: the readings are.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The text without what stands in single quotes or behind a backslash, where nothing is
    /// expanded.
    pub(super) live: String,
    pub(super) operator: bool,
    pub(super) line_end: bool,
    pub(super) escaped_blank: bool,
    pub(super) escaped_operator: bool,
    pub(super) brace_list: bool,
    pub(super) unbalanced: bool,
    pub(super) hash_in_word: bool,
    pub(super) quote_in_comment: bool,
    pub(super) hash_after_quoted_line_end: bool,
    pub(super) quoted_flag: bool,
    pub(super) writes: bool,
    pub(super) ends_open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

impl Scan {
    pub(super) fn of(script: &str) -> Self {
        let mut scan = Self::default();
        let end = scan.pass(script);
        scan.ends_open = end != Quote::None || script.ends_with('\\');
        scan.writes = writes(&scan.live);
        scan
    }

    fn pass(&mut self, script: &str) -> Quote {
        let mut quote = Quote::None;
        let mut line_in_quote = false;
        let mut braces = 0_i32;
        let mut brackets = 0_i32;
        // The last character outside of quotes; a blank at the beginning of a word.
        let mut last = ' ';
        let mut word_is_flag = false;
        let mut characters = script.chars().peekable();
        while let Some(character) = characters.next() {
            if quote != Quote::None {
                self.quoted(character, &mut line_in_quote);
                match (quote, character) {
                    (Quote::Single, '\'') | (Quote::Double, '"') => {
                        quote = Quote::None;
                        last = character;
                    }
                    (Quote::Double, '\\') => {
                        characters.next();
                    }
                    (Quote::Double, other) => self.live.push(other),
                    _ => {}
                }
                continue;
            }
            if last.is_whitespace() {
                word_is_flag = character == '-'
                    || (matches!(character, '\'' | '"' | '\\') && characters.peek() == Some(&'-'));
            }
            match character {
                '\\' => {
                    self.quoted_flag |= word_is_flag;
                    match characters.next() {
                        Some(' ' | '\t') => self.escaped_blank = true,
                        Some(';' | '&' | '|' | '<' | '>') => self.escaped_operator = true,
                        _ => {}
                    }
                    self.live.push('_');
                    last = '\\';
                    continue;
                }
                '\'' | '"' => {
                    self.quoted_flag |= word_is_flag;
                    quote = if character == '"' {
                        Quote::Double
                    } else {
                        Quote::Single
                    };
                    line_in_quote = false;
                    self.live.push('"');
                    continue;
                }
                '#' if last.is_whitespace() || matches!(last, ';' | '&' | '|' | '(' | ')') => {
                    let mut comment = String::new();
                    while let Some(next) = characters.next_if(|next| *next != '\n') {
                        comment.push(next);
                    }
                    self.quote_in_comment |=
                        comment.contains(['\'', '"', '`']) || comment.contains("$(");
                    continue;
                }
                '#' if last != '$'
                    || characters.peek().is_some_and(|next| !next.is_whitespace()) =>
                {
                    self.hash_in_word = true;
                }
                '\n' => self.line_end = true,
                ';' | '|' => self.operator = true,
                '&' if !matches!(last, '>' | '<') && characters.peek() != Some(&'>') => {
                    self.operator = true;
                }
                '{' => braces += 1,
                '}' => braces -= 1,
                '(' => brackets += 1,
                ')' => brackets -= 1,
                ',' if braces > 0 => self.brace_list = true,
                '.' if braces > 0 && last == '.' => self.brace_list = true,
                '$' if word_is_flag || characters.peek() == Some(&'\'') => self.quoted_flag = true,
                '=' => word_is_flag = false,
                _ => {}
            }
            self.live.push(character);
            last = character;
        }
        self.unbalanced = braces != 0 || brackets != 0;
        quote
    }

    fn quoted(&mut self, character: char, line_in_quote: &mut bool) {
        match character {
            '\n' => *line_in_quote = true,
            '#' if *line_in_quote => self.hash_after_quoted_line_end = true,
            _ => {}
        }
    }
}

/// Whether a `>` leads somewhere else than to a descriptor or the empty device.
fn writes(live: &str) -> bool {
    live.split('>').skip(1).any(|behind| {
        // Between two of them nothing stands: the later one is asked.
        if behind.is_empty() {
            return false;
        }
        let target = behind.trim_start_matches(['|', '&', '!', ' ', '\t', '"']);
        let end = target.find(|next: char| next.is_whitespace() || ";|&<()\"".contains(next));
        let word = &target[..end.unwrap_or(target.len())];
        let is_descriptor = behind.starts_with('&')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-');
        !is_descriptor && word != "/dev/null"
    }) || live.ends_with('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was seen, by name.
    fn seen(script: &str) -> Vec<&'static str> {
        let scan = Scan::of(script);
        let all = [
            (scan.operator, "operator"),
            (scan.line_end, "line end"),
            (scan.escaped_blank, "escaped blank"),
            (scan.escaped_operator, "escaped operator"),
            (scan.brace_list, "brace list"),
            (scan.unbalanced, "unbalanced"),
            (scan.hash_in_word, "hash in word"),
            (scan.quote_in_comment, "quote in comment"),
            (
                scan.hash_after_quoted_line_end,
                "hash after quoted line end",
            ),
            (scan.quoted_flag, "quoted flag"),
            (scan.writes, "writes"),
            (scan.ends_open, "ends open"),
        ];
        let is_seen = all.into_iter().filter(|(is_seen, _)| *is_seen);
        is_seen.map(|(_, name)| name).collect()
    }

    #[test]
    fn each_kind_of_thing_is_seen_where_it_is_and_only_there() {
        for (script, wanted) in [
            ("ls -la a", &[][..]),
            ("ls; cat a", &["operator"]),
            ("ls | cat", &["operator"]),
            ("ls & cat", &["operator"]),
            ("ls 2>&1", &[]),
            ("ls <&0", &[]),
            ("ls &> a", &["writes"]),
            ("ls &>/dev/null", &[]),
            ("ls\ncat", &["line end"]),
            ("ls a\\ b", &["escaped blank"]),
            ("ls a\\\tb", &["escaped blank"]),
            ("find \\;", &["escaped operator"]),
            ("ls a\\>b", &["escaped operator"]),
            ("ls \\a", &[]),
            ("ls {a,b}", &["brace list"]),
            ("ls {1..3}", &["brace list"]),
            ("ls a,b a..b", &[]),
            ("ls {a} b,c d..e", &[]),
            ("ls {a.b}", &[]),
            ("ls {a", &["unbalanced"]),
            ("ls a}", &["unbalanced"]),
            ("(ls", &["unbalanced"]),
            ("ls)", &["unbalanced"]),
            ("(ls)", &[]),
            ("ls a#b", &["hash in word"]),
            ("ls $#", &[]),
            ("ls $# a", &[]),
            ("ls $#a", &["hash in word"]),
            ("ls # a", &[]),
            ("ls ;# a", &["operator"]),
            ("ls # it's", &["quote in comment"]),
            ("ls # \"", &["quote in comment"]),
            ("ls # `", &["quote in comment"]),
            ("ls # $(", &["quote in comment"]),
            ("ls # a\ncat 'b'", &["line end"]),
            ("ls 'a\n#b'", &["hash after quoted line end"]),
            ("ls \"a\n#b\"", &["hash after quoted line end"]),
            ("ls 'a#b'", &[]),
            ("ls 'a\n' '#'", &[]),
            ("ls -'a'", &["quoted flag"]),
            ("ls -\"a\"", &["quoted flag"]),
            ("ls -\\a", &["quoted flag"]),
            ("ls '-a'", &["quoted flag"]),
            ("ls \\-a", &["quoted flag"]),
            ("ls -$a", &["quoted flag"]),
            ("ls $'a'", &["quoted flag"]),
            ("ls --a='b'", &[]),
            ("ls a'b'", &[]),
            ("ls 'a'", &[]),
            ("ls $a", &[]),
            ("ls > a", &["writes"]),
            ("ls >> a", &["writes"]),
            ("ls > /dev/null", &[]),
            ("ls > /dev/null -a", &[]),
            ("ls >/dev/null;", &["operator"]),
            ("ls 2>/dev/null >a", &["writes"]),
            ("ls '> a'", &[]),
            ("ls \"> a\"", &["writes"]),
            ("ls \"a\\\" > b\"", &["writes"]),
            ("ls 'a", &["ends open"]),
            ("ls \"a", &["ends open"]),
            ("ls \"a\\\"", &["ends open"]),
            ("ls a\\", &["ends open"]),
        ] {
            assert_eq!(seen(script), wanted, "{script}");
        }
    }
}
