//! What the bytes of a string mean, and how wide they are drawn.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Encoding, Object};

/// What the table of a font's characters may unpack to; real ones have some
/// kilobytes.
const TABLE_BYTES: usize = 1024 * 1024;
/// Width, in thousandths of the size, where a font does not tell.
const USUAL_WIDTH: f32 = 500.0;

pub struct Font<'a> {
    /// The font's own table from codes to characters.
    table: Option<Encoding<'static>>,
    encoding: Option<Encoding<'a>>,
    widths: Widths,
}

enum Widths {
    /// One byte a character, counted from a first code.
    Narrow {
        first: i64,
        widths: Vec<f32>,
    },
    /// Two bytes a character.
    Wide {
        widths: BTreeMap<u16, f32>,
        usual: f32,
    },
    Unknown,
}

impl<'a> Font<'a> {
    pub fn of(font: &'a Dictionary, document: &'a Document) -> Self {
        let subtype = font.get(b"Subtype").and_then(Object::as_name).ok();
        let wide = subtype == Some(b"Type0");
        let encoding = font
            .get_font_encoding_with_limit(document, TABLE_BYTES)
            .ok()
            // Without a table of its own a wide font's codes are glyph numbers,
            // and what the library falls back to would be nonsense.
            .filter(|encoding| !wide || matches!(encoding, Encoding::SimpleEncoding(_)));
        let widths = if wide {
            wide_widths(font, document)
        } else if subtype == Some(b"Type3") {
            // Measured in a space of the font's own.
            None
        } else {
            narrow_widths(font, document)
        };
        Self {
            table: table(font, document),
            encoding,
            widths: widths.unwrap_or(Widths::Unknown),
        }
    }

    pub fn knows_widths(&self) -> bool {
        !matches!(self.widths, Widths::Unknown)
    }

    /// The characters of a string, `None` when the font does not tell.
    pub fn decode(&self, bytes: &[u8]) -> Option<String> {
        let by_table = self
            .table
            .as_ref()
            .and_then(|table| table.bytes_to_string(bytes).ok());
        match (by_table, &self.encoding) {
            // Tables may leave out characters whose code says it all.
            (Some(text), Some(encoding)) if text.contains('\u{fffd}') => {
                Some(by_encoding(encoding, bytes).unwrap_or(text))
            }
            (Some(text), _) => Some(text),
            (None, Some(encoding)) => by_encoding(encoding, bytes),
            (None, None) => None,
        }
    }

    /// Width in thousandths of the size, and the number of characters and of spaces.
    pub fn measure(&self, bytes: &[u8]) -> (f32, usize, usize) {
        let spaces = || bytes.iter().filter(|byte| **byte == b' ').count();
        match &self.widths {
            Widths::Narrow { first, widths } => {
                let width = |byte: &u8| {
                    usize::try_from(i64::from(*byte) - first)
                        .ok()
                        .and_then(|index| widths.get(index))
                        .copied()
                        .unwrap_or(USUAL_WIDTH)
                };
                (bytes.iter().map(width).sum(), bytes.len(), spaces())
            }
            Widths::Wide { widths, usual } => {
                let (codes, _) = bytes.as_chunks::<2>();
                let width = |code: &[u8; 2]| {
                    widths
                        .get(&u16::from_be_bytes(*code))
                        .copied()
                        .unwrap_or(*usual)
                };
                (codes.iter().map(width).sum(), codes.len(), 0)
            }
            Widths::Unknown => (bytes.len() as f32 * USUAL_WIDTH, bytes.len(), spaces()),
        }
    }
}

fn by_encoding(encoding: &Encoding<'_>, bytes: &[u8]) -> Option<String> {
    if let Encoding::SimpleEncoding(name) = encoding
        && (contains(name, b"UCS2") || contains(name, b"UTF16"))
    {
        let (pairs, _) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
        return Some(String::from_utf16_lossy(&units));
    }
    encoding.bytes_to_string(bytes).ok()
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(name, part).is_some()
}

/// The `ToUnicode` table alone: the library consults it only for fonts without
/// an encoding, though it is the better source wherever it exists.
fn table(font: &Dictionary, document: &Document) -> Option<Encoding<'static>> {
    let mut bare = Dictionary::new();
    bare.set("Type", Object::Name(b"Font".to_vec()));
    bare.set("ToUnicode", font.get(b"ToUnicode").ok()?.clone());
    match bare.get_font_encoding_with_limit(document, TABLE_BYTES) {
        Ok(Encoding::UnicodeMapEncoding(map)) => Some(Encoding::UnicodeMapEncoding(map)),
        Ok(_) | Err(_) => None,
    }
}

fn narrow_widths(font: &Dictionary, document: &Document) -> Option<Widths> {
    let first = font.get_deref(b"FirstChar", document).ok()?.as_i64().ok()?;
    let widths = font.get_deref(b"Widths", document).ok()?.as_array().ok()?;
    let widths = widths
        .iter()
        .take(256)
        .map(|width| number(width, document).unwrap_or(USUAL_WIDTH))
        .collect();
    Some(Widths::Narrow { first, widths })
}

fn wide_widths(font: &Dictionary, document: &Document) -> Option<Widths> {
    let descendants = font
        .get_deref(b"DescendantFonts", document)
        .ok()?
        .as_array()
        .ok()?;
    let (_, descendant) = document.dereference(descendants.first()?).ok()?;
    let descendant = descendant.as_dict().ok()?;
    let usual = descendant
        .get_deref(b"DW", document)
        .ok()
        .and_then(|width| number(width, document))
        .unwrap_or(1000.0);
    let mut widths = BTreeMap::new();
    let mut room = 2 * usize::from(u16::MAX);
    let entries = descendant
        .get_deref(b"W", document)
        .and_then(Object::as_array);
    let mut rest = entries.map_or(&[][..], Vec::as_slice);
    // Either `first [width width …]` or `first last width`.
    while let [first, second, after @ ..] = rest {
        let Some(first) = code(first, document) else {
            break;
        };
        let (_, second) = document.dereference(second).ok()?;
        if let Ok(list) = second.as_array() {
            for (code, width) in (first..=u16::MAX).zip(list) {
                widths.insert(code, number(width, document).unwrap_or(usual));
            }
            rest = after;
        } else {
            let (Some(last), [width, after @ ..]) = (code(second, document), after) else {
                break;
            };
            let width = number(width, document).unwrap_or(usual);
            // Ranges that overlap again and again would be work without end.
            let range = usize::from(last.saturating_sub(first)) + 1;
            let Some(left) = room.checked_sub(range) else {
                break;
            };
            room = left;
            widths.extend((first..=last).map(|code| (code, width)));
            rest = after;
        }
    }
    Some(Widths::Wide { widths, usual })
}

fn number(object: &Object, document: &Document) -> Option<f32> {
    let (_, object) = document.dereference(object).ok()?;
    object.as_float().ok()
}

fn code(object: &Object, document: &Document) -> Option<u16> {
    let (_, object) = document.dereference(object).ok()?;
    u16::try_from(object.as_i64().ok()?).ok()
}
