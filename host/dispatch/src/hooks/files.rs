//! The files that hooks run, as far as their commands name them.
//!
//! A hook runs outside of every cage. If a tool could rewrite the script that it runs, the next
//! call would run whatever the tool wrote. So these files are closed to tools and commands.
//!
//! A command is read twice: as a shell would, and cut wherever a path could begin or end. What either
//! reading names counts.

/// How much is looked at.
mod bounds;
mod crude;
mod expansions;
mod globs;
mod kinds;
mod lexer;
mod look;
mod missing;
mod parts;
mod paths;
mod places;
mod programs;
mod variables;
mod wanted;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Hooks;

pub use bounds::{LookBudget, TooMuchNamed};
pub use kinds::is_code_variable;
pub(super) use missing::missing_script;

use look::Look;

/// Which of the files that a command names are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedFiles {
    /// All that could be run: no tool may write them. Too many rather than too few.
    Closed,
    /// What is run: the code that somebody vouches for. A file that an interpreter gets behind its
    /// script is left out, since that may well be where the script keeps its notes.
    Code,
}

/// A command, as it is started.
#[derive(Debug, Clone, Copy)]
pub enum CommandForm<'a> {
    /// By a shell.
    Shell(&'a str),
    /// By its words, of which the first is the program.
    Words(&'a [String]),
}

/// Where the words of a command start from, and which files count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameGround {
    pub project: PathBuf,
    pub home: Option<PathBuf>,
    /// What lies in here counts: the project, or what came with it.
    pub within: PathBuf,
}

impl NameGround {
    pub fn of_project(project: &Path, home: Option<&Path>) -> Self {
        Self {
            project: project.to_owned(),
            home: home.map(Path::to_owned),
            within: project.to_owned(),
        }
    }

    /// With all of the work tree that holds the project: a clone brings both.
    pub fn of_clone(project: &Path, home: Option<&Path>) -> Self {
        let mut above = project.ancestors();
        let top = above.find(|folder| folder.join(".git").symlink_metadata().is_ok());
        Self {
            within: top.unwrap_or(project).to_owned(),
            ..Self::of_project(project, home)
        }
    }
}

impl Hooks {
    /// The files below a project that its hooks run: by their names there, and where links lead,
    /// with the links on the way. The project itself if a hook names more than can be looked at.
    pub fn files_in(&self, project: &Path, home: Option<&Path>) -> Vec<PathBuf> {
        let ground = NameGround::of_project(project, home);
        let mut files = BTreeSet::new();
        // One that never runs needs no files.
        let running = self.all.iter().filter(|hook| !hook.is_refused());
        for hook in running {
            let command = CommandForm::Shell(&hook.command);
            files.extend(closed_files(command, &ground));
        }
        files.into_iter().collect()
    }
}

/// What is closed for a command: everything, if that cannot be said.
pub fn closed_files(command: CommandForm<'_>, ground: &NameGround) -> BTreeSet<PathBuf> {
    let mut budget = LookBudget::default();
    let found = named_files(command, ground, NamedFiles::Closed, &mut budget);
    found.unwrap_or_else(|_| BTreeSet::from([ground.within.clone()]))
}

/// The files that a command runs, as far as it names them, with the links on the way and the
/// interpreters that their first lines name.
pub fn named_files(
    command: CommandForm<'_>,
    ground: &NameGround,
    which: NamedFiles,
    budget: &mut LookBudget,
) -> Result<BTreeSet<PathBuf>, TooMuchNamed> {
    budget.next_command();
    let mut look = Look::new(ground, which, budget);
    look.at_command(command)?;
    look.at_interpreters()?;
    Ok(look.files)
}

#[cfg(test)]
mod tests;
