//! What a line says: who, what, when, and what the chain says about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolbay_contract::{About, AuditEvent, Behavior};

use crate::redact::bounded;

/// Shown whole this fits a few screens; a longer input is a file's content, of which the
/// path stands among the subjects.
const LONGEST_INPUT: usize = 4096;
/// Reasons, rules, paths, commands.
const LONGEST_TEXT: usize = 1024;
/// Names and ids. Tools choose theirs, so they are bounded too.
const LONGEST_NAME: usize = 256;
const MOST_SUBJECTS: usize = 16;
const MOST_LIMITS: usize = 32;

/// Kinds of lines. The last five are the chain's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Something was decided about a call.
    Decision,
    /// A call ended.
    Call,
    /// A component tried what its call was not granted.
    Refusal,
    /// A component broke or was ended.
    Ended,
    /// A wish was dropped.
    Dropped,
    /// The first line of a log.
    Begun,
    /// The first line of a further file.
    Rotated,
    /// An old file is removed.
    Pruned,
    /// The end of the log was not as its last writer should have left it.
    Recovered,
    /// Events were not written.
    Lost,
}

impl Kind {
    pub const ALL: [Self; 10] = [
        Self::Decision,
        Self::Call,
        Self::Refusal,
        Self::Ended,
        Self::Dropped,
        Self::Begun,
        Self::Rotated,
        Self::Pruned,
        Self::Recovered,
        Self::Lost,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Call => "call",
            Self::Refusal => "refusal",
            Self::Ended => "ended",
            Self::Dropped => "dropped",
            Self::Begun => "begun",
            Self::Rotated => "rotated",
            Self::Pruned => "pruned",
            Self::Recovered => "recovered",
            Self::Lost => "lost",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Who is answerable: the user for whom the program runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub uid: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// What a line is about. Most members are of some kinds only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct What {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The tool whose call set this in motion, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The digest of the component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Behavior>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<About>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifier: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Box<Chain>>,
}

/// What the chain says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Chain {
    /// Which form the lines have, in the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyed: Option<bool>,
    /// The file before this one, or the one that is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The number and the hash of that file's last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// What a crash left of a line, just before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn: Option<Torn>,
    /// Lines that were written and are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// The file that says where the log ends was gone or not ours.
    #[serde(skip_serializing_if = "is_false")]
    pub head_lost: bool,
    /// From here on the end of the log is noted outside of its folder too. Said when the file
    /// for it was made, in the first line or, of a log that was older, in a later one.
    #[serde(skip_serializing_if = "is_false")]
    pub anchored: bool,
    /// How many events were not written, and since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Torn {
    pub bytes: u64,
    pub hash: String,
}

/// Numbers of lines, the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    pub from: u64,
    pub to: u64,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// All of a line but its place in the chain.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    pub(crate) kind: Kind,
    pub(crate) time: &'a str,
    pub(crate) session: &'a str,
    pub(crate) actor: &'a Actor,
    pub(crate) what: &'a What,
}

/// A line, read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub seq: u64,
    pub kind: Kind,
    pub time: String,
    pub session: String,
    pub actor: Actor,
    pub what: What,
    pub prev: String,
    pub hash: String,
}

/// What is kept of an event: no secrets that can be told as such, nothing without end.
pub(crate) fn of_event(event: &AuditEvent) -> (Kind, What) {
    let name = |text: &str| Some(bounded(text, LONGEST_NAME));
    let text = |text: &str| Some(bounded(text, LONGEST_TEXT));
    let about = |tool: &str, call: &str| What {
        tool: name(tool),
        call: name(call),
        ..What::default()
    };
    match event {
        AuditEvent::PowerRefused {
            plugin,
            call_id,
            power,
            detail,
            path,
        } => {
            let mut what = about(plugin, call_id);
            what.power = name(power);
            what.reason = text(detail);
            what.path = path.as_ref().and_then(|path| text(&path.to_string_lossy()));
            (Kind::Refusal, what)
        }
        AuditEvent::Ended {
            plugin,
            call_id,
            class,
            reason,
        } => {
            let mut what = about(plugin, call_id);
            what.class = name(class);
            what.reason = text(reason);
            (Kind::Ended, what)
        }
        AuditEvent::ModifierDropped {
            plugin,
            call_id,
            modifier,
        } => {
            let mut what = about(plugin, call_id);
            what.modifier = text(modifier);
            (Kind::Dropped, what)
        }
        AuditEvent::Decided(decided) => {
            let mut what = about(&decided.tool, &decided.call_id);
            what.plugin = decided.plugin.as_deref().and_then(name);
            what.caller = decided.caller.as_deref().and_then(name);
            what.decision = Some(decided.ruling);
            what.by = name(&decided.by);
            what.rule = decided.rule.as_deref().and_then(text);
            what.source = decided.source.as_deref().and_then(text);
            what.reason = text(&decided.reason);
            let subjects = decided.subjects.iter().take(MOST_SUBJECTS);
            what.subjects = subjects
                .map(|subject| About {
                    kind: bounded(&subject.kind, LONGEST_NAME),
                    text: bounded(&subject.text, LONGEST_TEXT),
                })
                .collect();
            what.input = Some(bounded(&decided.input, LONGEST_INPUT));
            what.bytes_in = Some(decided.input.len() as u64);
            (Kind::Decision, what)
        }
        AuditEvent::Called(called) => {
            let mut what = about(&called.tool, &called.call_id);
            what.plugin = called.plugin.as_deref().and_then(name);
            what.class = name(&called.class);
            what.reason = called.reason.as_deref().and_then(text);
            let limits = called.limits.iter().take(MOST_LIMITS);
            what.limits = limits
                .map(|(limit, value)| (bounded(limit, LONGEST_NAME), *value))
                .collect();
            what.bytes_in = Some(called.bytes_in);
            what.bytes_out = Some(called.bytes_out);
            what.micros = Some(called.micros);
            (Kind::Call, what)
        }
    }
}
