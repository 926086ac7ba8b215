//! What comes of a call.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    pub mime: String,
    pub data: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub uri: String,
    pub name: String,
    pub mime: Option<String>,
}

/// One block of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text(String),
    Image(Blob),
    Document(Blob),
    Link(Link),
}

impl Content {
    /// The text blocks of a result, one below the other.
    pub fn texts(blocks: &[Self]) -> String {
        let texts: Vec<&str> = blocks
            .iter()
            .filter_map(|block| match block {
                Self::Text(text) => Some(text.as_str()),
                Self::Image(_) | Self::Document(_) | Self::Link(_) => None,
            })
            .collect();
        texts.join("\n")
    }

    /// Bytes that the block holds.
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Image(blob) | Self::Document(blob) => blob.data.len() + blob.mime.len(),
            Self::Link(link) => link.uri.len() + link.name.len(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    System,
}

/// A message to put into the conversation after the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub content: Vec<Content>,
    pub hidden: bool,
}

/// That the session has seen a file, and in which state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSeen {
    pub path: String,
    pub digest: String,
    pub whole: bool,
    pub shown: Option<String>,
}

/// A change that the call asks of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modifier {
    FileSeen(FileSeen),
    WorkingDirectory(String),
    PermissionMode(String),
    AllowRule(String),
    LoadTools(Vec<String>),
    Custom { kind: String, json: String },
}

impl Modifier {
    /// Whether it would widen what the session may do: such a wish counts only
    /// from a tool that the host vouches for.
    pub fn loosens(&self) -> bool {
        match self {
            Self::PermissionMode(_) | Self::AllowRule(_) | Self::WorkingDirectory(_) => true,
            Self::FileSeen(_) | Self::LoadTools(_) | Self::Custom { .. } => false,
        }
    }
}

/// The tool ran. `failed` marks bad news, not a broken tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    pub content: Vec<Content>,
    pub structured: Option<String>,
    pub failed: bool,
    pub modifiers: Vec<Modifier>,
    pub messages: Vec<Message>,
}

impl Outcome {
    /// Bytes in all its parts.
    pub fn size(&self) -> usize {
        let blocks = |content: &[Content]| content.iter().map(Content::size).sum::<usize>();
        blocks(&self.content)
            + self.structured.as_ref().map_or(0, String::len)
            + self
                .messages
                .iter()
                .map(|message| blocks(&message.content))
                .sum::<usize>()
    }

    /// The text blocks, one below the other.
    pub fn text(&self) -> String {
        Content::texts(&self.content)
    }
}
