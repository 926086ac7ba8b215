//! A decision about one result: what the model sees in its place. It is written down
//! before it is used, and it gives the same bytes whenever it is applied.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use toolbay_contract::{Blob, Content};

use super::blocks::text_without;
use super::digest::{BlockHasher, Digest};
use super::names::is_plain_name;
use super::plan::{MOST_BLOBS, Plan};
use super::wording;

/// A line for each image, one for those left out, and one for the text.
const MOST_STAYING: usize = MOST_BLOBS + 2;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Decision {
    Replaced {
        blocks: Vec<Piece>,
        /// The file with the whole text, else the first of the files.
        file: Option<String>,
        /// The earlier call that gave the same result.
        repeats: Option<String>,
    },
    /// Nothing could be saved. Kept as its cause, not as its text, which may be long.
    Cut { plan: Plan, reason: String },
}

/// One block of what is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Piece {
    Text(String),
    /// The block at this place of the original, which is at hand whenever it is needed.
    Same(usize),
}

impl Decision {
    pub(super) fn repeats(earlier_call: String) -> Self {
        Self::Replaced {
            blocks: vec![Piece::Text(wording::repeated(&earlier_call))],
            file: None,
            repeats: Some(earlier_call),
        }
    }

    /// Whether this could have been decided about such a result. A log is a file, and a
    /// file may hold anything.
    pub(super) fn suits(&self, content: &[Content]) -> bool {
        match self {
            Self::Replaced { blocks, file, .. } => {
                let mut places = blocks.iter().filter_map(|piece| match piece {
                    Piece::Same(at) => Some(*at),
                    Piece::Text(_) => None,
                });
                places.clone().is_sorted_by(|one, next| one < next)
                    && places.next_back().is_none_or(|last| last < content.len())
                    && file.as_deref().is_none_or(is_plain_name)
            }
            Self::Cut { plan, .. } => {
                plan.blobs.len() <= MOST_BLOBS && plan.stays.len() <= MOST_STAYING
            }
        }
    }

    /// The places of the blocks that the host wrote, in what is shown.
    pub(super) fn own_blocks(&self) -> Vec<usize> {
        match self {
            Self::Replaced { blocks, .. } => {
                let pieces = blocks.iter().enumerate();
                pieces
                    .filter(|(_, piece)| matches!(piece, Piece::Text(_)))
                    .map(|(place, _)| place)
                    .take(MOST_STAYING)
                    .collect()
            }
            // Before anybody sees it, a cut text may be cut again.
            Self::Cut { .. } => Vec::new(),
        }
    }

    /// What is shown of a result.
    pub(super) fn apply(&self, content: Vec<Content>) -> Vec<Content> {
        let pieces = self.pieces(&content).into_owned();
        let mut blocks: Vec<Option<Content>> = content.into_iter().map(Some).collect();
        pieces
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Text(text) => Some(Content::Text(text)),
                Piece::Same(at) => blocks.get_mut(at).and_then(Option::take),
            })
            .collect()
    }

    /// What the shown blocks will be recognised by.
    pub(super) fn shown(&self, content: &[Content]) -> Digest {
        let mut hasher = BlockHasher::default();
        for piece in self.pieces(content).iter() {
            match piece {
                Piece::Text(text) => hasher.text(text),
                Piece::Same(at) => content.get(*at).into_iter().for_each(|b| hasher.block(b)),
            }
        }
        hasher.finish()
    }

    fn pieces(&self, content: &[Content]) -> Cow<'_, [Piece]> {
        match self {
            Self::Replaced { blocks, .. } => Cow::Borrowed(blocks),
            Self::Cut { plan, reason } => {
                let text = plan.text.map(|text| {
                    let whole = text_without(content, &plan.stays);
                    wording::cut(whole, text.cut, reason, text.keep)
                });
                Cow::Owned(assemble(content, plan, text, |_, kind, blob| {
                    wording::lost_blob(kind, blob, reason)
                }))
            }
        }
    }
}

/// Puts a result together as planned. `text` stands for all text, where the first of it
/// was; `line` stands for an image or document, by its place.
pub(super) fn assemble(
    content: &[Content],
    plan: &Plan,
    text: Option<String>,
    line: impl Fn(usize, &str, &Blob) -> String,
) -> Vec<Piece> {
    let replaces_text = text.is_some();
    let mut text = text;
    let mut surplus = 0;
    let mut pieces = Vec::new();
    for (index, block) in content.iter().enumerate() {
        match wording::blob_of(block) {
            None if replaces_text && !plan.stays.contains(&index) => {
                pieces.extend(text.take().map(Piece::Text))
            }
            Some(_) if plan.surplus_from.is_some_and(|from| index >= from) => surplus += 1,
            Some((kind, blob)) if plan.blobs.contains(&index) => {
                pieces.push(Piece::Text(line(index, kind, blob)));
            }
            None | Some(_) => pieces.push(Piece::Same(index)),
        }
    }
    if surplus > 0 {
        pieces.push(Piece::Text(wording::surplus_blobs(surplus, MOST_BLOBS)));
    }
    pieces
}

#[cfg(test)]
mod tests;
