//! The names that one word may hold, beside itself.

use super::lexer::ANY;

/// The files of a module of Python: `a.b` is `a/b.py` or a package, and those above it run before it.
pub(super) fn modules(word: &str, option: Option<&str>) -> Vec<String> {
    let name = match (word.strip_prefix("-m"), option) {
        (_, Some(flag))
            if flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('m') =>
        {
            word
        }
        (Some(name), _) if !name.is_empty() => name,
        (_, _) => return Vec::new(),
    };
    let path = name.replace('.', "/");
    let mut files = vec![
        format!("{path}.py"),
        format!("{path}/__main__.py"),
        format!("{path}/__init__.py"),
    ];
    let mut above = &*path;
    while let Some((folder, _)) = above.rsplit_once('/') {
        files.push(format!("{folder}/__init__.py"));
        above = folder;
    }
    files
}

/// Paths in a word: behind `=`, in lists with `:`, and right behind the letter of an option.
pub(super) fn parts(word: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut value = word;
    if let Some((_, behind)) = word.split_once('=') {
        parts.push(behind.to_owned());
        value = behind;
    }
    if value.contains(':') {
        parts.extend(
            value
                .split(':')
                .filter(|part| !part.is_empty())
                .map(str::to_owned),
        );
    }
    let attached = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    if let Some(attached) = attached.and_then(|rest| rest.get(1..))
        && attached.len() > 1
    {
        parts.push(attached.to_owned());
        // The letter of a script's option may come last of several.
        parts.extend(attached.split_once('f').map(|(_, rest)| rest.to_owned()));
    }
    parts
}

/// A text in which `printf` puts names.
pub(super) fn without_formats(text: &str) -> String {
    let mut all = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            all.push(c);
            continue;
        }
        all.push(ANY);
        let is_of_format = |c: &char| !c.is_ascii_alphabetic();
        let rest = chars.as_str();
        let length = rest.chars().take_while(is_of_format).count() + 1;
        chars = rest.chars();
        chars.by_ref().take(length).for_each(drop);
    }
    all
}

/// The words in the value of a variable that is run.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let value = text.split_once('=').map_or(text, |(_, value)| value);
    let words = value.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
    let words = words.filter(|word| !word.is_empty());
    words
        .flat_map(|word| {
            let mut all = parts(word);
            all.push(word.trim_start_matches('@').to_owned());
            all
        })
        .collect()
}
