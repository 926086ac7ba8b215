//! Writes [`Info`] as JSON while the tool is being compiled.
//!
//! Only `const fn`s, so no serde: a counting pass sizes the array, a writing
//! pass fills it, and both are the same code.

use crate::info::{Info, Keep, OnError, OnInterrupt, ResultLimit, Schema, SubjectKind};

/// Bytes that [`encode`] will write; 0 when the schema exists only at run time.
pub const fn encoded_len(info: &Info) -> usize {
    match info.input_schema {
        Schema::Text(_) => write(info, Sink::<0>::counting()).at,
        Schema::Typed(_) => 0,
    }
}

/// The section's content. `N` is what [`encoded_len`] says.
pub const fn encode<const N: usize>(info: &Info) -> [u8; N] {
    if N == 0 {
        return [0; N];
    }
    write(info, Sink::<N>::writing()).bytes
}

#[derive(Clone, Copy)]
struct Sink<const N: usize> {
    bytes: [u8; N],
    at: usize,
    counting: bool,
}

impl<const N: usize> Sink<N> {
    const fn counting() -> Self {
        Self {
            bytes: [0; N],
            at: 0,
            counting: true,
        }
    }

    const fn writing() -> Self {
        Self {
            bytes: [0; N],
            at: 0,
            counting: false,
        }
    }

    const fn byte(mut self, byte: u8) -> Self {
        if !self.counting {
            self.bytes[self.at] = byte;
        }
        self.at += 1;
        self
    }

    const fn raw(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self = self.byte(bytes[i]);
            i += 1;
        }
        self
    }

    /// A JSON string, with what JSON wants escaped.
    const fn string(mut self, text: &str) -> Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let bytes = text.as_bytes();
        self = self.byte(b'"');
        let mut i = 0;
        while i < bytes.len() {
            let byte = bytes[i];
            self = match byte {
                b'"' | b'\\' => self.byte(b'\\').byte(byte),
                0..=0x1f => self
                    .raw("\\u00")
                    .byte(HEX[(byte >> 4) as usize])
                    .byte(HEX[(byte & 15) as usize]),
                _ => self.byte(byte),
            };
            i += 1;
        }
        self.byte(b'"')
    }

    const fn pair(self, key: &str, value: &str) -> Self {
        self.byte(b'[')
            .string(key)
            .byte(b',')
            .string(value)
            .byte(b']')
    }

    const fn number(self, number: u32) -> Self {
        let rest = if number >= 10 {
            self.number(number / 10)
        } else {
            self
        };
        rest.byte(b'0' + (number % 10) as u8)
    }

    const fn optional(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.string(text),
            None => self.raw("null"),
        }
    }
}

const fn write<const N: usize>(info: &Info, sink: Sink<N>) -> Sink<N> {
    let mut sink = sink.raw("{\"name\":").string(info.name);
    sink = sink.raw(",\"aliases\":[");
    let mut i = 0;
    while i < info.aliases.len() {
        if i > 0 {
            sink = sink.byte(b',');
        }
        sink = sink.string(info.aliases[i]);
        i += 1;
    }
    sink = sink.raw("],\"summary\":").string(info.summary);
    sink = sink
        .raw(",\"input-schema\":")
        .string(match info.input_schema {
            Schema::Text(text) => text,
            Schema::Typed(_) => "",
        });
    sink = sink
        .raw(",\"output-schema\":")
        .optional(info.output_schema)
        .raw(",\"subjects\":[");
    i = 0;
    while i < info.subjects.len() {
        if i > 0 {
            sink = sink.byte(b',');
        }
        let (kind, pointer) = info.subjects[i];
        sink = sink
            .raw("{\"kind\":\"")
            .raw(match kind {
                SubjectKind::Command => "command",
                SubjectKind::Path => "path",
                SubjectKind::Url => "url",
                SubjectKind::Text => "text",
            })
            .raw("\",\"pointer\":")
            .string(pointer)
            .byte(b'}');
        i += 1;
    }
    sink = sink.raw("],\"limit\":");
    sink = match info.limit {
        ResultLimit::Standard => sink.raw("\"standard\""),
        ResultLimit::Chars(chars) => sink.raw("{\"chars\":").number(chars).byte(b'}'),
        ResultLimit::SelfManaged => sink.raw("\"self-managed\""),
    };
    sink = sink
        .raw(",\"interrupt\":\"")
        .raw(match info.interrupt {
            OnInterrupt::Finish => "finish",
            OnInterrupt::Cancel => "cancel",
        })
        .raw("\",\"error\":\"")
        .raw(match info.error {
            OnError::Isolate => "isolate",
            OnError::CancelSiblings => "cancel-siblings",
        })
        .raw("\",\"deferred\":")
        .raw(if info.deferred { "true" } else { "false" })
        .raw(",\"search-hint\":")
        .optional(info.search_hint)
        .raw(",\"annotations\":[");
    i = 0;
    while i < info.annotations.len() {
        if i > 0 {
            sink = sink.byte(b',');
        }
        let (key, value) = info.annotations[i];
        sink = sink.pair(key, value);
        i += 1;
    }
    if let Some(keep) = info.keep {
        if i > 0 {
            sink = sink.byte(b',');
        }
        sink = sink.pair(Keep::KEY, keep.word());
    }
    sink.raw("]}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: Info = Info::new("Na\"me", "line\none \u{1}")
        .aliases(&["A", "B\\"])
        .schema(r#"{"type":"object","x":"é"}"#)
        .subjects(&[(SubjectKind::Path, "/file_path"), (SubjectKind::Url, "/u")])
        .limit(ResultLimit::Chars(20_000))
        .deferred("some words")
        .annotations(&[("k", "v")])
        .keep(Keep::End);
    const LEN: usize = encoded_len(&INFO);
    static BYTES: [u8; LEN] = encode(&INFO);

    #[test]
    fn section_is_the_json_of_the_info() {
        let json: serde_json::Value = serde_json::from_slice(&BYTES).expect("valid JSON");
        assert_eq!(
            json,
            serde_json::json!({
                "name": "Na\"me", "aliases": ["A", "B\\"], "summary": "line\none \u{1}",
                "input-schema": "{\"type\":\"object\",\"x\":\"é\"}", "output-schema": null,
                "subjects": [{"kind": "path", "pointer": "/file_path"}, {"kind": "url", "pointer": "/u"}],
                "limit": {"chars": 20000}, "interrupt": "finish", "error": "isolate",
                "deferred": true, "search-hint": "some words", "annotations": [["k", "v"], ["keep", "end"]],
            })
        );
    }

    #[test]
    fn an_annotation_of_its_own_needs_no_other() {
        const ALONE: Info = Info::new("A", "a").keep(Keep::Both);
        let bytes: [u8; encoded_len(&ALONE)] = encode(&ALONE);
        let json: serde_json::Value = serde_json::from_slice(&bytes).expect("valid JSON");
        assert_eq!(json["annotations"], serde_json::json!([["keep", "both"]]));
    }

    #[cfg(feature = "typed")]
    #[test]
    fn a_typed_schema_leaves_no_section() {
        const TYPED: Info = Info::new("T", "t").schema_of::<String>();
        assert_eq!(encoded_len(&TYPED), 0);
    }
}
