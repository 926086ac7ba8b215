//! git's configuration as it is written: keys and values of a file.
//!
//! It reads more than git would, never less: what git takes for an error is skipped, since the
//! user may repair it later.

/// A key with its section in lower case, as git lists it, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: String,
}

impl Setting {
    /// The first and the last part of the key: `filter.a.b.clean` is `filter` and `clean`.
    pub(super) fn ends(&self) -> Option<(&str, &str)> {
        let (section, _) = self.key.split_once('.')?;
        let (_, name) = self.key.rsplit_once('.')?;
        Some((section, name))
    }
}

pub(super) fn parse(text: &str) -> Vec<Setting> {
    let mut reader = Reader {
        rest: text.trim_start_matches('\u{feff}').chars().peekable(),
    };
    let mut section = String::new();
    let mut settings = Vec::new();
    while let Some(first) = reader.rest.next() {
        match first {
            '[' => {
                if let Some(found) = reader.section() {
                    section = found;
                }
            }
            '#' | ';' => reader.skip_line(),
            first if first.is_whitespace() => {}
            first => {
                let (name, value) = reader.variable(first);
                settings.push(Setting {
                    key: format!("{section}.{name}"),
                    value,
                });
            }
        }
    }
    settings
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Reader<'_> {
    fn skip_line(&mut self) {
        let _ = self.rest.find(|one| *one == '\n');
    }

    /// What stands between `[` and `]`.
    fn section(&mut self) -> Option<String> {
        let mut name = String::new();
        while let Some(one) = self.rest.next() {
            match one {
                ']' => return Some(name),
                '\n' => return None,
                '"' => {
                    name.push('.');
                    while let Some(one) = self.rest.next() {
                        match one {
                            '"' => break,
                            '\n' => return None,
                            '\\' => name.extend(self.rest.next()),
                            one => name.push(one),
                        }
                    }
                }
                one if one.is_whitespace() => {}
                one => name.extend(one.to_lowercase()),
            }
        }
        None
    }

    fn variable(&mut self, first: char) -> (String, String) {
        let mut name: String = first.to_lowercase().collect();
        loop {
            match self.rest.next() {
                None | Some('\n') => return (name, String::new()),
                Some('=') => return (name, self.value()),
                // Behind a name without a value, git has an error for anything but a comment.
                Some('#' | ';') => {
                    self.skip_line();
                    return (name, String::new());
                }
                Some(one) if one.is_whitespace() => {}
                Some(one) => name.extend(one.to_lowercase()),
            }
        }
    }

    fn value(&mut self) -> String {
        let mut value = String::new();
        // Blanks count inside a value only.
        let mut blanks = String::new();
        let mut is_quoted = false;
        while let Some(one) = self.rest.next() {
            match one {
                '\n' => break,
                '#' | ';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                '"' => is_quoted = !is_quoted,
                '\\' => {
                    value.push_str(&std::mem::take(&mut blanks));
                    match self.rest.next() {
                        Some('\n') | None => {}
                        Some('\r') if self.rest.next_if_eq(&'\n').is_some() => {}
                        Some('n') => value.push('\n'),
                        Some('t') => value.push('\t'),
                        Some('b') => value.push('\u{8}'),
                        Some(other) => value.push(other),
                    }
                }
                one if one.is_whitespace() && !is_quoted => {
                    if !value.is_empty() {
                        blanks.push(one);
                    }
                }
                one => {
                    value.push_str(&std::mem::take(&mut blanks));
                    value.push(one);
                }
            }
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_however_they_are_written() {
        for (text, wanted) in [
            ("[core]\n\thooksPath = a/b\n", "core.hookspath=a/b"),
            ("[core] hooksPath = a", "core.hookspath=a"),
            ("\u{feff}[CORE]\nHOOKSPATH=a", "core.hookspath=a"),
            ("[core]\nhooksPath = a ; why", "core.hookspath=a"),
            (
                "[core]\nhooksPath = \"a # b\" # why",
                "core.hookspath=a # b",
            ),
            ("[core]\nhooksPath = a\\\nb", "core.hookspath=ab"),
            ("[core]\r\nhooksPath = a\\\r\nb\r\n", "core.hookspath=ab"),
            ("[core]\nhooksPath = a\\tb  ", "core.hookspath=a\tb"),
            ("[core]\n# hooksPath = a\n; hooksPath = b", ""),
            ("[core]\nbare\nhooksPath = a", "core.bare=,core.hookspath=a"),
            ("[filter \"A.b\"] clean = x", "filter.A.b.clean=x"),
            ("[filter \"a\\\"]\"] clean = x", "filter.a\"].clean=x"),
            ("[core.sub]\nx = y", "core.sub.x=y"),
            ("[broken\n[core]\nx = y", "core.x=y"),
            (
                "[core]\nx = \"never closed\ny = z",
                "core.x=never closed,core.y=z",
            ),
            ("", ""),
        ] {
            let found: Vec<String> = parse(text)
                .iter()
                .map(|one| format!("{}={}", one.key, one.value))
                .collect();
            assert_eq!(found.join(","), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_key_has_two_ends() {
        let setting = |key: &str| Setting {
            key: key.into(),
            value: String::new(),
        };
        assert_eq!(
            setting("filter.a.b.clean").ends(),
            Some(("filter", "clean"))
        );
        assert_eq!(setting("core.editor").ends(), Some(("core", "editor")));
        assert_eq!(setting("core").ends(), None);
    }
}
