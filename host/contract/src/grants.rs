//! What components that the host does not vouch for have been granted.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use toolbay_policy::{Capability, Reach};

/// A capability that a component asks for in its manifest, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityRequest {
    pub capability: Capability,
    pub reason: String,
}

/// Who knows what was granted. By digest, so that another component under the same name has
/// nothing.
pub trait Grants: Send + Sync {
    fn granted(&self, digest: &str, tool: &str) -> Reach;

    /// Grants this as long as the session; what was granted before stays.
    fn grant(&self, digest: &str, reach: Reach);
}

/// Grants that were given from outside, and those of the session on top.
#[derive(Debug, Default)]
pub struct GrantTable {
    by_digest: HashMap<String, Reach>,
    /// By the tool's name, for a run that says so itself. None is all that is requested.
    by_tool: HashMap<String, Reach>,
    session: Mutex<HashMap<String, Reach>>,
}

impl GrantTable {
    pub fn by_digest(&mut self, digest: impl Into<String>, reach: Reach) {
        let known = self.by_digest.entry(digest.into()).or_default();
        *known = known.or(&reach);
    }

    pub fn by_tool(&mut self, tool: impl Into<String>, reach: Reach) {
        let known = self.by_tool.entry(tool.into()).or_default();
        *known = known.or(&reach);
    }
}

impl Grants for GrantTable {
    fn granted(&self, digest: &str, tool: &str) -> Reach {
        // A panic while the lock is held cannot leave the map half-changed.
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let found = [
            self.by_digest.get(digest),
            self.by_tool.get(tool),
            session.get(digest),
        ];
        found
            .into_iter()
            .flatten()
            .fold(Reach::default(), |all, one| all.or(one))
    }

    fn grant(&self, digest: &str, reach: Reach) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let known = session.entry(digest.to_owned()).or_default();
        *known = known.or(&reach);
    }
}

/// Everything is granted: for what the host vouches for, and for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllGranted;

impl Grants for AllGranted {
    fn granted(&self, _digest: &str, _tool: &str) -> Reach {
        Reach::ALL
    }

    fn grant(&self, _digest: &str, _reach: Reach) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_add_up_and_belong_to_one_component() {
        let mut table = GrantTable::default();
        let set = |all: &[Capability]| all.iter().copied().collect::<Reach>();
        table.by_digest("sha256:a", set(&[Capability::Files]));
        table.by_digest("sha256:a", set(&[Capability::Search]));
        table.by_tool("Probe", set(&[Capability::Tasks]));
        table.grant("sha256:a", set(&[Capability::Shell]));
        use Capability::{Files, Search, Shell, Tasks};
        for (digest, tool, wanted) in [
            ("sha256:a", "Other", &[Files, Search, Shell][..]),
            ("sha256:a", "Probe", &[Files, Search, Shell, Tasks]),
            ("sha256:b", "Probe", &[Tasks]),
            ("sha256:b", "Other", &[]),
        ] {
            assert_eq!(table.granted(digest, tool), set(wanted), "{digest} {tool}");
        }
    }
}
