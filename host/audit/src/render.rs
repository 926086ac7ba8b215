//! Records as lines for people.

use toolbay_contract::Behavior;

use crate::record::{Chain, Record};

/// A line shows so much of an input; the rest is there for programs.
const LONGEST_SHOWN: usize = 160;

/// One record as one line. Whatever a tool put into a text stays text.
pub fn render(record: &Record) -> String {
    let what = &record.what;
    let mut parts = vec![
        format!("{:>6}", record.seq),
        record.time.clone(),
        format!("{:<9}", record.kind.word()),
    ];
    parts.extend(what.decision.map(|ruling| {
        let word = match ruling {
            Behavior::Allow => "allow",
            Behavior::Ask => "ask",
            Behavior::Deny => "deny",
        };
        word.to_owned()
    }));
    parts.extend(what.class.clone());
    parts.extend(what.tool.clone());
    let labelled = [
        ("call", &what.call),
        ("run by", &what.caller),
        ("power", &what.power),
        ("path", &what.path),
        ("dropped", &what.modifier),
        ("by", &what.by),
        ("rule", &what.rule),
        ("from", &what.source),
    ];
    for (label, value) in labelled {
        parts.extend(value.as_ref().map(|value| format!("{label} {value}")));
    }
    for subject in &what.subjects {
        parts.push(format!("{} {}", subject.kind, shortened(&subject.text)));
    }
    if what.subjects.is_empty() {
        parts.extend(what.input.as_deref().map(shortened));
    }
    let numbers = [("in", what.bytes_in), ("out", what.bytes_out)];
    for (label, bytes) in numbers {
        parts.extend(bytes.map(|bytes| format!("{bytes} B {label}")));
    }
    parts.extend(
        what.micros
            .map(|micros| format!("{}.{:03} ms", micros / 1000, micros % 1000)),
    );
    parts.extend(what.reason.as_ref().map(|reason| format!("({reason})")));
    parts.extend(what.chain.as_deref().and_then(chain));
    parts.push(format!("[{}]", record.session));
    parts
        .iter()
        .map(|part| harmless(part))
        .collect::<Vec<_>>()
        .join("  ")
}

/// What the chain says about itself, in words.
fn chain(chain: &Chain) -> Option<String> {
    let mut words = Vec::new();
    words.extend(chain.file.clone());
    words.extend(chain.last_seq.map(|seq| format!("up to {seq}")));
    let torn = chain.torn.as_ref();
    words.extend(torn.map(|torn| format!("{} bytes of a torn line", torn.bytes)));
    let missing = chain.missing.as_ref();
    words.extend(missing.map(|missing| format!("{} to {} are missing", missing.from, missing.to)));
    if chain.head_lost {
        words.push("the head was lost".into());
    }
    if chain.anchored {
        words.push("its end is noted outside of its folder from here on".into());
    }
    words.extend(chain.lost.map(|lost| format!("{lost} events lost")));
    words.extend(chain.since.as_ref().map(|since| format!("since {since}")));
    (!words.is_empty()).then(|| words.join(", "))
}

fn shortened(text: &str) -> String {
    let kept = text.floor_char_boundary(LONGEST_SHOWN);
    if kept == text.len() {
        return text.to_owned();
    }
    format!("{}…", &text[..kept])
}

/// The text with everything escaped that could move a cursor, start another line, or make
/// text read in another order than it stands.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let hides = matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}');
        if c.is_control() || hides {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Actor, Kind, What};

    #[test]
    fn a_record_is_one_line_whatever_is_in_it() {
        let record = Record {
            seq: 12,
            kind: Kind::Decision,
            time: "2026-01-02T03:04:05.678Z".into(),
            session: "s\n1".into(),
            actor: Actor::default(),
            what: What {
                tool: Some("T\u{1b}[31m".into()),
                decision: Some(Behavior::Deny),
                rule: Some("T(x:*)".into()),
                source: Some("user settings.json:4".into()),
                reason: Some("a\r\u{202e}b\u{9b}".into()),
                micros: Some(1_050),
                ..What::default()
            },
            prev: String::new(),
            hash: String::new(),
        };
        assert_eq!(
            render(&record),
            "    12  2026-01-02T03:04:05.678Z  decision   deny  T\\u{1b}[31m  rule T(x:*)  \
             from user settings.json:4  1.050 ms  (a\\r\\u{202e}b\\u{9b})  [s\\n1]"
        );
    }
}
