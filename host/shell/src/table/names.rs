//! Words that are no more than a name, and lists of words that may stand somewhere.

/// The name of a package, a branch, a pod: no address, no path that leads far, no setting.
pub(super) fn is_name(text: &str) -> bool {
    let may_begin = |first: char| first.is_ascii_alphanumeric() || "_@".contains(first);
    let may_follow = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+/".contains(&byte);
    text.starts_with(may_begin)
        && text.bytes().all(may_follow)
        && text.bytes().filter(|byte| *byte == b'/').count() <= 1
        && !text.contains("..")
}

/// Words, and beginnings of words that end in `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn parse(text: &str) -> Self {
        Self(text.split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// None if one of them is empty.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let words: Vec<String> = words.map(str::to_owned).collect();
        (!words.iter().any(String::is_empty)).then_some(Self(words))
    }

    /// Whether a word is among them. It may not climb out of where it begins.
    pub(super) fn hold(&self, text: &str) -> bool {
        self.0.iter().any(|word| match word.strip_suffix('*') {
            Some(beginning) => text.starts_with(beginning) && !climbs(text),
            None => word == text,
        })
    }
}

fn climbs(text: &str) -> bool {
    text.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_address_and_no_path() {
        for name in [
            "react",
            "react@18",
            "@types/node",
            "feature/x",
            "v1.2.3",
            "libc++6",
            "a_b",
        ] {
            assert!(is_name(name), "{name}");
        }
        for other in [
            "",
            "-x",
            "./x",
            "/x",
            "../x",
            "a/../b",
            "https://x",
            "host:x",
            "x=y",
            "a/b/c",
            ".",
            "a b",
            "file:x",
            "git@host:x",
            "x*",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn listed_words_are_held() {
        let words = Words::parse("all ./* https://github.com/*");
        for held in ["all", "./...", "./cmd/...", "https://github.com/o/r"] {
            assert!(words.hold(held), "{held}");
        }
        for other in [
            "al",
            "./../x",
            "./a/../../x",
            "https://github.com.evil/x",
            "..",
        ] {
            assert!(!words.hold(other), "{other}");
        }
    }
}
