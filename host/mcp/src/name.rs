//! `mcp__server__tool`: one name for each tool of each server, and back.
//!
//! Rules name a server or a tool by these words, so two servers must never share one.
//! A part that cannot stay as it is ends in `--` and a hash of what it was; a part that
//! only looks so is hashed as well. The server's part never depends on the tool.

/// What models accept as the name of a tool.
const MOST: usize = 64;
const MOST_OF_SERVER: usize = 28;
const PREFIX: &str = "mcp__";
const HASH: usize = 8;

/// A tool's name, made of its server's part and its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolName {
    server: String,
    tool: String,
}

impl ToolName {
    /// `None` when one of the two is empty.
    pub fn new(server: &str, tool: &str) -> Option<Self> {
        if server.is_empty() || tool.is_empty() {
            return None;
        }
        let server = part(server, MOST_OF_SERVER, can_be_server);
        let room = MOST - PREFIX.len() - "__".len() - server.len();
        let tool = part(tool, room, |_| true);
        Some(Self { server, tool })
    }

    /// Reads a name that `new` could have made.
    pub fn parse(text: &str) -> Option<Self> {
        let (server, tool) = text.strip_prefix(PREFIX)?.split_once("__")?;
        let fits = text.len() <= MOST && server.len() <= MOST_OF_SERVER && !tool.is_empty();
        (fits && text.chars().all(is_plain) && can_be_server(server)).then(|| Self {
            server: server.into(),
            tool: tool.into(),
        })
    }

    /// The server's part, for rules about all of its tools.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool's part.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl std::fmt::Display for ToolName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{PREFIX}{}__{}", self.server, self.tool)
    }
}

/// The part as it was, or a plain stem with a hash of it.
fn part(text: &str, most: usize, fits: impl Fn(&str) -> bool) -> String {
    let plain = text.chars().all(is_plain) && !looks_hashed(text);
    if plain && text.len() <= most && fits(text) {
        return text.into();
    }
    let mut stem = String::new();
    for character in text.chars().take(most - HASH - 2) {
        match character {
            plain if is_plain(plain) && plain != '_' => stem.push(plain),
            _ if stem.is_empty() || stem.ends_with('_') => {}
            _ => stem.push('_'),
        }
    }
    format!("{stem}--{:08x}", hash(text))
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

/// Otherwise the `__` between the parts could be found elsewhere.
fn can_be_server(text: &str) -> bool {
    !text.is_empty() && !text.contains("__") && !text.starts_with('_') && !text.ends_with('_')
}

fn looks_hashed(text: &str) -> bool {
    text.rsplit_once("--")
        .is_some_and(|(_, end)| end.len() == HASH && end.chars().all(|c| c.is_ascii_hexdigit()))
}

/// FNV-1a, folded. It keeps honest names apart; two tools of one server that collide
/// on purpose only hide each other.
fn hash(text: &str) -> u32 {
    let wide = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    (wide ^ (wide >> 32)) as u32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn plain_names_stay_as_they_are() {
        for (server, tool, wanted) in [
            ("git", "log", "mcp__git__log"),
            ("a-b_c", "_x__y_", "mcp__a-b_c___x__y_"),
        ] {
            assert_eq!(ToolName::new(server, tool).unwrap().to_string(), wanted);
        }
        assert_eq!(ToolName::new("", "x").or(ToolName::new("x", "")), None);
    }

    #[test]
    fn odd_names_differ_fit_and_come_back() {
        let long = "x".repeat(100);
        let hashed = ToolName::new("a b", "t").unwrap().server().to_string();
        let odd = [
            "a",
            "a_b",
            "a b",
            "a__b",
            "_a",
            "a_",
            "日本",
            "日本語",
            "\0",
            &long,
            &hashed,
        ];
        let mut seen = HashSet::new();
        for server in odd {
            for tool in odd {
                let name = ToolName::new(server, tool).unwrap();
                let text = name.to_string();
                assert!(text.len() <= MOST, "{text}");
                assert_eq!(ToolName::parse(&text), Some(name), "{text}");
                assert!(seen.insert(text), "{server:?} {tool:?}");
            }
        }
    }

    #[test]
    fn other_texts_are_no_names() {
        let long = format!("mcp__a__{}", "x".repeat(MOST));
        for text in [
            "",
            "Read",
            "mcp__a",
            "mcp__a__",
            "mcp____b",
            "mcp__a__b c",
            &long,
        ] {
            assert_eq!(ToolName::parse(text), None, "{text}");
        }
    }
}
