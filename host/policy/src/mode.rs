//! How a session treats what no rule decides.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::managed::{Managed, Refusal};

/// The mode of a session. None of them lets through what a rule denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Asks about what no rule decides.
    #[default]
    Default,
    /// Nothing that could change something, whatever is allowed.
    Plan,
    /// Edits of files inside the roots need no question; commands still do.
    AcceptEdits,
    /// Asks only where the owner of the machine, a hook or a hard limit wants it.
    #[serde(rename = "bypassPermissions")]
    Bypass,
    /// Denies what it would ask about.
    DontAsk,
}

/// As whom, and where, the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub is_root: bool,
    /// The whole program, not only its commands.
    pub in_sandbox: bool,
}

impl Mode {
    pub const ALL: [Self; 5] = [
        Self::Default,
        Self::Plan,
        Self::AcceptEdits,
        Self::Bypass,
        Self::DontAsk,
    ];

    /// Its name in settings and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
            Self::AcceptEdits => "acceptEdits",
            Self::Bypass => "bypassPermissions",
            Self::DontAsk => "dontAsk",
        }
    }

    /// The mode of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// Whether a session may be without questions at all: not as root with a whole machine to
    /// lose, and not where the managed policy forbids it.
    pub fn bypass_is_possible(standing: Standing, managed: &Managed) -> Result<(), Refusal> {
        if managed.no_bypass {
            return Err(Refusal::BypassForbidden);
        }
        if standing.is_root && !standing.in_sandbox {
            return Err(Refusal::BypassAsRoot);
        }
        Ok(())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_one_name_everywhere() {
        for mode in Mode::ALL {
            let json = serde_json::to_string(&mode).unwrap();
            assert_eq!(json, format!("\"{mode}\""));
            assert_eq!(serde_json::from_str::<Mode>(&json).unwrap(), mode);
            assert_eq!(Mode::parse(mode.word()), Some(mode));
        }
        assert_eq!(Mode::parse("bypass"), None);
    }

    #[test]
    fn root_bypasses_only_in_a_sandbox_and_nobody_where_it_is_forbidden() {
        for (is_root, in_sandbox, no_bypass, wanted) in [
            (false, false, false, Ok(())),
            (true, true, false, Ok(())),
            (true, false, false, Err(Refusal::BypassAsRoot)),
            (false, false, true, Err(Refusal::BypassForbidden)),
            (true, true, true, Err(Refusal::BypassForbidden)),
        ] {
            let managed = Managed {
                no_bypass,
                ..Managed::default()
            };
            let standing = Standing {
                is_root,
                in_sandbox,
            };
            assert_eq!(Mode::bypass_is_possible(standing, &managed), wanted);
        }
    }
}
