//! Bytes to text and back, without losing one byte.
//!
//! Only encodings whose round trip is exact are read: everything that is not
//! touched must come out as it went in.

/// How a text file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16LittleEndian,
    Utf16BigEndian,
}

impl Encoding {
    const fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b"",
            Self::Utf8WithMark => b"\xEF\xBB\xBF",
            Self::Utf16LittleEndian => b"\xFF\xFE",
            Self::Utf16BigEndian => b"\xFE\xFF",
        }
    }
}

/// The text of a file and how it was stored; `None` when it is not text.
pub fn decode(bytes: &[u8]) -> Option<(Encoding, String)> {
    let encoding = [
        Encoding::Utf8WithMark,
        Encoding::Utf16LittleEndian,
        Encoding::Utf16BigEndian,
    ]
    .into_iter()
    .find(|encoding| bytes.starts_with(encoding.mark()))
    .unwrap_or(Encoding::Utf8);
    let body = &bytes[encoding.mark().len()..];
    let text = match encoding {
        Encoding::Utf8 | Encoding::Utf8WithMark => String::from_utf8(body.to_vec()).ok()?,
        Encoding::Utf16LittleEndian => utf16(body, u16::from_le_bytes)?,
        Encoding::Utf16BigEndian => utf16(body, u16::from_be_bytes)?,
    };
    Some((encoding, text))
}

/// The bytes of a text, with the mark that its encoding has.
pub fn encode(encoding: Encoding, text: &str) -> Vec<u8> {
    let mut bytes = encoding.mark().to_vec();
    match encoding {
        Encoding::Utf8 | Encoding::Utf8WithMark => bytes.extend_from_slice(text.as_bytes()),
        Encoding::Utf16LittleEndian => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16BigEndian => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
    }
    bytes
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_the_round_trip_byte_for_byte() {
        for (bytes, encoding, text) in [
            (&b"a\r\n\xC3\xA9"[..], Encoding::Utf8, "a\r\n\u{e9}"),
            (b"", Encoding::Utf8, ""),
            (b"\xEF\xBB\xBFa", Encoding::Utf8WithMark, "a"),
            (
                b"\xEF\xBB\xBF\xEF\xBB\xBFa",
                Encoding::Utf8WithMark,
                "\u{feff}a",
            ),
            (
                b"\xFF\xFEa\0\x3D\xD8\x00\xDE",
                Encoding::Utf16LittleEndian,
                "a\u{1F600}",
            ),
            (
                b"\xFE\xFF\0a\xD8\x3D\xDE\x00",
                Encoding::Utf16BigEndian,
                "a\u{1F600}",
            ),
        ] {
            assert_eq!(decode(bytes), Some((encoding, text.into())), "{bytes:?}");
            assert_eq!(encode(encoding, text), bytes, "{text:?}");
        }
    }

    #[test]
    fn what_could_not_be_written_back_exactly_is_not_text() {
        for bytes in [
            &b"\x89PNG\xFF\x00"[..],
            b"caf\xE9",
            b"\xFF\xFEa",
            b"\xFF\xFE\x3D\xD8a\0",
        ] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
