//! The text of a result, measured and joined. A link is text too: the model sees it as a
//! line, and a hostile one may be as long as any text.

use std::borrow::Cow;

use toolbay_contract::Content;

/// How much text the blocks hold, one below the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TextSize {
    pub(super) chars: usize,
    pub(super) bytes: usize,
}

impl TextSize {
    pub(super) fn of(content: &[Content]) -> Self {
        Self::without(content, &[])
    }

    /// Without the blocks at these places.
    pub(super) fn without(content: &[Content], places: &[usize]) -> Self {
        let mut size = Self::default();
        for (index, text) in texts(content, places).enumerate() {
            let line_end = usize::from(index > 0);
            size.chars += text.chars().count() + line_end;
            size.bytes += text.len() + line_end;
        }
        size
    }
}

/// All text of a result, one block below the other, without the blocks at these places.
pub(super) fn text_without(content: &[Content], places: &[usize]) -> String {
    let mut whole = String::with_capacity(TextSize::without(content, places).bytes);
    for (index, text) in texts(content, places).enumerate() {
        if index > 0 {
            whole.push('\n');
        }
        whole.push_str(&text);
    }
    whole
}

fn texts<'a>(content: &'a [Content], without: &'a [usize]) -> impl Iterator<Item = Cow<'a, str>> {
    let blocks = content.iter().enumerate();
    let wanted = blocks.filter(|(index, _)| !without.contains(index));
    wanted.filter_map(|(_, block)| match block {
        Content::Text(text) => Some(Cow::Borrowed(text.as_str())),
        Content::Link(link) => Some(Cow::Owned(format!("{}: {}", link.name, link.uri))),
        Content::Image(_) | Content::Document(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbay_contract::{Blob, Link};

    #[test]
    fn texts_and_links_count_as_they_are_joined() {
        let link = Content::Link(Link {
            uri: "u".into(),
            name: "n".into(),
            mime: None,
        });
        let image = Content::Image(Blob {
            mime: "image/png".into(),
            data: vec![0; 9],
        });
        let text = |text: &str| Content::Text(text.into());
        for (content, without, whole) in [
            (vec![], vec![], ""),
            (vec![image.clone()], vec![], ""),
            (
                vec![text("ä"), image.clone(), link.clone()],
                vec![],
                "ä\nn: u",
            ),
            (vec![text("ä"), image, link, text("x")], vec![0, 3], "n: u"),
            (vec![text(""), text(""), text("")], vec![], "\n\n"),
        ] {
            let size = TextSize::without(&content, &without);
            assert_eq!(text_without(&content, &without), whole);
            assert_eq!(
                (size.chars, size.bytes),
                (whole.chars().count(), whole.len())
            );
        }
    }
}
