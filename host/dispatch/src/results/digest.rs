//! What a result is recognised by: 128 bits that chance does not match.
//!
//! A fast hash, since every long result pays it. Whoever makes two results with the same digest
//! has the second one shown as the first, which they could have written in the first place.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use toolbay_contract::{Blob, Content};
use twox_hash::XxHash3_128;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Digest(u128);

impl Digest {
    pub(super) fn of_content<'a>(blocks: impl IntoIterator<Item = &'a Content>) -> Self {
        let mut hasher = BlockHasher::default();
        for block in blocks {
            hasher.block(block);
        }
        hasher.finish()
    }

    /// Of several parts; where one ends and the next begins matters.
    pub(super) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = BlockHasher::default();
        for part in parts {
            hasher.part(part);
        }
        hasher.finish()
    }

    /// The same content of another call is another thing.
    pub(super) fn in_call(self, call_id: &str) -> Self {
        Self::of_parts(&[call_id.as_bytes(), &self.0.to_be_bytes()])
    }
}

/// Takes blocks one by one, so that no copy of them is needed.
#[derive(Default)]
pub(super) struct BlockHasher(XxHash3_128);

impl BlockHasher {
    pub(super) fn block(&mut self, block: &Content) {
        match block {
            Content::Text(text) => self.text(text),
            Content::Image(blob) => self.blob(b"image", blob),
            Content::Document(blob) => self.blob(b"document", blob),
            Content::Link(link) => {
                self.part(b"link");
                self.part(link.uri.as_bytes());
                self.part(link.name.as_bytes());
                // A missing type is not an empty one.
                self.part(if link.mime.is_some() { b"typed" } else { b"" });
                self.part(link.mime.as_deref().unwrap_or_default().as_bytes());
            }
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.part(b"text");
        self.part(text.as_bytes());
    }

    pub(super) fn finish(self) -> Digest {
        Digest(self.0.finish_128())
    }

    fn blob(&mut self, kind: &[u8], blob: &Blob) {
        self.part(kind);
        self.part(blob.mime.as_bytes());
        self.part(&blob.data);
    }

    fn part(&mut self, part: &[u8]) {
        self.0.write(&(part.len() as u64).to_le_bytes());
        self.0.write(part);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16)
            .map(Self)
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbay_contract::Link;

    #[test]
    fn what_differs_has_another_digest() {
        let text = |text: &str| Content::Text(text.into());
        let blob = |mime: &str, data: &[u8]| Blob {
            mime: mime.into(),
            data: data.into(),
        };
        let link = |uri: &str, name: &str, mime: Option<&str>| {
            Content::Link(Link {
                uri: uri.into(),
                name: name.into(),
                mime: mime.map(str::to_owned),
            })
        };
        let all = [
            vec![],
            vec![text("")],
            vec![text("ab")],
            vec![text("a"), text("b")],
            vec![text("b"), text("a")],
            vec![Content::Image(blob("ab", b""))],
            vec![Content::Image(blob("a", b"b"))],
            vec![Content::Document(blob("a", b"b"))],
            vec![link("ab", "", None)],
            vec![link("a", "b", None)],
            vec![link("a", "b", Some(""))],
            vec![link("a", "b", Some("c"))],
        ];
        for (index, one) in all.iter().enumerate() {
            for other in &all[..index] {
                assert_ne!(
                    Digest::of_content(one),
                    Digest::of_content(other),
                    "{one:?} {other:?}"
                );
            }
        }
        let digest = Digest::of_content(&all[1]);
        assert_ne!(digest.in_call("a"), digest.in_call("A"));
    }

    #[test]
    fn a_digest_survives_being_written() {
        let digest = Digest(0xa1);
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(json.len(), 34);
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        for bad in ["\"\"", "\"xyz\"", "7", "\"-1\""] {
            assert!(serde_json::from_str::<Digest>(bad).is_err(), "{bad}");
        }
    }
}
