//! Spellings of which the grammar is known to make something else than bash does. What a tree
//! shows of such a script is not all that runs.

/// Whether a script has one of them.
pub(super) fn may_be_misread(script: &str) -> bool {
    has_hash_behind_escape(script) || has_odd_ansi_string(script)
}

/// `echo \ #b; x`: the escaped blank belongs to the word, and so does the hash. The grammar sees a
/// comment.
fn has_hash_behind_escape(script: &str) -> bool {
    let mut characters = script.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\\' && characters.next().is_some() && characters.peek() == Some(&'#') {
            return true;
        }
    }
    false
}

/// `$'…'` whose end depends on a backslash, or with an escape that versions of bash read in ways
/// of their own. Looked for anywhere, also in quotes, where it is only text.
fn has_odd_ansi_string(script: &str) -> bool {
    let mut rest = script;
    while let Some(at) = rest.find("$'") {
        rest = &rest[at + 2..];
        let mut characters = rest.chars().peekable();
        while let Some(character) = characters.next_if(|next| *next != '\'') {
            if character == '\\' && !is_plain_escape(&mut characters) {
                return true;
            }
        }
    }
    false
}

/// Takes the escape behind a backslash; whether it is one character of its own, whoever reads it.
fn is_plain_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let Some(kind) = characters.next() else {
        return false;
    };
    let mut digits = |radix: u32, most: usize, first: Option<char>| {
        let mut all: String = first.into_iter().collect();
        while all.len() < most
            && let Some(digit) = characters.next_if(|next| next.is_digit(radix))
        {
            all.push(digit);
        }
        u32::from_str_radix(&all, radix).ok()
    };
    match kind {
        'n' | 't' | 'r' | 'a' | 'b' | 'e' | 'E' | 'f' | 'v' | '"' | '?' => true,
        // A zero ends the string.
        'x' => digits(16, 2, None).is_some_and(|value| value != 0),
        'u' => digits(16, 4, None).is_some_and(|value| value != 0),
        'U' => digits(16, 8, None).is_some_and(|value| value != 0),
        '0'..='7' => digits(8, 3, Some(kind)).is_some_and(|value| (1..=0o377).contains(&value)),
        // A quote or a backslash: where the string ends is the question.
        _ => false,
    }
}

/// Whether bash makes several words of one: `{a,b}`, `{1..3}`, not in quotes.
pub(super) fn has_brace_list(word: &str) -> bool {
    let mut depth = 0_usize;
    let mut has_list = false;
    let mut quote = None;
    let mut last = ' ';
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '\\') | (Some('"'), '\\') => {
                characters.next();
            }
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '{') if last != '$' => depth += 1,
            (None, ',') => has_list |= depth > 0,
            (None, '.') => has_list |= depth > 0 && last == '.',
            (None, _) => {}
        }
        last = character;
    }
    has_list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_the_grammar_misreads_are_noticed() {
        for (script, wanted) in [
            ("echo \\ #b; curl x", true),
            ("echo \"a\"\\ #; curl x", true),
            ("echo a\\\t#b", true),
            ("echo \\\\#b", true),
            ("echo a #b", false),
            ("echo a\\ b #c", false),
            ("echo $'\\\\'; curl x #'", true),
            ("echo $'a\\'b'", true),
            ("echo $'a' $'\\\\'", true),
            ("echo $'\\cJ'", true),
            ("echo $'\\x{3b}'", true),
            ("echo $'\\q'", true),
            ("echo $'\\473'", true),
            ("echo $'\\377\\1'", false),
            ("echo $'\\3770'", false),
            ("echo $'\\0'", true),
            ("echo $'\\x0'", true),
            ("echo $'\\u0'", true),
            ("echo $'\\U0'", true),
            ("echo $'\\x41\\u0041\\U00000041'", false),
            ("echo $'a\\tb\\nc\\\"\\?'", false),
            ("echo $'a' b", false),
            ("echo 'a\\'", false),
            ("echo $'a\\", true),
        ] {
            assert_eq!(may_be_misread(script), wanted, "{script}");
        }
    }

    #[test]
    fn lists_in_braces_are_several_words() {
        for (word, wanted) in [
            ("{a,b}", true),
            ("x{a,b}y", true),
            ("{1..3}", true),
            ("a{b,{c,d}}", true),
            ("{a','b,c}", true),
            ("{}", false),
            ("{a}", false),
            ("{a.b}", false),
            ("a,b", false),
            ("a..b", false),
            ("'{a,b}'", false),
            ("\"{a,b}\"", false),
            ("\"a\\\"\"{b,c}", true),
            ("{a','b}", false),
            ("\\{a,b}", false),
            ("{a\\,b}", false),
            ("${a,b}", false),
        ] {
            assert_eq!(has_brace_list(word), wanted, "{word}");
        }
    }
}
