//! `toolbay:host/tools`: which tools this session has.

use toolbay_contract::{HostFailure, Powers, ToolEntry};

use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::tools::{Entry, Host};
use crate::state::State;

/// Most bytes of the list. A hundred tools whose infos are as long as a host
/// accepts fit, and a guest has room for it; whoever brings more only keeps the
/// search from working.
const MAX_ANSWER: usize = 32 << 20;

impl Host for State {
    fn entries(&mut self) -> wasmtime::Result<Result<Vec<Entry>, HostError>> {
        let listed = self
            .looking("tools.entries")
            .and_then(|environment| listed(&environment.powers));
        Ok(listed.map_err(Into::into))
    }
}

fn listed(powers: &Powers) -> Result<Vec<Entry>, HostFailure> {
    let index = powers
        .tools
        .as_ref()
        .ok_or_else(|| HostFailure::Unavailable("this session has no list of its tools".into()))?;
    let entries = index.entries();
    let bytes: usize = entries.iter().map(size).sum();
    if bytes > MAX_ANSWER {
        return Err(HostFailure::TooLarge(bytes as u64));
    }
    Ok(entries.into_iter().map(to_wire).collect())
}

fn size(entry: &ToolEntry) -> usize {
    size_of::<Entry>()
        + entry.name.len()
        + entry.summary.len()
        + entry.search_hint.as_ref().map_or(0, String::len)
        + entry.input_schema.len()
}

fn to_wire(entry: ToolEntry) -> Entry {
    Entry {
        name: entry.name,
        summary: entry.summary,
        search_hint: entry.search_hint,
        input_schema: entry.input_schema,
        deferred: entry.deferred,
        loaded: entry.loaded,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolbay_contract::{
        CallEnvironment, Discard, KillReason, KillSwitch, RulesNow, Session, ToolIndex,
    };
    use wasmtime::component::ResourceTable;
    use wasmtime_wasi::WasiCtxBuilder;

    use super::*;
    use crate::filesystem::Fence;
    use crate::limits::{Limits, Meter};
    use crate::log::Log;
    use crate::state::{Grade, Spent};

    struct Fixed(Vec<ToolEntry>);

    impl ToolIndex for Fixed {
        fn entries(&self) -> Vec<ToolEntry> {
            self.0.clone()
        }
    }

    fn powers(schema_bytes: usize) -> Powers {
        let entry = ToolEntry {
            name: "Sail".into(),
            summary: "Sets a sail.".into(),
            search_hint: Some("wind".into()),
            input_schema: " ".repeat(schema_bytes),
            deferred: true,
            loaded: false,
        };
        Powers {
            tools: Some(Arc::new(Fixed(vec![entry]))),
            ..Powers::default()
        }
    }

    fn state(grade: Grade, powers: Option<Powers>) -> State {
        let kill = KillSwitch::new();
        let environment = powers.map(|powers| CallEnvironment {
            roots: Arc::new([]),
            working_directory: "/".into(),
            path_rules: RulesNow::default(),
            session: Arc::new(Session::new(1)),
            powers,
            nested: None,
            audit: Arc::new(Discard),
            progress: Arc::new(|_, _| {}),
            kill: kill.clone(),
        });
        State {
            wasi: WasiCtxBuilder::new().build(),
            table: ResourceTable::new(),
            meter: Meter::new(Limits::default()),
            fence: Arc::new(Fence::closed()),
            files: std::sync::OnceLock::new(),
            gate: crate::gate::CapabilityGate::new(toolbay_policy::Reach::ALL),
            log: Log::new(0),
            grade,
            plugin: "T".into(),
            call_id: "c".into(),
            kill,
            limits: Limits::default(),
            progress: Spent::default(),
            grant: crate::state::Grant::default(),
            clock: crate::clock::CallClock::start(),
            logged: Spent::default(),
            script_folder: None,
            search_notes: Default::default(),
            environment,
        }
    }

    /// What a guest is told: names, or the error.
    fn told(mut state: State) -> Result<Vec<String>, String> {
        match state.entries().unwrap() {
            Ok(entries) => Ok(entries.into_iter().map(|entry| entry.name).collect()),
            Err(error) => Err(format!("{error:?}")),
        }
    }

    #[test]
    fn every_phase_with_a_session_may_look_and_no_other() {
        for grade in [Grade::Inspect, Grade::ActReadOnly, Grade::Act] {
            let names = told(state(grade, Some(powers(2))));
            assert_eq!(names, Ok(vec!["Sail".to_owned()]), "{grade:?}");
        }
        let refused = told(state(Grade::Inspect, None)).unwrap_err();
        assert!(
            refused.contains("tools.entries: this question"),
            "{refused}"
        );
    }

    #[test]
    fn a_call_that_is_ending_is_told_so() {
        let ending = state(Grade::Act, Some(powers(2)));
        ending.kill.throw(KillReason::Cancelled);
        let error = told(ending).unwrap_err();
        assert!(error.contains("Cancelled"), "{error}");
    }

    #[test]
    fn what_is_not_lent_is_unavailable_and_too_much_is_too_large() {
        for (powers, wanted) in [
            (
                Powers::default(),
                HostFailure::Unavailable("this session has no list of its tools".into()),
            ),
            (
                powers(MAX_ANSWER),
                HostFailure::TooLarge((MAX_ANSWER + size_of::<Entry>() + 20) as u64),
            ),
        ] {
            assert_eq!(listed(&powers).unwrap_err(), wanted);
        }
    }

    #[test]
    fn an_entry_is_handed_over_whole() {
        let entries = listed(&powers(3)).unwrap();
        let [entry] = &entries[..] else {
            panic!("{} entries", entries.len());
        };
        assert_eq!(
            (
                entry.name.as_str(),
                entry.summary.as_str(),
                entry.search_hint.as_deref(),
                entry.input_schema.as_str(),
                entry.deferred,
                entry.loaded
            ),
            ("Sail", "Sets a sail.", Some("wind"), "   ", true, false)
        );
    }
}
