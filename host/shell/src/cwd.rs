//! Where a script is while it runs: `cd` is followed through lists.

use std::path::{Path, PathBuf};

use crate::check::{Check, Finding};
use crate::paths;
use crate::place::Place;
use crate::reading::{Command, Join, Word};

/// A script that changes its folder more often is not followed.
const MOST_PLACES: usize = 8;

/// All folders in which the next command may run. A `cd` may fail: behind `&&` it has not,
/// behind anything else both have to be reckoned with.
pub(crate) struct Wanderer {
    start: Place,
    /// Everywhere it may have been.
    all: Vec<PathBuf>,
    /// Where it is, in this chain of `&&`.
    here: Vec<PathBuf>,
    moved: bool,
    /// Behind `||`, `|` or `!` a later `&&` does not say that a `cd` was done.
    unsure: bool,
    depth: usize,
}

impl Wanderer {
    pub(crate) fn new(place: &Place) -> Self {
        let start = vec![place.working_directory().to_owned()];
        Self {
            start: place.clone(),
            all: start.clone(),
            here: start,
            moved: false,
            unsure: false,
            depth: 0,
        }
    }

    /// The next command. A group's `cd` may hold inside of it only, so that its borders are
    /// like any operator but `&&`.
    pub(crate) fn arrive(&mut self, command: &Command) {
        match command.join {
            Join::Then | Join::Line => self.unsure = false,
            Join::Or | Join::Pipe => self.unsure = true,
            Join::And => {}
        }
        self.unsure |= command.negated;
        if command.join != Join::And || self.unsure || command.depth != self.depth {
            self.here.clone_from(&self.all);
        }
        self.depth = command.depth;
    }

    /// The place where it most likely is, to show paths.
    pub(crate) fn place(&self) -> Place {
        match self.here.last() {
            Some(path) => self.start.clone().moved_to(path.clone()),
            None => self.start.clone(),
        }
    }

    /// `cd` with its words.
    pub(crate) fn change(&mut self, words: &[Word]) -> Result<(), Finding> {
        let [_, target] = words else {
            return Err(Check::OutsidePath.found("`cd` goes somewhere that is not said"));
        };
        if target.text.starts_with('-') || target.glob || target.text.is_empty() {
            return Err(Check::OutsidePath.found("where this `cd` leads cannot be followed"));
        }
        let mut reached = Vec::new();
        for from in &self.here {
            let place = self.start.clone().moved_to(from.clone());
            paths::read(target, &place)?;
            // Bash remembers the way that it went, links and all.
            reached.push(paths::resolve(target, &place)?);
        }
        self.moved = true;
        for path in &reached {
            if !self.all.contains(path) {
                self.all.push(path.clone());
            }
        }
        if self.all.len() > MOST_PLACES {
            return Err(Check::OutsidePath.found("it changes its folder too often to be followed"));
        }
        self.here = if self.unsure {
            self.all.clone()
        } else {
            reached
        };
        Ok(())
    }

    /// What a word reads, from everywhere it may be.
    pub(crate) fn reads(&self, word: &Word) -> Result<Vec<PathBuf>, Finding> {
        let mut read = Vec::new();
        for from in &self.here {
            let place = self.start.clone().moved_to(from.clone());
            read.extend(paths::read(word, &place)?);
        }
        Ok(paths::each_once(read))
    }

    /// Whether links below a folder may be followed, wherever they lead.
    pub(crate) fn follows(&self, command: &str) -> Result<(), Finding> {
        if self.start.holds(Path::new("/")) {
            return Ok(());
        }
        Err(Check::OutsidePath.found(format!(
            "`{command}` follows links here, and they may lead outside the project's folders"
        )))
    }

    /// Some commands obey settings that lie in the folder: after a `cd` these may be anybody's.
    pub(crate) fn permits(&self, command: &str) -> Result<(), Finding> {
        let program = command.split(' ').next().unwrap_or_default();
        if self.moved
            && Path::new(program)
                .file_name()
                .is_some_and(|name| name == "git")
        {
            return Err(Check::OutsidePath
                .found("`git` behind a `cd` obeys the settings of another folder"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MOST_PLACES;
    use crate::{Check, Place, inspect};

    #[test]
    fn so_many_folders_are_followed_and_no_more() {
        // The first place is where it starts.
        for (folders, inside) in [(MOST_PLACES - 1, true), (MOST_PLACES, false)] {
            let moves: String = (0..folders).map(|at| format!("cd /p/f{at} && ")).collect();
            let report = inspect(&format!("{moves}ls"), &Place::new("/p"));
            assert_eq!(!report.has(Check::OutsidePath), inside, "{folders}");
        }
    }

    #[test]
    fn every_folder_that_is_possible_counts() {
        let place = Place::new("/p").with_home("/home/me");
        for (script, inside) in [
            ("cd a && cat ../x", true),
            ("cd a && cat ../../x", false),
            ("cd a; cat ../x", false),
            ("cd a; cat x", true),
            ("cd a && cat x; cat ../x", false),
            ("cd a || cat x", true),
            ("cd a || cat ../x", false),
            ("true || cd a && cat ../x", false),
            ("true | cd a && cat ../x", false),
            ("! cd a && cat ../x", false),
            ("! true | cd a && cat ../x", false),
            ("(cd a && cat ../x)", true),
            ("(cd a) && cat ../x", false),
            ("(cd a; cat x)", true),
            ("{ cd a; } && cat ../x", false),
            ("cd a && (cat ../x)", false),
            ("cd a && cd b && cat ../../x", true),
            ("cd a && cd .. && cat x", true),
            ("cd a && cd ../.. && ls", false),
            ("cd /p/a && ls", true),
            ("cd / && ls", false),
            ("cd ~ && ls", false),
            ("cd", false),
            ("cd -", false),
            ("cd *", false),
            ("cd a b", false),
            ("cd '' && ls", false),
            ("command cd .. && ls", false),
        ] {
            let report = inspect(script, &place);
            assert_eq!(!report.has(Check::OutsidePath), inside, "{script}");
            assert_eq!(report.read_only(), inside, "{script}");
        }
    }
}
