//! The input, and what it asks of the host.

use serde::Deserialize;
use toolbay_sdk::search::{ContextLines, Pattern, Scope};

use crate::globs;

/// How many entries are shown when nobody says; enough to see what there is,
/// few enough to leave room for the work.
pub const STANDARD_LIMIT: u64 = 250;

/// Folders of version control systems: what they hold is no source.
const VERSION_CONTROL: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub pattern: String,
    pub path: Option<String>,
    pub glob: Option<String>,
    #[serde(rename = "type")]
    pub file_type: Option<String>,
    pub output_mode: Option<Mode>,
    #[serde(rename = "-A")]
    pub after: Option<u32>,
    #[serde(rename = "-B")]
    pub before: Option<u32>,
    #[serde(rename = "-C")]
    pub around: Option<u32>,
    #[serde(rename = "-n")]
    pub numbers: Option<bool>,
    #[serde(rename = "-i")]
    pub ignore_case: Option<bool>,
    pub multiline: Option<bool>,
    pub head_limit: Option<u64>,
    pub offset: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Content,
    FilesWithMatches,
    Count,
}

impl Input {
    pub fn mode(&self) -> Mode {
        self.output_mode.unwrap_or(Mode::FilesWithMatches)
    }

    /// 0 = no limit.
    pub fn limit(&self) -> u64 {
        self.head_limit.unwrap_or(STANDARD_LIMIT)
    }

    pub fn offset(&self) -> u64 {
        self.offset.unwrap_or(0)
    }

    pub fn shows_numbers(&self) -> bool {
        self.numbers.unwrap_or(true)
    }

    /// `-A` and `-B` beat `-C` on their side, as in grep.
    pub fn context_lines(&self) -> ContextLines {
        let around = self.around.unwrap_or(0);
        ContextLines {
            before: self.before.unwrap_or(around),
            after: self.after.unwrap_or(around),
        }
    }

    pub fn search_pattern(&self) -> Pattern {
        Pattern {
            regex: self.pattern.clone(),
            ignore_case: self.ignore_case.unwrap_or(false),
            multiline: self.multiline.unwrap_or(false),
        }
    }

    /// Whether a filter may be why nothing was found.
    pub fn narrows(&self) -> bool {
        self.glob.is_some() || self.file_type.is_some()
    }

    pub fn scope(&self, root: &str) -> Scope {
        let mut globs = globs::split(self.glob.as_deref().unwrap_or_default());
        // Last, because the last glob that matches decides.
        globs.extend(VERSION_CONTROL.iter().map(|name| format!("!{name}")));
        Scope {
            root: root.to_owned(),
            globs,
            types: self.file_type.iter().cloned().collect(),
            hidden: true,
            ignored: false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn input(json: &str) -> Input {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn context_sizes_follow_grep() {
        for (json, before, after) in [
            (r#"{"pattern":"x"}"#, 0, 0),
            (r#"{"pattern":"x","-C":2}"#, 2, 2),
            (r#"{"pattern":"x","-C":2,"-A":5}"#, 2, 5),
            (r#"{"pattern":"x","-B":1}"#, 1, 0),
        ] {
            let lines = input(json).context_lines();
            assert_eq!((lines.before, lines.after), (before, after), "{json}");
        }
    }

    #[test]
    fn scope_keeps_globs_and_leaves_version_control_out() {
        let scope = input(r#"{"pattern":"x","glob":"*.rs *.{c,h}","type":"rust"}"#).scope("/r");
        assert_eq!(scope.globs.len(), 2 + VERSION_CONTROL.len());
        assert_eq!(scope.globs.last().unwrap(), "!.sl");
        assert_eq!(scope.types, ["rust"]);
        assert!(scope.hidden && !scope.ignored);
    }

    #[test]
    fn unknown_fields_and_modes_are_refused() {
        for json in [
            r#"{"pattern":"x","patern":"y"}"#,
            r#"{"pattern":"x","output_mode":"lines"}"#,
            r#"{"path":"."}"#,
        ] {
            assert!(serde_json::from_str::<Input>(json).is_err(), "{json}");
        }
    }
}
