//! Path rules that hold for every component, at every open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::path_index::PathIndex;
use crate::path_pattern::{Key, PathPattern};
use crate::rule::{Rule, Rules};
use crate::verb::Verb;

/// What somebody wants to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathAccess {
    Read,
    Write,
}

/// The host's own files: closed to every tool, whatever the rules say.
#[derive(Debug, Clone, Default)]
pub struct Closed {
    /// Neither read nor written, with all below.
    pub unreadable: Vec<PathBuf>,
    /// Not written, with all below.
    pub unwritable: Vec<PathBuf>,
    /// Folders of this name, anywhere, are not written.
    pub unwritable_names: Vec<String>,
    /// May be read all the same, by any tool and without a question: what was put
    /// there is for the model, such as results that were too large for it.
    pub readable: Vec<PathBuf>,
    /// If given, nothing outside of these folders is read or written, whoever allows it: whose
    /// session it is has said what it is about.
    pub only: Option<Vec<PathBuf>>,
}

/// The deny rules that name paths, by what they close.
#[derive(Debug, Clone, Default)]
pub struct PathRules {
    no_read: Arc<Shut>,
    no_write: Arc<Shut>,
    closed: Closed,
}

/// Patterns of one kind.
#[derive(Debug, Default)]
struct Shut {
    rules: Vec<ShutBy>,
    index: PathIndex,
}

#[derive(Debug)]
struct ShutBy {
    pattern: PathPattern,
    text: String,
    /// Where the rule stands among the deny rules.
    place: usize,
}

/// What closes a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClosedBy<'a> {
    Host,
    /// A deny rule, by its place.
    Rule(usize, &'a str),
}

/// What is said instead of a rule's text.
const OWN_FILES: &str = "toolbay's own files, and scripts that its hooks run";
pub(crate) const OUTSIDE: &str = "the client's folders";

impl PathRules {
    /// Takes the path rules out of all deny rules. A verb without content is about
    /// the tool of that name alone.
    pub fn of(rules: &Rules) -> Self {
        let of = |wanted: Verb| {
            let places = rules.deny.iter().enumerate();
            Arc::new(Shut::new(places.filter_map(|(place, rule)| {
                (Verb::of(rule.tool())? == wanted).then_some((place, rule))
            })))
        };
        Self {
            no_read: of(Verb::Read),
            no_write: of(Verb::Write),
            closed: Closed::default(),
        }
    }

    /// Closes the host's own files too.
    pub fn and_closed(mut self, closed: &Closed) -> Self {
        self.closed = closed.clone();
        self
    }

    /// The host's own files.
    pub(crate) fn closed(&self) -> &Closed {
        &self.closed
    }

    /// The text of the rule that forbids this, if one does. What may not be read
    /// may not be written either.
    pub fn forbids(&self, path: &Path, access: PathAccess) -> Option<&str> {
        if self.is_outside(path, access) {
            return Some(OUTSIDE);
        }
        match self.closed_by(path, access)? {
            ClosedBy::Host => Some(OWN_FILES),
            ClosedBy::Rule(_, text) => Some(text),
        }
    }

    /// The same, with the place of the rule.
    pub(crate) fn closed_by(&self, path: &Path, access: PathAccess) -> Option<ClosedBy<'_>> {
        if self.closed.forbids(path, access) {
            return Some(ClosedBy::Host);
        }
        let read = self.no_read.first(path);
        let write = match access {
            PathAccess::Read => None,
            PathAccess::Write => self.no_write.first(path),
        };
        let first = read.into_iter().chain(write).min_by_key(|by| by.place)?;
        Some(ClosedBy::Rule(first.place, &first.text))
    }

    /// The paths that deny rules name outright, with what they are closed to. All below them is
    /// closed as well.
    pub fn named(&self) -> impl Iterator<Item = (PathBuf, PathAccess)> {
        self.shut().filter_map(|(pattern, access)| {
            let folder = pattern.whole_folder()?;
            Some((folder, access))
        })
    }

    /// What is closed to writing whatever rules say: files of the host's own, and what its hooks run.
    pub fn never_written(&self) -> &[PathBuf] {
        &self.closed.unwritable
    }

    /// All other deny rules: the folder that each counts from, and what is a pattern below it.
    pub fn patterns(&self) -> impl Iterator<Item = (PathBuf, String, PathAccess)> {
        self.shut().filter_map(|(pattern, access)| {
            let (folder, glob) = pattern.below()?;
            Some((folder, glob, access))
        })
    }

    /// Folders in which all other deny rules may match something.
    pub fn searched(&self) -> impl Iterator<Item = PathBuf> {
        let others = self
            .shut()
            .filter(|(pattern, _)| pattern.whole_folder().is_none());
        others.filter_map(|(pattern, _)| {
            pattern.keys().into_iter().find_map(|key| match key {
                Key::Base(base) => Some(base),
                Key::Name(_) | Key::Ending(_) => None,
            })
        })
    }

    /// Whether a deny rule closes this. The host's own files are another matter.
    pub fn is_shut(&self, path: &Path, access: PathAccess) -> bool {
        self.no_read.first(path).is_some()
            || access == PathAccess::Write && self.no_write.first(path).is_some()
    }

    /// Whether there are deny rules about paths.
    pub fn has_rules(&self) -> bool {
        !self.no_read.rules.is_empty() || !self.no_write.rules.is_empty()
    }

    fn shut(&self) -> impl Iterator<Item = (&PathPattern, PathAccess)> {
        let both = [
            (&self.no_read, PathAccess::Read),
            (&self.no_write, PathAccess::Write),
        ];
        both.into_iter()
            .flat_map(|(shut, access)| shut.rules.iter().map(move |by| (&by.pattern, access)))
    }

    /// Whether this is none of the session's business.
    pub(crate) fn is_outside(&self, path: &Path, access: PathAccess) -> bool {
        let Some(only) = &self.closed.only else {
            return false;
        };
        let for_reading = access == PathAccess::Read && self.is_for_reading(path);
        !for_reading && !only.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether this was put where it is to be read.
    pub(crate) fn is_for_reading(&self, path: &Path) -> bool {
        let readable = &self.closed.readable;
        readable.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether nothing is closed to readers, so that reading need not be checked.
    pub fn lets_all_be_read(&self) -> bool {
        self.no_read.rules.is_empty()
            && self.closed.unreadable.is_empty()
            && self.closed.only.is_none()
    }

    /// Whether there is no rule at all.
    pub fn is_empty(&self) -> bool {
        self.lets_all_be_read()
            && self.no_write.rules.is_empty()
            && self.closed.unwritable.is_empty()
            && self.closed.unwritable_names.is_empty()
    }
}

impl Shut {
    fn new<'a>(rules: impl Iterator<Item = (usize, &'a Rule)>) -> Self {
        let rules: Vec<ShutBy> = rules
            .filter_map(|(place, rule)| {
                let pattern = rule.content()?.path.pattern()?.clone();
                let text = rule.text().to_owned();
                Some(ShutBy {
                    pattern,
                    text,
                    place,
                })
            })
            .collect();
        let index = PathIndex::new(rules.iter().map(|by| &by.pattern).enumerate());
        Self { rules, index }
    }

    fn first(&self, path: &Path) -> Option<&ShutBy> {
        let forbids = |at: usize| self.rules[at].pattern.forbids(path);
        self.index.first(path, forbids).map(|at| &self.rules[at])
    }
}

impl Closed {
    fn forbids(&self, path: &Path, access: PathAccess) -> bool {
        let below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        let named = || {
            path.components().any(|part| {
                self.unwritable_names
                    .iter()
                    .any(|name| part.as_os_str() == name.as_str())
            })
        };
        if access == PathAccess::Read && below(&self.readable) {
            return false;
        }
        below(&self.unreadable)
            || match access {
                PathAccess::Read => false,
                PathAccess::Write => below(&self.unwritable) || named(),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Anchors, Rule};

    fn rules(deny: &[&str]) -> PathRules {
        let anchors = Anchors {
            home: None,
            cwd: "/p".into(),
            settings: "/p".into(),
        };
        PathRules::of(&Rules {
            deny: deny
                .iter()
                .map(|text| Rule::parse(text, &anchors).unwrap())
                .collect(),
            ..Rules::default()
        })
    }

    #[test]
    fn rules_name_paths_or_folders_to_search() {
        let rules = rules(&[
            "Read(./secret/**)",
            "Read(./keys)",
            "Edit(./gen/*.rs)",
            "Read(.env)",
            "Read",
        ]);
        let named: Vec<_> = rules.named().collect();
        assert_eq!(
            named,
            [
                ("/p/secret".into(), PathAccess::Read),
                ("/p/keys".into(), PathAccess::Read)
            ]
        );
        let patterns: Vec<_> = rules.patterns().collect();
        assert_eq!(
            patterns,
            [
                ("/".into(), "**/.env".into(), PathAccess::Read),
                ("/p/gen".into(), "*.rs".into(), PathAccess::Write)
            ]
        );
        let searched: Vec<_> = rules.searched().collect();
        assert_eq!(searched, [PathBuf::from("/"), "/p/gen".into()]);
        for (path, access, wanted) in [
            ("/p/a/.env", PathAccess::Read, true),
            ("/p/gen/a.rs", PathAccess::Read, false),
            ("/p/gen/a.rs", PathAccess::Write, true),
            ("/p/keys/a", PathAccess::Write, true),
        ] {
            assert_eq!(rules.is_shut(Path::new(path), access), wanted, "{path}");
        }
    }

    #[test]
    fn what_is_never_written_is_what_the_host_closes() {
        let closed = Closed {
            unwritable: vec!["/p/guard.sh".into(), "/p/.toolbay".into()],
            ..Closed::default()
        };
        let rules = rules(&["Edit(./a)"]).and_closed(&closed);
        assert_eq!(rules.never_written(), closed.unwritable);
    }

    #[test]
    fn only_rules_that_close_nothing_spare_the_check() {
        let closed = |change: fn(&mut Closed)| {
            let mut closed = Closed::default();
            change(&mut closed);
            rules(&[]).and_closed(&closed)
        };
        for (rules, all_is_read, is_empty) in [
            (rules(&[]), true, true),
            (rules(&["Other(./a)"]), true, true),
            (rules(&["Edit(./a)"]), true, false),
            (rules(&["Read(./a)"]), false, false),
            (closed(|own| own.readable.push("/r".into())), true, true),
            (closed(|own| own.unreadable.push("/u".into())), false, false),
            (closed(|own| own.unwritable.push("/w".into())), true, false),
            (
                closed(|own| own.unwritable_names.push("n".into())),
                true,
                false,
            ),
            (closed(|own| own.only = Some(Vec::new())), false, false),
        ] {
            assert_eq!(rules.lets_all_be_read(), all_is_read, "{rules:?}");
            assert_eq!(rules.is_empty(), is_empty, "{rules:?}");
        }
    }

    #[test]
    fn a_session_that_is_about_some_folders_sees_no_others() {
        let closed = Closed {
            only: Some(vec!["/p/a".into()]),
            readable: vec!["/s/results".into()],
            ..Closed::default()
        };
        let rules = rules(&[]).and_closed(&closed);
        assert!(!rules.lets_all_be_read() && !rules.is_empty());
        for (path, read, written) in [
            ("/p/a/x", true, true),
            ("/p/a", true, true),
            ("/p/ab", false, false),
            ("/p", false, false),
            ("/s/results/1", true, false),
            ("/etc/passwd", false, false),
        ] {
            let may = |access| rules.forbids(Path::new(path), access).is_none();
            assert_eq!(may(PathAccess::Read), read, "{path}");
            assert_eq!(may(PathAccess::Write), written, "{path}");
        }
    }

    #[test]
    fn what_may_not_be_read_may_not_be_written() {
        let rules = rules(&["Read(./secret/**)", "Edit(*.lock)", "Other(./open/**)"]);
        for (path, access, wanted) in [
            ("/p/secret/a", PathAccess::Read, true),
            ("/p/secret/a", PathAccess::Write, true),
            ("/p/x.lock", PathAccess::Read, false),
            ("/p/x.lock", PathAccess::Write, true),
            ("/p/open/a", PathAccess::Write, false),
        ] {
            assert_eq!(
                rules.forbids(Path::new(path), access).is_some(),
                wanted,
                "{path} {access:?}"
            );
        }
    }
}
