//! What of a result must be replaced, by its limits. Says what, not how: saving and
//! cutting follow the same plan.

use serde::{Deserialize, Serialize};
use toolbay_contract::{Blob, Content, Keep, ResultLimit};

use super::blocks::TextSize;

/// What one result may show, whatever its tool asks for: some 12,000 tokens.
const RESULT_CHARS: usize = 50_000;
/// What even a tool that manages its own size may show: some 100,000 tokens, more than
/// half of what most models can hold.
const CEILING_BYTES: usize = 400_000;
/// What all results of one message may show together.
pub(crate) const MESSAGE_CHARS: usize = 200_000;
/// Enough to see what kind of text it is.
const PREVIEW_BYTES: usize = 2_000;
/// Images and documents above this are files.
const BLOB_BYTES: usize = 25_000;
/// Images and documents of one result. No honest result has as many; without an end, a
/// result of tiny ones could fill a folder with files.
pub(super) const MOST_BLOBS: usize = 100;
/// No registered media type is nearly as long: what is longer is cargo.
const LONGEST_MIME: usize = 255;
/// Characters that a replacement takes beside its preview: its own words and a path.
const FRAME_CHARS: usize = 400;

/// What is to be replaced in one result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Plan {
    /// All text, or none of it.
    pub(super) text: Option<TextPlan>,
    /// The images and documents, by their place in the result.
    pub(super) blobs: Vec<usize>,
    /// Images and documents from this place on are left out.
    pub(super) surplus_from: Option<usize>,
    /// Texts that stay whatever becomes of the rest: they are the host's own lines.
    pub(super) stays: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct TextPlan {
    /// Bytes to show of a text that could be saved.
    pub(super) preview: usize,
    /// Characters to show of one that could not.
    pub(super) cut: usize,
    /// The part to show, where the tool said so. Logs of sessions that began before
    /// tools could say so have no such word, and get none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) keep: Option<Keep>,
}

impl Plan {
    pub(super) fn for_result(
        content: &[Content],
        size: TextSize,
        limit: ResultLimit,
        keep: Option<Keep>,
    ) -> Self {
        let mut plan = Self {
            text: text_plan(size, limit).map(|text| TextPlan { keep, ..text }),
            ..Self::default()
        };
        let blobs = content
            .iter()
            .enumerate()
            .filter_map(|(index, block)| match block {
                Content::Image(blob) | Content::Document(blob) => Some((index, blob)),
                Content::Text(_) | Content::Link(_) => None,
            });
        for (count, (index, blob)) in blobs.enumerate() {
            if count == MOST_BLOBS {
                plan.surplus_from = Some(index);
                break;
            }
            if becomes_file(blob, limit) {
                plan.blobs.push(index);
            }
        }
        plan
    }

    /// For a result of a message that is too long. With many results each shows less, so
    /// that the message fits in the end.
    pub(super) fn for_message(results: usize) -> Self {
        let share = MESSAGE_CHARS / results.max(1);
        Self {
            text: Some(TextPlan {
                preview: PREVIEW_BYTES.min(share / 2),
                cut: share.max(FRAME_CHARS),
                keep: None,
            }),
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_none() && self.blobs.is_empty() && self.surplus_from.is_none()
    }

    /// Whether a text of this size gets shorter by being replaced.
    pub(super) fn shortens(&self, chars: usize) -> bool {
        self.text
            .is_some_and(|text| chars > text.preview + FRAME_CHARS)
    }
}

fn text_plan(size: TextSize, limit: ResultLimit) -> Option<TextPlan> {
    let most_chars = match limit {
        ResultLimit::Standard => RESULT_CHARS,
        ResultLimit::Chars(own) => RESULT_CHARS.min(usize::try_from(own).unwrap_or(usize::MAX)),
        ResultLimit::SelfManaged => {
            return (size.bytes > CEILING_BYTES).then_some(TextPlan {
                preview: PREVIEW_BYTES,
                // So many characters fit in any script.
                cut: CEILING_BYTES / 4,
                keep: None,
            });
        }
    };
    (size.chars > most_chars).then_some(TextPlan {
        preview: PREVIEW_BYTES.min(most_chars),
        cut: most_chars,
        keep: None,
    })
}

fn becomes_file(blob: &Blob, limit: ResultLimit) -> bool {
    let too_large = match limit {
        ResultLimit::Standard | ResultLimit::Chars(_) => blob.data.len() > BLOB_BYTES,
        ResultLimit::SelfManaged => false,
    };
    too_large || blob.mime.len() > LONGEST_MIME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_holds_and_the_ceiling_for_all() {
        use ResultLimit::{Chars, SelfManaged, Standard};
        for (limit, letter, count, is_over) in [
            (Standard, "x", 50_000, false),
            (Standard, "x", 50_001, true),
            (Standard, "€", 50_000, false),
            (Standard, "€", 50_001, true),
            (Chars(10), "€", 10, false),
            (Chars(10), "€", 11, true),
            (Chars(0), "", 0, false),
            (Chars(0), "x", 1, true),
            (Chars(u32::MAX), "x", 50_001, true),
            (SelfManaged, "x", 400_000, false),
            (SelfManaged, "x", 400_001, true),
            (SelfManaged, "€", 133_333, false),
            (SelfManaged, "€", 133_334, true),
        ] {
            let content = [Content::Text(letter.repeat(count))];
            let plan = Plan::for_result(&content, TextSize::of(&content), limit, None);
            assert_eq!(plan.text.is_some(), is_over, "{limit:?} {letter} {count}");
        }
    }

    #[test]
    fn blobs_become_files_by_size_count_and_honesty() {
        let blob = |mime: &str, bytes: usize| {
            Content::Image(Blob {
                mime: mime.into(),
                data: vec![0; bytes],
            })
        };
        let long = "x".repeat(300);
        for (content, limit, blobs, surplus_from) in [
            (vec![blob("a", 25_000)], ResultLimit::Standard, vec![], None),
            (
                vec![blob("a", 1), blob("a", 25_001)],
                ResultLimit::Standard,
                vec![1],
                None,
            ),
            (
                vec![blob("a", 25_001)],
                ResultLimit::Chars(9),
                vec![0],
                None,
            ),
            (
                vec![blob("a", 90_000)],
                ResultLimit::SelfManaged,
                vec![],
                None,
            ),
            (
                vec![blob(&long, 1)],
                ResultLimit::SelfManaged,
                vec![0],
                None,
            ),
            (
                vec![blob("a", 1); 101],
                ResultLimit::SelfManaged,
                vec![],
                Some(100),
            ),
        ] {
            let plan = Plan::for_result(&content, TextSize::of(&content), limit, None);
            assert_eq!((plan.blobs, plan.surplus_from), (blobs, surplus_from));
        }
    }

    #[test]
    fn many_results_show_less_each() {
        for (results, preview, cut) in [
            (0, 2_000, 200_000),
            (10, 2_000, 20_000),
            (100, 1_000, 2_000),
            (10_000, 10, 400),
        ] {
            let plan = Plan::for_message(results);
            let wanted = TextPlan {
                preview,
                cut,
                keep: None,
            };
            assert_eq!(plan.text, Some(wanted), "{results}");
        }
    }
}
