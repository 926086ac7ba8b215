//! Names and sentences as the words in them.

/// The words of a text in lower case. Everything that is no letter or digit
/// separates them, and so does a hump: `mcp__chat__postMessage` has `mcp`, `chat`,
/// `post` and `message`; `HTTPServer2` has `http` and `server2`.
pub fn parts(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut part = String::new();
    let mut before: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !c.is_alphanumeric() {
            finish(&mut part, &mut all);
            before = None;
            continue;
        }
        let after_is_lower = rest.peek().is_some_and(|next| next.is_lowercase());
        let is_hump = c.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || after_is_lower);
        if is_hump {
            finish(&mut part, &mut all);
        }
        part.extend(c.to_lowercase());
        before = Some(c);
    }
    finish(&mut part, &mut all);
    all
}

fn finish(part: &mut String, all: &mut Vec<String>) {
    if !part.is_empty() {
        all.push(std::mem::take(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        for (text, wanted) in [
            ("NotebookEdit", "notebook edit"),
            ("mcp__chat__postMessage", "mcp chat post message"),
            ("web-fetch_page", "web fetch page"),
            ("HTTPServer2", "http server2"),
            ("parseJSON", "parse json"),
            ("s3Upload", "s3 upload"),
            ("A", "a"),
            ("GitHub issues, e.g. new.", "git hub issues e g new"),
            ("Ärger über İ", "ärger über i\u{307}"),
            ("检索 工具", "检索 工具"),
            ("", ""),
            ("__--++", ""),
            ("\u{0}\u{1b}[0m", "0m"),
        ] {
            assert_eq!(parts(text).join(" "), wanted, "{text:?}");
        }
    }
}
