//! Settings that are looked at again when their files change, and that take new rules.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolbay_dispatch::fingerprint::Fingerprint;
use toolbay_dispatch::{Keeper, RuleScope};
use toolbay_policy::{Closed, Mode, Policy};

use super::{Origins, Settings};
use crate::settings_file::{add_allow_rules, settings_file_of};
use crate::trust::Trust;

/// Whoever is told that something is wrong with the settings.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Makes a session's policy from files.
pub struct FileKeeper {
    origins: Origins,
    roots: Vec<PathBuf>,
    closed: Closed,
    say: Say,
    state: Mutex<State>,
}

struct State {
    settings: Settings,
    stamps: Stamps,
}

/// What shows that files have changed, without reading them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamps(Vec<Stamp>);

/// None if there is no such file.
type Stamp = (PathBuf, Option<(u64, u64, i64, i64, i64, i64)>);

impl Stamps {
    /// Of the files that count whatever they say. Take them before the files are read.
    pub fn before(origins: &Origins) -> Self {
        Self::of(origins, &[])
    }

    /// Of those that others name as well.
    fn of(origins: &Origins, named: &[PathBuf]) -> Self {
        let mut files: Vec<PathBuf> = origins
            .files()
            .into_iter()
            .map(|place| place.file)
            .collect();
        for file in named {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        files.push(crate::trust::file(&origins.places.state));
        Self(files.into_iter().map(stamp).collect())
    }
}

impl FileKeeper {
    /// Begins with settings that were loaded from the same origins, after these stamps were
    /// taken: what was written in between is seen at the first look.
    pub fn new(
        origins: Origins,
        (stamps, settings): (Stamps, Settings),
        roots: Vec<PathBuf>,
        closed: Closed,
        say: Say,
    ) -> Self {
        Self {
            origins,
            roots,
            closed,
            say,
            state: Mutex::new(State { settings, stamps }),
        }
    }

    /// The policy of the settings as they are known.
    pub fn policy(&self) -> Policy {
        self.policy_of(&self.state().settings)
    }

    fn policy_of(&self, settings: &Settings) -> Policy {
        let home = self.origins.places.home.as_deref();
        settings.session_policy(self.roots.clone(), self.closed.clone(), home)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keeper for FileKeeper {
    fn refresh(&self) -> Option<Policy> {
        let mut state = self.state();
        // Taken before the files are read: what changes meanwhile is seen the next time, and so
        // is a file that is named for the first time.
        let stamps = Stamps::of(&self.origins, &state.settings.looked_for);
        if stamps == state.stamps {
            return None;
        }
        state.stamps = stamps;
        let loaded = self.origins.load();
        let settings = match loaded {
            Ok(settings) => settings,
            Err(error) => {
                drop(state);
                (self.say)(&format!(
                    "the settings have changed and cannot be used, so those from before still \
                     hold: {error:#}"
                ));
                return None;
            }
        };
        let told = &state.settings.problems;
        let news: Vec<String> = settings
            .problems
            .iter()
            .filter(|problem| !told.contains(problem))
            .cloned()
            .collect();
        let policy = self.policy_of(&settings);
        state.settings = settings;
        drop(state);
        for problem in news {
            (self.say)(&problem);
        }
        Some(policy)
    }

    fn permits_mode(&self, mode: Mode) -> Result<(), String> {
        match mode {
            Mode::Bypass => {
                let managed = self.state().settings.managed.clone();
                let possible = Mode::bypass_is_possible(self.origins.process.standing(), &managed);
                possible.map_err(|refusal| refusal.to_string())?;
                // A tool may not do what only the person can say.
                match self.state().settings.mode {
                    Some((Mode::Bypass, _)) => Ok(()),
                    _ => Err(format!(
                        "only who starts the program can choose the mode {mode}"
                    )),
                }
            }
            Mode::Default | Mode::Plan | Mode::AcceptEdits | Mode::DontAsk => Ok(()),
        }
    }

    fn keep(&self, rules: &[String], scope: RuleScope) -> Result<(), String> {
        let Origins { cwd, places, .. } = &self.origins;
        let kept = || -> anyhow::Result<()> {
            let Some(file) = settings_file_of(scope, cwd, places) else {
                anyhow::bail!("there is no file for rules of the {}", scope.word());
            };
            let Some(change) = add_allow_rules(scope, &file, rules)? else {
                return Ok(());
            };
            // The person has just said yes to it; unless others had written there before, unseen.
            // These are the very texts that were read and written, whoever writes meanwhile.
            if scope == RuleScope::User {
                return Ok(());
            }
            let leads = |text: &str| self.origins.leads_of(&file, text).map(|leads| leads.files);
            let before: Option<(&str, Fingerprint)> = match change.before.as_deref() {
                Some(text) => Some((text, leads(text)?)),
                None => None,
            };
            let after = leads(&change.after)?;
            Trust::change(&places.state, |trust| {
                let covers = |(text, leads): &(&str, Fingerprint)| trust.covers(&file, text, leads);
                if before.as_ref().is_none_or(covers) {
                    trust.add(&file, &change.after, after);
                }
            })
        };
        kept().map_err(|error| {
            format!("the rules hold for this session, but could not be kept: {error:#}")
        })
    }

    fn places(&self) -> Vec<RuleScope> {
        let trusting = self.state().settings.trusting;
        let Origins { cwd, places, .. } = &self.origins;
        // What is written into a file that is not trusted would not count.
        let counts = |scope, is_trusted| {
            is_trusted || settings_file_of(scope, cwd, places).is_some_and(|file| !file.exists())
        };
        let mut places = Vec::new();
        if counts(RuleScope::Local, trusting.local) {
            places.push(RuleScope::Local);
        }
        if counts(RuleScope::Project, trusting.project) {
            places.push(RuleScope::Project);
        }
        if self.origins.places.home.is_some() {
            places.push(RuleScope::User);
        }
        places
    }
}

fn stamp(file: PathBuf) -> Stamp {
    let seen = std::fs::metadata(&file)
        .ok()
        .map(|found: std::fs::Metadata| {
            (
                found.ino(),
                found.len(),
                found.mtime(),
                found.mtime_nsec(),
                found.ctime(),
                found.ctime_nsec(),
            )
        });
    (file, seen)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::places::Places;
    use crate::process::ProcessContext;
    use crate::settings::CommandLine;

    fn touch(file: &Path, text: &str) {
        std::fs::write(file, text).unwrap();
    }

    fn keeper(root: &Path) -> (FileKeeper, Arc<Mutex<Vec<String>>>) {
        let origins = Origins {
            cwd: root.join("project"),
            places: Places {
                home: Some(root.join("home")),
                cache: root.join("cache"),
                state: root.join("state"),
                data: root.join("data"),
                managed: root.join("managed.json"),
            },
            process: ProcessContext::default(),
            given: CommandLine::default(),
        };
        for folder in ["project/.toolbay", "home/.toolbay", "state"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let stamps = Stamps::before(&origins);
        let settings = origins.load().unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let say = {
            let said = said.clone();
            Arc::new(move |text: &str| said.lock().unwrap().push(text.to_owned()))
        };
        let closed = Closed::default();
        let keeper = FileKeeper::new(origins, (stamps, settings), vec![root.into()], closed, say);
        (keeper, said)
    }

    #[test]
    fn an_edit_counts_at_once_and_a_broken_one_changes_nothing() {
        let root = tempfile::tempdir().unwrap();
        let (keeper, said) = keeper(root.path());
        assert!(keeper.refresh().is_none());
        let file = root.path().join("home/.toolbay/settings.json");
        touch(&file, r#"{"permissions": {"deny": ["A"]}}"#);
        let policy = keeper.refresh().expect("a new policy");
        assert!(policy.removes("A") && !policy.removes("B"));
        assert!(keeper.refresh().is_none());
        // Half written, with an unknown key, with a rule that is none, not a file.
        for text in [
            "{",
            r#"{"permisions": {}}"#,
            r#"{"permissions": {"deny": ["A("]}}"#,
        ] {
            touch(&file, text);
            assert!(keeper.refresh().is_none(), "{text}");
            assert!(keeper.policy().removes("A"));
            let last = said.lock().unwrap().pop().expect("a word about it");
            assert!(last.contains("from before still hold"), "{last}");
            assert!(last.contains("settings.json"), "{last}");
            assert!(keeper.refresh().is_none(), "said once");
            assert!(said.lock().unwrap().is_empty());
        }
        touch(&file, r#"{"permissions": {"deny": ["B"]}}"#);
        let policy = keeper.refresh().expect("a new policy");
        assert!(policy.removes("B") && !policy.removes("A"));
        std::fs::remove_file(&file).unwrap();
        assert!(!keeper.refresh().expect("a new policy").removes("B"));
    }

    #[test]
    fn what_is_written_while_the_settings_are_read_is_seen_at_the_next_look() {
        let root = tempfile::tempdir().unwrap();
        let (keeper, _) = keeper(root.path());
        let origins = keeper.origins.clone();
        let stamps = Stamps::before(&origins);
        let settings = origins.load().unwrap();
        let file = root.path().join("home/.toolbay/settings.json");
        touch(
            &file,
            r#"{"permissions": {"deny": ["A"]}, "import": [".other"]}"#,
        );
        let roots = vec![root.path().into()];
        let late = FileKeeper::new(
            origins,
            (stamps, settings),
            roots,
            Closed::default(),
            Arc::new(|_| {}),
        );
        assert!(late.refresh().expect("a new policy").removes("A"));
        // Files that are named now may appear later.
        late.refresh();
        assert!(late.refresh().is_none());
        let other = root.path().join("project/.other/settings.json");
        std::fs::create_dir_all(other.parent().unwrap()).unwrap();
        touch(&other, r#"{"permissions": {"deny": ["B"]}}"#);
        assert!(late.refresh().expect("a new policy").removes("B"));
        touch(&other, r#"{"permissions": {"deny": ["C"]}}"#);
        assert!(late.refresh().expect("a new policy").removes("C"));
        assert!(late.refresh().is_none());
    }

    #[test]
    fn a_managed_policy_that_appears_holds() {
        let root = tempfile::tempdir().unwrap();
        let (keeper, _) = keeper(root.path());
        touch(
            &root.path().join("managed.json"),
            r#"{"managed": {"onlyManagedRules": true}, "permissions": {"deny": ["A"]}}"#,
        );
        let policy = keeper.refresh().expect("a new policy");
        assert!(policy.managed().only_managed_rules && policy.removes("A"));
        // It cannot be made to go away by breaking it.
        touch(&root.path().join("managed.json"), "");
        assert!(keeper.refresh().is_none());
        assert!(keeper.policy().managed().only_managed_rules);
    }

    #[test]
    fn nobody_enters_the_mode_that_asks_nothing_from_within() {
        let root = tempfile::tempdir().unwrap();
        let (keeper, _) = keeper(root.path());
        assert!(keeper.permits_mode(Mode::Bypass).is_err());
        assert!(keeper.permits_mode(Mode::Plan).is_ok());
    }
}
