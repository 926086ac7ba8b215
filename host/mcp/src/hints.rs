//! What a server says about its tool, and why that loosens nothing.
//!
//! MCP calls them hints because the server may lie. Here they can only make the host
//! more careful than its settings say, never less.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The annotations as they came; `None` where the server says nothing usable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

/// What the host reckons with. The default is what it must fear of an unknown tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

impl Default for Effects {
    fn default() -> Self {
        Self {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: true,
        }
    }
}

impl Hints {
    /// Reads `annotations`; a hint of the wrong type is no hint.
    pub fn read(annotations: &Value) -> Self {
        let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
        Self {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        }
    }

    /// Adds the server's warnings to what the host's settings know. A tool that calls
    /// itself read-only and destructive at once is taken at its worse word.
    pub fn tighten(self, known: Effects) -> Effects {
        let destructive = known.destructive || self.destructive == Some(true);
        let warns = self.destructive == Some(true) || self.read_only == Some(false);
        Effects {
            read_only: known.read_only && !warns,
            destructive,
            idempotent: known.idempotent && self.idempotent != Some(false),
            open_world: known.open_world || self.open_world == Some(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_hint_loosens_what_is_known() {
        let said = [None, Some(false), Some(true)];
        for case in 0..81 * 16 {
            let hint = |place: usize| said[case / 16 / 3_usize.pow(place as u32) % 3];
            let bit = |place: usize| case >> place & 1 == 1;
            let hints = Hints {
                read_only: hint(0),
                destructive: hint(1),
                idempotent: hint(2),
                open_world: hint(3),
            };
            let known = Effects {
                read_only: bit(0),
                destructive: bit(1),
                idempotent: bit(2),
                open_world: bit(3),
            };
            let after = hints.tighten(known);
            assert!(after.read_only <= known.read_only, "{hints:?} {known:?}");
            assert!(
                after.destructive >= known.destructive,
                "{hints:?} {known:?}"
            );
            assert!(after.idempotent <= known.idempotent, "{hints:?} {known:?}");
            assert!(after.open_world >= known.open_world, "{hints:?} {known:?}");
        }
    }

    #[test]
    fn warnings_count_and_odd_types_do_not() {
        let trusted = Effects {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        };
        let warned = Hints::read(&json!({"destructiveHint": true, "readOnlyHint": true}));
        assert!(!warned.tighten(trusted).read_only);
        assert!(warned.tighten(trusted).destructive);
        let odd = Hints::read(&json!({"readOnlyHint": "false", "title": 1}));
        assert_eq!(odd, Hints::default());
        assert_eq!(Hints::read(&Value::Null).tighten(trusted), trusted);
    }
}
