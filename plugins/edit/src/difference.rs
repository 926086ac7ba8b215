//! The first difference between the lines of a file and an old text, in words.

/// How much of each side is quoted.
const QUOTED: usize = 24;

/// The index of the first line that differs, and how. `number` is the number of
/// the first line in the file. The first and the last old line may be parts of
/// lines, since an old text may start and end anywhere.
pub fn first(file: &[&str], old: &[&str], number: usize) -> Option<(usize, String)> {
    let last = old.len().saturating_sub(1);
    for (index, old_line) in old.iter().enumerate() {
        let Some(line) = file.get(index) else {
            return Some((
                index.saturating_sub(1),
                format!("the file ends before line {} of old_string", index + 1),
            ));
        };
        let fits = match index {
            _ if line == old_line => true,
            0 if last == 0 => line.contains(old_line),
            0 => line.ends_with(old_line),
            _ if index == last => line.starts_with(old_line),
            _ => false,
        };
        if !fits {
            return Some((index, words(number + index, line, old_line)));
        }
    }
    None
}

fn words(number: usize, line: &str, old: &str) -> String {
    let (line_body, old_body) = (line.trim(), old.trim());
    if line_body == old_body {
        let (line_indent, old_indent) = (indent(line), indent(old));
        if line_indent != old_indent {
            return format!(
                "line {number} is indented with {}, in old_string with {}",
                blanks(line_indent),
                blanks(old_indent)
            );
        }
        return format!(
            "line {number} ends with {}, in old_string with {}",
            trailing(line),
            trailing(old)
        );
    }
    let what = if without_blanks(line) == without_blanks(old) {
        " only in whitespace"
    } else if line_body.to_lowercase() == old_body.to_lowercase() {
        " only in upper and lower case"
    } else {
        ""
    };
    // Indentation was no difference worth a word if the rest differs as well.
    let same = line_body
        .chars()
        .zip(old_body.chars())
        .take_while(|(one, other)| one == other)
        .count();
    if same == 0 {
        return format!("line {number} is the first to differ{what}");
    }
    let column = indent(line).chars().count() + same + 1;
    format!(
        "line {number} differs{what} at column {column}: the file has {}, old_string has {}",
        quoted(line_body, same),
        quoted(old_body, same)
    )
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn trailing(line: &str) -> String {
    match &line[line.trim_end().len()..] {
        "" => "no whitespace".into(),
        rest => blanks(rest),
    }
}

fn without_blanks(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Runs of whitespace, counted: `1 tab and 2 spaces`.
fn blanks(text: &str) -> String {
    if text.is_empty() {
        return "nothing".into();
    }
    let mut runs: Vec<(char, usize)> = Vec::new();
    for character in text.chars() {
        match runs.last_mut() {
            Some((last, count)) if *last == character => *count += 1,
            _ => runs.push((character, 1)),
        }
    }
    let names: Vec<String> = runs
        .into_iter()
        .map(|(character, count)| {
            let plural = if count == 1 { "" } else { "s" };
            match character {
                ' ' => format!("{count} space{plural}"),
                '\t' => format!("{count} tab{plural}"),
                other => format!("{count} {}", visible(other)),
            }
        })
        .collect();
    names.join(" and ")
}

fn quoted(text: &str, from: usize) -> String {
    let rest: String = text.chars().skip(from).take(QUOTED).map(visible).collect();
    if rest.is_empty() {
        "the line's end".into()
    } else {
        format!("`{rest}`")
    }
}

/// A character that would not be seen, or be taken for another, by its number.
fn visible(character: char) -> String {
    let hidden = character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(
            character,
            '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}'
        );
    match character {
        '\t' => "\\t".into(),
        other if hidden => format!("U+{:04X}", u32::from(other)),
        other => other.into(),
    }
}
