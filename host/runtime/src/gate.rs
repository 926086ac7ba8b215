//! Which capabilities one instance has, and which it wanted in vain.

use std::sync::{Arc, Mutex, PoisonError};

use toolbay_policy::{Capability, Reach};

/// What the component of a call was granted. Shared by all that lend something to it.
#[derive(Debug, Default)]
pub(crate) struct CapabilityGate {
    granted: Reach,
    missed: Mutex<Vec<Capability>>,
}

impl CapabilityGate {
    pub(crate) fn new(granted: Reach) -> Arc<Self> {
        Arc::new(Self {
            granted,
            missed: Mutex::default(),
        })
    }

    /// Whether it is granted. What is not is remembered, so that the result can say what helps.
    pub(crate) fn lends(&self, capability: Capability) -> bool {
        if self.granted.has(capability) {
            return true;
        }
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        if !missed.contains(&capability) {
            missed.push(capability);
        }
        false
    }

    pub(crate) fn has(&self, capability: Capability) -> bool {
        self.granted.has(capability)
    }

    pub(crate) fn missed(&self) -> Vec<Capability> {
        let missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        missed.clone()
    }
}

/// The capability that a function of the host belongs to, by the word before the dot. Some
/// functions only look at what every tool may know.
pub(crate) fn capability_of(function: &str) -> Option<Capability> {
    match function.split('.').next().unwrap_or(function) {
        // Servers may be anywhere, and are told what is read or filled in.
        "resources" | "skills" => Some(Capability::Network),
        interface => Capability::parse(interface),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_belong_to_capabilities() {
        for (function, wanted) in [
            ("shell.run", Some(Capability::Shell)),
            ("search", Some(Capability::Search)),
            ("ask-user", Some(Capability::AskUser)),
            ("files.replace", Some(Capability::Files)),
            ("skills.load", Some(Capability::Network)),
            ("tools.entries", None),
        ] {
            assert_eq!(capability_of(function), wanted, "{function}");
        }
    }

    #[test]
    fn what_was_wanted_in_vain_is_remembered_once() {
        let gate = CapabilityGate::new(Reach::default().with(Capability::Files));
        assert!(gate.lends(Capability::Files));
        assert!(!gate.lends(Capability::Shell) && !gate.lends(Capability::Shell));
        assert_eq!(gate.missed(), [Capability::Shell]);
    }
}
